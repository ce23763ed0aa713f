// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "output.h"
#include "attributes.h"
#include "shapes.h"

int output_failed(const char *what, int error, struct error *err)
{
	return error_set(err, error, "writing %s failed: %s", what, error_reason(error));
}

static int print(const struct analysis *analysis, const struct format *format,
		 const struct report_options *options, FILE *out, struct error *err)
{
	int error = shapes_make_texts(analysis) ?: attributes_make_texts(analysis);

	if (error)
		return error_set(err, error, "cannot print the report: out of memory");
	error = format->write(analysis, options, out, err);
	if (error)
		return error;
	/* Also what failed before: a full device shows up late. */
	errno = 0;
	if (fflush(out) || ferror(out))
		return output_failed("the report", errno ? -errno : -EIO, err);
	return 0;
}

static const struct format *format_of(const struct report_options *options, struct error *err)
{
	return options->format ? format_find(report_formats, options->format, err) : report_formats;
}

int report_check(const struct capture_info *info, const struct report_options *options,
		 struct error *err)
{
	const struct capture_record record = {CAPTURE_INFO, .info = info};
	const struct format *format = format_of(options, err);
	struct analysis *analysis = NULL;
	FILE *nowhere = NULL;
	int error = -EINVAL;

	if (!format)
		return error;
	analysis = analyze_begin(&options->analyze, err);
	if (!analysis)
		return -ENOMEM;
	sink_take(analyze_sink(analysis), &record);
	error = analyze_finish(analysis, err);
	if (!error) {
		nowhere = fopen("/dev/null", "we");
		error = nowhere ? print(analysis, format, options, nowhere, err)
				: output_failed("to /dev/null", -errno, err);
	}
	if (nowhere)
		fclose(nowhere);
	analysis_free(analysis);
	return error;
}

int report_print(const char *capture_path, const struct report_options *options, FILE *out,
		 struct error *err)
{
	const struct format *format = format_of(options, err);
	struct capture_reader *reader = format ? capture_reader_open(capture_path, err) : NULL;
	struct analysis *analysis = NULL;
	int error;

	if (!reader)
		return format ? -EIO : -EINVAL;
	error = analyze(reader, &options->analyze, &analysis, err);
	/* What damage hides may be there. */
	if (!error && !analysis->damaged)
		error = processes_require(&analysis->processes, err);
	if (!error)
		error = print(analysis, format, options, out, err);
	if (!error && analysis->damaged) {
		*err = analysis->damage;
		error = -EBADMSG;
	}
	analysis_free(analysis);
	capture_reader_close(reader);
	return error;
}

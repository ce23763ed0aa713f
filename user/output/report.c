// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "output.h"

int output_failed(const char *what, int error, struct error *err)
{
	return error_set(err, error, "writing %s failed: %s", what, strerror(-error));
}

static int print(const struct analysis *analysis, const struct format *format,
		 const struct report_options *options, FILE *out, struct error *err)
{
	int error = format->write(analysis, options, out, err);

	if (error)
		return error;
	/* Also what failed before: a full device shows up late. */
	errno = 0;
	if (fflush(out) || ferror(out))
		return output_failed("the report", errno ? -errno : -EIO, err);
	return 0;
}

int report_print(const char *capture_path, const struct report_options *options, FILE *out,
		 struct error *err)
{
	const struct format *format = options->format
					      ? format_find(report_formats, options->format, err)
					      : report_formats;
	struct capture_reader *reader = format ? capture_reader_open(capture_path, err) : NULL;
	struct analysis *analysis = NULL;
	int error;

	if (!reader)
		return format ? -EIO : -EINVAL;
	error = analyze(reader, &options->analyze, &analysis, err);
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

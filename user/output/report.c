// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "output.h"
#include "attributes.h"
#include "per_run.h"
#include "shapes.h"

int output_failed(const char *what, int error, struct error *err)
{
	return error_set(err, error, "writing %s failed: %s", what, error_reason(error));
}

/* Also what failed before: a full device shows up late. */
static int flush(FILE *out, struct error *err)
{
	errno = 0;
	if (fflush(out) || ferror(out))
		return output_failed("the report", errno ? -errno : -EIO, err);
	return 0;
}

static int print(const struct analysis *analysis, const struct format *format,
		 const struct report_options *options, FILE *out, struct error *err)
{
	int error = shapes_make_texts(analysis) ?: attributes_make_texts(analysis);

	if (error)
		return error_set(err, error, "cannot print the report: out of memory");
	error = format->write(analysis, options, out, err);
	return error ? error : flush(out, err);
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
	if (format->page)
		return error_set(err, error,
				 "--%s is of a capture: make it behind the recording with opprobe "
				 "report --%s -o FILE CAPTURE",
				 format->name, format->name);
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

/* The rows of the capture that @reader reads, in @format. */
static int print_rows(struct capture_reader *reader, const struct format *format,
		      const struct report_options *options, struct analysis **analysis, FILE *out,
		      struct error *err)
{
	int error = analyze(reader, &options->analyze, analysis, err);

	/* What damage hides may be there. */
	if (!error && !(*analysis)->damaged)
		error = processes_require(&(*analysis)->processes, err);
	if (!error && (*analysis)->options.runs_apart && per_run_make(*analysis))
		error = error_set(err, -ENOMEM, "out of memory");
	return error ? error : print(*analysis, format, options, out, err);
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
	if (format->page)
		error = format->page(reader, options, &analysis, out, err) ?: flush(out, err);
	else
		error = print_rows(reader, format, options, &analysis, out, err);
	if (!error && analysis->damaged) {
		*err = analysis->damage;
		error = -EBADMSG;
	}
	analysis_free(analysis);
	capture_reader_close(reader);
	return error;
}

/* -- to a file ------------------------------------------------------------------------ */

struct file_cookie {
	struct output_file file;
	int error; /* the first failure of writing */
};

static ssize_t write_to_file(void *cookie, const char *bytes, size_t size)
{
	struct file_cookie *f = cookie;

	if (!f->error)
		f->error = output_file_write(&f->file, bytes, size);
	/* stdio would tell it as one of its own. */
	errno = -f->error;
	return f->error ? 0 : (ssize_t)size;
}

int output_to_file(const char *out_path, int (*put)(const void *of, FILE *out, struct error *err),
		   const void *of, struct error *err)
{
	const cookie_io_functions_t functions = {.write = write_to_file};
	struct file_cookie f = {};
	FILE *out;
	int error, closed;

	error = output_file_open(&f.file, out_path, OUTPUT_NAMED, err);
	if (error)
		return error;
	out = fopencookie(&f, "w", functions);
	error = out ? put(of, out, err)
		    : error_set(err, -ENOMEM, "cannot write to %s: out of memory", out_path);
	if (out && (fflush(out) || ferror(out)) && !error)
		error = output_failed(out_path, f.error ?: -EIO, err);
	if (out)
		fclose(out);
	if (error && error != -EBADMSG) {
		output_file_drop(&f.file);
		return error;
	}
	closed = output_file_close(&f.file, true, NULL);
	return error ? error : closed ? output_failed(out_path, closed, err) : 0;
}

struct report_job {
	const char *capture_path;
	const struct report_options *options;
};

static int print_job(const void *of, FILE *out, struct error *err)
{
	const struct report_job *job = of;

	return report_print(job->capture_path, job->options, out, err);
}

int report_write(const char *capture_path, const struct report_options *options,
		 const char *out_path, struct error *err)
{
	const struct report_job job = {capture_path, options};

	if (output_is_capture(out_path, capture_path))
		return error_set(err, -EINVAL,
				 "%s is the capture itself: name another file for the report",
				 out_path);
	return output_to_file(out_path, print_job, &job, err);
}

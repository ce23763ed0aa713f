// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "output.h"

int output_failed(const char *what, int failure, struct error *err)
{
	return error_set(err, failure, "writing %s failed: %s", what, strerror(-failure));
}

static int print(const struct analysis *analysis, const struct report_options *options, FILE *out,
		 struct error *err)
{
	int status = options->format == REPORT_JSON  ? json_print(analysis, options, out, err)
		     : options->format == REPORT_CSV ? csv_print(analysis, options, out, err)
						     : table_print(analysis, options, out, err);

	if (status)
		return status;
	/* Also what failed before: a full device shows up late. */
	errno = 0;
	if (fflush(out) || ferror(out))
		return output_failed("the report", errno ? -errno : -EIO, err);
	return 0;
}

int report_print(const char *capture_path, const struct report_options *options, FILE *out,
		 struct error *err)
{
	struct capture_reader *reader = capture_reader_open(capture_path, err);
	struct analysis *analysis = NULL;
	int status;

	if (!reader)
		return -EIO;
	status = analyze(reader, &options->analyze, &analysis, err);
	if (!status)
		status = print(analysis, options, out, err);
	if (!status && analysis->damaged) {
		*err = analysis->damage;
		status = -EBADMSG;
	}
	analysis_free(analysis);
	capture_reader_close(reader);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a capture: read, analysed, printed, exported or compared. The first byte
 * chooses the view. The checksums are put right first, or nothing but their
 * check would ever be reached; with the first byte odd they are left alone.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "capture/format.h"
#include "output/diff.h"
#include "output/output.h"
#include "output/shapes.h"

static void mend_checksums(uint8_t *bytes, size_t size)
{
	size_t at = FORMAT_HEADER_SIZE;

	while (at + FORMAT_CHUNK_HEADER <= size) {
		uint8_t *chunk = bytes + at;
		uint32_t length = format_get_le32(chunk);
		size_t left = size - at - FORMAT_CHUNK_HEADER;

		if (length <= left)
			format_put_le32(chunk + 8, crc32(0, chunk + FORMAT_CHUNK_HEADER, length));
		format_put_le32(chunk + 12, crc32(0, chunk, 12));
		if (length > left)
			break;
		at += FORMAT_CHUNK_HEADER + length;
	}
}

/* The other process of the seed that has two. */
#define PID 43

static void compare_with_itself(const char *path, FILE *out)
{
	const struct analyze_options options = {.compensate = true, .runs_apart = true};
	struct error err;
	struct capture_reader *reader = capture_reader_open(path, &err);
	struct analysis *a = NULL;
	struct comparison *c = NULL;

	if (reader && !analyze(reader, &options, &a, &err) && !shapes_make_texts(a))
		c = compare(a, a);
	if (c) {
		diff_print(c, &(struct diff_options){.all = true, .width = 60}, 0, out);
		diff_print_json(c, path, path, out);
	}
	comparison_free(c);
	analysis_free(a);
	if (reader)
		capture_reader_close(reader);
}

#define EXPORTS 7 /* formats */

/* One view of @path: a grouping in one of the formats, or an export; of one process or all. */
static void print(const char *path, unsigned int view, FILE *out)
{
	struct report_options options = {};
	struct error err;

	if (view % 32 == EXPORTS) {
		compare_with_itself(path, out);
		return;
	}
	if (view % 32 < EXPORTS) {
		const struct export_options export = {export_formats[view % 32].name, view >= 32,
						      PID};

		export_capture(path, &export, "/dev/null", out, &err);
		return;
	}
	options.percentiles = options.self_counters = true;
	options.format = report_formats[view % 3].name;
	options.analyze.group = view / 3 % 8;
	options.analyze.tree = options.analyze.group == GROUP_NODE && view & 32;
	options.analyze.compensate = view & 64;
	options.analyze.runs_apart_within_budget = !(view & 16);
	options.analyze.one_process = (view & 24) == 24;
	options.analyze.pid = PID;
	options.analyze.failed = (view & 12) == 12;
	options.analyze.tag = (view & 20) == 20 ? "u*" : NULL;
	options.analyze.model = (view & 44) == 44 ? "*a*" : NULL;
	if ((view & 42) == 42)
		options.analyze.group = GROUP_MODEL;
	if (view & 16) {
		options.analyze.name = "*a*";
		options.analyze.n_runs = 1;
		options.analyze.runs[0] = (struct analyze_range){0, 5};
		options.sort = "p99";
		options.limit = 3;
	}
	/* A page is of nodes: in the place of one of the groupings. */
	if (options.analyze.group == GROUP_OP && !(view % 3)) {
		options.format = "html";
		options.analyze.group = GROUP_NODE;
	}
	report_print(path, &options, out, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	char path[64];
	uint8_t *bytes;
	int fd;

	if (!out)
		out = fopen("/dev/null", "w");
	if (!size || size > 1 << 16)
		return 0;
	bytes = malloc(size);
	memcpy(bytes, data + 1, size - 1);
	if (!(data[0] & 1))
		mend_checksums(bytes, size - 1);
	fd = memfd_create("capture", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, bytes, size - 1) == (ssize_t)size - 1) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		print(path, data[0] >> 1, out);
	}
	close(fd);
	free(bytes);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "locate.h"
#include "reader.h"
#include "share.h"
#include "../../../bpf/ort/layout.h"

static int ort_detect(const struct elf_image *image, struct error *err)
{
	return ort_has_anchors(image) ? RUNTIME_PRESENT : RUNTIME_ABSENT;
}

static int ort_locate(struct elf_image *image, struct location *location, struct error *err)
{
	struct finder *finder = calloc(1, sizeof(*finder));
	int error = -ENOMEM;

	if (!finder || !(finder->flow = malloc(sizeof(*finder->flow))) ||
	    !(finder->path = malloc(sizeof(*finder->path)))) {
		error_set(err, error, "out of memory looking into %s", image->path);
		goto out;
	}
	finder->image = image;
	finder->location = location;
	finder->dis = disassembler_new(image->arch, err);
	if (!finder->dis)
		goto out;
	error = ort_find_anchors(finder, err);
	if (!error)
		error = ort_locate_operators(finder, err);
	if (!error) {
		ort_locate_runs(finder);
		ort_locate_tasks(finder);
	}
out:
	if (finder) {
		disassembler_free(finder->dis);
		free(finder->flow);
		free(finder->path);
	}
	free(finder);
	return error;
}

static const char *const programs[] = {
	"ort_enter_index", ORT_ENTER_KERNEL, "ort_exit",
	"ort_run_enter",   "ort_run_exit",   "ort_session_end",
	"ort_task_enter",  "ort_task_exit",  NULL,
};

const struct runtime ort_runtime = {
	.name = "onnxruntime",
	.title = "ONNX Runtime",
	.detect = ort_detect,
	.locate = ort_locate,
	.programs = programs,
	.reader = &ort_reader,
	.names_size = sizeof(struct ort_layout),
	.shapes_size = sizeof(struct ort_shape_layout),
	.share_names = ort_share_names,
	.share_shapes = ort_share_shapes,
	.shapes_epoch = ort_shapes_epoch,
};

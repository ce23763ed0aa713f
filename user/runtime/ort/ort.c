// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "locate.h"
#include "reader.h"
#include "share.h"
#include "../../../bpf/events.h"
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
		ort_locate_setup(finder);
		ort_locate_tasks(finder);
		ort_locate_memory(finder);
		if (finder->lacks_operators)
			location_drop_landmarks(location, LANDMARK_OPERATOR);
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

/* enum OrtErrorCode in onnxruntime_c_api.h; numbers are only added, at its end. */
static const char *const codes[] = {
	[1] = "FAIL",
	[2] = "INVALID_ARGUMENT",
	[3] = "NO_SUCHFILE",
	[4] = "NO_MODEL",
	[5] = "ENGINE_ERROR",
	[6] = "RUNTIME_EXCEPTION",
	[7] = "INVALID_PROTOBUF",
	[8] = "MODEL_LOADED",
	[9] = "NOT_IMPLEMENTED",
	[10] = "INVALID_GRAPH",
	[11] = "EP_FAIL",
	[12] = "MODEL_LOAD_CANCELED",
	[13] = "MODEL_REQUIRES_COMPILATION",
	[14] = "NOT_FOUND",
};

static const char *ort_status_name(uint32_t status, uint32_t *code)
{
	*code = status & ORT_CODE_MAX;
	if (status >> ORT_CODE_BITS != ORT_CATEGORY_SELF)
		return "system error";
	return *code < sizeof(codes) / sizeof(codes[0]) ? codes[*code] : "";
}

/*
 * As the built-in profiler has it: of loads it is the text that they are given,
 * "model_loading_uri" or the like. What does not look so was no such argument.
 */
static const char *ort_setup_name(uint32_t kind, const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_", loading[] = "model_loading";

	if (kind != SETUP_LOADING)
		return "session_initialization";
	return strncmp(text, loading, strlen(loading)) != 0 || text[strspn(text, letters)] ? loading
											   : text;
}

static const char *const programs[] = {
	"ort_enter_index", ORT_ENTER_KERNEL,  "ort_exit",	 "ort_run_enter",  "ort_run_exit",
	"ort_session_end", "ort_setup_enter", "ort_setup_exit",	 "ort_task_enter", "ort_task_exit",
	"ort_alloc_enter", "ort_alloc_exit",  "ort_alloc_chunk", "ort_free",	   NULL,
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
	.status_name = ort_status_name,
	.setup_name = ort_setup_name,
};

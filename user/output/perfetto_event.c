// SPDX-License-Identifier: GPL-2.0-only
#include "perfetto.h"

const char *const perfetto_annotations[A_EVENTS] = {
	[A_OP_TYPE] = "op_type",
	[A_PROVIDER] = "provider",
	[A_NODE_INDEX] = "node_index",
	[A_ATTRIBUTES] = "attributes",
	[A_INPUTS] = "inputs",
	[A_OUTPUTS] = "outputs",
	[A_OTHERS] = "other_threads_ns",
	[A_PEAK] = "peak_bytes",
	[A_RUN] = "run",
	[A_STEP] = "step",
	[A_SESSION] = "session",
	[A_MODEL] = "model",
	[A_TAG] = "tag",
	[A_MIGRATED] = "migrated",
	[A_THREW] = "threw",
	[A_FAILED] = "failed",
	[A_CODE] = "code",
	[A_ERROR] = "error",
	[A_MESSAGE] = "message",
	[A_RUNTIME] = "runtime",
	[A_VERSION] = "version",
	[A_BUILD_ID] = "build_id",
	[A_LIBRARY] = "library",
	[A_LOST] = "lost",
	[A_COMPLETE] = "complete",
	[A_BYTES] = "bytes",
	[A_GRID] = "grid",
	[A_BLOCK] = "block",
	[A_REGISTERS] = "registers",
	[A_OPERATOR] = "operator",
};

void intern(struct message *interned, enum interned_field field, uint64_t iid, const char *name)
{
	struct message entry = {};

	message_add_number(&entry, ENTRY_IID, iid);
	message_add_text(&entry, ENTRY_NAME, name);
	message_add(interned, field, &entry);
	message_free(&entry);
}

static void annotate_number(struct message *event, uint32_t name, enum annotation_field as,
			    uint64_t value)
{
	struct message annotation = {};

	message_add_number(&annotation, ANNOTATION_NAME, name);
	message_add_number(&annotation, as, value);
	message_add(event, EVENT_ANNOTATION, &annotation);
	message_free(&annotation);
}

void annotate(struct message *event, uint32_t name, uint64_t value)
{
	annotate_number(event, name, ANNOTATION_NUMBER, value);
}

void annotate_bool(struct message *event, uint32_t name, bool value)
{
	annotate_number(event, name, ANNOTATION_BOOL, value);
}

void annotate_double(struct message *event, uint32_t name, double value)
{
	struct message annotation = {};

	message_add_number(&annotation, ANNOTATION_NAME, name);
	message_add_double(&annotation, ANNOTATION_DOUBLE, value);
	message_add(event, EVENT_ANNOTATION, &annotation);
	message_free(&annotation);
}

void annotate_text(struct message *event, uint32_t name, const char *text)
{
	struct message annotation = {};

	if (!text || !*text)
		return;
	message_add_number(&annotation, ANNOTATION_NAME, name);
	message_add_text(&annotation, ANNOTATION_STRING, text);
	message_add(event, EVENT_ANNOTATION, &annotation);
	message_free(&annotation);
}

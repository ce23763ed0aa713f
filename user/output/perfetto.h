/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Perfetto's messages, as far as perfetto.c writes them: numbers of fields are of
 * github.com/google/perfetto, protos/perfetto/trace: trace_packet.proto, clock_snapshot.proto,
 * interned_data/interned_data.proto, and in track_event/ track_event.proto,
 * track_descriptor.proto, process_descriptor.proto, thread_descriptor.proto,
 * counter_descriptor.proto and debug_annotation.proto.
 */
#ifndef OPPROBE_OUTPUT_PERFETTO_H
#define OPPROBE_OUTPUT_PERFETTO_H

#include "../capture/records.h"
#include "protobuf.h"

enum trace_field { TRACE_PACKET = 1 };

enum packet_field {
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_FIRST = 87,
};

enum packet_flags { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

enum clock { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3 };
enum clocks_field { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2 };
enum clock_field { CLOCK_FIELD_ID = 1, CLOCK_FIELD_TIMESTAMP = 2 };
enum defaults_field { DEFAULTS_CLOCK = 58 };

enum interned_field { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3 };
enum entry_field { ENTRY_IID = 1, ENTRY_NAME = 2 };

enum track_field {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
};

enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum counter_field { COUNTER_UNIT = 3 };
enum counter_unit { UNIT_NS = 1, UNIT_COUNT = 2, UNIT_BYTES = 3 };

enum event_field {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_ENDS = 48,
};

enum event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

enum annotation_field {
	ANNOTATION_NAME = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_NUMBER = 3,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
};

/* What is told of slices; events and metrics have numbers behind these. */
enum annotation {
	A_OP_TYPE = 1,
	A_PROVIDER,
	A_NODE_INDEX,
	A_ATTRIBUTES,
	A_INPUTS,
	A_OUTPUTS,
	A_OTHERS,
	A_PEAK,
	A_RUN,
	A_STEP,
	A_SESSION,
	A_MODEL,
	A_TAG,
	A_MIGRATED,
	A_THREW,
	A_FAILED,
	A_CODE,
	A_ERROR,
	A_MESSAGE,
	A_RUNTIME,
	A_VERSION,
	A_BUILD_ID,
	A_LIBRARY,
	A_LOST,
	A_COMPLETE,
	A_BYTES,
	A_GRID,
	A_BLOCK,
	A_REGISTERS,
	A_OPERATOR,
	A_EVENTS,
	A_METRICS = A_EVENTS + CAPTURE_COUNTERS,
};

/* Their names, interned under their numbers. */
extern const char *const perfetto_annotations[A_EVENTS];

/* Annotations of the interned @name, behind what @event has: a number, */
void annotate(struct message *event, uint32_t name, uint64_t value);
void annotate_bool(struct message *event, uint32_t name, bool value);
void annotate_double(struct message *event, uint32_t name, double value);
/* or a text; none for NULL and "", which are not known. */
void annotate_text(struct message *event, uint32_t name, const char *text);
/* An entry of the interned @iid. */
void intern(struct message *interned, enum interned_field field, uint64_t iid, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* From what is read of a session to what is recorded of it. */
#ifndef OPPROBE_COLLECT_MODELS_H
#define OPPROBE_COLLECT_MODELS_H

#include "../capture/records.h"
#include "../runtime/runtime.h"

/* What @session is; its texts are those of @facts. */
struct capture_model model_of_facts(uint32_t session, const struct session_facts *facts);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of ONNX Runtime's operators in one process: found by calibration
 * at the first sightings, shared with the programs from then on.
 */
#ifndef OPPROBE_ORT_NAMING_H
#define OPPROBE_ORT_NAMING_H

#include "../../../bpf/ort/layout.h"
#include "../runtime.h"

struct naming *ort_naming_new(const struct runtime_target *target, struct error *err);
/* Where names lie; all zero, and not proven, until that is settled. */
const struct ort_layout *ort_naming_layout(const struct naming *naming);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What opprobe knows of ONNX Runtime's objects in one process: where names
 * lie, found by calibration at the first sightings, and shapes.
 */
#ifndef OPPROBE_ORT_READER_H
#define OPPROBE_ORT_READER_H

#include "../runtime.h"

extern const struct reader_ops ort_reader;

#endif

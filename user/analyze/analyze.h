/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Analysis: a fold over the records of a capture into rows. One pass, memory
 * for the distinct rows only. Knows nothing of file formats and of output.
 */
#ifndef OPPROBE_ANALYZE_H
#define OPPROBE_ANALYZE_H

#include "../capture/capture.h"

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The first record of a capture: what was recorded, and where. decode_info.c reads it. */
#ifndef OPPROBE_CAPTURE_ENCODE_INFO_H
#define OPPROBE_CAPTURE_ENCODE_INFO_H

#include "capture.h"

/* Write the fields of @info at @p, which has room for a record; returns the position behind them.
 */
uint8_t *encode_info(uint8_t *p, const struct capture_info *info);

#endif

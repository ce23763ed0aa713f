/* SPDX-License-Identifier: GPL-2.0-only */
/* The JSON configuration, once it is read from its file. Internal to counters/. */
#ifndef OPPROBE_COUNTERS_CONFIG_H
#define OPPROBE_COUNTERS_CONFIG_H

#include "counters.h"

/*
 * The JSON configuration in @text, @length bytes, of the file @path (for
 * messages). As counters_read_config().
 */
int config_parse(struct counter_set *set, const char *text, size_t length, const char *path,
		 struct error *err);

#endif

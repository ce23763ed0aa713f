/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of a table: those that `opprobe report` and `opprobe -p` share. */
#ifndef OPPROBE_VIEW_H
#define OPPROBE_VIEW_H

#include <argp.h>

#include "output/output.h"

/* For argp_child: its input is the struct report_options that it fills. */
const struct argp *view_argp(void);

#endif

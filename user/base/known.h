/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether something is so, where that may not be known. */
#ifndef OPPROBE_KNOWN_H
#define OPPROBE_KNOWN_H

enum known {
	KNOWN_NO,
	KNOWN_YES,
	NOT_KNOWN,
};

#endif

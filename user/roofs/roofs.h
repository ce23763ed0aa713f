/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The roofs of a roofline: what this machine can do at most, in floating-point
 * operations and in bytes from each place that data can lie in, on one CPU and
 * on all that opprobe may use. Measured once, kept in a file, and put into
 * every capture that is recorded on the same machine.
 *
 *	measure ─▶ keep ─▶ (file) ─▶ read ─▶ capture_info
 *
 * What the machine is called, and its CPUs, are those of a capture_info: see
 * info_describe_machine(). A file that says otherwise is of another machine.
 */
#ifndef OPPROBE_ROOFS_H
#define OPPROBE_ROOFS_H

#include "../base/error.h"
#include "../capture/records.h"

#define ROOFS_NOTES 4

/* What a measurement was like, beside its figures. */
struct roofs_about {
	char notes[ROOFS_NOTES][CAPTURE_NOTE_SIZE];
	size_t n_notes;
	/* Bytes that the memory's roof is of: one CPU's, and those of all together; 0: none. */
	uint64_t memory_one, memory_all;
};

/*
 * Measure for a second, or some more on a machine that is busy. What rounds did
 * not agree on is not known, and a note says so. @progress is called now and then
 * with what is done, 0 to 1; it may be NULL. 0 or a negative errno with @err set.
 */
int roofs_measure(struct capture_roofs *roofs, struct roofs_about *about,
		  void (*progress)(double done), struct error *err);
/* Are the roofs known that a roofline cannot be without? */
bool roofs_whole(const struct capture_roofs *roofs);

/* What the roof of each level is called in JSON. */
extern const char *const roofs_levels[ROOF_LEVELS];

/*
 * Those of @machine, whose @machine->roofs they are, as a document of JSON; @kept is the
 * file that has them, or NULL. Allocated; NULL without memory.
 */
char *roofs_json(const struct capture_info *machine, const struct roofs_about *about,
		 const char *kept);
/*
 * Keep @machine->roofs where recordings look for them: as root for everyone here, else for
 * this user. *@path, to be freed, is where. 0 or a negative errno with @err set.
 */
int roofs_keep(const struct capture_info *machine, const struct roofs_about *about, char **path,
	       struct error *err);
/*
 * Set @machine->roofs to those that were kept last on this very machine, by root or by the
 * user that opprobe runs for; to nothing where there are none.
 */
void roofs_read(struct capture_info *machine);
/* Of a document of @size bytes, whatever they are: 0, or -EBADMSG, or -ESTALE if it is of another
 * machine. */
int roofs_parse(struct capture_info *machine, const char *text, size_t size);

#endif

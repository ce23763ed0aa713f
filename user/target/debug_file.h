/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where debug files lie, as GDB looks for them ("Debugging Information in
 * Separate Files" in its manual).
 */
#ifndef OPPROBE_DEBUG_FILE_H
#define OPPROBE_DEBUG_FILE_H

/* What a library says of its debug file. */
enum debug_name {
	DEBUG_BUILD_ID, /* hexadecimal */
	DEBUG_LINK,	/* the name of a file, without a folder */
};

/*
 * Open place number @candidate where the debug file @name of @library may be.
 * Regular files only, for reading. Returns the file, or a negative errno:
 * -ERANGE behind the last place; -EINVAL if @name is none of that kind.
 */
int debug_file_open(const char *library, enum debug_name kind, const char *name,
		    unsigned int candidate);
/* Open @path for reading if it is a regular file, whatever else may lie there. */
int open_regular(const char *path);

#endif

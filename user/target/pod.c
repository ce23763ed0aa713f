// SPDX-License-Identifier: GPL-2.0-only
#include "pod.h"

#include <string.h>

#include "cgroup.h"

/*
 * A line is "36 35 98:0 /root /point options ...", proc_pid_mountinfo(5), and as long as the
 * options of an overlay are. What is looked for stands in its beginning.
 */
#define WORD_ROOT   3 /* of the file system, the folder or file that is mounted */
#define WORD_POINT  4
#define LINE_LENGTH 8192 /* bytes that are looked at */
#define READS_MAX   8192 /* each of a line, or of a part of one that is so long */

bool pod_may_call(const char *name, size_t length)
{
	static const char within[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	return length && length <= POD_CONTAINER && strspn(name, within) >= length &&
	       name[0] != '-' && name[length - 1] != '-';
}

/*
 * Take the name from the @root that is mounted. Spaces and the like are written as "\040" in it,
 * and '\' as well, which no name has: there is nothing to decode.
 */
static bool take_root(const char *root, const char *uid, char name[POD_CONTAINER + 1])
{
	char folder[CGROUP_POD + 32];

	snprintf(folder, sizeof(folder), "/pods/%.*s/containers/", CGROUP_POD, uid);
	for (const char *at = strstr(root, folder); at; at = strstr(at + 1, folder)) {
		const char *first = at + strlen(folder), *number = strchr(first, '/');

		if (!number || !pod_may_call(first, number - first) ||
		    strspn(number + 1, "0123456789abcdef") != 8 || number[1 + 8])
			continue;
		memcpy(name, first, number - first);
		name[number - first] = '\0';
		return true;
	}
	return false;
}

/* The same from a line, whose words are separated. */
static bool take_line(char *line, const char *uid, char name[POD_CONTAINER + 1])
{
	char *words[WORD_POINT + 1];

	for (size_t i = 0; i <= WORD_POINT; i++) {
		words[i] = line;
		line += strcspn(line, " \n");
		/* It ends too early, or there is more of this word than was read. */
		if (*line != ' ')
			return false;
		*line++ = '\0';
	}
	return !strcmp(words[WORD_POINT], "/dev/termination-log") &&
	       take_root(words[WORD_ROOT], uid, name);
}

bool pod_container(FILE *mountinfo, const char *uid, char name[POD_CONTAINER + 1])
{
	char line[LINE_LENGTH], other[POD_CONTAINER + 1];
	bool begins = true, found = false;

	for (size_t i = 0; i < READS_MAX && fgets(line, sizeof(line), mountinfo); i++) {
		bool ends = strchr(line, '\n') != NULL;

		if (begins && take_line(line, uid, other)) {
			if (found && strcmp(name, other) != 0)
				return false;
			strcpy(name, other);
			found = true;
		}
		begins = ends;
	}
	return found;
}

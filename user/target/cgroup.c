// SPDX-License-Identifier: GPL-2.0-only
#include "cgroup.h"

#include <stddef.h>
#include <string.h>

static const char hex[] = "0123456789abcdef";
static const char mount[] = "/sys/fs/cgroup";

/* The path in the line at @text, up to the end of that; NULL if this is no such line. */
static const char *path_of(const char *text)
{
	const char *end = text + strcspn(text, "\n");
	const char *first = memchr(text, ':', end - text);
	const char *second = first ? memchr(first + 1, ':', end - first - 1) : NULL;

	return second && second[1] == '/' ? second + 1 : NULL;
}

/* The line behind the one at @text, NULL behind the last. */
static const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end && end[1] ? end + 1 : NULL;
}

bool cgroup_container(const char *text, char id[CGROUP_ID + 1])
{
	bool found = false;

	for (const char *line = text; line && !found; line = next_line(line)) {
		const char *at = path_of(line), *end = line + strcspn(line, "\n");

		for (size_t length; at && at < end; at += length ?: 1) {
			length = strspn(at, hex);
			if (length != CGROUP_ID)
				continue;
			memcpy(id, at, CGROUP_ID);
			id[CGROUP_ID] = '\0';
			found = true;
		}
	}
	return found;
}

/* The length of the number of a pod at @at, with what may be between its digits; 0 if it is none.
 */
static size_t pod_length(const char *at)
{
	size_t length = strspn(at, "0123456789abcdef-_");
	char behind = at[length];

	return (length == CGROUP_POD || length == CGROUP_POD - 4) &&
			       (behind == '/' || behind == '.' || behind == '\n' || !behind)
		       ? length
		       : 0;
}

bool cgroup_pod(const char *text, char uid[CGROUP_POD + 1])
{
	static const char name[] = "pod";

	for (const char *line = text; line; line = next_line(line)) {
		const char *at = path_of(line), *end = line + strcspn(line, "\n");

		for (; at && at < end; at++) {
			size_t length = 0;

			/* At the beginning of a part of the path, or of a slice's last part. */
			if ((*at == '/' || *at == '-') && !strncmp(at + 1, name, strlen(name)))
				length = pod_length(at + 1 + strlen(name));
			if (!length)
				continue;
			at += 1 + strlen(name);
			for (size_t i = 0; i < length; i++)
				uid[i] = at[i] == '_' ? '-' : at[i];
			uid[length] = '\0';
			return true;
		}
	}
	return false;
}

/* Is the process in the group @path of a hierarchy, or below? With @named, of one that has a name.
 */
static bool is_within(const char *text, const char *path, bool named)
{
	size_t length = strlen(path);

	while (length && path[length - 1] == '/')
		length--;
	for (const char *line = text; line; line = next_line(line)) {
		const char *at = path_of(line);

		if (at && !(named && !strncmp(line, "0:", 2)) && !strncmp(at, path, length) &&
		    (!at[length] || at[length] == '/' || at[length] == '\n'))
			return true;
	}
	return false;
}

bool cgroup_within(const char *text, const char *path)
{
	size_t skipped = strlen(mount);

	if (strncmp(path, mount, skipped) != 0 || (path[skipped] && path[skipped] != '/'))
		return is_within(text, path, false);
	path += skipped;
	if (is_within(text, path, false))
		return true;
	/* Of the first version, each hierarchy is mounted at a name of its own. */
	path = *path ? strchr(path + 1, '/') : NULL;
	return path && is_within(text, path, true);
}

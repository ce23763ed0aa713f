// SPDX-License-Identifier: GPL-2.0-only
#include "pod.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"

#define LOGS "/var/log/pods"

/*
 * A line is "36 35 98:0 /root /point options ...", proc_pid_mountinfo(5), and as long as the
 * options of an overlay are. What is looked for stands in its beginning.
 */
#define WORD_ROOT   3 /* of the file system, the folder or file that is mounted */
#define WORD_POINT  4
#define LINE_LENGTH 8192 /* bytes that are looked at */
#define READS_MAX   8192 /* each of a line, or of a part of one that is so long */

/* -- by what it mounts ------------------------------------------------------------ */

void pod_whole_name(const struct pod *pod, char whole[POD_WHOLE + 1])
{
	snprintf(whole, POD_WHOLE + 1, "%s%s%s", pod->namespace, *pod->name ? "/" : "", pod->name);
}

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

/* -- by what it logs -------------------------------------------------------------- */

/* "NAMESPACE_POD_UID": names of Kubernetes have no '_'. */
static bool take_folder(struct pod *pod, const char *name, const char *uid)
{
	const char *first = strchr(name, '_'), *second = first ? strchr(first + 1, '_') : NULL;

	if (!second || strcmp(second + 1, uid) != 0 || first - name > POD_NAMESPACE ||
	    second - first - 1 > POD_NAME)
		return false;
	memcpy(pod->namespace, name, first - name);
	memcpy(pod->name, first + 1, second - first - 1);
	return true;
}

/* The name of the one container that has a folder in @folder; "" if several have, or none. */
static void find_only(int logs, const char *folder, char name[POD_CONTAINER + 1])
{
	int fd = openat(logs, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t n = 0;

	while (dir && n < 2 && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		n++;
		if (pod_may_call(entry->d_name, length))
			memcpy(name, entry->d_name, length + 1);
	}
	if (n != 1)
		*name = '\0';
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static void find_logs(struct pod *pod, const char *uid, char only[POD_CONTAINER + 1])
{
	DIR *dir = opendir(LOGS);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) && !take_folder(pod, entry->d_name, uid))
		;
	if (dir && entry)
		find_only(dirfd(dir), entry->d_name, only);
	if (dir)
		closedir(dir);
}

/* --------------------------------------------------------------------------------- */

void pod_find(struct pod *pod, pid_t pid, const char *uid)
{
	char path[64], mounted[POD_CONTAINER + 1] = "", only[POD_CONTAINER + 1] = "";
	FILE *mountinfo;

	find_logs(pod, uid, only);
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	mountinfo = fopen(path, "re");
	if (mountinfo && !pod_container(mountinfo, uid, mounted))
		*mounted = '\0';
	if (mountinfo)
		fclose(mountinfo);
	if (!*mounted || !*only || !strcmp(mounted, only))
		strcpy(pod->container, *mounted ? mounted : only);
}

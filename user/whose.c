// SPDX-License-Identifier: GPL-2.0-only
#include "whose.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "running.h"
#include "target/pod.h"

static void keep(char label[METRICS_LABEL], const char *text, size_t length)
{
	snprintf(label, METRICS_LABEL, "%.*s", (int)length, text);
}

/* "NAMESPACE_POD_UID": names of Kubernetes have no '_'. */
static bool take_folder(struct metrics_whose *whose, const char *name, const char *uid)
{
	const char *first = strchr(name, '_'), *second = first ? strchr(first + 1, '_') : NULL;

	if (!second || strcmp(second + 1, uid) != 0)
		return false;
	keep(whose->namespace, name, first - name);
	keep(whose->pod, first + 1, second - first - 1);
	return true;
}

/* A pod's folder has one for each container that was started in it: its name if it is one, else "".
 */
static void find_only(int logs, const char *pod, char name[POD_CONTAINER + 1])
{
	int fd = openat(logs, pod, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
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

static void find_pod(struct metrics_whose *whose, const char *uid, const char *pod_logs,
		     char only[POD_CONTAINER + 1])
{
	DIR *dir = opendir(pod_logs);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) && !take_folder(whose, entry->d_name, uid))
		;
	if (dir && entry)
		find_only(dirfd(dir), entry->d_name, only);
	if (dir)
		closedir(dir);
}

/* Its container by the pod's name for it, where that is certain: two who tell it do not differ. */
static void find_container(struct metrics_whose *whose, pid_t pid, const char *uid,
			   const char *only)
{
	char path[64], mounted[POD_CONTAINER + 1] = "";
	FILE *mountinfo;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	mountinfo = fopen(path, "re");
	if (mountinfo && !pod_container(mountinfo, uid, mounted))
		*mounted = '\0';
	if (mountinfo)
		fclose(mountinfo);
	if (*mounted && *only && strcmp(mounted, only) != 0)
		return;
	if (*mounted || *only)
		keep(whose->container, *mounted ? mounted : only, POD_CONTAINER);
}

void whose_find(pid_t pid, const char *pod_logs, struct metrics_whose *whose)
{
	struct running_process *it = calloc(1, sizeof(*it));
	struct process process = {.pid = pid};
	char uid[CGROUP_POD + 1], only[POD_CONTAINER + 1] = "";

	if (!it)
		return;
	running_describe(it, &process);
	snprintf(whose->comm, sizeof(whose->comm), "%s",
		 *it->names[RUNNING_PROGRAM] ? it->names[RUNNING_PROGRAM]
					     : it->names[RUNNING_COMM]);
	keep(whose->container, it->container, CGROUP_SHORT);
	if (cgroup_pod(it->cgroups, uid)) {
		find_pod(whose, uid, pod_logs, only);
		find_container(whose, pid, uid, only);
	}
	free(it);
}

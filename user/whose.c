// SPDX-License-Identifier: GPL-2.0-only
#include "whose.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "running.h"

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

static void find_pod(struct metrics_whose *whose, const char *uid, const char *pod_logs)
{
	DIR *dir = opendir(pod_logs);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) && !take_folder(whose, entry->d_name, uid))
		;
	if (dir)
		closedir(dir);
}

void whose_find(pid_t pid, const char *pod_logs, struct metrics_whose *whose)
{
	struct running_process *it = calloc(1, sizeof(*it));
	struct process process = {.pid = pid};
	char uid[CGROUP_POD + 1];

	if (!it)
		return;
	running_describe(it, &process);
	snprintf(whose->comm, sizeof(whose->comm), "%s",
		 *it->names[RUNNING_PROGRAM] ? it->names[RUNNING_PROGRAM]
					     : it->names[RUNNING_COMM]);
	keep(whose->container, it->container, CGROUP_SHORT);
	if (cgroup_pod(it->cgroups, uid))
		find_pod(whose, uid, pod_logs);
	free(it);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_TRIES 100 /* of a millisecond */
#define NICE_MIN   (-10)

extern char **environ;

/* Nothing that a user would type. */
static char *const commands[HELPERS] = {
	[HELPER_INSPECTOR] = "(inspector)",
	[HELPER_HANDS] = "(hands)",
};

bool spawn_is(enum helper helper, int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], commands[helper]);
}

int spawn_sockets(int pair[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	for (int i = 0; i < 2; i++) {
		int high = fcntl(pair[i], F_DUPFD_CLOEXEC, HELPER_SECOND + 1), error = -errno;

		close(pair[i]);
		pair[i] = high;
		if (high >= 0)
			continue;
		close(pair[!i]);
		return error;
	}
	return 0;
}

static int add_actions(posix_spawn_file_actions_t *actions, const int *sockets)
{
	int error = posix_spawn_file_actions_adddup2(actions, sockets[0], HELPER_FIRST);

	return -(error ?: posix_spawn_file_actions_adddup2(actions, sockets[1], HELPER_SECOND));
}

/* Signals of the terminal are not for it: it ends when its sockets do. */
static int add_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none;
	int error;

	sigemptyset(&none);
	error = posix_spawnattr_setflags(attributes,
					 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	error = error ?: posix_spawnattr_setpgroup(attributes, 0);
	return -(error ?: posix_spawnattr_setsigmask(attributes, &none));
}

int spawn_helper(enum helper helper, const int sockets[2], pid_t *pid)
{
	char *const argv[] = {"opprobe", commands[helper], NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error;

	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes)) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	error = add_actions(&actions, sockets) ?: add_attributes(&attributes);
	if (!error)
		error = -posix_spawn(pid, "/proc/self/exe", &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

void spawn_wait_behind(void)
{
	if (getpriority(PRIO_PROCESS, 0) < NICE_MIN)
		setpriority(PRIO_PROCESS, 0, NICE_MIN);
}

void spawn_hurry(pid_t pid)
{
	cpu_set_t cpus;

	if (pid <= 0)
		return;
	setpriority(PRIO_PROCESS, pid, NICE_MIN);
	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		sched_setaffinity(pid, sizeof(cpus), &cpus);
}

uint64_t spawn_ready_ns(pid_t pid)
{
	char path[64];
	uint64_t ready = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*u %" SCNu64, &ready) != 1)
		ready = 0;
	if (file)
		fclose(file);
	return ready;
}

int spawn_end(pid_t pid, bool patiently)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int status = -1;

	for (int i = 0; i < REAP_TRIES; i++) {
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended)
			return ended == pid ? status : -1;
		if (!patiently || i == REAP_TRIES / 10)
			kill(pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
	return -1;
}

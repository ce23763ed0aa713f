// SPDX-License-Identifier: GPL-2.0-only
#include "apart.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#define STACK_SIZE 32768 /* bytes: calls of the system need little */
#define AT_ONCE	   64

struct part {
	void (*act)(void *item);
	void *item;
	char *stack; /* its end: it grows downwards; NULL if there is no memory */
	pid_t pid;   /* 0: it could not be started */
};

static int enter(void *data)
{
	const struct part *part = data;

	part->act(part->item);
	return 0;
}

static void start(struct part *part)
{
	pid_t pid = -1;

	if (part->stack)
		pid = clone(enter, part->stack, CLONE_VM | CLONE_FILES | CLONE_FS, part);
	part->pid = pid < 0 ? 0 : pid;
}

static void finish(const struct part *part)
{
	if (!part->pid)
		part->act(part->item);
	/* Without a signal at its end it is waited for as a thread would be. */
	while (part->pid && waitpid(part->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

static void do_parts(struct part *parts, size_t n)
{
	sigset_t all, before;

	/* Nor do signals of the terminal end one of them. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (size_t i = 0; i < n; i++)
		start(&parts[i]);
	for (size_t i = 0; i < n; i++)
		finish(&parts[i]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void apart_each(void (*act)(void *item), void *items, size_t n, size_t size)
{
	size_t room = n < AT_ONCE ? n : AT_ONCE, used = 0;
	char *stacks = malloc(room * STACK_SIZE);
	struct part parts[AT_ONCE];

	for (size_t i = 0; i < n; i++) {
		parts[used] = (struct part){
			.act = act,
			.item = (char *)items + i * size,
			.stack = stacks ? stacks + (used + 1) * STACK_SIZE : NULL,
		};
		used++;
		if (used < room && i + 1 < n)
			continue;
		do_parts(parts, used);
		used = 0;
	}
	free(stacks);
}

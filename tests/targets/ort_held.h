/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs that are held inside of InferenceSession::Run(), each on a thread of its
 * own, without a CPU's time: a run with a tag logs it, and the log is ours. They
 * go on one after another, or their threads die where they are.
 */
#ifndef ORT_HELD_H
#define ORT_HELD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct held {
	pthread_t thread;
	sem_t go;
	bool dies;
	void (*run)(void);
};

static struct held *held;
static size_t n_held;
static sem_t held_arrived;
static __thread struct held *held_self;

/* The logger (OrtLoggingFunction): where a thread that is to be held stays. */
static void held_log(void *param, int severity, const char *category, const char *id,
		     const char *location, const char *message)
{
	struct held *self = held_self;

	(void)param, (void)severity, (void)category, (void)id, (void)location;
	if (!self || strncmp(message, "Running with tag", 16) != 0)
		return;
	held_self = NULL;
	sem_post(&held_arrived);
	while (sem_wait(&self->go))
		;
	if (self->dies)
		syscall(SYS_exit, 0);
}

static void *held_work(void *argument)
{
	held_self = argument;
	held_self->run();
	return NULL;
}

/* Have @n threads begin a run by @run, which gives it a tag; false if that cannot be. */
static bool hold(size_t n, void (*run)(void))
{
	held = calloc(n, sizeof(*held));
	if (!held)
		return false;
	sem_init(&held_arrived, 0, 0);
	for (n_held = 0; n_held < n; n_held++) {
		struct held *one = &held[n_held];

		one->run = run;
		sem_init(&one->go, 0, 0);
		if (pthread_create(&one->thread, NULL, held_work, one))
			return false;
	}
	for (size_t i = 0; i < n; i++)
		while (sem_wait(&held_arrived))
			;
	return true;
}

/* Let them go on to the end of their runs, or of their threads; returns when all have. */
static void held_let_go(bool die)
{
	for (size_t i = 0; i < n_held; i++) {
		held[i].dies = die;
		sem_post(&held[i].go);
		pthread_join(held[i].thread, NULL);
	}
	free(held);
	n_held = 0;
}

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* Whom opprobe holds up while it records, and who holds it up. */
#include "recording_state.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define NICE_FIRST (-20)
/* So many of opprobe's threads and processes are at work at once before the probes. */
#define AT_WORK 3
/* Who wants a CPU is looked at so often, so far apart (us). */
#define LOOKS	    9
#define LOOKS_APART 1000

/*
 * With a CPU free, but not for each of them, opprobe's own would come on those of the target as
 * well, and whoever is waked there has it until the next tick of the scheduler: 4 ms in place of
 * 0.3 were measured. So they share one CPU, the one that this runs on, which the others leave, and
 * whoever is started inherits that. Where none is free they would not, and nothing is gained.
 */
static void stay_on_one_cpu(struct recording *recording, long others, long cpus)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	if (others >= cpus || others + AT_WORK <= cpus || cpu < 0 ||
	    sched_getaffinity(0, sizeof(recording->cpus), &recording->cpus))
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	recording->on_one_cpu = !sched_setaffinity(0, sizeof(one), &one);
}

static void spread(struct recording *recording)
{
	if (recording->on_one_cpu)
		sched_setaffinity(0, sizeof(recording->cpus), &recording->cpus);
	recording->on_one_cpu = false;
}

/*
 * Before hundreds of busy threads a reader of normal priority gets its turn
 * too late for the ring. It needs a few per cent of one CPU, but those soon.
 * Where that is not permitted, it is not done.
 */
void recording_hurry(struct recording *recording)
{
	spread(recording);
	setpriority(PRIO_PROCESS, 0, NICE_FIRST);
}

void recording_slow_down(struct recording *recording)
{
	spread(recording);
	setpriority(PRIO_PROCESS, 0, recording->priority);
}

/* Threads on this machine that want a CPU now, this one among them; 1 if that is not known. */
static long running_now(void)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[256];
	long running = 1;

	/* The lines of CPUs are before it, that of interrupts is in pieces. */
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "procs_running %ld", &running) == 1)
			break;
	if (file)
		fclose(file);
	return running;
}

static int by_number(const void *a, const void *b)
{
	const long *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/*
 * Likewise, as it mostly is: the shell that started this, or what looked at something for a
 * moment, is not who is going to be held up.
 */
static long threads_running(void)
{
	long running[LOOKS];

	for (int i = 0; i < LOOKS; i++) {
		running[i] = running_now();
		usleep(LOOKS_APART);
	}
	qsort(running, LOOKS, sizeof(running[0]), by_number);
	return running[LOOKS / 2];
}

/*
 * What is to be done before the probes takes some tenths of a second of one CPU, of which the
 * target may be in want. Where others wait for each CPU this gets a quarter of one, as the
 * scheduler weighs it (a step of nice is a fourth more: sched_prio_to_weight of the kernel), so
 * that it is neither them who wait nor opprobe for minutes. Where it could not hurry later, its
 * priority is left alone, and so are its CPUs: what it cannot give back to helpers, which are
 * somebody else's, it does not take.
 */
void recording_be_patient(struct recording *recording)
{
	long others = threads_running() - 1, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double each = fmax((double)others / (double)cpus, 1);
	int nice = (int)lround(-log(each / 3) / log(1.25));

	recording->priority = getpriority(PRIO_PROCESS, 0);
	if (setpriority(PRIO_PROCESS, 0, NICE_FIRST))
		return;
	setpriority(PRIO_PROCESS, 0, nice < NICE_FIRST ? NICE_FIRST : nice);
	stay_on_one_cpu(recording, others, cpus);
}

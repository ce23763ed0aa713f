// SPDX-License-Identifier: GPL-2.0-only
/* Whom opprobe holds up while it records, and who holds it up. */
#include "recording_state.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define NICE_FIRST (-20)

/*
 * Before hundreds of busy threads a reader of normal priority gets its turn
 * too late for the ring. It needs a few per cent of one CPU, but those soon.
 * Where that is not permitted, it is not done.
 */
void recording_hurry(void)
{
	setpriority(PRIO_PROCESS, 0, NICE_FIRST);
}

void recording_slow_down(const struct recording *recording)
{
	setpriority(PRIO_PROCESS, 0, recording->priority);
}

/* Threads on this machine that want a CPU now, this one among them; 1 if that is not known. */
static long threads_running(void)
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

/*
 * What is to be done before the probes takes some tenths of a second of one CPU, of which the
 * target may be in want. Where others wait for each CPU this gets a quarter of one, as the
 * scheduler weighs it (a step of nice is a fourth more: sched_prio_to_weight of the kernel), so
 * that it is neither them who wait nor opprobe for minutes. Where it could not hurry later, its
 * priority is left alone.
 */
void recording_be_patient(struct recording *recording)
{
	double others = (double)(threads_running() - 1) / (double)sysconf(_SC_NPROCESSORS_ONLN);
	int nice = (int)lround(-log(fmax(others, 1) / 3) / log(1.25));

	recording->priority = getpriority(PRIO_PROCESS, 0);
	if (!setpriority(PRIO_PROCESS, 0, NICE_FIRST))
		setpriority(PRIO_PROCESS, 0, nice < NICE_FIRST ? NICE_FIRST : nice);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/array.h"
#include "../base/clock.h"
#include "../runtime/skeleton.h"

#define REDRAW_PERIODS 20 /* a new period begins anew: the rest of the old one is lost */

struct sampled_cpu {
	int cpu, event;
};

struct sampler {
	ARRAY_OF(struct sampled_cpu) cpus;
	struct opprobe_bpf *bpf;
	double period;	/* ns, the usual one */
	uint64_t drawn; /* when periods were drawn last */
	unsigned short random[3];
};

/*
 * A period for @cpu, from half of the usual one to one and a half, so that they are 1/ln 3 of it on
 * average over the time. The programs are told.
 */
static uint64_t draw(struct sampler *sampler, int cpu)
{
	uint64_t period = (uint64_t)lround(sampler->period * (0.5 + erand48(sampler->random)));

	__atomic_store_n(&sampler->bpf->bss->sample_periods[cpu % SAMPLED_CPUS], period,
			 __ATOMIC_RELEASE);
	return period;
}

static int open_on(struct sampler *sampler, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = draw(sampler, cpu),
		.disabled = 1,
		.exclude_idle = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int add_cpu(struct sampler *sampler, int cpu, int program)
{
	struct sampled_cpu *added;
	int fd = open_on(sampler, cpu);

	/* It is off. */
	if (fd == -ENODEV)
		return 0;
	if (fd < 0)
		return fd;
	added = array_push(&sampler->cpus);
	if (!added) {
		close(fd);
		return -ENOMEM;
	}
	*added = (struct sampled_cpu){cpu, fd};
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) ? -errno : 0;
}

struct sampler *sampler_new(struct opprobe_bpf *bpf, double rate, struct error *err)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t now = clock_ns();
	int error = sampler ? 0 : -ENOMEM;

	if (sampler) {
		sampler->bpf = bpf;
		sampler->period = 1e9 * log(3) / rate;
		for (int i = 0; i < 3; i++)
			sampler->random[i] = (unsigned short)(now >> (16 * i));
	}
	for (int cpu = 0; cpu < n_cpus && !error; cpu++)
		error = add_cpu(sampler, cpu, bpf_program__fd(bpf->progs.ort_sample));
	if (!error && sampler->cpus.n)
		return sampler;
	error_set(
		err, error ?: -ENODEV,
		"cannot look at what CPUs do at intervals: %s; run opprobe as root (sudo), or with "
		"CAP_BPF and CAP_PERFMON",
		error_reason(error ?: -ENODEV));
	sampler_free(sampler);
	return NULL;
}

void sampler_describe(const struct sampler *sampler, struct capture_sampling *sampling)
{
	*sampling = (struct capture_sampling){
		.event = "cpu-clock",
		.unit = "ns",
		.rate = (uint64_t)llround(1e12 * log(3) / sampler->period),
	};
}

int sampler_start(struct sampler *sampler, struct error *err)
{
	for (size_t i = 0; i < sampler->cpus.n; i++)
		if (ioctl(sampler->cpus.items[i].event, PERF_EVENT_IOC_ENABLE, 0))
			return error_set(err, -errno, "cannot start to sample: %s",
					 error_reason(-errno));
	sampler->drawn = clock_ns();
	return 0;
}

void sampler_redraw(struct sampler *sampler, uint64_t now)
{
	if (now - sampler->drawn < REDRAW_PERIODS * sampler->period)
		return;
	sampler->drawn = now;
	for (size_t i = 0; i < sampler->cpus.n; i++) {
		uint64_t period = draw(sampler, sampler->cpus.items[i].cpu);

		ioctl(sampler->cpus.items[i].event, PERF_EVENT_IOC_PERIOD, &period);
	}
}

void sampler_stop(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->cpus.n; i++)
		ioctl(sampler->cpus.items[i].event, PERF_EVENT_IOC_DISABLE, 0);
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	for (size_t i = 0; i < sampler->cpus.n; i++)
		close(sampler->cpus.items[i].event);
	array_free(&sampler->cpus);
	free(sampler);
}

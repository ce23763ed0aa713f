// SPDX-License-Identifier: GPL-2.0-only
#include "sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/array.h"
#include "../base/clock.h"
#include "../base/denied.h"
#include "../counters/counters.h"
#include "../runtime/skeleton.h"

#define REDRAW_PERIODS 20 /* a new period begins anew: the rest of the old one is lost */
#define LOOK_NS	       UINT64_C(1000000000) /* between two looks at which CPUs there are */

/* By number: all that there may be. */
struct sampled_cpu {
	int event;	  /* -1: the CPU is off */
	uint64_t enabled; /* ns that it was on by the last look */
};

struct sampler {
	ARRAY_OF(struct sampled_cpu) cpus;
	struct opprobe_bpf *bpf;
	struct sampler_options options;
	uint64_t looked; /* when; 0: it has not been started */
	/* Of a clock: */
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

static struct perf_event_attr clock_of(struct sampler *sampler, int cpu)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = draw(sampler, cpu),
		.exclude_idle = 1,
	};
}

/* By rate, the kernel keeps to it: periods follow how often the event happens. */
static struct perf_event_attr event_of(const struct sampler_options *options)
{
	struct perf_event_attr attr = options->counter->attr;

	attr.freq = !options->period;
	if (options->period)
		attr.sample_period = options->period;
	else
		attr.sample_freq = (uint64_t)llround(options->rate);
	return attr;
}

static int open_on(struct sampler *sampler, int cpu)
{
	struct perf_event_attr attr =
		sampler->options.counter ? event_of(&sampler->options) : clock_of(sampler, cpu);
	int fd;

	attr.size = sizeof(attr);
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void close_on(struct sampler *sampler, int cpu)
{
	struct sampled_cpu *it = &sampler->cpus.items[cpu];

	if (it->event >= 0)
		close(it->event);
	*it = (struct sampled_cpu){.event = -1};
}

/* 0 also if it is off, or a negative errno. */
static int add_cpu(struct sampler *sampler, int cpu)
{
	struct sampled_cpu *it = &sampler->cpus.items[cpu];
	int fd = open_on(sampler, cpu);

	if (fd == -ENODEV)
		return 0;
	if (fd < 0)
		return fd;
	it->event = fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(sampler->bpf->progs.ort_sample))
		       ? -errno
		       : 0;
}

static int add_cpus(struct sampler *sampler, size_t n)
{
	int error = array_extend(&sampler->cpus, n), found = 0;

	for (size_t cpu = 0; cpu < sampler->cpus.n; cpu++)
		sampler->cpus.items[cpu].event = -1;
	for (size_t cpu = 0; cpu < n && !error; cpu++) {
		error = add_cpu(sampler, (int)cpu);
		found += sampler->cpus.items[cpu].event >= 0;
	}
	return error ?: found ? 0 : -ENODEV;
}

static int refuse(const struct sampler_options *options, int error, struct error *err)
{
	if (!options->counter)
		return denied(err, error, "cannot look at what CPUs do at intervals");
	return error_set(err, error,
			 "cannot sample '%s' on all CPUs: %s; -e counts it with probes, if "
			 "anything does, and --sample alone is of time on CPUs",
			 options->counter->name, error_reason(error));
}

struct sampler *sampler_new(struct opprobe_bpf *bpf, const struct sampler_options *options,
			    struct error *err)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t now = clock_ns();
	int error = sampler ? 0 : -ENOMEM;

	if (sampler) {
		sampler->bpf = bpf;
		sampler->options = *options;
		if (options->rate > 0)
			sampler->period = 1e9 * log(3) / options->rate;
		for (int i = 0; i < 3; i++)
			sampler->random[i] = (unsigned short)(now >> (16 * i));
	}
	if (!error && !options->off_cpu)
		error = add_cpus(sampler, n_cpus > 0 ? (size_t)n_cpus : 0);
	if (!error)
		return sampler;
	refuse(options, error, err);
	sampler_free(sampler);
	return NULL;
}

void sampler_describe(const struct sampler *sampler, struct capture_sampling *sampling)
{
	const struct sampler_options *options = &sampler->options;

	if (options->off_cpu) {
		*sampling = (struct capture_sampling){
			.event = "off-cpu",
			.unit = "ns",
			.kind = CAPTURE_SAMPLING_OFF_CPU,
			.period = 1,
		};
		return;
	}
	*sampling = (struct capture_sampling){
		.event = "cpu-clock",
		.unit = "ns",
		.kind = CAPTURE_SAMPLING_TIME,
		.rate = (uint64_t)llround(1e3 * options->rate),
		.period = options->period,
	};
	if (!options->counter)
		return;
	sampling->kind = options->period == 1 ? CAPTURE_SAMPLING_EACH : CAPTURE_SAMPLING_EVENT;
	snprintf(sampling->event, sizeof(sampling->event), "%s", options->counter->name);
	snprintf(sampling->unit, sizeof(sampling->unit), "%s", options->counter->unit);
}

int sampler_start(struct sampler *sampler, struct error *err)
{
	struct opprobe_bpf *bpf = sampler->bpf;

	if (sampler->options.off_cpu) {
		bpf->links.ort_switched = bpf_program__attach(bpf->progs.ort_switched);
		if (!bpf->links.ort_switched)
			return error_set(err, -errno, "cannot watch threads leave their CPUs: %s",
					 error_reason(-errno));
	}
	for (size_t cpu = 0; cpu < sampler->cpus.n; cpu++)
		if (sampler->cpus.items[cpu].event >= 0 &&
		    ioctl(sampler->cpus.items[cpu].event, PERF_EVENT_IOC_ENABLE, 0))
			return error_set(err, -errno, "cannot start to sample: %s",
					 error_reason(-errno));
	sampler->drawn = sampler->looked = clock_ns();
	return 0;
}

/* Is its event still on? One whose CPU was off in between does not come back with it. */
static bool is_on(struct sampled_cpu *it)
{
	struct {
		uint64_t count, enabled;
	} told;
	uint64_t before = it->enabled;

	if (it->event < 0 || read(it->event, &told, sizeof(told)) != sizeof(told))
		return false;
	it->enabled = told.enabled;
	return told.enabled > before;
}

void sampler_look(struct sampler *sampler, uint64_t now)
{
	if (!sampler->looked || now - sampler->looked < LOOK_NS)
		return;
	sampler->looked = now;
	for (size_t cpu = 0; cpu < sampler->cpus.n; cpu++) {
		struct sampled_cpu *it = &sampler->cpus.items[cpu];

		if (is_on(it))
			continue;
		close_on(sampler, (int)cpu);
		if (add_cpu(sampler, (int)cpu) ||
		    (it->event >= 0 && ioctl(it->event, PERF_EVENT_IOC_ENABLE, 0)))
			close_on(sampler, (int)cpu);
	}
}

void sampler_redraw(struct sampler *sampler, uint64_t now)
{
	if (sampler->options.counter || sampler->options.off_cpu ||
	    (double)(now - sampler->drawn) < REDRAW_PERIODS * sampler->period)
		return;
	sampler->drawn = now;
	for (size_t cpu = 0; cpu < sampler->cpus.n; cpu++) {
		uint64_t period;

		if (sampler->cpus.items[cpu].event < 0)
			continue;
		period = draw(sampler, (int)cpu);
		ioctl(sampler->cpus.items[cpu].event, PERF_EVENT_IOC_PERIOD, &period);
	}
}

bool sampler_note(const struct sampler *sampler, char note[CAPTURE_NOTE_SIZE])
{
	int64_t left_out = sampler ? sampler->bpf->bss->events_left_out : 0;

	if (left_out > 0)
		snprintf(note, CAPTURE_NOTE_SIZE,
			 "the kernel left samples out, for %" PRId64
			 " %s on these CPUs: whose they were is not known, and they are in no row",
			 left_out, sampler->options.counter->name);
	return left_out > 0;
}

void sampler_stop(struct sampler *sampler)
{
	struct opprobe_bpf *bpf = sampler->bpf;

	bpf_link__destroy(bpf->links.ort_switched);
	bpf->links.ort_switched = NULL;
	sampler->looked = 0;
	for (size_t cpu = 0; cpu < sampler->cpus.n; cpu++)
		if (sampler->cpus.items[cpu].event >= 0)
			ioctl(sampler->cpus.items[cpu].event, PERF_EVENT_IOC_DISABLE, 0);
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	for (size_t cpu = 0; cpu < sampler->cpus.n; cpu++)
		close_on(sampler, (int)cpu);
	array_free(&sampler->cpus);
	free(sampler);
}

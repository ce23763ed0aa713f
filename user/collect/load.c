// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING_SIZE (8 << 20)
/* The inode of the first pid namespace (include/linux/proc_ns.h). */
#define PID_NAMESPACE_INITIAL 0xeffffffcU

bool counters_need_events(const struct counter_set *counters)
{
	for (size_t i = 0; i < counters->n; i++)
		if (counters->counters[i].source == COUNTER_PERF ||
		    counters->counters[i].source == COUNTER_PERF_SOFTWARE)
			return true;
	return false;
}

static void set_up(struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	const struct kernel_features *features = &collector->features;
	struct opprobe_bpf *bpf = collector->bpf;
	bool events = counters_need_events(options->counters);
	bool shapes = options->shapes && options->location->runtime->shapes;
	struct stat ns;

	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != PID_NAMESPACE_INITIAL) {
		bpf->rodata->pidns_dev = ns.st_dev;
		bpf->rodata->pidns_ino = ns.st_ino;
	}
	bpf->rodata->use_task_storage = features->task_storage;
	bpf->rodata->use_cookies = features->cookies;
	bpf->bss->instances[0].forget_each_run = !location_has(options->location, SITE_SESSION_END);
	bpf->rodata->selective = options->selective;
	bpf->rodata->with_runs = location_has(options->location, SITE_RUN_ENTER);
	bpf->rodata->with_work = location_has(options->location, SITE_TASK_ENTER);
	bpf->rodata->with_shapes = shapes;
	/* The first numbers are those of operators that are known before they run. */
	bpf->bss->next_number[NUMBER_OPERATOR] = options->location->names.n;
	bpf->rodata->n_counters = options->counters->n;
	for (size_t i = 0; i < options->counters->n; i++)
		bpf->rodata->counter_source[i] = options->counters->counters[i].source;

	bpf_map__set_autocreate(bpf->maps.thread_storage, features->task_storage);
	bpf_map__set_autocreate(bpf->maps.thread_table, !features->task_storage);
	bpf_map__set_autocreate(bpf->maps.thread_template, !features->task_storage);
	bpf_map__set_autocreate(bpf->maps.site_cookies, !features->cookies);
	bpf_map__set_autocreate(bpf->maps.operator_values, shapes);
	bpf_map__set_autocreate(bpf->maps.shapes, shapes);
	bpf_map__set_max_entries(bpf->maps.ring,
				 options->buffer_size ? options->buffer_size : RING_SIZE);
	if (options->few_operators) {
		bpf_map__set_max_entries(bpf->maps.operators, 64);
		bpf_map__set_max_entries(bpf->maps.operators_known, 64);
		bpf_map__set_max_entries(bpf->maps.numbers, 64);
		bpf_map__set_max_entries(bpf->maps.work, 64);
	}
	bpf_map__set_max_entries(bpf->maps.counter_events,
				 events ? THREAD_SLOTS * options->counters->n : 1);
	bpf_program__set_autoload(bpf->progs.task_born, events || !features->task_storage);
	probes_prepare(bpf, options->location, features->multi);
}

static int set_targets(struct collector *collector)
{
	uint32_t pid = collector->options.process->pid;
	uint8_t on = 1;

	return bpf_map_update_elem(bpf_map__fd(collector->bpf->maps.targets), &pid, &on, BPF_ANY)
		       ? -errno
		       : 0;
}

static int load_once(struct collector *collector, struct error *err)
{
	int error;

	/* Its own words are for developers; what fails is told in opprobe's. */
	libbpf_set_print(NULL);
	collector->bpf = opprobe_bpf__open();
	if (!collector->bpf)
		return error_set(err, -errno, "cannot open the BPF programs: %s", strerror(errno));
	set_up(collector);
	error = opprobe_bpf__load(collector->bpf);
	if (!error)
		error = set_targets(collector);
	if (!error)
		return 0;
	opprobe_bpf__destroy(collector->bpf);
	collector->bpf = NULL;
	if (error == -EPERM || error == -EACCES)
		return error_set(err, error,
				 "the kernel does not let opprobe load BPF programs: %s; run it as "
				 "root (sudo), or with CAP_BPF and CAP_PERFMON",
				 strerror(-error));
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return error_set(err, error,
				 "this kernel does not describe its types (no "
				 "/sys/kernel/btf/vmlinux): opprobe needs one built with "
				 "CONFIG_DEBUG_INFO_BTF, as all distributions' since 2020 are");
	return error_set(err, error,
			 "cannot load the BPF programs: %s; opprobe needs Linux 5.8 or newer with "
			 "CONFIG_BPF_SYSCALL, see `opprobe doctor`",
			 strerror(-error));
}

static bool has_helper(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, helper, NULL) == 1;
}

/*
 * What the kernel offers is asked, newest first: state kept with the task
 * (5.11), cookies (5.15), one link for many probes (6.6).
 */
int collector_load(struct collector *collector, struct error *err)
{
	struct kernel_features *features = &collector->features;
	int error;

	features->task_storage =
		has_helper(BPF_FUNC_task_storage_get) && has_helper(BPF_FUNC_get_current_task_btf);
	features->cookies = has_helper(BPF_FUNC_get_attach_cookie);
	features->multi = true;
	error = load_once(collector, err);
	if (!error && probes_multi_works(collector->bpf))
		return 0;
	if (error == -EPERM)
		return error;
	opprobe_bpf__destroy(collector->bpf);
	collector->bpf = NULL;
	features->multi = false;
	return load_once(collector, err);
}

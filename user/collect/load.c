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

static void set_stack_depths(struct opprobe_bpf *bpf, const struct location *location)
{
	for (int function = 0; function < 2; function++) {
		struct stack_depths depths = {};
		bool enter = false, leave = false, known = true;

		for (size_t i = 0; i < location->n_sites; i++) {
			const struct site *site = &location->sites[i];

			if (site->function != (unsigned int)function)
				continue;
			if (site->role == SITE_OP_ENTER) {
				known &= site->stack_depth >= 0;
				depths.enter = site->stack_depth;
				enter = true;
			} else if (site->role == SITE_OP_EXIT) {
				known &= site->stack_depth >= 0 &&
					 (!leave || depths.exit == site->stack_depth);
				depths.exit = site->stack_depth;
				leave = true;
			}
		}
		if (enter && leave && known) {
			depths.known = 1;
			memcpy((void *)&bpf->rodata->op_stack[function], &depths, sizeof(depths));
		}
	}
}

static bool location_has(const struct location *location, enum site_role role)
{
	for (size_t i = 0; i < location->n_sites; i++)
		if (location->sites[i].role == role)
			return true;
	return false;
}

bool counters_need_events(const struct counter_set *counters)
{
	for (size_t i = 0; i < counters->n; i++)
		if (counters->counters[i].source == COUNTER_PERF ||
		    counters->counters[i].source == COUNTER_PERF_SOFTWARE)
			return true;
	return false;
}

static void set_up(struct collector *collector, bool task_storage)
{
	const struct collector_options *options = &collector->options;
	struct opprobe_bpf *bpf = collector->bpf;
	bool events = counters_need_events(options->counters);
	struct stat ns;

	bpf->rodata->target_tgid = options->process->pid;
	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != PID_NAMESPACE_INITIAL) {
		bpf->rodata->pidns_dev = ns.st_dev;
		bpf->rodata->pidns_ino = ns.st_ino;
	}
	bpf->rodata->use_task_storage = task_storage;
	bpf->rodata->forget_each_run = !location_has(options->location, SITE_SESSION_END);
	bpf->rodata->selective = options->selective;
	bpf->rodata->with_runs = location_has(options->location, SITE_RUN_ENTER);
	bpf->rodata->with_work = location_has(options->location, SITE_TASK_ENTER);
	bpf->rodata->with_shapes = options->shapes != NULL;
	bpf->rodata->n_counters = options->counters->n;
	for (size_t i = 0; i < options->counters->n; i++)
		bpf->rodata->counter_source[i] = options->counters->counters[i].source;
	set_stack_depths(bpf, options->location);

	bpf_map__set_autocreate(bpf->maps.thread_storage, task_storage);
	bpf_map__set_autocreate(bpf->maps.thread_table, !task_storage);
	bpf_map__set_autocreate(bpf->maps.thread_template, !task_storage);
	bpf_map__set_autocreate(bpf->maps.operator_values, options->shapes != NULL);
	bpf_map__set_autocreate(bpf->maps.shapes, options->shapes != NULL);
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
	bpf_program__set_autoload(bpf->progs.task_born, events || !task_storage);
	probes_prepare(bpf, options->location, collector->multi);
}

static int load_once(struct collector *collector, bool task_storage, struct error *err)
{
	int error;

	/* Its own words are for developers; what fails is told in opprobe's. */
	libbpf_set_print(NULL);
	collector->bpf = opprobe_bpf__open();
	if (!collector->bpf)
		return error_set(err, -errno, "cannot open the BPF programs: %s", strerror(errno));
	set_up(collector, task_storage);
	error = opprobe_bpf__load(collector->bpf);
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

/*
 * What the kernel offers is asked, newest first: state kept with the task
 * (5.11), one link for many probes (6.6).
 */
int collector_load(struct collector *collector, struct error *err)
{
	bool task_storage = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_task_storage_get,
						    NULL) == 1 &&
			    libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE,
						    BPF_FUNC_get_current_task_btf, NULL) == 1;
	int error;

	collector->multi = true;
	error = load_once(collector, task_storage, err);
	if (!error && probes_multi_works(collector->bpf))
		return 0;
	if (error == -EPERM)
		return error;
	opprobe_bpf__destroy(collector->bpf);
	collector->bpf = NULL;
	collector->multi = false;
	return load_once(collector, task_storage, err);
}

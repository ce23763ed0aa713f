// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"
#include "sums.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../base/denied.h"

#define RING_SIZE  (8 << 20)
#define BLOCKS_MAX (1 << 16) /* that operators have at once */
/* From letting go of a program to the next, in us. */
#define UNLOAD_APART 4000
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

/* Is there a site of @role in any of the targets? */
static bool any_has(const struct collector_options *options, enum site_role role)
{
	for (size_t i = 0; i < options->n_targets; i++)
		for (const struct located *it = options->targets[i].located; it; it = it->next)
			if (location_has(&it->location, role))
				return true;
	return false;
}

static bool any_has_shapes(const struct collector_options *options)
{
	for (size_t i = 0; i < options->n_targets; i++)
		for (const struct located *it = options->targets[i].located; it; it = it->next)
			if (runtime_has_shapes(it->location.runtime))
				return true;
	return false;
}

static bool samples_off_cpu(const struct collector_options *options)
{
	return options->sampling && options->sampling->off_cpu;
}

/* The last kind of probes that there are to be. */
static enum probes_part last_part(const struct collector_options *options)
{
	return !options->sampling	? PROBES_OF_OPERATORS
	       : options->sampling_runs ? PROBES_OF_RUNS
					: PROBES_OF_SESSIONS;
}

static void choose_programs(struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	struct opprobe_bpf *bpf = collector->bpf;

	bpf_program__set_autoload(bpf->progs.ort_sample,
				  options->sampling && !samples_off_cpu(options));
	bpf_program__set_autoload(bpf->progs.ort_switched, samples_off_cpu(options));
	probes_prepare_none(bpf);
	if (options->any_runtime)
		probes_prepare_all(bpf, collector->features.multi);
	for (size_t i = 0; i < options->n_targets; i++)
		for (const struct located *it = options->targets[i].located; it; it = it->next)
			probes_prepare(bpf, &it->location, last_part(options),
				       collector->with_memory, collector->features.multi);
	probes_prepare_layers(bpf, options->layers, collector->features.multi);
}

static void choose_maps(struct collector *collector, bool shapes)
{
	const struct collector_options *options = &collector->options;
	const struct kernel_features *features = &collector->features;
	struct opprobe_bpf *bpf = collector->bpf;
	bool events = counters_need_events(options->counters);

	bpf_map__set_autocreate(bpf->maps.thread_storage, features->task_storage);
	bpf_map__set_autocreate(bpf->maps.thread_table, !features->task_storage);
	bpf_map__set_autocreate(bpf->maps.thread_template, !features->task_storage);
	bpf_map__set_autocreate(bpf->maps.site_cookies, !features->cookies);
	bpf_map__set_autocreate(bpf->maps.sampled, options->sampling);
	bpf_map__set_autocreate(bpf->maps.walks, options->sampling);
	bpf_map__set_autocreate(bpf->maps.looks, options->sampling);
	bpf_map__set_autocreate(bpf->maps.sessions_told, options->sampling);
	bpf_map__set_autocreate(bpf->maps.off_cpus, samples_off_cpu(options));
	bpf_map__set_autocreate(bpf->maps.events_counted,
				options->sampling && !samples_off_cpu(options));
	bpf_map__set_autocreate(bpf->maps.tasks_hit, options->count_tasks);
	bpf_map__set_autocreate(bpf->maps.operator_values, shapes);
	bpf_map__set_autocreate(bpf->maps.shapes, shapes);
	bpf_map__set_autocreate(bpf->maps.shapes_last, shapes);
	bpf_map__set_max_entries(bpf->maps.ring,
				 options->buffer_size ? options->buffer_size : RING_SIZE);
	if (collector->with_memory)
		bpf_map__set_max_entries(bpf->maps.blocks,
					 options->few_operators ? 64 : BLOCKS_MAX);
	if (options->few_operators) {
		bpf_map__set_max_entries(bpf->maps.operators, 64);
		bpf_map__set_max_entries(bpf->maps.operators_known, 64);
		bpf_map__set_max_entries(bpf->maps.work, 64);
	}
	if (options->sums) {
		bpf_map__set_max_entries(bpf->maps.sums, SUMS_MAX);
		bpf_map__set_value_size(bpf->maps.sums, sums_value_size(options->counters->n));
		bpf_map__set_max_entries(bpf->maps.run_sums, RUN_SUMS_MAX);
	}
	bpf_map__set_max_entries(bpf->maps.counter_events,
				 events ? THREAD_SLOTS * options->counters->n : 1);
}

/* Counter @i is read as @source. */
static void choose_counter(struct opprobe_bpf *bpf, size_t i, enum counter_source source)
{
	const uint16_t bit = 1U << i;

	bpf->rodata->counter_source[i] = source;
	bpf->rodata->counter_sources |= 1U << source;
	bpf->rodata->with_turns |= source == COUNTER_PERF;
	if (source > COUNTER_PERF_SOFTWARE)
		bpf->rodata->counters_kept |= bit;
	if (counter_is_sched(source))
		bpf->rodata->counters_of_sched |= bit;
	if (source == COUNTER_FREED_BYTES || source == COUNTER_TEMP_BYTES)
		bpf->rodata->counters_of_freed |= bit;
}

static void set_up(struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	bool any = options->any_runtime;
	bool shapes = options->shapes && (any || any_has_shapes(options));
	struct opprobe_bpf *bpf = collector->bpf;
	struct stat ns;

	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != PID_NAMESPACE_INITIAL) {
		bpf->rodata->pidns_dev = ns.st_dev;
		bpf->rodata->pidns_ino = ns.st_ino;
	}
	bpf->rodata->use_task_storage = collector->features.task_storage;
	bpf->rodata->use_cookies = collector->features.cookies;
	bpf->rodata->use_task_regs = collector->features.task_regs;
	bpf->rodata->selective = options->selective;
	bpf->rodata->with_runs = any || any_has(options, SITE_RUN_ENTER);
	bpf->rodata->with_work = any || any_has(options, SITE_TASK_ENTER);
	bpf->rodata->with_parts = options->parts;
	bpf->rodata->with_keys = collector_wants_keys(options);
	bpf->rodata->with_sums = options->sums;
	bpf->rodata->with_windows = options->windows;
	bpf->rodata->count_tasks = options->count_tasks;
	bpf->rodata->sample_every = options->sampling ? options->sampling->period : 0;
	bpf->bss->runs_summed = options->sums;
	bpf->rodata->with_shapes = shapes;
	bpf->rodata->with_memory = collector->with_memory;
	bpf->rodata->n_counters = options->counters->n;
	for (size_t i = 0; i < options->counters->n; i++)
		choose_counter(bpf, i, options->counters->counters[i].source);
	choose_maps(collector, shapes);
	choose_programs(collector);
}

/*
 * Tail calls keep programs off stacks that are one per CPU (keep_own_stack() in
 * bpf/). Kernels without links of many probes do not have those, and some do not
 * take tail calls beside functions (arm64 before 6.0): any other call will do
 * there, as it is never reached.
 */
static int drop_tail_calls(struct bpf_program *program)
{
	size_t n = bpf_program__insn_cnt(program);
	struct bpf_insn *insns = calloc(n, sizeof(*insns));
	int error;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), n * sizeof(*insns));
	for (size_t i = 0; i < n; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg &&
		    insns[i].imm == BPF_FUNC_tail_call)
			insns[i].imm = BPF_FUNC_get_smp_processor_id;
	error = bpf_program__set_insns(program, insns, n);
	free(insns);
	return error;
}

static int suit_kernel(struct collector *collector)
{
	struct bpf_program *program;
	int error = 0;

	if (collector->features.multi)
		return 0;
	bpf_object__for_each_program(program, collector->bpf->obj)
	{
		if (!error)
			error = drop_tail_calls(program);
	}
	return error;
}

/* Are there too few open files for all maps and programs? libbpf says so in other words. */
static bool lacks_files(const struct opprobe_bpf *bpf)
{
	ARRAY_OF(int) opened = {};
	struct bpf_program *program;
	struct bpf_map *map;
	size_t n = 16; /* its own, for a moment */
	bool lacks = false;

	bpf_object__for_each_program(program, bpf->obj) n++;
	bpf_object__for_each_map(map, bpf->obj) n++;
	while (!lacks && opened.n < n) {
		int *place = array_push(&opened);

		if (place)
			*place = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		lacks = !place || (*place < 0 && (errno == EMFILE || errno == ENFILE));
	}
	for (size_t i = 0; i < opened.n; i++)
		if (opened.items[i] >= 0)
			close(opened.items[i]);
	array_free(&opened);
	return lacks;
}

/* The kernel has answered @error: why, and what to do. Returns it. */
static int load_refused(int error, struct error *err)
{
	struct utsname kernel;

	if (error == -EPERM)
		return denied(err, error, "the kernel does not let opprobe load BPF programs");
	if (error == -EMFILE || error == -ENFILE || error == -ENOMEM)
		return error_set(err, error, "cannot load the BPF programs: %s",
				 error_reason(error));
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return error_set(err, error,
				 "this kernel does not describe its types (no "
				 "/sys/kernel/btf/vmlinux): opprobe needs one built with "
				 "CONFIG_DEBUG_INFO_BTF, as all distributions' since 2020 are");
	if (error == -ENOSYS)
		return error_set(err, error,
				 "cannot load the BPF programs: %s; opprobe needs Linux 5.8 or "
				 "newer with CONFIG_BPF_SYSCALL, see `opprobe doctor`",
				 error_reason(error));
	return error_set(
		err, error,
		"Linux %s does not take opprobe's BPF programs: %s; if it is 5.8 or newer, "
		"and neither a security module nor a container's seccomp filter forbids "
		"them, this is a bug of opprobe: please report it",
		uname(&kernel) ? "" : kernel.release, error_reason(error));
}

static int load_once(struct collector *collector, struct error *err)
{
	int error;

	/* Its own words are for developers; what fails is told in opprobe's. */
	libbpf_set_print(NULL);
	collector->bpf = opprobe_bpf__open();
	if (!collector->bpf)
		return error_set(err, -errno, "cannot open the BPF programs: %s",
				 error_reason(-errno));
	set_up(collector);
	error = suit_kernel(collector) ?: opprobe_bpf__load(collector->bpf);
	if (!error)
		return 0;
	if (lacks_files(collector->bpf))
		error = -EMFILE;
	opprobe_bpf__destroy(collector->bpf);
	collector->bpf = NULL;
	return load_refused(error, err);
}

static bool has_helper(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, helper, NULL) == 1;
}

/* Can programs find a thread's registers in user space? On x86-64 they know where these lie. */
static bool has_registers(const struct kernel_features *features)
{
#if defined(__x86_64__)
	return true;
#else
	return features->task_regs;
#endif
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
	features->task_regs = has_helper(BPF_FUNC_task_pt_regs);
	if (collector->options.sampling && !has_registers(features))
		return error_set(err, -ENOTSUP,
				 "samples need Linux 5.15 or newer on this architecture, which "
				 "tells programs the registers of a thread: record with probes, "
				 "--max-overhead bounds what they cost");
	features->multi = true;
	error = load_once(collector, err);
	if (!error && probes_multi_works(collector->bpf))
		return 0;
	if (error == -EPERM || error == -EMFILE || error == -ENFILE)
		return error;
	opprobe_bpf__destroy(collector->bpf);
	collector->bpf = NULL;
	features->multi = false;
	return load_once(collector, err);
}

/*
 * The kernel frees a program in a worker, on the CPU that let go of it last. Of some 15 at once it
 * took 6 ms from a target on that CPU, on a virtual machine where the longest took 1.6: one by one,
 * the target has its turn between them.
 */
void collector_unload(struct collector *collector, bool living)
{
	struct opprobe_bpf *bpf = collector->bpf;
	struct bpf_program *program;

	if (bpf && living) {
		opprobe_bpf__detach(bpf);
		bpf_object__for_each_program(program, bpf->obj)
		{
			if (bpf_program__fd(program) < 0)
				continue;
			bpf_program__unload(program);
			usleep(UNLOAD_APART);
		}
	}
	opprobe_bpf__destroy(bpf);
}

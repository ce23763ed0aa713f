// SPDX-License-Identifier: GPL-2.0-only
#include "collector.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../../bpf/events.h"
#include "held.h"
#include "identity.h"
#include "opprobe.skel.h"
#include "pool.h"
#include "probes.h"
#include "shapes.h"
#include "threads.h"

#define POLL_MS		   20 /* how long records lie in the ring at most */
#define RING_SIZE	   (8 << 20)
#define PENDING_MAX	   (64 << 20)	 /* bytes kept while names are not readable */
#define PENDING_SHAPES_MAX (32 << 20)	 /* likewise while shapes are not proven */
#define SIGHTINGS_MAX	   5000		 /* that prove nothing before opprobe gives up */
#define UPDATE_INTERVAL	   1000000000ULL /* ns between looks for dead threads */
#define PROGRESS_INTERVAL  200000000ULL
/* The inode of the first pid namespace (include/linux/proc_ns.h). */
#define PID_NAMESPACE_INITIAL 0xeffffffcU

struct thread_number {
	uint32_t tid;
	uint32_t number;
};

struct collector {
	struct collector_options options;
	struct opprobe_bpf *bpf;
	bool multi;
	struct probes *run_probes, *operator_probes;
	struct ring_buffer *ring;
	struct held *held; /* with min_duration */
	struct thread_slots *threads;
	struct pool *pool;
	struct identity_table *identities;
	struct shape_table *shapes; /* NULL: not wanted */

	/* tid → the capture's number, in the order of first sight. */
	struct thread_number *numbers;
	uint32_t n_numbers, numbers_capacity;

	/* Records that wait for names, in order: {u32 size, bytes}. */
	unsigned char *pending;
	size_t pending_size, pending_capacity;
	uint32_t sightings;

	bool releasing;
	uint64_t operators, runs, unnamed, unheld;
	uint64_t updated, reported;
	bool threads_changed;
	struct error failure;
	int failed;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* -- load ----------------------------------------------------------------- */

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

static bool counters_need_events(const struct counter_set *counters)
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
	bpf->rodata->with_shapes = options->shapes;
	bpf->rodata->n_counters = options->counters->n;
	for (size_t i = 0; i < options->counters->n; i++)
		bpf->rodata->counter_source[i] = options->counters->counters[i].source;
	set_stack_depths(bpf, options->location);

	bpf_map__set_autocreate(bpf->maps.thread_storage, task_storage);
	bpf_map__set_autocreate(bpf->maps.thread_table, !task_storage);
	bpf_map__set_autocreate(bpf->maps.thread_template, !task_storage);
	bpf_map__set_autocreate(bpf->maps.operator_values, options->shapes);
	bpf_map__set_autocreate(bpf->maps.shapes, options->shapes);
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
static int load(struct collector *collector, struct error *err)
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

/* -- records, once names can be read --------------------------------------- */

static int keep_failure(struct collector *collector, int error)
{
	if (error && !collector->failed)
		collector->failed = error;
	return error;
}

static uint32_t thread_number(struct collector *collector, uint32_t tid)
{
	for (uint32_t i = collector->n_numbers; i-- > 0;)
		if (collector->numbers[i].tid == tid)
			return collector->numbers[i].number;
	return CAPTURE_UNKNOWN;
}

static void add_thread(struct collector *collector, const struct thread_record *record)
{
	struct capture_thread thread = {.thread = collector->n_numbers, .tid = record->tid};

	if (collector->n_numbers == collector->numbers_capacity) {
		uint32_t capacity =
			collector->numbers_capacity ? 2 * collector->numbers_capacity : 64;
		void *larger = realloc(collector->numbers, capacity * sizeof(*collector->numbers));

		if (!larger) {
			keep_failure(collector, -ENOMEM);
			return;
		}
		collector->numbers = larger;
		collector->numbers_capacity = capacity;
	}
	memcpy(thread.comm, record->comm, sizeof(thread.comm));
	thread.comm[sizeof(thread.comm) - 1] = '\0';
	collector->numbers[collector->n_numbers].tid = record->tid;
	collector->numbers[collector->n_numbers].number = collector->n_numbers;
	collector->n_numbers++;
	keep_failure(collector, capture_write_thread(collector->options.writer, &thread));
}

/* The number of @tid, whose first record may have been lost. */
static uint32_t need_thread(struct collector *collector, uint32_t tid)
{
	struct thread_record record = {.tid = tid};
	uint32_t number = thread_number(collector, tid);

	if (number != CAPTURE_UNKNOWN)
		return number;
	process_thread_name(collector->options.process, tid, record.comm);
	add_thread(collector, &record);
	return thread_number(collector, tid);
}

/* The last word of a record of @size bytes. */
static uint32_t shapes_of(struct collector *collector, const struct operator_record *record,
			  size_t size)
{
	uint64_t number;

	if (!collector->shapes || size < sizeof(*record) + sizeof(number))
		return CAPTURE_UNKNOWN;
	memcpy(&number, (const char *)record + size - sizeof(number), sizeof(number));
	return shape_table_number(collector->shapes, number, collector->options.writer);
}

static void add_operator(struct collector *collector, const struct operator_record *record,
			 size_t size)
{
	uint32_t n = collector->options.counters->n;
	struct capture_exec exec = {
		.op = identity_operator(collector->identities, record->id),
		.thread = need_thread(collector, record->tid),
		.run = record->run,
		.parent = CAPTURE_UNKNOWN,
		.shapes = shapes_of(collector, record, size),
		.depth = record->depth,
		.cpu = record->cpu,
		.start = record->start,
		.end = record->end,
		.counted = record->counted,
	};

	if (exec.op == CAPTURE_UNKNOWN) {
		collector->unnamed++;
		return;
	}
	if (record->parent != NO_ID)
		exec.parent = identity_operator(collector->identities, record->parent);
	exec.flags = (record->flags & FLAG_THREW ? EXEC_THREW : 0) |
		     (record->flags & FLAG_MIGRATED ? EXEC_MIGRATED : 0) |
		     (record->flags & FLAG_NESTED ? EXEC_NESTED : 0);
	memcpy(exec.counters, record->values, n * sizeof(record->values[0]));
	if (record->flags & FLAG_WORK) {
		exec.flags |= EXEC_WORK;
		exec.work_ns = record->values[n];
		memcpy(exec.work_counters, record->values + n + 1, n * sizeof(record->values[0]));
	}
	keep_failure(collector, capture_write_exec(collector->options.writer, &exec));
	collector->operators++;
}

static void add_run(struct collector *collector, const struct run_record *record)
{
	struct capture_run run = {
		.run = record->run,
		.session = identity_session(collector->identities, record->session, record->owner),
		.thread = need_thread(collector, record->tid),
		.start = record->start,
		.end = record->end,
		.failed = record->flags & FLAG_THREW,
		.counted = record->counted,
	};

	run.step = identity_step(collector->identities, run.session);
	memcpy(run.counters, record->values,
	       collector->options.counters->n * sizeof(record->values[0]));
	keep_failure(collector, capture_write_run(collector->options.writer, &run));
	collector->runs++;
}

/* Hold an operator back until its run is over? Those of unknown runs are dropped. */
static bool hold(struct collector *collector, const struct operator_record *record, size_t size)
{
	if (!collector->options.min_duration || collector->releasing)
		return false;
	if (record->run != NO_ID && held_add(collector->held, record->run, record, size))
		collector->unheld++;
	return true;
}

static void take_record(struct collector *collector, const void *data, size_t size);

static void release(void *context, const void *data, size_t size)
{
	take_record(context, data, size);
}

/* Is the run long enough to keep? Then its operators go before it. */
static bool keep_run(struct collector *collector, const struct run_record *record)
{
	bool keep = record->end - record->start >= collector->options.min_duration;

	if (!collector->options.min_duration)
		return true;
	collector->releasing = true;
	held_end(collector->held, record->run, keep ? release : NULL, collector);
	collector->releasing = false;
	return keep;
}

static void take_record(struct collector *collector, const void *data, size_t size)
{
	size_t values = collector->options.counters->n * sizeof(uint64_t);
	const struct session_end_record *end = data;

	switch (*(const uint8_t *)data) {
	case RECORD_OPERATOR:
		if (hold(collector, data, size))
			break;
		if (((const struct operator_record *)data)->flags & FLAG_WORK)
			values = 2 * values + sizeof(uint64_t);
		if (size >= sizeof(struct operator_record) + values)
			add_operator(collector, data, size);
		break;
	case RECORD_RUN:
		if (size >= sizeof(struct run_record) + values && keep_run(collector, data))
			add_run(collector, data);
		break;
	case RECORD_STRINGS:
		identity_add(collector->identities, data);
		break;
	case RECORD_THREAD:
		add_thread(collector, data);
		break;
	case RECORD_SESSION_END:
		identity_session_end(collector->identities, end->owner);
		break;
	case RECORD_SHAPES:
		if (collector->shapes)
			shape_table_add(collector->shapes, &collector->bpf->bss->layout, data,
					size);
		break;
	default:
		break;
	}
}

/* -- records, before names can be read -------------------------------------- */

static uint32_t generation(const struct collector *collector)
{
	return __atomic_load_n(&collector->bpf->bss->generation, __ATOMIC_ACQUIRE);
}

/*
 * Read an operator's names from outside. Right only if no session was
 * destroyed between the sighting and the end of the reading: the kernel
 * counts those.
 */
static void describe_sighting(struct collector *collector, const struct sighting_record *sighting)
{
	const struct collector_options *options = &collector->options;
	struct layout layout = collector->bpf->bss->layout;
	struct strings_record strings;

	if (generation(collector) != sighting->identity.generation ||
	    options->location->runtime->describe(options->process, &layout, &sighting->identity,
						 &strings) ||
	    generation(collector) != sighting->identity.generation)
		return;
	identity_add(collector->identities, &strings);
}

static int keep_pending(struct collector *collector, const void *data, uint32_t size)
{
	size_t needed = collector->pending_size + sizeof(size) + size;

	if (needed > PENDING_MAX) {
		collector->unnamed++;
		return 0;
	}
	if (needed > collector->pending_capacity) {
		size_t capacity = 2 * needed;
		void *larger = realloc(collector->pending, capacity);

		if (!larger)
			return -ENOMEM;
		collector->pending = larger;
		collector->pending_capacity = capacity;
	}
	memcpy(collector->pending + collector->pending_size, &size, sizeof(size));
	memcpy(collector->pending + collector->pending_size + sizeof(size), data, size);
	collector->pending_size = needed;
	return 0;
}

/* Names are readable from now on: take all that waited, in order. */
static void take_pending(struct collector *collector)
{
	uint32_t size;

	for (size_t at = 0; at < collector->pending_size; at += sizeof(size) + size) {
		const unsigned char *data = collector->pending + at + sizeof(size);

		memcpy(&size, collector->pending + at, sizeof(size));
		if (*data == RECORD_SIGHTING)
			describe_sighting(collector, (const void *)data);
		else
			take_record(collector, data, size);
	}
	free(collector->pending);
	collector->pending = NULL;
	collector->pending_size = collector->pending_capacity = 0;
}

/* The first records with shapes came before names could be read. */
static void prove_pending(struct collector *collector)
{
	uint32_t size;

	for (size_t at = 0; at < collector->pending_size; at += sizeof(size) + size) {
		const unsigned char *data = collector->pending + at + sizeof(size);

		memcpy(&size, collector->pending + at, sizeof(size));
		if (*data == RECORD_SHAPES)
			shape_table_prove(collector->shapes, &collector->bpf->bss->layout,
					  (const void *)data, size);
	}
}

static void try_calibration(struct collector *collector, const struct sighting_record *sighting)
{
	const struct collector_options *options = &collector->options;
	struct layout found, *layout = &collector->bpf->bss->layout;

	if (options->location->runtime->calibrate(options->process, sighting, &found)) {
		if (++collector->sightings < SIGHTINGS_MAX)
			return;
		keep_failure(collector, -ENOTRECOVERABLE);
		error_set(&collector->failure, -ENOTRECOVERABLE,
			  "the names of the operators could not be proven in process %d after %d "
			  "operators: this build of %s lays its objects out in a way that opprobe "
			  "does not know, please report its build-id %s",
			  options->process->pid, SIGHTINGS_MAX, options->location->runtime->title,
			  options->location->build_id);
		return;
	}
	found.proven = 0;
	*layout = found;
	__atomic_store_n(&layout->proven, 1, __ATOMIC_RELEASE);
	if (collector->shapes)
		prove_pending(collector);
}

static bool calibrated(const struct collector *collector)
{
	return collector->bpf->bss->layout.proven;
}

/* Is all known that records are waiting for? */
static bool settled(const struct collector *collector)
{
	return calibrated(collector) &&
	       (!collector->shapes || shape_table_settled(collector->shapes));
}

static int on_record(void *context, void *data, size_t size)
{
	struct collector *collector = context;
	uint8_t type = *(const uint8_t *)data;

	if (collector->failed)
		return 0;
	if (type == RECORD_THREADS_CHANGED) {
		collector->threads_changed = true;
		return 0;
	}
	if (settled(collector)) {
		if (type == RECORD_SIGHTING)
			describe_sighting(collector, data);
		else
			take_record(collector, data, size);
		return 0;
	}
	keep_failure(collector, keep_pending(collector, data, size));
	if (type == RECORD_SIGHTING && !calibrated(collector))
		try_calibration(collector, data);
	else if (type == RECORD_SHAPES && collector->shapes && calibrated(collector))
		shape_table_prove(collector->shapes, &collector->bpf->bss->layout, data, size);
	if (collector->shapes && calibrated(collector) &&
	    collector->pending_size > PENDING_SHAPES_MAX)
		shape_table_refuse(collector->shapes);
	if (settled(collector))
		take_pending(collector);
	return 0;
}

/* -- life ------------------------------------------------------------------- */

struct collector *collector_new(const struct collector_options *options, struct error *err)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	struct opprobe_bpf *bpf;

	if (!collector) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	collector->options = *options;
	if (load(collector, err))
		goto fail;
	bpf = collector->bpf;
	if (options->shapes) {
		collector->shapes = shape_table_new(options->process, options->location,
						    options->file, &bpf->bss->shape_layout, err);
		if (!collector->shapes)
			goto fail;
	}
	collector->identities = identity_new(options->writer);
	collector->ring = ring_buffer__new(bpf_map__fd(bpf->maps.ring), on_record, collector, NULL);
	collector->held = held_new();
	collector->pool = pool_new(options->process);
	if (!collector->identities || !collector->ring || !collector->held || !collector->pool) {
		error_set(err, -ENOMEM, "cannot map the ring buffer: %s", strerror(errno));
		goto fail;
	}
	if (counters_need_events(options->counters)) {
		/* Births are watched before the threads are listed: none is missed. */
		bpf->links.task_born = bpf_program__attach(bpf->progs.task_born);
		if (!bpf->links.task_born) {
			error_set(err, -errno, "cannot watch for new threads: %s", strerror(errno));
			goto fail;
		}
		collector->threads = thread_slots_new(options->process, options->counters,
						      bpf_map__fd(bpf->maps.counter_events),
						      bpf_map__fd(bpf->maps.slots), err);
		if (!collector->threads || thread_slots_update(collector->threads, err) < 0)
			goto fail;
	}
	return collector;
fail:
	collector_free(collector);
	return NULL;
}

static struct probes *attach_part(struct collector *collector, enum probes_part part,
				  struct error *err)
{
	const struct probes_target target = {
		.location = collector->options.location,
		.path = collector->options.file->open_path,
		.pid = collector->options.process->pid,
		.multi = collector->multi,
	};

	return probes_attach(collector->bpf, &target, part, err);
}

int collector_attach_runs(struct collector *collector, struct error *err)
{
	collector->run_probes = attach_part(collector, PROBES_OF_RUNS, err);
	if (!collector->run_probes)
		return -EINVAL;
	/* Entries count from now on: an entry without its exit cannot be. */
	__atomic_store_n(&collector->bpf->bss->counting_runs, 1, __ATOMIC_RELEASE);
	return 0;
}

int collector_attach_operators(struct collector *collector, struct error *err)
{
	collector->operator_probes = attach_part(collector, PROBES_OF_OPERATORS, err);
	if (!collector->operator_probes)
		return -EINVAL;
	__atomic_store_n(&collector->bpf->bss->recording, 1, __ATOMIC_RELEASE);
	return 0;
}

void collector_detach_operators(struct collector *collector)
{
	__atomic_store_n(&collector->bpf->bss->recording, 0, __ATOMIC_RELEASE);
	probes_detach(collector->operator_probes, NULL);
	collector->operator_probes = NULL;
}

int collector_attach(struct collector *collector, struct error *err)
{
	int error = collector_attach_runs(collector, err);

	return error ? error : collector_attach_operators(collector, err);
}

uint32_t collector_runs_started(const struct collector *collector)
{
	return __atomic_load_n(&collector->bpf->bss->runs_started, __ATOMIC_ACQUIRE);
}

void collector_select(struct collector *collector, unsigned int window, uint32_t first,
		      uint32_t count)
{
	struct window *place = &collector->bpf->bss->windows[window];

	place->count = 0;
	__atomic_store_n(&place->first, first, __ATOMIC_RELEASE);
	__atomic_store_n(&place->count, count, __ATOMIC_RELEASE);
}

static uint64_t lost(const struct collector *collector)
{
	const struct losses *losses = &collector->bpf->bss->losses;

	return losses->ring_full + losses->too_deep + losses->threads_full + collector->unnamed;
}

static void look_after(struct collector *collector, uint64_t now)
{
	const struct collector_options *options = &collector->options;

	if (collector->threads &&
	    (collector->threads_changed || now - collector->updated > UPDATE_INTERVAL)) {
		collector->threads_changed = false;
		collector->updated = now;
		thread_slots_update(collector->threads, NULL);
	}
	if (options->progress && now - collector->reported > PROGRESS_INTERVAL) {
		collector->reported = now;
		options->progress(options, calibrated(collector) ? "recording" : "waiting",
				  collector->operators, collector->runs, lost(collector));
		keep_failure(collector, capture_writer_flush(options->writer));
	}
}

static bool reached(const struct collector *collector, const struct collector_limits *limits)
{
	return (limits->runs_started &&
		collector_runs_started(collector) >= limits->runs_started) ||
	       (limits->runs_recorded && collector->runs >= limits->runs_recorded);
}

int collector_run(struct collector *collector, const struct collector_limits *limits,
		  struct error *err)
{
	const struct collector_options *options = &collector->options;
	uint64_t deadline = limits->duration ? now_ns() + limits->duration : UINT64_MAX, now;
	int end;

	for (;;) {
		bool alive = process_alive(options->process);

		ring_buffer__poll(collector->ring, POLL_MS);
		ring_buffer__consume(collector->ring);
		now = now_ns();
		look_after(collector, now);
		if (collector->failed)
			end = collector->failed;
		else if (*options->stop)
			end = COLLECTOR_STOPPED;
		else if (!alive)
			end = COLLECTOR_EXITED;
		else if (now >= deadline)
			end = COLLECTOR_DURATION;
		else if (reached(collector, limits))
			end = COLLECTOR_RUNS;
		else
			continue;
		break;
	}
	if (end < 0 && err)
		*err = collector->failure;
	return end;
}

/* Hits that the kernel did not hand to the programs. */
static uint64_t missed(struct opprobe_bpf *bpf)
{
	struct bpf_program *program;
	uint64_t total = 0;

	bpf_object__for_each_program(program, bpf->obj)
	{
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			total += info.recursion_misses;
	}
	return total;
}

/* The pool's threads, and their CPU time as far as they are still there to tell. */
static void write_pool(struct collector *collector)
{
	int map = bpf_map__fd(collector->bpf->maps.thread_work);
	uint32_t tid, *previous = NULL;
	struct capture_pool pool;

	while (!bpf_map_get_next_key(map, previous, &tid)) {
		previous = &tid;
		if (bpf_map_lookup_elem(map, &tid, &pool.work_ns))
			continue;
		pool.thread = need_thread(collector, tid);
		pool.cpu_ns = pool_cpu(collector->pool, tid);
		keep_failure(collector, capture_write_pool(collector->options.writer, &pool));
	}
}

int collector_finish(struct collector *collector, enum collector_end end,
		     struct capture_writer *next, struct error *err)
{
	static const char *const reasons[] = {
		[COLLECTOR_STOPPED] = "interrupted",
		[COLLECTOR_DURATION] = "duration reached",
		[COLLECTOR_EXITED] = "target exited",
		[COLLECTOR_RUNS] = "runs recorded",
	};
	struct capture_writer *writer = collector->options.writer;
	struct capture_end last = {.end = now_ns()};
	struct losses *losses = &collector->bpf->bss->losses;
	struct capture_loss loss = {
		.ring_full = losses->ring_full + collector->unheld,
		.too_deep = losses->too_deep,
		.unnamed = collector->unnamed,
		.missed = missed(collector->bpf),
		.threads_full = losses->threads_full,
		.work_lost = losses->work_lost,
	};

	snprintf(last.reason, sizeof(last.reason), "%s", reasons[end]);
	write_pool(collector);
	keep_failure(collector, capture_write_loss(writer, &loss));
	keep_failure(collector, capture_write_end(writer, &last));
	if (collector->failed && err && !collector->failure.text[0])
		error_set(err, collector->failed, "cannot write the capture: %s",
			  strerror(-collector->failed));
	if (next) {
		/* All that is known by number is defined anew in the next capture. */
		identity_free(collector->identities);
		collector->identities = identity_new(next);
		collector->n_numbers = 0;
		if (collector->shapes)
			shape_table_restart(collector->shapes);
		collector->options.writer = next;
		__atomic_add_fetch(&collector->bpf->bss->generation, 1, __ATOMIC_ACQ_REL);
		if (!collector->identities)
			return keep_failure(collector, error_set(err, -ENOMEM, "out of memory"));
	}
	return collector->failed;
}

int collector_stop(struct collector *collector, enum collector_end end, struct error *err)
{
	__atomic_store_n(&collector->bpf->bss->recording, 0, __ATOMIC_RELEASE);
	probes_detach(collector->operator_probes, collector->run_probes);
	collector->operator_probes = collector->run_probes = NULL;
	ring_buffer__consume(collector->ring);
	if (collector->shapes && !shape_table_settled(collector->shapes)) {
		shape_table_refuse(collector->shapes);
		if (calibrated(collector))
			take_pending(collector);
	}
	return collector_finish(collector, end, NULL, err);
}

bool collector_no_shapes(const struct collector *collector)
{
	return collector->shapes && collector->operators && !shape_table_proven(collector->shapes);
}

uint64_t collector_operators(const struct collector *collector)
{
	return collector->operators;
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	probes_detach(collector->operator_probes, collector->run_probes);
	thread_slots_free(collector->threads);
	ring_buffer__free(collector->ring);
	identity_free(collector->identities);
	shape_table_free(collector->shapes);
	held_free(collector->held);
	pool_free(collector->pool);
	opprobe_bpf__destroy(collector->bpf);
	free(collector->pending);
	free(collector->numbers);
	free(collector);
}

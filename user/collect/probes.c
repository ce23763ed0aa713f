// SPDX-License-Identifier: GPL-2.0-only
#include "probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../bpf/events.h"
#include "opprobe.skel.h"

/* enum bpf_attach_type of kernel 6.6: newer than the headers of Debian 12. */
#define UPROBE_MULTI 48

/* Its part of union bpf_attr (include/uapi/linux/bpf.h, commit 89ae89f53d20). */
struct uprobe_multi_attr {
	uint32_t prog_fd, target_fd, attach_type, link_flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, flags, pid, pad;
};

#define PROBES_MAX SITES_MAX

struct probes {
	size_t n;
	int fds[PROBES_MAX];		    /* of uprobe_multi links */
	struct bpf_link *links[PROBES_MAX]; /* of perf events */
};

/* The program for an operator's site where shapes are read. */
static struct bpf_program *shapes_program_of(struct opprobe_bpf *bpf, const struct site *site)
{
	if (site->role == SITE_OP_EXIT)
		return site->function ? bpf->progs.op_exit2_shapes : bpf->progs.op_exit1_shapes;
	if (site->convention == OP_BY_INDEX)
		return bpf->progs.op_enter_index_shapes;
	return site->function ? bpf->progs.op_enter_kernel2_shapes
			      : bpf->progs.op_enter_kernel_shapes;
}

/* The program for a site. */
static struct bpf_program *program_of(struct opprobe_bpf *bpf, const struct site *site)
{
	if (bpf->rodata->with_shapes && (site->role == SITE_OP_ENTER || site->role == SITE_OP_EXIT))
		return shapes_program_of(bpf, site);
	switch (site->role) {
	case SITE_OP_ENTER:
		if (site->convention == OP_BY_INDEX)
			return bpf->progs.op_enter_index;
		return site->function ? bpf->progs.op_enter_kernel2 : bpf->progs.op_enter_kernel;
	case SITE_OP_EXIT:
		return site->function ? bpf->progs.op_exit2 : bpf->progs.op_exit1;
	case SITE_RUN_ENTER:
		return bpf->progs.run_enter;
	case SITE_RUN_EXIT:
		return bpf->progs.run_exit;
	case SITE_SESSION_END:
		return bpf->progs.session_end;
	case SITE_TASK_ENTER:
		return bpf->progs.task_enter;
	case SITE_TASK_EXIT:
		return bpf->progs.task_exit;
	default:
		return NULL;
	}
}

void probes_prepare(struct opprobe_bpf *bpf, const struct location *location, bool multi)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, bpf->obj) if (bpf_program__type(program) ==
							    BPF_PROG_TYPE_KPROBE)
		bpf_program__set_autoload(program, false);
	for (size_t i = 0; i < location->n_sites; i++) {
		program = program_of(bpf, &location->sites[i]);
		if (!program)
			continue;
		bpf_program__set_autoload(program, true);
		if (multi)
			bpf_program__set_expected_attach_type(program, UPROBE_MULTI);
	}
	if (multi) {
		bpf_program__set_autoload(bpf->progs.self_test, true);
		bpf_program__set_expected_attach_type(bpf->progs.self_test, UPROBE_MULTI);
	}
}

/* Returns the link's fd or a negative errno. */
static int attach_multi(struct bpf_program *program, const char *path, const uint64_t *offsets,
			size_t n, pid_t pid)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = bpf_program__fd(program),
		.attach_type = UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.count = n,
		.pid = pid,
	};
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

/* Where the probe of the self-test goes: called once, from a second thread. */
__attribute__((noinline)) static void *be_probed(void *unused)
{
	__asm__ volatile("nop" ::: "memory");
	return unused;
}

struct own_code {
	uintptr_t address;
	uint64_t offset;
	bool found;
};

static int find_own_code(struct dl_phdr_info *info, size_t size, void *data)
{
	struct own_code *own = data;

	for (int i = 0; i < info->dlpi_phnum && !own->found; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		own->found = segment->p_type == PT_LOAD && own->address >= start &&
			     own->address - start < segment->p_filesz;
		if (own->found)
			own->offset = own->address - start + segment->p_offset;
	}
	return 1; /* the first object is the program itself */
}

int probes_own_offset(const void *address, uint64_t *offset)
{
	struct own_code own = {.address = (uintptr_t)address};

	dl_iterate_phdr(find_own_code, &own);
	*offset = own.offset;
	return own.found ? 0 : -ENOENT;
}

static void *close_fd(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

static bool test_multi(struct opprobe_bpf *bpf)
{
	pthread_t thread;
	uint64_t offset;
	int fd;

	if (probes_own_offset(be_probed, &offset))
		return false;
	fd = attach_multi(bpf->progs.self_test, "/proc/self/exe", &offset, 1, getpid());
	if (fd < 0)
		return false;
	if (!pthread_create(&thread, NULL, be_probed, NULL))
		pthread_join(thread, NULL);
	/* The kernel takes its time to let go of it: not ours to wait for. */
	if (!pthread_create(&thread, NULL, close_fd, (void *)(intptr_t)fd))
		pthread_detach(thread);
	return bpf->bss->self_test_hits == 1;
}

bool probes_multi_works(struct opprobe_bpf *bpf)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static enum { UNKNOWN, WORKS, FAILS } answer;

	pthread_mutex_lock(&mutex);
	if (answer == UNKNOWN)
		answer = test_multi(bpf) ? WORKS : FAILS;
	pthread_mutex_unlock(&mutex);
	return answer == WORKS;
}

static int refuse(const struct site *site, const char *path, int error, struct error *err)
{
	const char *remedy = "see `opprobe doctor -p PID`";

	if (error == -EPERM || error == -EACCES)
		remedy = "run opprobe as root (sudo), or with CAP_BPF and CAP_PERFMON";
	else if (error == -ENOTSUP || error == -EOPNOTSUPP || error == -ENODEV)
		remedy = "this kernel needs CONFIG_UPROBE_EVENTS and CONFIG_BPF_EVENTS";
	return error_set(err, error, "cannot attach the %s probe at %#" PRIx64 " of %s: %s; %s",
			 site_role_name(site->role), site->offset, path, strerror(-error), remedy);
}

static bool is_of(const struct site *site, enum probes_part part)
{
	bool run = site->role == SITE_RUN_ENTER || site->role == SITE_RUN_EXIT ||
		   site->role == SITE_SESSION_END;

	return run == (part == PROBES_OF_RUNS);
}

static int attach_sites_multi(struct probes *probes, struct opprobe_bpf *bpf,
			      const struct probes_target *target, enum probes_part part,
			      struct error *err)
{
	const struct location *location = target->location;
	bool done[SITES_MAX] = {};

	for (size_t i = 0; i < location->n_sites; i++) {
		struct bpf_program *program = program_of(bpf, &location->sites[i]);
		uint64_t offsets[SITES_MAX];
		size_t n = 0;
		int fd;

		if (!program || done[i] || !is_of(&location->sites[i], part))
			continue;
		for (size_t j = i; j < location->n_sites; j++) {
			if (program_of(bpf, &location->sites[j]) != program)
				continue;
			offsets[n++] = location->sites[j].offset;
			done[j] = true;
		}
		fd = attach_multi(program, target->path, offsets, n, target->pid);
		if (fd < 0)
			return refuse(&location->sites[i], target->path, fd, err);
		probes->fds[probes->n++] = fd;
	}
	return 0;
}

static int attach_sites_singly(struct probes *probes, struct opprobe_bpf *bpf,
			       const struct probes_target *target, enum probes_part part,
			       struct error *err)
{
	const struct location *location = target->location;

	for (size_t i = 0; i < location->n_sites; i++) {
		struct bpf_program *program = program_of(bpf, &location->sites[i]);
		struct bpf_link *link;

		if (!program || !is_of(&location->sites[i], part))
			continue;
		link = bpf_program__attach_uprobe(program, false, target->pid, target->path,
						  location->sites[i].offset);
		if (!link)
			return refuse(&location->sites[i], target->path, -errno, err);
		probes->links[probes->n++] = link;
	}
	return 0;
}

struct probes *probes_attach(struct opprobe_bpf *bpf, const struct probes_target *target,
			     enum probes_part part, struct error *err)
{
	struct probes *probes = calloc(1, sizeof(*probes));
	int error;

	if (!probes) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	error = target->multi ? attach_sites_multi(probes, bpf, target, part, err)
			      : attach_sites_singly(probes, bpf, target, part, err);
	if (error) {
		probes_detach(probes, NULL);
		return NULL;
	}
	return probes;
}

static void *destroy_link(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

struct detaching {
	pthread_t threads[2 * PROBES_MAX];
	size_t n;
};

static void detach_begin(struct probes *probes, struct detaching *detaching)
{
	for (size_t i = 0; probes && i < probes->n; i++) {
		void *(*close_one)(void *) = probes->links[i] ? destroy_link : close_fd;
		void *what = probes->links[i] ? (void *)probes->links[i]
					      : (void *)(intptr_t)probes->fds[i];

		if (pthread_create(&detaching->threads[detaching->n], NULL, close_one, what))
			close_one(what);
		else
			detaching->n++;
	}
}

void probes_detach(struct probes *one, struct probes *other)
{
	struct detaching detaching = {};

	detach_begin(one, &detaching);
	detach_begin(other, &detaching);
	for (size_t i = 0; i < detaching.n; i++)
		pthread_join(detaching.threads[i], NULL);
	free(one);
	free(other);
}

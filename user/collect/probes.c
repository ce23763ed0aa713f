// SPDX-License-Identifier: GPL-2.0-only
#include "probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/apart.h"
#include "../base/array.h"
#include "../base/denied.h"
#include "../runtime/skeleton.h"
#include "../target/own_code.h"

/* enum bpf_attach_type of kernel 6.6: newer than the headers of Debian 12. */
#define UPROBE_MULTI 48

/* Its part of union bpf_attr (include/uapi/linux/bpf.h, commit 89ae89f53d20). */
struct uprobe_multi_attr {
	uint32_t prog_fd, target_fd, attach_type, link_flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, flags, pid, pad;
};

/* Perf events take some 0.1 s each to go: beyond this, one link must do. */
#define SINGLE_PROBES_MAX 256

/* A link of many probes, or a perf event of one and, from 5.15 on, the link to it; else -1. */
struct probe_link {
	int link, event;
};

struct probes {
	ARRAY_OF(struct probe_link) links;
};

/* What one link takes. */
struct probe_sites {
	ARRAY_OF(uint64_t) offsets;
	ARRAY_OF(uint64_t) cookies;
};

static enum probes_part part_of(const struct site *site)
{
	switch (site->role) {
	case SITE_SETUP_ENTER:
	case SITE_SETUP_EXIT:
	case SITE_SESSION_END:
		return PROBES_OF_SESSIONS;
	case SITE_RUN_ENTER:
	case SITE_RUN_EXIT:
		return PROBES_OF_RUNS;
	default:
		return PROBES_OF_OPERATORS;
	}
}

static void prepare(struct bpf_program *program, bool multi)
{
	bpf_program__set_autoload(program, true);
	if (multi)
		bpf_program__set_expected_attach_type(program, UPROBE_MULTI);
}

void probes_prepare_none(struct opprobe_bpf *bpf)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, bpf->obj)
	{
		if (bpf_program__type(program) == BPF_PROG_TYPE_KPROBE)
			bpf_program__set_autoload(program, false);
	}
}

void probes_prepare(struct opprobe_bpf *bpf, const struct location *location, enum probes_part last,
		    bool memory, bool multi)
{
	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];
		struct bpf_program *program =
			bpf_object__find_program_by_name(bpf->obj, site->program);

		if (program && part_of(site) <= last && (memory || !site_is_of_memory(site)))
			prepare(program, multi);
	}
	if (multi)
		prepare(bpf->progs.self_test, multi);
}

void probes_prepare_all(struct opprobe_bpf *bpf, bool multi)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, bpf->obj)
	{
		if (bpf_program__type(program) == BPF_PROG_TYPE_KPROBE)
			prepare(program, multi);
	}
}

void probes_prepare_layers(struct opprobe_bpf *bpf, bool wanted, bool multi)
{
	for (size_t i = 0; runtimes[i]; i++) {
		const char *const *name = runtimes[i]->is_layer ? runtimes[i]->programs : NULL;

		for (; name && *name; name++) {
			struct bpf_program *program =
				bpf_object__find_program_by_name(bpf->obj, *name);

			if (program && wanted)
				prepare(program, multi);
			else if (program)
				bpf_program__set_autoload(program, false);
		}
	}
}

/* What the kernel is to do, and has done. */
struct multi_call {
	struct uprobe_multi_attr attr;
	int fd; /* or a negative errno */
};

static void create_multi(void *item)
{
	struct multi_call *call = item;
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &call->attr, sizeof(call->attr));

	call->fd = fd < 0 ? -errno : (int)fd;
}

/* Returns the link's fd or a negative errno. */
static int attach_multi(struct bpf_program *program, const char *path, const uint64_t *offsets,
			const uint64_t *cookies, size_t n, pid_t pid)
{
	struct multi_call call = {
		.attr = {.prog_fd = bpf_program__fd(program),
			 .attach_type = UPROBE_MULTI,
			 .path = (uintptr_t)path,
			 .offsets = (uintptr_t)offsets,
			 .cookies = (uintptr_t)cookies,
			 .count = n,
			 .pid = pid},
	};

	apart_each(create_multi, &call, 1, sizeof(call));
	return call.fd;
}

static void close_link(void *item)
{
	const struct probe_link *link = item;

	if (link->event >= 0)
		syscall(SYS_close, link->event);
	if (link->link >= 0)
		syscall(SYS_close, link->link);
}

/* Where the probe of the self-test goes: called once, from a second thread. */
__attribute__((noinline)) static void *be_probed(void *unused)
{
	__asm__ volatile("nop" ::: "memory");
	return unused;
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

	if (own_code_offset((void *)be_probed, &offset))
		return false;
	fd = attach_multi(bpf->progs.self_test, "/proc/self/exe", &offset, NULL, 1, getpid());
	if (fd < 0)
		return false;
	if (!pthread_create(&thread, NULL, be_probed, NULL))
		pthread_join(thread, NULL);
	/* The kernel takes its time to let go of it: not ours to wait for. */
	if (!pthread_create(&thread, NULL, close_fd, (void *)(intptr_t)fd))
		pthread_detach(thread);
	return bpf->bss->self_test_hits == 1;
}

/* The kernel's answer, asked for once: a recording and the one of opprobe itself begin at once. */
static struct {
	pthread_mutex_t mutex;
	bool asked, works;
} multi = {.mutex = PTHREAD_MUTEX_INITIALIZER};

bool probes_multi_works(struct opprobe_bpf *bpf)
{
	bool works;

	pthread_mutex_lock(&multi.mutex);
	if (!multi.asked)
		multi.works = test_multi(bpf);
	multi.asked = true;
	works = multi.works;
	pthread_mutex_unlock(&multi.mutex);
	return works;
}

static int refuse(const struct site *site, const char *path, int error, struct error *err)
{
	if (error == -ENOTSUP || error == -EOPNOTSUPP || error == -ENODEV)
		return error_set(
			err, error,
			"cannot attach the %s probe at %#" PRIx64 " of %s: %s; this kernel "
			"needs CONFIG_UPROBE_EVENTS and CONFIG_BPF_EVENTS",
			site_role_name(site->role), site->offset, path, error_reason(error));
	return denied(err, error, "cannot attach the %s probe at %#" PRIx64 " of %s",
		      site_role_name(site->role), site->offset, path);
}

/* Is there to be a probe of @part of @target at @site? */
static bool is_of(const struct probes_target *target, const struct site *site,
		  enum probes_part part)
{
	return part_of(site) == part && (target->memory || !site_is_of_memory(site));
}

/* Does something begin at @site? An entry without its exit would seem to have thrown. */
static bool is_entry(const struct site *site)
{
	return site->role == SITE_OP_ENTER || site->role == SITE_RUN_ENTER ||
	       site->role == SITE_SETUP_ENTER || site->role == SITE_TASK_ENTER ||
	       site->role == SITE_ALLOC_ENTER || site->role == SITE_GPU_WAIT_ENTER;
}

/* -- cookies ---------------------------------------------------------------------- */

static uint64_t site_cookie(const struct probes_target *target, const struct site *site)
{
	uint32_t value = site->value;

	/* Operators that are known before they run are numbered over all locations. */
	if (site->role == SITE_OP_ENTER && target->location->names.n)
		value += target->first_operator;
	return cookie_make(value, site->stack_depth, target->instance);
}

/* For kernels that hand no cookies to programs: kept by where the site is in the process. */
static int keep_cookie(struct opprobe_bpf *bpf, const struct probes_target *target,
		       const struct site *site)
{
	const struct mapped_file *file = target->file;
	struct site_key key = {.pid = target->pid};
	uint64_t cookie = site_cookie(target, site);

	if (site->offset < file->offset || site->offset - file->offset >= file->end - file->start)
		return -ENOENT;
	key.address = file->start + (site->offset - file->offset);
	return bpf_map_update_elem(bpf_map__fd(bpf->maps.site_cookies), &key, &cookie, BPF_ANY)
		       ? -errno
		       : 0;
}

/* -- attaching --------------------------------------------------------------------- */

/* Put all sites of @part that have the program of site @first into one link. */
static int attach_program(struct probes *probes, struct opprobe_bpf *bpf,
			  const struct probes_target *target, enum probes_part part, size_t first)
{
	const struct location *location = target->location;
	const char *name = location->sites.items[first].program;
	struct bpf_program *program = bpf_object__find_program_by_name(bpf->obj, name);
	struct probe_sites chosen = {};
	struct probe_link *link;
	int error = -ENOMEM;

	for (size_t i = first; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];
		uint64_t *offset, *cookie;

		if (strcmp(site->program, name) != 0 || !is_of(target, site, part))
			continue;
		offset = array_push(&chosen.offsets);
		cookie = array_push(&chosen.cookies);
		if (!offset || !cookie)
			goto out;
		*offset = site->offset;
		*cookie = site_cookie(target, site);
	}
	link = array_push(&probes->links);
	if (!link)
		goto out;
	link->event = -1;
	link->link = attach_multi(program, target->file->open_path, chosen.offsets.items,
				  chosen.cookies.items, chosen.offsets.n, target->pid);
	error = link->link < 0 ? link->link : 0;
	if (error)
		probes->links.n--;
out:
	array_free(&chosen.offsets);
	array_free(&chosen.cookies);
	return error;
}

/* Is there a site of the same program and part before site @i? */
static bool is_taken(const struct location *location, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(location->sites.items[k].program, location->sites.items[i].program))
			return true;
	return false;
}

static int attach_sites_multi(struct probes *probes, struct opprobe_bpf *bpf,
			      const struct probes_target *target, enum probes_part part,
			      bool entries, struct error *err)
{
	const struct location *location = target->location;

	for (size_t i = 0; i < location->sites.n; i++) {
		int error;

		if (!is_of(target, &location->sites.items[i], part) ||
		    is_entry(&location->sites.items[i]) != entries || is_taken(location, i))
			continue;
		error = attach_program(probes, bpf, target, part, i);
		if (error)
			return refuse(&location->sites.items[i], target->file->path, error, err);
	}
	return 0;
}

/* A perf event of a probe that calls a program, as libbpf makes it, but in system calls alone. */
struct single_call {
	struct perf_event_attr attr;
	pid_t pid;
	int program;
	bool linked;
	uint64_t cookie;
	struct probe_link made;
	int error;
};

/* Its part of union bpf_attr (include/uapi/linux/bpf.h, commit 82e6b1eee6a8). */
static long link_single(const struct single_call *call)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t cookie;
	} attr = {
		.prog_fd = call->program,
		.target_fd = call->made.event,
		.attach_type = BPF_PERF_EVENT,
		.cookie = call->cookie,
	};

	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

static void create_single(void *item)
{
	struct single_call *call = item;
	long done;

	call->made.event = (int)syscall(SYS_perf_event_open, &call->attr, call->pid, -1, -1,
					PERF_FLAG_FD_CLOEXEC);
	if (call->made.event < 0) {
		call->error = -errno;
		return;
	}
	if (call->linked)
		done = call->made.link = (int)link_single(call);
	else
		done = syscall(SYS_ioctl, call->made.event, PERF_EVENT_IOC_SET_BPF, call->program);
	if (done >= 0)
		done = syscall(SYS_ioctl, call->made.event, PERF_EVENT_IOC_ENABLE, 0);
	if (done >= 0)
		return;
	call->error = -errno;
	close_link(&call->made);
}

/* The perf type of uprobes (perf_event_open(2), dynamic PMUs), negative if there is none. */
static int uprobe_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (file && fscanf(file, "%d", &type) != 1)
		type = -1;
	if (file)
		fclose(file);
	return type;
}

static int attach_site(struct probes *probes, struct opprobe_bpf *bpf,
		       const struct probes_target *target, const struct site *site, int type)
{
	struct single_call call = {
		.attr = {.size = sizeof(call.attr),
			 .type = type,
			 .config1 = (uintptr_t)target->file->open_path,
			 .config2 = site->offset},
		.pid = target->pid,
		.program =
			bpf_program__fd(bpf_object__find_program_by_name(bpf->obj, site->program)),
		.linked = target->cookies,
		.cookie = site_cookie(target, site),
		.made = {-1, -1},
	};
	int error = target->cookies ? 0 : keep_cookie(bpf, target, site);
	struct probe_link *link;

	if (error)
		return error;
	link = array_push(&probes->links);
	if (!link)
		return -ENOMEM;
	apart_each(create_single, &call, 1, sizeof(call));
	*link = call.made;
	if (call.error)
		probes->links.n--;
	return call.error;
}

static int attach_sites_singly(struct probes *probes, struct opprobe_bpf *bpf,
			       const struct probes_target *target, enum probes_part part,
			       bool entries, struct error *err)
{
	const struct location *location = target->location;
	int type = uprobe_type();

	if (location->sites.n > SINGLE_PROBES_MAX)
		return error_set(err, -ENOTSUP,
				 "%s has %zu places for probes in %s, and this kernel has no links "
				 "of many probes: opprobe needs Linux 6.6 or newer for it",
				 location->runtime->title, location->sites.n, target->file->path);
	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];
		int error = 0;

		if (is_of(target, site, part) && is_entry(site) == entries)
			error = type < 0 ? -EOPNOTSUPP
					 : attach_site(probes, bpf, target, site, type);
		if (error)
			return refuse(site, target->file->path, error, err);
	}
	return 0;
}

static bool has_programs(struct opprobe_bpf *bpf, const struct probes_target *target,
			 enum probes_part part, struct error *err)
{
	const struct location *location = target->location;

	for (size_t i = 0; i < location->sites.n; i++) {
		const char *name = location->sites.items[i].program;
		struct bpf_program *program = bpf_object__find_program_by_name(bpf->obj, name);

		if (program && bpf_program__fd(program) >= 0)
			continue;
		if (!is_of(target, &location->sites.items[i], part))
			continue;
		error_set(err, -ENOENT,
			  "the BPF program %s that %s needs is not among those that were loaded "
			  "at the start: start another recording, which will have it",
			  name, location->runtime->title);
		return false;
	}
	return true;
}

static int attach_sites(struct probes *probes, struct opprobe_bpf *bpf,
			const struct probes_target *target, enum probes_part part, bool entries,
			struct error *err)
{
	return target->multi ? attach_sites_multi(probes, bpf, target, part, entries, err)
			     : attach_sites_singly(probes, bpf, target, part, entries, err);
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
	if (!has_programs(bpf, target, part, err)) {
		free(probes);
		return NULL;
	}
	error = attach_sites(probes, bpf, target, part, false, err)
			?: attach_sites(probes, bpf, target, part, true, err);
	if (error) {
		probes_detach(&probes, 1);
		return NULL;
	}
	return probes;
}

/* -- shedding ------------------------------------------------------------------------- */

/*
 * When a link goes, the kernel looks at all processes that map its file and
 * takes out each breakpoint for which no link asks any more (uprobe_unregister
 * and filter_chain, kernel/events/uprobes.c). The link that goes here asks for
 * opprobe itself, where nothing is mapped, so that nothing is put in first.
 */
void probes_shed(struct opprobe_bpf *bpf, const struct probes_target *target)
{
	const struct location *location = target->location;
	ARRAY_OF(uint64_t) offsets = {};
	struct probe_link link = {-1, -1};

	if (!target->multi || array_extend(&offsets, location->sites.n))
		return;
	for (size_t i = 0; i < location->sites.n; i++)
		offsets.items[i] = location->sites.items[i].offset;
	link.link = attach_multi(bpf->progs.self_test, target->file->open_path, offsets.items, NULL,
				 offsets.n, getpid());
	apart_each(close_link, &link, 1, sizeof(link));
	array_free(&offsets);
}

/* -- detaching ------------------------------------------------------------------------ */

void probes_detach(struct probes **probes, size_t n)
{
	ARRAY_OF(struct probe_link) going = {};

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; probes[i] && k < probes[i]->links.n; k++) {
			struct probe_link *link = array_push(&going);

			/* Without memory for the list, one after the other. */
			if (link)
				*link = probes[i]->links.items[k];
			else
				apart_each(close_link, &probes[i]->links.items[k], 1,
					   sizeof(*link));
		}
		if (probes[i])
			array_free(&probes[i]->links);
		free(probes[i]);
		probes[i] = NULL;
	}
	apart_each(close_link, going.items, going.n, sizeof(going.items[0]));
	array_free(&going);
}

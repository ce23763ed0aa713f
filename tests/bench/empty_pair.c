// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that a pair of probes can cost: two BPF programs that return at
 * once, on the very sites that opprobe would probe, for one process. What
 * opprobe costs is given as a multiple of this.
 *
 *	empty_pair PID		attaches, prints "attached", ends with its stdin
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inspect/child.h"
#include "inspect/find.h"
#include "inspect/hands.h"
#include "target/process.h"

#define UPROBE_MULTI 48 /* enum bpf_attach_type, kernel 6.6 */

static int load_empty(void)
{
	/* r0 = 0; exit */
	const struct bpf_insn program[] = {{.code = 0xb7}, {.code = 0x95}};
	const struct bpf_prog_load_opts options = {
		.sz = sizeof(options),
		.expected_attach_type = UPROBE_MULTI,
	};

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", program, 2, &options);
}

static int attach(int program, const char *path, const uint64_t *offset, pid_t pid)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, link_flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t count, flags, pid, pad;
	} attr = {
		.prog_fd = program,
		.attach_type = UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offset,
		.count = 1,
		.pid = pid,
	};

	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	struct located *found;
	const struct location *location;
	struct inspector *inspector = NULL;
	struct process process;
	struct error err;
	int program;
	char byte;

	if (spawn_is(HELPER_INSPECTOR, argc, argv))
		return inspector_child();
	if (spawn_is(HELPER_HANDS, argc, argv))
		return hands_child();
	if (argc != 2)
		return 2;
	program = load_empty();
	if (program < 0 || process_open(&process, atoi(argv[1]), &err) ||
	    !(inspector = inspector_new(&process, NULL, &err)) ||
	    runtime_find(&process, inspector, &found, &err)) {
		fprintf(stderr, "empty_pair: %s\n", program < 0 ? strerror(errno) : err.text);
		return 1;
	}
	location = &found->location;
	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];

		if (site->role != SITE_OP_ENTER && site->role != SITE_OP_EXIT)
			continue;
		if (attach(program, found->file.open_path, &site->offset, process.pid) < 0) {
			fprintf(stderr, "empty_pair: %s\n", strerror(errno));
			return 1;
		}
	}
	puts("attached");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

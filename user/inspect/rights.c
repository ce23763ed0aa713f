// SPDX-License-Identifier: GPL-2.0-only
#include "rights.h"

#include <cap-ng.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/setting.h"
#include "sandbox.h"

static const unsigned int kept[] = {
	CAP_BPF,	  CAP_PERFMON,	       CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE,
	CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_CHOWN,      CAP_FOWNER,
	CAP_SETUID,	  CAP_SETGID,	       CAP_KILL,
};

/*
 * Three of them were parts of CAP_SYS_ADMIN until 5.8 and 5.9, and still are
 * where somebody gave that one alone; locked memory was counted until 5.11.
 */
static const unsigned int split_off[] = {CAP_BPF, CAP_PERFMON, CAP_CHECKPOINT_RESTORE};
static const unsigned int kept_before[] = {CAP_SYS_ADMIN, CAP_SYS_RESOURCE};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Of @capabilities, those that there are now. */
static void keep(const unsigned int *capabilities, size_t n, const bool *had)
{
	for (size_t i = 0; i < n; i++)
		if (capabilities[i] <= CAP_LAST_CAP && had[capabilities[i]])
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, capabilities[i]);
}

static void reduce_capabilities(void)
{
	bool had[CAP_LAST_CAP + 1], has_all = true;

	if (capng_get_caps_process())
		return;
	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
		had[i] = capng_have_capability(CAPNG_PERMITTED, i);
	for (size_t i = 0; i < COUNT(split_off); i++)
		has_all &= had[split_off[i]];
	/* Where probes are perf events, later ones take it, too, as do the events of new threads.
	 */
	has_all &= setting_read(SETTING_PARANOID, 0) <= PARANOID_PERFMON;
	capng_clear(CAPNG_SELECT_CAPS);
	keep(kept, COUNT(kept), had);
	if (!has_all)
		keep(kept_before, COUNT(kept_before), had);
	capng_apply(CAPNG_SELECT_CAPS);
}

static const unsigned int refused[] = {
	SYS_ptrace,
	SYS_process_vm_writev,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_kexec_file_load,
	SYS_reboot,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_move_mount,
	SYS_fsopen,
	SYS_open_tree,
	SYS_setns,
	SYS_unshare,
	SYS_chroot,
	SYS_swapon,
	SYS_swapoff,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_acct,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_userfaultfd,
	SYS_open_by_handle_at,
	SYS_io_uring_setup,
	SYS_pidfd_getfd,
	SYS_kcmp,
	SYS_mknodat,
#ifdef __x86_64__
	SYS_iopl,
	SYS_ioperm,
	SYS_mknod,
#endif
};

#ifdef __x86_64__
#define OWN_ARCH     AUDIT_ARCH_X86_64
#define FOREIGN_BITS 0x40000000 /* of x32 (arch/x86/include/uapi/asm/unistd.h) */
#else
#define OWN_ARCH     AUDIT_ARCH_AARCH64
#define FOREIGN_BITS 0
#endif

#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(field)                                                                                \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offsetof(struct seccomp_data, field))

/*
 * Not libseccomp's, whose making of filters damages the heap if it gets no
 * memory (2.5.4): that may happen to the inspector, but not here. The number
 * of each call is compared in turn, some 20 ns for what is not refused.
 */
static void refuse_calls(void)
{
	struct sock_filter code[2 * COUNT(refused) + 16];
	struct sock_fprog program = {.filter = code};
	unsigned short n = 0;

	code[n++] = (struct sock_filter)LOAD(arch);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0);
	code[n++] = (struct sock_filter)REFUSE;
	code[n++] = (struct sock_filter)LOAD(nr);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, FOREIGN_BITS, 0, 1);
	code[n++] = (struct sock_filter)REFUSE;
	for (size_t i = 0; i < COUNT(refused); i++) {
		code[n++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
		code[n++] = (struct sock_filter)REFUSE;
	}
	code[n++] = (struct sock_filter)ALLOW;
	program.len = n;
	/* Without the flag (4.17), kernels before 5.16 slow the whole process down. */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program))
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* Once for each thread: filters would add up. */
static bool begin(void)
{
	static _Thread_local bool done;

	/* What is executed later, opprobe itself as a helper, gets no more than this, either. */
	if (done || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	done = true;
	return true;
}

void rights_reduce(void)
{
	if (!begin())
		return;
	reduce_capabilities();
	if (!SANITIZED)
		refuse_calls();
}

void rights_renounce(void)
{
	if (!begin())
		return;
	capng_clear(CAPNG_SELECT_CAPS);
	capng_apply(CAPNG_SELECT_CAPS);
	if (!SANITIZED)
		refuse_calls();
}

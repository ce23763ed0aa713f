// SPDX-License-Identifier: GPL-2.0-only
#include "rights.h"

#include <cap-ng.h>
#include <errno.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>

static const unsigned int kept[] = {
	CAP_BPF,	  CAP_PERFMON,	       CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE,
	CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_CHOWN,      CAP_FOWNER,
	CAP_SETUID,	  CAP_SETGID,	       CAP_KILL,
};

/* Parts of CAP_SYS_ADMIN until 5.8 and 5.9; locked memory was counted until 5.11. */
static const unsigned int kept_before[] = {CAP_SYS_ADMIN, CAP_SYS_RESOURCE};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool knows(unsigned int capability)
{
	return prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
}

/* Of @capabilities, those that there are now. */
static void keep(const unsigned int *capabilities, size_t n, const bool *had)
{
	for (size_t i = 0; i < n; i++)
		if (capabilities[i] <= CAP_LAST_CAP && had[capabilities[i]])
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, capabilities[i]);
}

static void reduce_capabilities(void)
{
	bool had[CAP_LAST_CAP + 1];

	if (capng_get_caps_process())
		return;
	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
		had[i] = capng_have_capability(CAPNG_PERMITTED, i);
	capng_clear(CAPNG_SELECT_CAPS);
	keep(kept, COUNT(kept), had);
	if (!knows(CAP_CHECKPOINT_RESTORE))
		keep(kept_before, COUNT(kept_before), had);
	capng_apply(CAPNG_SELECT_CAPS);
}

static const int refused[] = {
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(process_madvise),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(reboot),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(move_mount),
	SCMP_SYS(fsopen),
	SCMP_SYS(open_tree),
	SCMP_SYS(setns),
	SCMP_SYS(unshare),
	SCMP_SYS(chroot),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	SCMP_SYS(iopl),
	SCMP_SYS(ioperm),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname),
	SCMP_SYS(acct),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(keyctl),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(kcmp),
	SCMP_SYS(mknod),
	SCMP_SYS(mknodat),
};

/* The kernel looks at the numbers first: what is not refused costs some 20 ns. */
static void refuse_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int error = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < COUNT(refused) && !error; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	/* Without it, kernels before 5.16 slow the whole process down. */
	error = error ?: seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	if (!error)
		seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
}

void rights_reduce(void)
{
	/* What is executed later, opprobe itself as a helper, gets no more than this, either. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return;
	reduce_capabilities();
	refuse_calls();
}

// SPDX-License-Identifier: GPL-2.0-only
#include "denied.h"

#include <cap-ng.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "setting.h"

/* Only the initial namespace maps all ids onto themselves. */
bool denied_in_user_namespace(void)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned long inside = 0, outside = 0, n = 0;
	bool initial = true;

	if (file) {
		if (fscanf(file, "%lu %lu %lu", &inside, &outside, &n) == 3)
			initial = !inside && !outside && n == UINT32_MAX;
		fclose(file);
	}
	return !initial;
}

static bool has(unsigned int capability)
{
	return capng_have_capability(CAPNG_EFFECTIVE, capability);
}

/* Those by which this thread may do it, or NULL. CAP_SYS_ADMIN is what they were part of once. */
static const char *rights(void)
{
	if (capng_get_caps_process())
		return NULL;
	if (has(CAP_BPF) && has(CAP_PERFMON))
		return "CAP_BPF and CAP_PERFMON";
	return has(CAP_SYS_ADMIN) ? "CAP_SYS_ADMIN" : NULL;
}

/* What is in the way of who has them. */
static const char *obstacle(int error)
{
	if (denied_in_user_namespace())
		return "rights of a user namespace do not count; run it as root of the host, "
		       "outside the container";
	/* A filter's answer is another one. */
	if (error == -EACCES && !has(CAP_SYS_ADMIN) &&
	    setting_read(SETTING_PARANOID, 0) > PARANOID_PERFMON)
		return "kernel.perf_event_paranoid is above 2, which takes CAP_SYS_ADMIN; run it "
		       "with that, or: sysctl -w kernel.perf_event_paranoid=2";
	return "a seccomp filter, as containers have it, or a security module forbids it; run it "
	       "with seccomp unconfined";
}

int denied(struct error *err, int error, const char *format, ...)
{
	const char *reason = error_reason(error), *held = rights();
	char what[sizeof(err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (error != -EPERM && error != -EACCES)
		return error_set(err, error, "%s: %s; see `opprobe doctor`", what, reason);
	if (!held)
		return error_set(err, error,
				 "%s: %s; run opprobe as root (sudo), or with CAP_BPF and "
				 "CAP_PERFMON",
				 what, reason);
	return error_set(err, error, "%s: %s, although opprobe has %s: %s", what, reason, held,
			 obstacle(error));
}

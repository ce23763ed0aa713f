// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of events. Perf's short names come from a table of our own, beside
 * numbers that need no perf event at all; raw codes and pmu/.../ are spelt
 * out by the user; everything else is libpfm4's, whose whole attribute is
 * taken over (config1 and config2 carry the filters of offcore events).
 */
#include "event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After <linux/perf_event.h>, whose guard makes libpfm4 leave out its own copy. */
#include <perfmon/pfmlib_perf_event.h>

/*
 * Split perf's modifiers off @text: "cycles:uk" leaves "cycles" in @base.
 * What follows the last colon is a modifier only if it consists of u, k and
 * h; "::" separates libpfm4's name of the PMU.
 */
static void split_modifiers(const char *text, char *base, size_t size, struct privilege *privilege)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? strspn(colon + 1, "ukhUKH") : 0;

	*privilege = (struct privilege){};
	snprintf(base, size, "%s", text);
	if (!n || colon[1 + n] || colon == text || colon[-1] == ':')
		return;
	base[colon - text] = '\0';
	privilege->given = true;
	privilege->user = strpbrk(colon + 1, "uU");
	privilege->kernel = strpbrk(colon + 1, "kK");
	privilege->hypervisor = strpbrk(colon + 1, "hH");
}

void privilege_apply(const struct privilege *privilege, struct perf_event_attr *attr)
{
	attr->exclude_user = !privilege->user;
	attr->exclude_kernel = !privilege->kernel;
	attr->exclude_hv = !privilege->hypervisor;
}

/* Whether @event can be counted with @privilege, and if not, why. */
static int check_privilege(const char *text, const struct short_event *event,
			   const struct privilege *privilege, struct error *err)
{
	if (!privilege->given)
		return 0;
	if (counter_is_memory(event->source))
		return error_set(err, -EINVAL,
				 "'%s' cannot be counted: memory is got in user space only; write "
				 "'%s' without a modifier",
				 text, event->name);
	if (counter_is_gpu(event->source))
		return error_set(err, -EINVAL,
				 "'%s' cannot be counted: GPUs are told in user space only; write "
				 "'%s' without a modifier",
				 text, event->name);
	if (event->task_only)
		return error_set(err, -EINVAL,
				 "'%s' cannot be counted: the kernel keeps one number for user and "
				 "kernel; write '%s' without a modifier",
				 text, event->name);
	if (privilege->user && privilege->kernel)
		return 0;
	if (event->clock)
		return error_set(err, -EINVAL,
				 "'%s' cannot be counted: the kernel does not split %s into user "
				 "and kernel time; write '%s' without a modifier",
				 text, event->name, event->name);
	if (event->kernel_only && !privilege->kernel)
		return error_set(err, -EINVAL,
				 "'%s' would always count 0: it happens in the kernel only; write "
				 "'%s' without a modifier",
				 text, event->name);
	return 0;
}

/* Software events count everything unless told otherwise: see privilege_apply(). */
static void use_software(struct counter *counter, const struct short_event *event,
			 const struct privilege *privilege)
{
	counter->source = privilege->given ? COUNTER_PERF_SOFTWARE : event->source;
	snprintf(counter->unit, sizeof(counter->unit), "%s", event->unit);
}

/* The suffix of an event's full name: what it really counts. */
static void append_privilege(char *event, size_t size, const struct privilege *privilege)
{
	size_t n = strlen(event);
	bool slashes = n && event[n - 1] == '/';

	snprintf(event + n, size - n, "%s%s%s%s", slashes ? "" : ":", privilege->user ? "u" : "",
		 privilege->kernel ? "k" : "", privilege->hypervisor ? "h" : "");
}

static int resolve_short(const char *text, const struct short_event *event,
			 struct privilege privilege, struct counter *counter, struct error *err)
{
	int error = check_privilege(text, event, &privilege, err);

	if (error)
		return error;
	counter->attr.type = event->type;
	counter->attr.config = event->config;
	snprintf(counter->event, sizeof(counter->event), "%s", event->name);
	if (event->type == PERF_TYPE_SOFTWARE) {
		use_software(counter, event, &privilege);
		/* Ignored by clocks, but allowed where counting the kernel is not. */
		counter->attr.exclude_kernel = counter->attr.exclude_hv = event->clock;
		if (!privilege.given || event->clock)
			return 0;
	} else {
		counter->source = event->source;
		if (!privilege.given)
			privilege.user = true;
	}
	privilege_apply(&privilege, &counter->attr);
	append_privilege(counter->event, sizeof(counter->event), &privilege);
	return 0;
}

/* perf's "rNNN": the PMU's own code, in hexadecimal. */
static bool is_raw(const char *base)
{
	size_t n = base[0] == 'r' ? strspn(base + 1, "0123456789abcdefABCDEF") : 0;

	return n && n <= 16 && !base[1 + n];
}

static int resolve_raw(const char *base, struct privilege privilege, struct counter *counter)
{
	counter->attr.type = PERF_TYPE_RAW;
	counter->attr.config = strtoull(base + 1, NULL, 16);
	counter->source = COUNTER_PERF;
	if (!privilege.given)
		privilege.user = true;
	privilege_apply(&privilege, &counter->attr);
	snprintf(counter->event, sizeof(counter->event), "%s", base);
	append_privilege(counter->event, sizeof(counter->event), &privilege);
	return 0;
}

/* "pmu/terms/" with perf's modifiers after the second slash, colon or not. */
static int resolve_sysfs(const char *text, struct counter *counter, struct error *err)
{
	char base[sizeof(counter->event)];
	const char *end = strrchr(text, '/'), *modifiers = end + 1;
	struct privilege privilege = {};
	bool core;
	int error;

	modifiers += *modifiers == ':';
	if (modifiers[strspn(modifiers, "ukhUKH")])
		return error_set(err, -ENOENT,
				 "'%s' has the unknown modifier '%s': opprobe takes u, k and h "
				 "after the second '/'",
				 text, modifiers);
	if (*modifiers)
		privilege = (struct privilege){
			.given = true,
			.user = strpbrk(modifiers, "uU"),
			.kernel = strpbrk(modifiers, "kK"),
			.hypervisor = strpbrk(modifiers, "hH"),
		};
	snprintf(base, sizeof(base), "%.*s", (int)(end + 1 - text), text);
	error = sysfs_event(base, &counter->attr, &core, err);
	if (error)
		return error;
	counter->source = COUNTER_PERF;
	snprintf(counter->event, sizeof(counter->event), "%s", base);
	/* PMUs outside the cores know no levels, and refuse to be asked for one. */
	if (!core && !privilege.given)
		return 0;
	if (!privilege.given)
		privilege.user = true;
	privilege_apply(&privilege, &counter->attr);
	append_privilege(counter->event, sizeof(counter->event), &privilege);
	return 0;
}

static int refuse_user_tracepoint(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "'%s' would count 0: a tracepoint is in the kernel; write it without a "
			 "modifier",
			 text);
}

static int resolve_tracepoint(const char *text, const char *base, struct privilege privilege,
			      struct counter *counter, struct error *err)
{
	int error;

	if (!strchr(base, ':') || strstr(base, "::"))
		return -ENOENT;
	error = tracepoint_event(base, &counter->attr, err);
	if (error)
		return error;
	if (privilege.given && !privilege.kernel)
		return refuse_user_tracepoint(text, err);
	counter->source = COUNTER_PERF_SOFTWARE;
	snprintf(counter->event, sizeof(counter->event), "%s", base);
	return 0;
}

/* -- libpfm4 -------------------------------------------------------------- */

/* The library is one for the whole program: what its start said, PFM_SUCCESS or an error. */
static int library_state = 1; /* not started */

/*
 * With the variable set, libpfm4 also encodes the events of CPUs that are not
 * there. They are refused below, but can be told from those that do not exist.
 */
int event_library(struct error *err)
{
	static const char variable[] = "LIBPFM_ENCODE_INACTIVE";

	if (library_state > 0) {
		bool ours = !getenv(variable);

		setenv(variable, "1", 1);
		library_state = pfm_initialize();
		if (ours)
			unsetenv(variable);
	}
	if (library_state != PFM_SUCCESS)
		return error_set(err, -EIO,
				 "cannot look up events: libpfm4 does not start (%s); install "
				 "libpfm4 again",
				 pfm_strerror(library_state));
	return 0;
}

static bool get_pmu(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_pmu_info(pmu, info) == PFM_SUCCESS;
}

/* Does event @index of libpfm4 belong to a PMU of this machine? */
static bool is_present(int index)
{
	pfm_event_info_t event = {.size = sizeof(event)};
	pfm_pmu_info_t pmu;

	return pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS &&
	       get_pmu(event.pmu, &pmu) && pmu.is_present;
}

/* libpfm4 wants ":u:k" where perf writes ":uk". */
static void spell_for_libpfm(const char *base, const struct privilege *privilege, char *text,
			     size_t size)
{
	snprintf(text, size, "%s%s%s%s", base, privilege->user ? ":u" : "",
		 privilege->kernel ? ":k" : "", privilege->hypervisor ? ":h" : "");
}

/* Beside libpfm4's errors: an event of a CPU that is not there. */
#define PFM_ERR_ELSEWHERE (-1000)

/* Returns PFM_SUCCESS or an error; @full is to be freed by the caller. */
static int encode(const char *text, int privileges, struct perf_event_attr *attr, char **full,
		  int *cpu)
{
	pfm_perf_encode_arg_t arg = {.attr = attr, .fstr = full, .size = sizeof(arg)};
	int pfm;

	memset(attr, 0, sizeof(*attr));
	pfm = pfm_get_os_event_encoding(text, privileges, PFM_OS_PERF_EVENT_EXT, &arg);
	*cpu = arg.cpu;
	return pfm == PFM_SUCCESS && !is_present(arg.idx) ? PFM_ERR_ELSEWHERE : pfm;
}

/* libpfm4's full name lists every attribute: keep those that say something. */
static void shorten_full_name(char *full, char *event, size_t size)
{
	char *save = NULL, *attributes = strstr(full, "::");
	char privileges[8] = "";

	attributes = attributes ? attributes + 2 : full;
	attributes += strcspn(attributes, ":");
	snprintf(event, size, "%.*s", (int)(attributes - full), full);
	for (char *a = strtok_r(attributes, ":", &save); a; a = strtok_r(NULL, ":", &save)) {
		const char *value = strchr(a, '=');
		size_t n = strlen(event);

		if (value && (!strcmp(value, "=0") || !strcmp(a, "mh=1")))
			continue;
		if (value && value - a == 1 && strchr("ukh", *a))
			strncat(privileges, a, 1);
		else
			snprintf(event + n, size - n, ":%s", a);
	}
	if (*privileges) {
		size_t n = strlen(event);

		snprintf(event + n, size - n, ":%s", privileges);
	}
}

static int refuse_attributes(const char *text, const struct perf_event_attr *attr, int cpu,
			     struct error *err)
{
	const char *what = NULL;

	if (attr->sample_period || attr->freq)
		what = "a sampling period";
	else if (attr->pinned || attr->exclusive)
		what = "'pinned' or 'excl'";
	else if (cpu >= 0)
		what = "a CPU";
	if (!what)
		return 0;
	return error_set(err, -EINVAL,
			 "'%s' asks for %s, but opprobe counts per thread and places the events "
			 "itself: leave that attribute out",
			 text, what);
}

/* What libpfm4 found is a software event or tracepoint: our defaults apply. */
static int adopt_software(const char *text, const struct perf_event_attr *user_only,
			  struct counter *counter, struct error *err)
{
	struct perf_event_attr *attr = &counter->attr;
	/* A level that the text names is the same whatever the default is. */
	struct privilege privilege = {
		.given = attr->exclude_user == user_only->exclude_user &&
			 attr->exclude_kernel == user_only->exclude_kernel,
		.user = !attr->exclude_user,
		.kernel = !attr->exclude_kernel,
		.hypervisor = !attr->exclude_hv,
	};
	const struct short_event *event = short_by_code(attr->type, attr->config);
	static const struct short_event other = {.source = COUNTER_PERF_SOFTWARE, .unit = ""};
	char *colon;
	int error;

	if (!event)
		event = &other;
	if (attr->type == PERF_TYPE_TRACEPOINT && privilege.given && !privilege.kernel)
		return refuse_user_tracepoint(text, err);
	error = event->name ? check_privilege(text, event, &privilege, err) : 0;
	if (error)
		return error;
	use_software(counter, event, &privilege);
	if (privilege.given)
		return 0;
	attr->exclude_user = 0;
	attr->exclude_kernel = attr->exclude_hv = event->clock;
	attr->exclude_guest = attr->exclude_host = 0;
	colon = strrchr(counter->event, ':');
	if (colon && !colon[1 + strspn(colon + 1, "ukh")])
		*colon = '\0';
	return 0;
}

static int resolve_libpfm(const char *text, const char *spelt, struct counter *counter, int *pfm,
			  struct error *err)
{
	struct perf_event_attr *attr = &counter->attr, user_only;
	char *full = NULL;
	int error, cpu;

	*pfm = encode(spelt, PFM_PLM3, attr, &full, &cpu);
	if (*pfm != PFM_SUCCESS) {
		free(full);
		return -ENOENT;
	}
	error = refuse_attributes(text, attr, cpu, err);
	if (!error && (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT)) {
		user_only = *attr;
		free(full);
		full = NULL;
		*pfm = encode(spelt, PFM_PLM0 | PFM_PLM3 | PFM_PLMH, attr, &full, &cpu);
		if (*pfm != PFM_SUCCESS) {
			free(full);
			return -ENOENT;
		}
		shorten_full_name(full, counter->event, sizeof(counter->event));
		error = adopt_software(text, &user_only, counter, err);
	} else if (!error) {
		/* On CPUs whose PMU has no level for it, libpfm4 leaves the bit alone. */
		if ((attr->exclude_user || attr->exclude_kernel) && !strstr(full, ":h=1"))
			attr->exclude_hv = 1;
		shorten_full_name(full, counter->event, sizeof(counter->event));
		counter->source = COUNTER_PERF;
	}
	free(full);
	return error;
}

/* Is @text an event of some CPU? Without a PMU in front, any will do. */
static bool exists_elsewhere(const char *text)
{
	struct perf_event_attr attr;
	char with_pmu[256], *full = NULL;
	pfm_pmu_info_t info;
	bool found = false;
	int cpu;

	if (strstr(text, "::"))
		return false;
	for (pfm_pmu_t pmu = 0; !found && pmu < PFM_PMU_MAX; pmu++) {
		if (!get_pmu(pmu, &info) || info.is_present)
			continue;
		snprintf(with_pmu, sizeof(with_pmu), "%s::%s", info.name, text);
		found = encode(with_pmu, PFM_PLM3, &attr, &full, &cpu) == PFM_ERR_ELSEWHERE;
		free(full);
		full = NULL;
	}
	return found;
}

static int not_there(const char *text, int pfm, struct event_missing *missing)
{
	if (!missing)
		return -ENOENT;
	if (pfm == PFM_ERR_ELSEWHERE || (pfm == PFM_ERR_NOTFOUND && exists_elsewhere(text)))
		missing->why = EVENT_ELSEWHERE;
	else if (pfm == PFM_ERR_NOTSUPP)
		missing->why = EVENT_HIDDEN;
	else if (pfm == PFM_ERR_NOTFOUND)
		missing->why = EVENT_UNKNOWN;
	else
		*missing = (struct event_missing){EVENT_INCOMPLETE, pfm_strerror(pfm)};
	return -ENOENT;
}

int event_find(const char *text, struct counter *counter, struct event_missing *missing,
	       struct error *err)
{
	char base[sizeof(counter->event)], spelt[sizeof(counter->event) + 8];
	const struct short_event *event;
	struct privilege privilege;
	int error, pfm;

	memset(counter, 0, sizeof(*counter));
	counter->attr.size = sizeof(counter->attr);
	if (missing)
		*missing = (struct event_missing){};
	if (!*text)
		return error_set(err, -EINVAL,
				 "an event's name is empty: write EVENT or EVENT=NAME");
	if (strlen(text) >= sizeof(base))
		return error_set(err, -ENOENT,
				 "the event '%.40s...' has more than %zu characters: no event's "
				 "name is that long",
				 text, sizeof(base) - 1);
	split_modifiers(text, base, sizeof(base), &privilege);
	event = short_by_name(base);
	if (event)
		return resolve_short(text, event, privilege, counter, err);
	/* libpfm4's own spelling of a raw code. */
	if (is_raw(base) || (!strncasecmp(base, "perf_raw::", 10) && is_raw(base + 10)))
		return resolve_raw(strrchr(base, 'r'), privilege, counter);
	if (strchr(text, '/'))
		return resolve_sysfs(text, counter, err);

	/*
	 * A tracepoint? Libpfm4 would find it, too, but only where tracefs is
	 * mounted. A sentence about it would be premature: what looks like
	 * "subsystem:name" may be libpfm4's "EVENT:UMASK".
	 */
	error = resolve_tracepoint(text, base, privilege, counter, NULL);
	if (!error)
		return 0;
	error = event_library(err);
	if (error)
		return error;
	spell_for_libpfm(base, &privilege, spelt, sizeof(spelt));
	error = resolve_libpfm(text, spelt, counter, &pfm, err);
	counter->attr.size = sizeof(counter->attr);
	if (error != -ENOENT)
		return error;
	/*
	 * Libpfm4 does not know it either. If it is a tracepoint that cannot be
	 * looked up or counted, this is the sentence that says why.
	 */
	error = resolve_tracepoint(text, base, privilege, counter, err);
	if (error != -ENOENT)
		return error;
	return not_there(text, pfm, missing);
}

int event_try(const char *text, struct counter *counter)
{
	return event_find(text, counter, NULL, NULL);
}

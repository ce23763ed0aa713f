// SPDX-License-Identifier: GPL-2.0-only
#include "counters.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "groups.h"
#include "refusal.h"
#include "set.h"

/* -- the argument of -e --------------------------------------------------- */

/*
 * The end of the event that begins at @text: a comma or brace that is not
 * between the slashes of pmu/a=1,b=2/.
 */
static const char *item_end(const char *text)
{
	bool slashes = false;

	for (; *text; text++) {
		if (*text == '/')
			slashes = !slashes;
		else if (!slashes && strchr(",{}", *text))
			break;
	}
	return text;
}

/*
 * Add "EVENT" or "EVENT=NAME", with @suffix (modifiers of the group) at the
 * event. The last '=' divides, unless it is part of an event.
 */
static int add_item(struct counter_set *set, const char *item, const char *suffix,
		    struct error *err)
{
	const char *slash = strrchr(item, '/'), *equals = strrchr(slash ? slash : item, '=');
	struct counter counter;
	char event[512];

	snprintf(event, sizeof(event), "%s%s", item, suffix);
	if (!equals || (!*suffix && event_try(item, &counter) != -ENOENT))
		return set_add(set, event, item, err);
	snprintf(event, sizeof(event), "%.*s%s", (int)(equals - item), item, suffix);
	return set_add(set, event, equals + 1, err);
}

/* The modifiers behind a '}', as ":u"; "" if there are none. Returns what follows. */
static const char *group_suffix(const char *text, char *suffix, size_t size)
{
	size_t n = *text == ':' ? 1 + strspn(text + 1, "ukh") : 0;

	snprintf(suffix, size, "%.*s", (int)n, text);
	return text + n;
}

static int parse_items(struct counter_set *set, const char *list, struct error *err)
{
	const char *at = list, *end;
	bool inside = false;
	size_t first = 0;
	char item[256], suffix[8] = "";
	int error;

	do {
		at += strspn(at, " \t\n");
		if (*at == '{' && !inside) {
			end = strchr(at, '}');
			if (!end)
				return error_set(err, -EINVAL,
						 "the group '%s' has no '}': write {EVENT,EVENT}",
						 at);
			group_suffix(end + 1, suffix, sizeof(suffix));
			first = set->n;
			inside = true;
			at += 1 + strspn(at + 1, " \t\n");
		}
		end = item_end(at);
		if ((size_t)(end - at) >= sizeof(item))
			return error_set(
				err, -EINVAL,
				"the event '%.40s...' is longer than any that exists: check the "
				"commas",
				at);
		snprintf(item, sizeof(item), "%.*s", (int)(end - at), at);
		for (size_t n = strlen(item); n && isspace((unsigned char)item[n - 1]); n--)
			item[n - 1] = '\0';
		if (!*item)
			return error_set(
				err, -EINVAL,
				"no event at character %td of '%s': write EVENT[=NAME],...",
				at - list + 1, list);
		error = add_item(set, item, suffix, err);
		if (error)
			return error;
		if (*end == '}' && inside) {
			for (size_t i = first; i < set->n; i++) {
				set->counters[i].group = set->counters[first].group;
				set->counters[i].together = true;
			}
			inside = false;
			end = group_suffix(end + 1, suffix, sizeof(suffix));
			end += strspn(end, " \t\n");
			*suffix = '\0';
		}
		if (*end && *end != ',')
			return error_set(err, -EINVAL,
					 "'%c' is out of place at character %td of '%s': write "
					 "EVENT[=NAME],... or {EVENT,EVENT},...",
					 *end, end - list + 1, list);
		at = end + 1;
	} while (*end);
	if (inside)
		return error_set(err, -EINVAL, "a group in '%s' has no '}': write {EVENT,EVENT}",
				 list);
	return 0;
}

int counters_parse(struct counter_set *set, const char *list, struct error *err)
{
	struct counter_set more = *set;
	int error = parse_items(&more, list, err);

	if (!error)
		*set = more;
	return error;
}

/* -- samples -------------------------------------------------------------- */

bool counter_is_clock(const struct counter *counter)
{
	return counter->attr.type == PERF_TYPE_SOFTWARE &&
	       (counter->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		counter->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

int counters_parse_sampled(struct counter *counter, const char *text, struct error *err)
{
	struct counter_set set = {};
	int error = parse_items(&set, text, err);

	if (error)
		return error;
	if (set.n != 1)
		return error_set(err, -EINVAL,
				 "samples are of one event, and '%s' are %zu: make a recording of "
				 "each",
				 text, set.n);
	*counter = set.counters[0];
	/* What the scheduler or an allocator counts has no moment at which it is looked at. */
	if (!counter_uses_perf(counter) && counter->source != COUNTER_SWITCHES)
		return error_set(err, -EINVAL,
				 "'%s' is a number that opprobe reads, and no event of perf, which "
				 "samples are of: count it with -e, or see `opprobe list`",
				 text);
	return counter_open(counter, err);
}

/* -- what can be opened --------------------------------------------------- */

/* What the user may want to know of the PMU beside the groups. */
static void note_pmu(struct counter_set *set)
{
	struct permissions permissions;
	bool hardware = false, multiplexed = false;

	for (size_t i = 0; i < set->n; i++) {
		hardware = hardware || set->counters[i].source == COUNTER_PERF;
		multiplexed = multiplexed || set->counters[i].multiplexed;
	}
	if (hardware && sysfs_core_pmus() > 1)
		set_note(set, "the CPU has several kinds of cores: a hardware event is counted on "
			      "one kind only");
	if (!multiplexed)
		return;
	permissions_read(&permissions);
	if (permissions.nmi_watchdog)
		set_note(set, "the NMI watchdog holds one hardware counter: sysctl -w "
			      "kernel.nmi_watchdog=0 frees it");
}

int counters_check(struct counter_set *set, struct error *err)
{
	int error = 0;

	for (size_t i = 0; i < set->n && !error; i++)
		error = counter_open(&set->counters[i], err);
	error = error ? error : groups_form(set, groups_fit, NULL, err);
	if (!error)
		note_pmu(set);
	return error;
}

/* -- the default ---------------------------------------------------------- */

/* Add those of @events that can be opened; the others to @missing. */
static int add_openable(struct counter_set *set, const char *const *events, size_t n, char *missing,
			size_t size, int *refused, struct error *err)
{
	struct counter counter;
	size_t used = 0;
	int error, added = 0;

	*missing = '\0';
	for (size_t i = 0; i < n; i++) {
		if (event_try(events[i], &counter))
			continue;
		error = counter_open(&counter, NULL);
		if (error) {
			*refused = *refused ? *refused : error;
			if (used < size)
				used += snprintf(missing + used, size - used, "%s%s",
						 used ? ", " : "", events[i]);
			continue;
		}
		error = set_add(set, events[i], events[i], err);
		if (error)
			return error;
		added++;
	}
	return added;
}

/* Why there are no hardware counters, in a few words. */
static void explain_software(struct counter_set *set, int refused, const char *counted)
{
	struct permissions p;

	permissions_read(&p);
	if (refused != -EACCES && refused != -EPERM)
		set_note(set,
			 "no hardware counters on this machine (a virtual machine without a PMU?): "
			 "counting %s instead",
			 counted);
	else if (!permissions_lift_paranoid(&p) && p.paranoid > 2)
		set_note(set,
			 "hardware counters are not permitted (kernel.perf_event_paranoid is %d; "
			 "run as root): counting %s instead",
			 p.paranoid, counted);
	else
		set_note(set,
			 "hardware counters are not permitted%s: counting %s instead; see 'opprobe "
			 "doctor'",
			 p.seccomp ? " (a container's seccomp filter?)" : "", counted);
}

int counters_default(struct counter_set *set, struct error *err)
{
	static const char *const hardware[] = {"cycles", "instructions", "cache-misses",
					       "branch-misses"};
	static const char *const sched[] = {"on-cpu", "ready", "blocked"};
	static const char *const software[] = {"task-faults", "context-switches",
					       "task-migrations"};
	struct counter_set more = *set;
	char missing[128], counted[128] = "";
	int refused = 0, added;
	size_t used = 0;

	added = add_openable(&more, sched, 3, missing, sizeof(missing), &refused, err);
	if (added < 0)
		return added;
	refused = 0;
	added = add_openable(&more, hardware, 4, missing, sizeof(missing), &refused, err);
	if (added < 0)
		return added;
	if (added && *missing)
		set_note(&more, "this CPU does not count %s: left out", missing);
	if (!added) {
		size_t first = more.n;
		int ignored = 0;

		added = add_openable(&more, software, 3, missing, sizeof(missing), &ignored, err);
		if (added < 0)
			return added;
		for (size_t i = first; i < more.n && used < sizeof(counted); i++)
			used += snprintf(counted + used, sizeof(counted) - used, "%s%s",
					 used ? ", " : "", more.counters[i].name);
		explain_software(&more, refused, counted);
	}
	*set = more;
	return 0;
}

/* -- what probes count ------------------------------------------------------ */

static bool has_source(const struct counter_set *set, enum counter_source source)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->counters[i].source == source)
			return true;
	return false;
}

/* Add all of those that @is_one of, unless they are there. */
static int add_all(struct counter_set *set, uint32_t (*is_one)(uint32_t source), struct error *err)
{
	int error = 0;

	for (size_t i = 0; i < n_short_events && !error; i++)
		if (is_one(short_events[i].source) && !has_source(set, short_events[i].source))
			error = set_add(set, short_events[i].name, short_events[i].name, err);
	return error;
}

static uint32_t all_of(const struct counter_set *set, uint32_t (*is_one)(uint32_t source))
{
	uint32_t mask = 0;

	for (size_t i = 0; i < set->n; i++)
		mask |= is_one(set->counters[i].source) ? 1U << i : 0;
	return mask;
}

int counters_add_memory(struct counter_set *set, struct error *err)
{
	return add_all(set, counter_is_memory, err);
}

uint32_t counters_of_memory(const struct counter_set *set)
{
	return all_of(set, counter_is_memory);
}

int counters_add_gpu(struct counter_set *set, struct error *err)
{
	return add_all(set, counter_is_gpu, err);
}

uint32_t counters_of_gpu(const struct counter_set *set)
{
	return all_of(set, counter_is_gpu);
}

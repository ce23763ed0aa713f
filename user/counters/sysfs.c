// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that the running kernel describes itself: PMUs under sysfs
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format})
 * and tracepoints under tracefs.
 */
#include "event.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "open.h"

#define DEVICES "/sys/bus/event_source/devices"

/* Read the first line of @path under @dir. Returns 0 or a negative errno, and an empty line. */
static int read_line(int dir, const char *path, char *line, size_t size)
{
	_cleanup_fd_ int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	*line = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, line, size - 1);
	if (n < 0)
		return -errno;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

/* A single path component made of harmless characters. */
static bool is_file_name(const char *name, size_t n)
{
	if (!n || name[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
			return false;
	return true;
}

static int parse_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno || end == text || *end || *text == '-' ? -EINVAL : 0;
}

/* The perf type of the PMU whose folder is @dir. */
static int read_type(int dir, uint32_t *type)
{
	uint64_t value;
	char line[64];

	if (read_line(dir, "type", line, sizeof(line)) || parse_number(line, &value) ||
	    value > UINT32_MAX)
		return -EINVAL;
	*type = value;
	return 0;
}

/*
 * Put @value into the bits that @format names ("config:0-7,32-35", lowest
 * bits first).
 */
static int place(const char *format, uint64_t value, struct perf_event_attr *attr)
{
	const char *bits = strchr(format, ':');
	size_t n = bits ? (size_t)(bits - format) : strlen(format);
	__u64 word = 0;

	for (; bits && *bits; bits += strcspn(bits, ",")) {
		unsigned int low = 0, high = 0;
		int got = sscanf(++bits, "%u-%u", &low, &high);

		if (got < 1)
			return -EINVAL;
		if (got == 1)
			high = low;
		if (low > high || high > 63)
			return -EINVAL;
		for (unsigned int bit = low; bit <= high; bit++, value >>= 1)
			word |= (value & 1) << bit;
	}
	if (!bits) {
		word = value;
		value = 0;
	}
	if (value)
		return -ERANGE;
	if (n == 6 && !strncmp(format, "config", n))
		attr->config |= word;
	else if (n == 7 && !strncmp(format, "config1", n))
		attr->config1 |= word;
	else if (n == 7 && !strncmp(format, "config2", n))
		attr->config2 |= word;
	else
		return -EOPNOTSUPP;
	return 0;
}

struct term_context {
	const char *text; /* the whole event, for the message */
	const char *pmu;
	int dir; /* of the PMU */
	struct perf_event_attr *attr;
};

static int apply_terms(const struct term_context *context, char *terms, bool alias,
		       struct error *err);

static int apply_term(const struct term_context *context, char *term, bool alias, struct error *err)
{
	char *equals = strchr(term, '='), path[160], line[512];
	uint64_t value = 1;
	int error;

	if (equals)
		*equals = '\0';
	if (!is_file_name(term, strlen(term)) || strlen(term) > 100)
		return error_set(err, -EINVAL,
				 "'%s' has a part that is no term: write %s/TERM=NUMBER,.../",
				 context->text, context->pmu);
	if (!equals && !alias) {
		snprintf(path, sizeof(path), "events/%s", term);
		if (!read_line(context->dir, path, line, sizeof(line)))
			return apply_terms(context, line, true, err);
	}
	if (equals && parse_number(equals + 1, &value))
		return error_set(err, -EINVAL,
				 "'%s' gives '%s' to %s, which is no number: write a decimal or a "
				 "0x number",
				 context->text, equals + 1, term);
	snprintf(path, sizeof(path), "format/%s", term);
	if (!strcmp(term, "config") || !strcmp(term, "config1") || !strcmp(term, "config2"))
		snprintf(line, sizeof(line), "%s", term);
	else if (read_line(context->dir, path, line, sizeof(line)))
		return error_set(
			err, -ENOENT,
			"the PMU '%s' has neither an event nor a field '%s' (in '%s'): see " DEVICES
			"/%s/events and /format",
			context->pmu, term, context->text, context->pmu);
	error = place(line, value, context->attr);
	if (error == -ERANGE)
		return error_set(err, error, "'%s' gives %#" PRIx64 " to %s, which is smaller (%s)",
				 context->text, value, term, line);
	if (error)
		return error_set(err, error,
				 "'%s' cannot be counted: opprobe does not know how the kernel "
				 "places %s (%s)",
				 context->text, term, line);
	return 0;
}

static int apply_terms(const struct term_context *context, char *terms, bool alias,
		       struct error *err)
{
	char *save = NULL;
	int error = 0;

	for (char *term = strtok_r(terms, ",", &save); term && !error;
	     term = strtok_r(NULL, ",", &save))
		error = apply_term(context, term, alias, err);
	return error;
}

/* "cpus" is what arm's and hybrid x86's core PMUs have, others not. */
static bool is_core_pmu(int dir, const char *name)
{
	return !strcmp(name, "cpu") || !faccessat(dir, "cpus", F_OK, 0);
}

int sysfs_event(const char *text, struct perf_event_attr *attr, bool *core, struct error *err)
{
	const char *slash = strchr(text, '/'), *end = strrchr(text, '/');
	char pmu[64], path[128], terms[256];
	_cleanup_fd_ int dir = -1;
	struct term_context context = {.text = text, .pmu = pmu, .attr = attr};
	uint32_t type;

	if (end == slash || end[1] || slash[1] == '/')
		return error_set(err, -EINVAL,
				 "'%s' is no event: with slashes it must read PMU/TERM=NUMBER,.../",
				 text);
	snprintf(pmu, sizeof(pmu), "%.*s", (int)(slash - text), text);
	snprintf(terms, sizeof(terms), "%.*s", (int)(end - slash - 1), slash + 1);
	snprintf(path, sizeof(path), DEVICES "/%s", pmu);
	if (is_file_name(pmu, strlen(pmu)))
		dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || read_type(dir, &type))
		return error_set(err, -ENOENT,
				 "there is no PMU '%s' on this machine (in '%s'): see " DEVICES,
				 pmu, text);
	attr->type = type;
	*core = is_core_pmu(dir, pmu);
	context.dir = dir;
	return apply_terms(&context, terms, false, err);
}

/* -- PMUs ----------------------------------------------------------------- */

/* Call @visit for each PMU with an fd of its directory, until it returns true. */
static bool each_pmu(bool (*visit)(int dir, const char *name, void *arg), void *arg)
{
	DIR *devices = opendir(DEVICES);
	const struct dirent *entry;
	bool stop = false;

	while (devices && !stop && (entry = readdir(devices))) {
		_cleanup_fd_ int dir = -1;

		if (entry->d_name[0] == '.')
			continue;
		dir = openat(dirfd(devices), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir >= 0)
			stop = visit(dir, entry->d_name, arg);
	}
	if (devices)
		closedir(devices);
	return stop;
}

struct pmu_query {
	uint32_t type;
	char *name;
	size_t size;
	bool uncore;
	unsigned int cores;
};

static bool match_type(int dir, const char *name, void *arg)
{
	struct pmu_query *query = arg;
	uint32_t type;

	if (read_type(dir, &type) || type != query->type)
		return false;
	if (query->name)
		snprintf(query->name, query->size, "%s", name);
	/* PMUs outside the cores say which CPU speaks for the others. */
	query->uncore = !faccessat(dir, "cpumask", F_OK, 0);
	return true;
}

void sysfs_pmu_name(uint32_t type, char *name, size_t size)
{
	struct pmu_query query = {.type = type, .name = name, .size = size};

	*name = '\0';
	each_pmu(match_type, &query);
}

bool sysfs_pmu_is_uncore(uint32_t type)
{
	struct pmu_query query = {.type = type};

	return each_pmu(match_type, &query) && query.uncore;
}

static bool count_core_pmu(int dir, const char *name, void *arg)
{
	struct pmu_query *query = arg;

	query->cores += is_core_pmu(dir, name);
	return false;
}

unsigned int sysfs_core_pmus(void)
{
	struct pmu_query query = {.cores = 0};

	each_pmu(count_core_pmu, &query);
	return query.cores;
}

/* -- tracepoints ---------------------------------------------------------- */

static int open_tracefs_events(void)
{
	static const char *const places[] = {"/sys/kernel/tracing/events",
					     "/sys/kernel/debug/tracing/events"};
	_cleanup_fd_ int context = -1, mount = -1;
	int fd, denied = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno == EACCES || errno == EPERM)
			denied = -errno;
	}
	/* Not mounted: a mount that is attached nowhere goes with its last fd. */
	context = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (context < 0)
		return denied ? denied : -errno;
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	mount = fsmount(context, FSMOUNT_CLOEXEC,
			MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (mount < 0)
		return -errno;
	fd = openat(mount, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The folder of tracepoints, opened at first need and for good. */
static int events_folder = -1;

int tracefs_events(void)
{
	if (events_folder < 0)
		events_folder = open_tracefs_events();
	return events_folder;
}

static bool has_upper_case(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

int tracepoint_event(const char *text, struct perf_event_attr *attr, struct error *err)
{
	const char *colon = strchr(text, ':');
	char path[160], line[32];
	int events, error;
	uint64_t id;

	if (!colon || !is_file_name(text, colon - text) ||
	    !is_file_name(colon + 1, strlen(colon + 1)))
		return -ENOENT;
	events = tracefs_events();
	snprintf(path, sizeof(path), "%.*s/%s/id", (int)(colon - text), text, colon + 1);
	error = events < 0 ? events : read_line(events, path, line, sizeof(line));
	/* Capitals: a name of libpfm4's, the missing permission is not to blame. */
	if ((error == -EACCES || error == -EPERM) && !has_upper_case(text))
		return error_set(
			err, -EACCES,
			"cannot look up the tracepoint '%s': tracefs is open to root only; run "
			"opprobe as root",
			text);
	if (error || parse_number(line, &id))
		return -ENOENT;
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = id;
	return 0;
}

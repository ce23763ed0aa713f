// SPDX-License-Identifier: GPL-2.0-only
#include "examine.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/utf8.h"
#include "cmd.h"
#include "collect/models.h"
#include "collect/overhead.h"
#include "counters/counters.h"
#include "inspect/find.h"
#include "inspect/remote.h"
#include "output/models.h"

#define COUNTING_MAX 32 /* findings of counters_diagnose(), beside one for each process */

struct examination {
	ARRAY_OF(struct finding) findings;
	bool incomplete; /* there was no memory for one */
};

static void add(struct examination *examination, const char *name, enum finding_verdict verdict,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add(struct examination *examination, const char *name, enum finding_verdict verdict,
		const char *format, ...)
{
	struct finding *finding = array_push(&examination->findings);
	va_list args;

	examination->incomplete |= !finding;
	if (!finding)
		return;
	finding->name = name;
	finding->verdict = verdict;
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

static void examine_kernel(struct examination *examination)
{
	struct utsname machine;

	if (!uname(&machine))
		add(examination, "kernel", FINDING_OK, "Linux %s, %s", machine.release,
		    machine.machine);
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		add(examination, "kernel types", FINDING_OK, "/sys/kernel/btf/vmlinux is there");
	else
		add(examination, "kernel types", FINDING_FAIL,
		    "there is no /sys/kernel/btf/vmlinux: opprobe needs a kernel built with "
		    "CONFIG_DEBUG_INFO_BTF, as all distributions' since 2020 are");
}

/* Load the programs and probe opprobe itself: all that a recording does, but for the target. */
static void examine_probes(struct examination *examination)
{
	struct self_kind emulated = {true, true};
	struct counter_set none = {};
	struct capture_overhead overhead;
	struct overhead_job *job = overhead_start(emulated, &none);
	struct error err = {};
	int error = job ? overhead_wait(job, &overhead, &err) : -ENOMEM;

	if (!error)
		add(examination, "probes", FINDING_OK,
		    "BPF programs load and probes work, %s: %" PRIu64 " ns per operator without "
		    "counters, of which its own time shows %" PRIu64 " ns",
		    overhead_manner(job), overhead.nested_ns, overhead.own_ns);
	else if (error == -ERANGE)
		add(examination, "probes", FINDING_WARN,
		    "BPF programs load and probes work, %s; what they add is not known, and would not "
		    "be subtracted now: %s",
		    overhead_manner(job), err.text);
	else
		add(examination, "probes", FINDING_FAIL, "%s", err.text);
	overhead_free(job);
}

static void examine_location(struct examination *examination, const struct location *location)
{
	size_t emulated = 0, of_memory = 0;

	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];

		emulated += site->emulated;
		of_memory += !site->emulated && site_is_of_memory(site);
	}
	if (emulated == location->sites.n)
		add(examination, "probe sites", FINDING_OK,
		    "%zu, all on instructions that the kernel emulates", location->sites.n);
	else if (emulated + of_memory == location->sites.n)
		add(examination, "probe sites", FINDING_OK,
		    "%zu, all on instructions that the kernel emulates but for %zu of --memory",
		    location->sites.n, of_memory);
	else
		add(examination, "probe sites", FINDING_WARN,
		    "%zu, of which %zu are single-stepped: each hit of those costs several times "
		    "more, see `opprobe doctor --file` for which",
		    location->sites.n, location->sites.n - emulated);
	for (size_t i = 0; i < location->n_notes; i++)
		add(examination, "runtime", FINDING_WARN, "%s", location->notes[i]);
}

/* -- sessions ---------------------------------------------------------------------- */

/* Behind what is known of a session, what is not. */
static void print_unknown(const struct session_facts *facts, FILE *out)
{
	const struct {
		bool known;
		const char *what;
	} parts[] = {
		{facts->has_path, "where its model is from"},
		{facts->has_graph, "the graph's name"},
		{facts->has_producer, "the producer"},
		{facts->parallel != NOT_KNOWN, "the mode of execution"},
		{facts->intra_threads, "the intra-op threads"},
		{facts->inter_threads || facts->parallel != KNOWN_YES, "the inter-op threads"},
		{facts->memory_pattern != NOT_KNOWN, "memory pattern"},
		{facts->arena != NOT_KNOWN, "arena"},
		{facts->has_memory || facts->arena != KNOWN_YES, "what the arena holds"},
		{facts->has_providers, "the providers"},
	};
	const char *before = "; not known: ";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!parts[i].known) {
			fprintf(out, "%s%s", before, parts[i].what);
			before = ", ";
		}
}

static void examine_session(struct examination *examination, const struct session_facts *facts)
{
	const struct capture_model model = model_of_facts(0, facts);
	char title[SESSION_PATH + 32], text[sizeof(((struct finding *)0)->text)] = "";
	FILE *out = fmemopen(text, sizeof(text) - 1, "w");

	snprintf(title, sizeof(title), "%s%s%s", facts->path,
		 facts->path[0]	    ? ""
		 : !facts->graph[0] ? "a model"
				    : facts->graph,
		 facts->has_path && !facts->path[0] ? " (memory)" : "");
	if (out) {
		model_print(title, NULL, &model, out);
		print_unknown(facts, out);
		fclose(out);
	}
	add(examination, "session", out ? FINDING_OK : FINDING_WARN, "%s",
	    out ? text : "what it is cannot be told: out of memory");
}

static void examine_sessions(struct examination *examination, const struct located *located,
			     const struct process *process)
{
	struct sessions_answer *answer = malloc(sizeof(*answer));
	struct error err = {};
	int error = answer ? remote_sessions(located, process, answer, &err) : -ENOMEM;

	for (uint32_t i = 0; !error && i < answer->n; i++)
		examine_session(examination, &answer->facts[i]);
	if (error && error != -ENOENT)
		add(examination, "session", FINDING_WARN,
		    "what sessions there are is not known: %s",
		    err.text[0] ? err.text : "out of memory");
	else if (!error && !answer->whole)
		add(examination, "session", FINDING_WARN,
		    "there may be more: not all memory of the process was looked at");
	else if (!error && !answer->n)
		add(examination, "session", FINDING_OK,
		    "none was found: the process has made none, or in a way that opprobe does not "
		    "know");
	free(answer);
}

static void examine_process(struct examination *examination, pid_t pid)
{
	struct located *found = NULL;
	struct inspector *inspector;
	struct thread_list threads = {};
	struct process process;
	struct error err;

	if (process_open(&process, pid, &err)) {
		add(examination, "process", FINDING_FAIL, "%s", err.text);
		return;
	}
	process_threads(&process, &threads);
	add(examination, "process", FINDING_OK, "%d, %zu threads: %s", pid, threads.n,
	    process.command);
	thread_list_free(&threads);
	inspector = inspector_new(&process, NULL, &err);
	if (!inspector || runtime_find(&process, inspector, &found, &err))
		add(examination, "runtime", FINDING_FAIL, "%s", err.text);
	/* What is not found of these is no failing of the process. */
	if (found)
		runtime_find_layers(&process, inspector, &found, &err);
	for (const struct located *it = found; it; it = it->next) {
		const struct runtime *runtime = it->location.runtime;
		const char *version = *it->location.version ? it->location.version
				      : runtime->is_layer   ? ""
							    : "(version not known)";

		add(examination, runtime->is_layer ? "layer" : "runtime", FINDING_OK,
		    "%s%s%s, %s%s", runtime->title, *version ? " " : "", version, it->file.path,
		    it->file.deleted ? " (deleted since)" : "");
		examine_location(examination, &it->location);
		if (runtime->is_layer)
			continue;
		examine_sessions(examination, it, &process);
	}
	located_free(found);
	inspector_free(inspector);
	process_close(&process);
}

static const char *const verdicts[] = {
	[FINDING_OK] = "ok",
	[FINDING_WARN] = "warn",
	[FINDING_FAIL] = "fail",
};

static void print_table(const struct examination *examination)
{
	int width = 0;

	for (size_t i = 0; i < examination->findings.n; i++)
		if ((int)strlen(examination->findings.items[i].name) > width)
			width = strlen(examination->findings.items[i].name);
	for (size_t i = 0; i < examination->findings.n; i++) {
		const struct finding *finding = &examination->findings.items[i];

		printf("%-4s  %-*s  %s\n", verdicts[finding->verdict], width, finding->name,
		       finding->text);
	}
}

static int print_json(const struct examination *examination)
{
	cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "checks");
	bool whole = list;
	char *text;

	for (size_t i = 0; i < examination->findings.n && whole; i++) {
		const struct finding *finding = &examination->findings.items[i];
		cJSON *object = cJSON_CreateObject();

		whole = cJSON_AddItemToArray(list, object) &&
			cJSON_AddStringToObject(object, "name", finding->name) &&
			cJSON_AddStringToObject(object, "verdict", verdicts[finding->verdict]) &&
			cJSON_AddStringToObject(object, "text", finding->text);
	}
	text = whole ? cJSON_Print(root) : NULL;
	cJSON_Delete(root);
	if (!text)
		return -1;
	puts(text);
	free(text);
	return 0;
}

/* What counting depends on, on this machine and on the processes of @choice. */
static void examine_counting(struct examination *examination, const struct choice *choice)
{
	size_t n = examination->findings.n, room = n + COUNTING_MAX + choice->n_pids;

	if (array_extend(&examination->findings, room)) {
		examination->incomplete = true;
		return;
	}
	examination->findings.n = n + counters_diagnose(choice->pids, choice->n_pids,
							examination->findings.items + n, room - n);
}

/* Those that are meant, each as it is now. */
static void examine_processes(struct examination *examination, struct choice *choice)
{
	struct error err;
	int error = choice_find(choice, NULL, &err);

	examine_counting(examination, choice);
	if (error)
		add(examination, "process", FINDING_FAIL, "%s", err.text);
	for (size_t i = 0; i < choice->n_pids; i++)
		examine_process(examination, choice->pids[i]);
}

int examine_machine(struct choice *choice, bool json)
{
	struct examination examination = {};
	int status = EXIT_OK;

	examine_kernel(&examination);
	examine_probes(&examination);
	examine_processes(&examination, choice);
	for (size_t i = 0; i < examination.findings.n; i++) {
		/* Names in them may be the target's. */
		utf8_clean(examination.findings.items[i].text);
		if (examination.findings.items[i].verdict == FINDING_FAIL)
			status = EXIT_FAILED;
	}
	if (!json)
		print_table(&examination);
	if ((json && print_json(&examination)) || fflush(stdout) || ferror(stdout)) {
		fputs("opprobe: cannot write what was found\n", stderr);
		status = EXIT_FAILED;
	} else if (examination.incomplete) {
		fputs("opprobe: out of memory: not all that was found is told\n", stderr);
		status = EXIT_FAILED;
	}
	array_free(&examination.findings);
	return status;
}

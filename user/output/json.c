// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report for programs. What is not known is null, never 0. Its form is
 * described by the schema in json_schema.c, which changes with it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../roofs/roofs.h"
#include "columns.h"
#include "formats.h"
#include "header.h"
#include "devices.h"
#include "kernels.h"
#include "models.h"
#include "text.h"
#include "tree.h"

struct json {
	const struct analysis *a;
	const struct report_options *options;
	FILE *out;
	struct analyze_row **rows;
	char *titles[CAPTURE_COUNTERS]; /* as JSON strings */
	char *metrics[ANALYZE_METRICS_MAX + 8];
	bool failed; /* out of memory */
};

static void put_string(struct json *j, const char *bytes)
{
	char *text = bytes ? text_json(bytes) : NULL;

	j->failed |= bytes && !text;
	fputs(text ? text : "null", j->out);
	free(text);
}

/* ,"key":"value" */
static void member(struct json *j, const char *key, const char *bytes)
{
	fprintf(j->out, ",\"%s\":", key);
	put_string(j, bytes);
}

static void member_or_null(struct json *j, const char *key, const char *bytes)
{
	member(j, key, bytes && bytes[0] ? bytes : NULL);
}

/* A member whose key, and what goes before it, is @key. */
static void first_u64(struct json *j, const char *key, uint64_t value, bool known)
{
	fputs(key, j->out);
	if (known)
		fprintf(j->out, "%" PRIu64, value);
	else
		fputs("null", j->out);
}

static void member_u64(struct json *j, const char *key, uint64_t value, bool known)
{
	fprintf(j->out, ",\"%s\":", key);
	first_u64(j, "", value, known);
}

static void member_double(struct json *j, const char *key, double value)
{
	if (isfinite(value))
		fprintf(j->out, ",\"%s\":%.9g", key, value);
	else
		fprintf(j->out, ",\"%s\":null", key);
}

/* -- what columns know -------------------------------------------------------- */

static void put_value(struct json *j, struct value value)
{
	char number[64];

	if (value.type == VALUE_WHOLE || value.type == VALUE_REAL)
		fputs(value_plain(&value, number, sizeof(number)), j->out);
	else
		put_string(j, value.type == VALUE_TEXT ? value.text : NULL);
}

static void put_member(struct json *j, const struct column_kind *kind,
		       const struct analyze_row *row)
{
	struct value value = {};

	if (!kind->member.name || (kind->member.condition && !kind->member.condition(j->a)))
		return;
	fprintf(j->out, ",\"%s\":", kind->member.name);
	if (row)
		value = kind->value(j->a, row, kind->of);
	if (value.type == VALUE_TEXT &&
	    (!strcmp(kind->member.type, "tensors") || !strcmp(kind->member.type, "attributes")))
		fputs(value.text, j->out); /* see shapes_text(), attributes_text() */
	else
		put_value(j, value);
}

/* Of the members that rows have, those that @names, up to NULL, name. */
static void put_members(struct json *j, const struct analyze_row *row, const char *const *names)
{
	for (; *names; names++)
		for (const struct column_kind *kind = column_kinds; kind->value; kind++)
			if (kind->member.name && !strcmp(kind->member.name, *names))
				put_member(j, kind, row);
}

#define PUT_MEMBERS(j, row, ...) put_members(j, row, (const char *const[]){__VA_ARGS__, NULL})

/* What was measured, and what column_kinds.c makes of it for all executions. */
static void put_counter(struct json *j, const struct analyze_row *row, uint32_t i)
{
	const struct analyze_counter *c = &row->counters[i];
	struct analyze_parts parts = analyze_parts(row, i);
	struct analyze_estimate e = analyze_total(row, i);

	fprintf(j->out, "%s:{\"counted\":%" PRIu64, j->titles[i], c->counted);
	member_u64(j, "total", c->total, c->counted);
	member_u64(j, "self", parts.self, parts.self_counted);
	member_u64(j, "self_counted", parts.self_counted, true);
	member_u64(j, "other_threads", parts.work, c->counted && j->a->has_work);
	fputs(",\"estimate\":", j->out);
	put_value(j, event_kinds[0].value(j->a, row, i));
	fprintf(j->out, ",\"at_least\":%s",
		e.at_least || column_certainty(j->a, &event_kinds[0], row) == CERTAINTY_AT_LEAST
			? "true"
			: "false");
	member_double(j, "coverage", e.known ? e.coverage : 0);
	member_double(j, "interval95", e.exact ? 0 : e.has_interval ? e.interval : NAN);
	fputc('}', j->out);
}

static void put_counters(struct json *j, const struct analyze_row *row)
{
	fputs(",\"counters\":{", j->out);
	for (uint32_t i = 0; i < j->a->info.n_events; i++) {
		fputs(i ? "," : "", j->out);
		put_counter(j, row, i);
	}
	fputs("},\"metrics\":{", j->out);
	for (size_t i = 0; i < j->a->n_metrics; i++) {
		fprintf(j->out, "%s%s:", i ? "," : "", j->metrics[i]);
		put_value(j, metric_kind.value(j->a, row, i));
	}
	fputc('}', j->out);
}

/* -- rows -------------------------------------------------------------------- */

static void put_row(struct json *j, const struct analyze_row *row)
{
	fputs("{\"name\":", j->out);
	put_string(j, row->label);
	for (const struct column_kind *kind = column_kinds; kind->value; kind++)
		put_member(j, kind, row);
	put_counters(j, row);
	fputc('}', j->out);
}

static void put_rows(struct json *j)
{
	size_t n = rows_shown(j->a, j->options);

	fputs(",\n\"operators\":[", j->out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n" : "\n", j->out);
		put_row(j, j->rows[i]);
	}
	fputs("]", j->out);
}

/* -- the rest ---------------------------------------------------------------- */

static void put_process(struct json *j, const struct analyze_process *process)
{
	fprintf(j->out, "{\"pid\":%u", process->pid);
	member_u64(j, "parent_pid", process->parent ? process->parent->pid : 0, process->parent);
	member_or_null(j, "command", process->command);
	member_or_null(j, "runtime", process->runtime);
	member_or_null(j, "version", process->version);
	member_or_null(j, "build_id", process->build_id);
	member_or_null(j, "library", process->library);
	fputc('}', j->out);
}

static void put_processes(struct json *j)
{
	const char *before = "\n";

	fputs(",\n\"processes\":[", j->out);
	for (size_t i = 0; i < j->a->processes.n; i++) {
		if (!j->a->processes.items[i]->shown)
			continue;
		fputs(before, j->out);
		put_process(j, j->a->processes.items[i]);
		before = ",\n";
	}
	fputc(']', j->out);
}

static void put_roof(struct json *j, const char *key, const struct capture_roof *roof)
{
	fprintf(j->out, ",\"%s\":{\"gflops\":", key);
	put_value(j, value_real(roof->flops ? roof->flops / 1e9 : NAN));
	for (int level = 0; level < ROOF_LEVELS; level++)
		member_double(j, roofs_levels[level],
			      roof->bytes[level] ? roof->bytes[level] / 1e9 : NAN);
	fputc('}', j->out);
}

static void put_roofs(struct json *j, const struct capture_roofs *roofs)
{
	fprintf(j->out, ",\"roofs\":");
	if (!roofs->measured) {
		fputs("null", j->out);
		return;
	}
	fprintf(j->out, "{\"measured_s\":%" PRIu64, roofs->measured);
	member_or_null(j, "instructions", roofs->instructions);
	member_u64(j, "cpus", roofs->cpus, roofs->cpus);
	put_roof(j, "one_cpu", &roofs->one);
	put_roof(j, "all_cpus", &roofs->all);
	fputc('}', j->out);
}

static void put_about(struct json *j)
{
	const struct capture_info *info = &j->a->info;

	fputs("{\"schema\":\"opprobe-report\",\"version\":2,\n\"runtime\":{\"name\":", j->out);
	put_string(j, info->runtime);
	member_or_null(j, "version", info->version);
	member_or_null(j, "build_id", info->build_id);
	member_or_null(j, "library", info->library);
	fprintf(j->out, "},\n\"target\":{\"pid\":%u", info->pid);
	member_or_null(j, "command", info->command);
	fputc('}', j->out);
	put_processes(j);
	fputs(",\n\"machine\":{\"host\":", j->out);
	put_string(j, info->host[0] ? info->host : NULL);
	member_or_null(j, "kernel", info->kernel);
	member_or_null(j, "architecture", info->machine);
	member_or_null(j, "cpu", info->cpu);
	member_u64(j, "cpus", info->n_cpus, info->n_cpus);
	put_roofs(j, &info->roofs);
	fputc('}', j->out);
}

static void put_cost(struct json *j)
{
	const struct analyze_cost *cost = &j->a->cost;

	fprintf(j->out, ",\"cost\":{\"runs_probed\":%u,\"runs_bare\":%u,\"pairs\":%u", cost->probed,
		cost->bare, cost->pairs);
	member_double(j, "slower", cost->known ? cost->slower : NAN);
	member_double(j, "slower_low", cost->known ? cost->low : NAN);
	member_double(j, "slower_high", cost->known ? cost->high : NAN);
	fputc('}', j->out);
}

static void put_budget(struct json *j)
{
	const struct capture_budget *budget = &j->a->budget;

	if (!j->a->has_budget) {
		fputs(",\"budget\":null", j->out);
		return;
	}
	fprintf(j->out, ",\"budget\":{\"share\":%g", budget->share_ppm / 1e6);
	member_double(j, "charged", header_charged(budget));
	fprintf(j->out,
		",\"cpu_ns\":%" PRIu64 ",\"charged_ns\":%" PRIu64 ",\"windows\":%" PRIu64
		",\"all_runs_seen\":%s",
		budget->cpu_ns, budget->charged_ns, budget->windows,
		budget->all_seen ? "true" : "false");
	member_u64(j, "unnamed_runs", j->a->rest_nameless, budget->all_seen);
	fputc('}', j->out);
}

static void put_seen(struct json *j, const char *key, const struct analyze_row *row)
{
	fprintf(j->out, ",\"%s\":%" PRIu64, key, analyze_samples(&row->seen));
}

static void put_sampling(struct json *j)
{
	const struct analysis *a = j->a;

	if (!a->has_samples) {
		fputs(",\"sampling\":null", j->out);
		return;
	}
	fputs(",\"sampling\":{\"event\":", j->out);
	put_string(j, a->sampling.event);
	member_or_null(j, "unit", a->sampling.unit);
	if (a->sampling.rate)
		fprintf(j->out, ",\"rate\":%g", (double)a->sampling.rate / 1e3);
	else
		fputs(",\"rate\":null", j->out);
	member_u64(j, "period", a->sampling.period, a->sampling.period);
	fprintf(j->out, ",\"amount\":%" PRIu64, a->all_seen->seen.amount);
	put_seen(j, "samples", a->all_seen);
	put_seen(j, "own", a->seen[CAPTURE_SEEN_OWN]);
	put_seen(j, "pool", a->seen[CAPTURE_SEEN_POOL]);
	put_seen(j, "in_runtime", a->seen[CAPTURE_SEEN_RUNTIME]);
	put_seen(j, "elsewhere", a->seen[CAPTURE_SEEN_ELSEWHERE]);
	put_seen(j, "unknown", a->seen[CAPTURE_SEEN_UNKNOWN]);
	fputc('}', j->out);
}

static void put_recording(struct json *j)
{
	const struct analysis *a = j->a;

	fprintf(j->out,
		",\n\"recording\":{\"start_ns\":%" PRIu64 ",\"realtime_offset_ns\":%" PRId64
		",\"duration_ns\":%" PRIu64 ",\"complete\":%s",
		a->info.start, a->info.realtime_offset, a->duration,
		a->complete ? "true" : "false");
	member_or_null(j, "reason", a->complete ? a->end.reason : NULL);
	member_or_null(j, "cut", a->cut);
	member(j, "damage", a->damaged ? a->damage.text : NULL);
	member_or_null(j, "opprobe_version", a->info.opprobe_version);
	fprintf(j->out, ",\"compensated\":%s", a->compensated ? "true" : "false");
	member_u64(j, "probe_own_ns", a->overhead.own_ns, a->has_overhead);
	member_u64(j, "probe_nested_ns", a->overhead.nested_ns, a->has_overhead);
	put_cost(j);
	put_budget(j);
	put_sampling(j);
	fputs("},\n", j->out);
	fprintf(j->out, "\"aggregated\":%s", a->has_sums ? "true" : "false");
	member_u64(j, "threads", a->n_threads, !a->has_sums);
	fprintf(j->out, ",\"sessions\":%u", a->n_sessions);
	member_u64(j, "executions", a->executions, !a->has_samples);
	fputs(",\n\"notes\":[", j->out);
	for (uint32_t i = 0; i < a->info.n_notes; i++) {
		fputs(i ? "," : "", j->out);
		put_string(j, a->info.notes[i]);
	}
	fputc(']', j->out);
}

static void put_providers(struct json *j, const char *providers)
{
	const char *before = "";

	fprintf(j->out, ",\"providers\":%s", providers ? "[" : "null");
	if (!providers)
		return;
	while (*providers) {
		size_t length = strcspn(providers, ",");
		char name[CAPTURE_WORDS_MAX + 1];

		snprintf(name, sizeof(name), "%.*s", (int)length, providers);
		fputs(before, j->out);
		put_string(j, name);
		before = ",";
		providers += length + (providers[length] == ',');
	}
	fputc(']', j->out);
}

static void member_known(struct json *j, const char *key, uint8_t known)
{
	fprintf(j->out, ",\"%s\":%s", key,
		known == KNOWN_YES  ? "true"
		: known == KNOWN_NO ? "false"
				    : "null");
}

static void put_setup(struct json *j, const char *key, const struct session_setup *setup)
{
	member_u64(j, key, setup->ns, setup->n);
}

static void put_session(struct json *j, const struct analyze_session *session)
{
	const struct capture_model *about = &session->about;

	fprintf(j->out, "{\"session\":%" PRIu32 ",\"pid\":%" PRIu32, session->session,
		session->process->pid);
	member(j, "title", session->title);
	member(j, "path", about->path);
	member(j, "graph", about->graph);
	member(j, "producer", about->producer);
	put_providers(j, about->providers);
	if (about->graph_hash)
		fprintf(j->out, ",\"graph_hash\":\"%016" PRIx64 "\"", about->graph_hash);
	else
		member(j, "graph_hash", NULL);
	member_u64(j, "intra_threads", about->intra_threads, about->intra_threads);
	member_u64(j, "inter_threads", about->inter_threads, about->inter_threads);
	member_known(j, "parallel", about->parallel);
	member_known(j, "intra_spins", about->intra_spins);
	member_known(j, "inter_spins", about->inter_spins);
	member_known(j, "memory_pattern", about->memory_pattern);
	member_known(j, "arena", about->arena);
	member_u64(j, "arena_in_use_bytes", about->memory_in_use, about->has_memory);
	member_u64(j, "arena_most_bytes", about->memory_most, about->has_memory);
	member_u64(j, "arena_total_bytes", about->memory_total, about->has_memory);
	put_setup(j, "loading_ns", &session->setups[CAPTURE_SETUP_LOADING]);
	put_setup(j, "initialization_ns", &session->setups[CAPTURE_SETUP_INITIALIZATION]);
	member_u64(j, "other_runs", session->rest.runs, j->a->budget.all_seen);
	member_u64(j, "other_runs_ns", session->rest.ns, j->a->budget.all_seen);
	fputc('}', j->out);
}

static void put_session_models(struct json *j)
{
	const char *before = "\n";

	fputs(",\n\"session_models\":[", j->out);
	for (size_t i = 0; i < j->a->sessions.n; i++) {
		if (!j->a->sessions.items[i]->process->shown)
			continue;
		fputs(before, j->out);
		put_session(j, j->a->sessions.items[i]);
		before = ",\n";
	}
	fputc(']', j->out);
}

static void put_hints(struct json *j)
{
	struct hints hints;

	j->failed |= hints_make(j->a, &hints) != 0;
	fputs(",\n\"hints\":[", j->out);
	for (size_t i = 0; i < hints.n; i++) {
		fputs(i ? "," : "", j->out);
		put_string(j, hints.texts[i]);
	}
	fputc(']', j->out);
	hints_free(&hints);
}

static void put_events(struct json *j)
{
	fputs(",\n\"events\":[", j->out);
	for (uint32_t i = 0; i < j->a->info.n_events; i++) {
		const struct capture_event *event = &j->a->info.events[i];

		fprintf(j->out, "%s{\"name\":%s", i ? "," : "", j->titles[i]);
		member_or_null(j, "event", event->event);
		member_or_null(j, "unit", event->unit);
		fprintf(j->out, ",\"group\":%u,\"multiplexed\":%s}", event->group,
			event->multiplexed ? "true" : "false");
	}
	fputc(']', j->out);
}

static void put_group_by(struct json *j)
{
	fprintf(j->out, ",\n\"group_by\":\"%s\"", analyze_groups[j->a->options.group]);
}

static void put_totals(struct json *j)
{
	const struct analysis *a = j->a;

	fprintf(j->out, ",\n\"sum\":{\"rows\":%zu", a->n_rows);
	PUT_MEMBERS(j, a->sum, "count", "threw", "total_ns", "percent", "self_ns",
		    "other_threads_ns", "busy_ns", "flops", "flops_counted", "bytes",
		    "bytes_counted", "amounts_of", "gflops", "flop_per_byte", "peak_bytes",
		    "samples", "share_percent", "share_low_percent", "share_high_percent", "cpu_ns",
		    "pool_percent", "kernel_percent");
	put_counters(j, a->sum);
	if (a->rest) {
		first_u64(j, "},\n\"other_operators\":{\"total_ns\":", a->rest->total,
			  !a->has_samples);
		PUT_MEMBERS(j, a->rest, "percent", "samples", "share_percent", "share_low_percent",
			    "share_high_percent", "cpu_ns");
		fputs("}", j->out);
	} else {
		fputs("},\n\"other_operators\":null", j->out);
	}
	if (a->gap) {
		fprintf(j->out, ",\n\"between_operators\":{\"count\":%" PRIu64, a->gap->ended);
		PUT_MEMBERS(j, a->gap, "total_ns", "percent", "run_median_ns", "run_low_ns",
			    "run_high_ns");
		put_counters(j, a->gap);
		fputc('}', j->out);
	} else {
		fputs(",\n\"between_operators\":null", j->out);
	}
	first_u64(j, ",\n\"total\":{\"count\":", a->runs->count, !a->has_samples);
	PUT_MEMBERS(j, a->runs->ended ? a->runs : NULL, "total_ns", "percent", "min_ns", "max_ns",
		    "run_median_ns", "run_low_ns", "run_high_ns", "peak_bytes");
	put_counters(j, a->runs);
	first_u64(j, "},\n\"outside_of_runs\":{\"count\":", a->outside->count, !a->has_samples);
	member_u64(j, "total_ns", a->outside->total, !a->has_samples);
	PUT_MEMBERS(j, a->outside, "percent");
	fputs("}", j->out);
}

/* Which members of rows are as sure as @certainty, for what was lost. */
static void put_certain(struct json *j, const char *key, enum certainty certainty)
{
	const char *before = "";

	fprintf(j->out, ",\"%s\":[", key);
	for (const struct column_kind *kind = column_kinds; kind->value; kind++) {
		if (!kind->member.name || column_certainty(j->a, kind, NULL) != certainty ||
		    (kind->member.condition && !kind->member.condition(j->a)))
			continue;
		fprintf(j->out, "%s\"%s\"", before, kind->member.name);
		before = ",";
	}
	fputc(']', j->out);
}

/* How the selected runs ended. */
static void put_outcomes(struct json *j)
{
	const struct analysis *a = j->a;
	const char *before = "";

	first_u64(j, ",\n\"runs\":", a->runs_seen, !a->has_samples);
	member_u64(j, "runs_failed", a->runs_failed, a->has_status);
	member_u64(j, "runs_threw", a->runs_threw, !a->has_samples);
	fprintf(j->out, ",\"failed_in_rows\":%s,\"failures\":[",
		a->failed_inside || a->options.failed ? "true" : "false");
	for (size_t i = 0; i < a->failures.n; i++) {
		const struct analyze_failure *failure = &a->failures.items[i];

		if (!failure->runs && !failure->setups)
			continue;
		fprintf(j->out, "%s{\"runs\":%" PRIu64 ",\"setups\":%" PRIu64 ",\"code\":%" PRIu32,
			before, failure->runs, failure->setups, failure->code);
		member_u64(j, "session", failure->session, failure->session != CAPTURE_UNKNOWN);
		member_or_null(j, "name", failure->name);
		member_or_null(j, "message", failure->message);
		fputs("}", j->out);
		before = ",";
	}
	fputs("]", j->out);
}

static void put_losses(struct json *j)
{
	struct loss_line lines[LOSS_LINES];

	first_u64(j, ",\n\"runs_partial\":", j->a->runs_partial, !j->a->has_samples);
	member_u64(j, "lost", j->a->lost, true);
	member_double(j, "lost_share", j->a->lost_share);
	put_certain(j, "at_least", CERTAINTY_AT_LEAST);
	put_certain(j, "at_most", CERTAINTY_AT_MOST);
	put_certain(j, "estimates", CERTAINTY_ESTIMATE);
	fputs(",\"losses\":{", j->out);
	header_losses(&j->a->loss, lines);
	for (int i = 0; i < LOSS_LINES; i++)
		fprintf(j->out, "%s\"%s\":%" PRIu64, i ? "," : "", lines[i].key, lines[i].n);
	first_u64(j, "},\n\"pool\":{\"threads\":", j->a->pool_threads, !j->a->has_samples);
	member_u64(j, "work_ns", j->a->pool_work_ns, !j->a->has_samples);
	member_u64(j, "cpu_ns", j->a->pool_cpu_ns, j->a->pool_cpu_ns);
	fputs("}}\n", j->out);
}

/* What can fail for the user's sake, before anything is printed. */
static int prepare(struct json *j, struct error *err)
{
	const struct analysis *a = j->a;

	int error = rows_in_order(a, j->options, &j->rows, err);

	if (error)
		return error;
	j->failed = a->options.tree && tree_order(j->rows, a->n_rows);
	for (uint32_t i = 0; i < a->info.n_events; i++)
		j->failed |= !(j->titles[i] = text_json(a->titles[i]));
	for (size_t i = 0; i < a->n_metrics; i++)
		j->failed |= !(j->metrics[i] = text_json(analyze_metric_name(a, i)));
	return 0;
}

int json_print(const struct analysis *a, const struct report_options *options, FILE *out,
	       struct error *err)
{
	struct json j = {.a = a, .options = options, .out = out};
	int error = prepare(&j, err);

	if (!error && !j.failed) {
		put_about(&j);
		put_recording(&j);
		put_session_models(&j);
		put_hints(&j);
		put_events(&j);
		put_group_by(&j);
		put_rows(&j);
		put_totals(&j);
		put_outcomes(&j);
		j.failed |= kernels_put_json(a, out) != 0;
		j.failed |= devices_put_json(a, out) != 0;
		put_losses(&j);
	}
	if (j.failed)
		error = error_set(err, -ENOMEM, "cannot print the report: out of memory");
	for (uint32_t i = 0; i < a->info.n_events; i++)
		free(j.titles[i]);
	for (size_t i = 0; i < a->n_metrics; i++)
		free(j.metrics[i]);
	free(j.rows);
	return error;
}

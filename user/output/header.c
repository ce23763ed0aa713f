// SPDX-License-Identifier: GPL-2.0-only
/* The lines above and below a table, one function for each. */
#include "header.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models.h"
#include "text.h"

#define FAILURES_SHOWN 8
#define FAILURE_WIDTH  200 /* columns of a message */

void header_losses(const struct capture_loss *loss, struct loss_line *lines)
{
	lines[0] = (struct loss_line){
		"ring_full", "records found the ring buffer full: record with a larger one",
		loss->ring_full};
	lines[1] = (struct loss_line){"too_deep", "operators were nested too deeply to follow",
				      loss->too_deep};
	lines[2] = (struct loss_line){"unnamed", "operators had names that could not be read",
				      loss->unnamed};
	lines[3] =
		(struct loss_line){"missed", "probe hits were skipped by the kernel", loss->missed};
	lines[4] = (struct loss_line){"threads_full", "probe hits were on threads beyond the table",
				      loss->threads_full};
	lines[5] = (struct loss_line){
		"work_lost",
		"operators' share of other threads could not be told apart: it is absent",
		loss->work_lost};
	lines[6] = (struct loss_line){
		"runs_full",
		"runs were open at once with too many others: what other threads executed for "
		"them is in no run",
		loss->runs_full};
	lines[7] = (struct loss_line){
		"unfinished",
		"operators were of runs whose end was lost, so that how long those took is not "
		"known: record without --min-duration, or with a larger ring buffer",
		loss->unfinished};
	lines[8] = (struct loss_line){
		"parts_lost",
		"parts that pool threads worked are not in timelines, but in all sums: record with "
		"a larger ring buffer",
		loss->parts_lost};
}

/* "label    text", with @text from anywhere. */
static void line(FILE *out, const char *label, const char *text)
{
	fprintf(out, "%-10s ", label);
	text_put(out, text);
	fputc('\n', out);
}

/* "onnxruntime 1.24.3, build-id 0123", without what is not known. */
static const char *runtime_text(const struct analyze_process *process, bool with_build_id,
				char *text, size_t size)
{
	bool build_id = with_build_id && process->build_id[0];

	snprintf(text, size, "%.200s%s%.100s%s%.100s",
		 process->runtime[0] ? process->runtime : "not known",
		 process->version[0] ? " " : "", process->version, build_id ? ", build-id " : "",
		 build_id ? process->build_id : "");
	return text;
}

/* The shown process number @i or the next one, NULL if there is none; @i moves behind it. */
static const struct analyze_process *next_shown(const struct analysis *a, size_t *i)
{
	while (*i < a->processes.n) {
		const struct analyze_process *process = a->processes.items[(*i)++];

		if (process->shown)
			return process;
	}
	return NULL;
}

/* What processes have in common: it then stands in a line of its own. */
struct common {
	const struct analyze_process *first;
	bool runtime, library;
};

static struct common find_common(const struct analysis *a)
{
	size_t i = 0;
	const struct analyze_process *process, *first = next_shown(a, &i);
	struct common common = {first, first, first};

	/* Of their strings, equal ones are one. */
	while ((process = next_shown(a, &i))) {
		common.runtime &= process->runtime == first->runtime &&
				  process->version == first->version &&
				  process->build_id == first->build_id;
		common.library &= process->library == first->library;
	}
	return common;
}

static void print_process(const struct analyze_process *process, const char *label,
			  const char *behind, FILE *out)
{
	char text[3072];

	snprintf(text, sizeof(text), "%.600s (pid %u)%s",
		 process->command[0] ? process->command : "process", process->pid, behind);
	line(out, label, text);
}

static void print_several(const struct analysis *a, const struct common *common, FILE *out)
{
	const struct analyze_process *process;
	char runtime[512], behind[2048];

	fprintf(out, "%-10s %u processes, pids", "target", a->processes.n_shown);
	for (size_t i = 0; (process = next_shown(a, &i));)
		fprintf(out, "%s %u", process == common->first ? "" : ",", process->pid);
	fputc('\n', out);
	for (size_t i = 0; (process = next_shown(a, &i));) {
		bool library = !common->library && process->library[0];

		runtime_text(process, !common->runtime, runtime, sizeof(runtime));
		snprintf(behind, sizeof(behind), ": %s%s%s%.1200s",
			 process->runtime[0] ? "" : "runtime ", runtime, library ? ", " : "",
			 library ? process->library : "");
		print_process(process, "", behind, out);
	}
}

static void print_target(const struct analysis *a, FILE *out)
{
	const struct capture_info *info = &a->info;
	struct common common = find_common(a);
	char text[1024];

	if (a->processes.n_shown > 1)
		print_several(a, &common, out);
	else if (common.first)
		print_process(common.first, "target", "", out);
	if (common.runtime)
		line(out, "runtime", runtime_text(common.first, true, text, sizeof(text)));
	if (common.library && common.first->library[0])
		line(out, "library", common.first->library);
	snprintf(text, sizeof(text), "%s%s%s, kernel %s", info->cpu[0] ? info->cpu : info->machine,
		 info->cpu[0] && info->machine[0] ? ", " : "", info->cpu[0] ? info->machine : "",
		 info->kernel);
	line(out, "machine", text);
}

/* "161 GFLOP/s (AVX2) and 23.1 GB/s of memory", as far as it is known; "" if nothing is. */
static const char *roof_text(const struct capture_roof *roof, const char *instructions, char *text,
			     size_t size)
{
	double flops = roof->flops / 1e9, memory = roof->bytes[ROOF_MEMORY] / 1e9;
	int n = 0;

	text[0] = '\0';
	if (roof->flops)
		n = snprintf(text, size, "%.4g GFLOP/s%s%.15s%s", flops,
			     instructions[0] ? " (" : "", instructions, instructions[0] ? ")" : "");
	if (roof->bytes[ROOF_MEMORY])
		snprintf(text + n, size - n, "%s%.3g GB/s of memory", n ? ", " : "", memory);
	return text;
}

static void print_roofs(const struct analysis *a, FILE *out)
{
	const struct capture_roofs *roofs = &a->info.roofs;
	char one[128], all[128], text[512];

	if (!roofs->measured)
		return;
	roof_text(&roofs->one, roofs->instructions, one, sizeof(one));
	roof_text(&roofs->all, "", all, sizeof(all));
	snprintf(text, sizeof(text), "one CPU %s; %u together %s", one[0] ? one : "not known",
		 roofs->cpus, all[0] ? all : "not known");
	line(out, "roofs", text);
}

static void print_recording(const struct analysis *a, FILE *out)
{
	int64_t start = (int64_t)a->info.start + a->info.realtime_offset;
	time_t seconds = start / 1000000000;
	char when[64] = "", duration[64], threads[64] = "", text[512];
	struct tm tm;

	if (a->info.realtime_offset > 0 && start > 0 && localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S, ", &tm);
	text_time(duration, sizeof(duration), a->duration);
	if (!a->has_sums)
		snprintf(threads, sizeof(threads), " on %u thread%s", a->n_threads,
			 a->n_threads == 1 ? "" : "s");
	snprintf(text, sizeof(text), "%s%s%s, %s", when, duration, threads,
		 a->complete ? a->end.reason : "end not recorded");
	line(out, "recorded", text);
	if (a->has_sums)
		line(out, "",
		     "executions were added up as they ended (--aggregate): percentiles are within "
		     "7 %, least and greatest are not known");
}

static void print_sampling(const struct analysis *a, FILE *out)
{
	const struct capture_sampling *sampling = &a->sampling;
	char text[512], often[64];

	if (!a->has_samples)
		return;
	if (sampling->kind == CAPTURE_SAMPLING_OFF_CPU)
		snprintf(often, sizeof(often),
			 "each time that a thread left its CPU and came back");
	else if (sampling->period == 1)
		snprintf(often, sizeof(often), "each that there was");
	else if (sampling->period)
		snprintf(often, sizeof(often), "one of %" PRIu64, sampling->period);
	else
		snprintf(often, sizeof(often), "%.4g per second on each CPU",
			 (double)sampling->rate / 1e3);
	snprintf(text, sizeof(text),
		 "of %.100s, %s: no probes in operators; what they executed is not counted%s",
		 sampling->event, often,
		 sampling_is_estimate(sampling) ? ", and shares lie between Low and High, by 95 %"
						: "");
	line(out, "samples", text);
}

static void print_events(const struct analysis *a, FILE *out)
{
	bool multiplexed = false;

	if (!a->info.n_events)
		return;
	fprintf(out, "%-10s", "events");
	for (uint32_t i = 0; i < a->info.n_events; i++) {
		const struct capture_event *event = &a->info.events[i];

		fputs(i ? ", " : " ", out);
		text_put(out, a->titles[i]);
		if (event->event[0] && strcmp(event->event, a->titles[i])) {
			fputs(" = ", out);
			text_put(out, event->event);
		}
		multiplexed |= event->multiplexed;
	}
	fputc('\n', out);
	if (multiplexed)
		line(out, "",
		     "shared counters: ~ marks an estimate from the share of the time that was "
		     "counted");
}

static void print_overhead(const struct analysis *a, FILE *out)
{
	char own[64], nested[64], text[256];

	if (!a->has_overhead)
		return;
	snprintf(text, sizeof(text), "%s in each operator, %s in what is around it: %s",
		 text_time(own, sizeof(own), a->overhead.own_ns),
		 text_time(nested, sizeof(nested), a->overhead.nested_ns),
		 a->compensated ? "subtracted" : "not subtracted");
	line(out, "probes", text);
}

const char *header_cost(const struct analyze_cost *cost, char *text, size_t size)
{
	if (cost->low <= 0)
		snprintf(text, size, "slower by less than %.1f %%", 100 * fmax(cost->high, 0.001));
	else if (cost->slower > 1)
		snprintf(text, size, "take %.1f times as long (%.1f to %.1f)", 1 + cost->slower,
			 1 + cost->low, 1 + cost->high);
	else
		snprintf(text, size, "%.1f %% slower (%.1f to %.1f %%)", 100 * cost->slower,
			 100 * cost->low, 100 * cost->high);
	return text;
}

static void print_cost(const struct analysis *a, FILE *out)
{
	const struct analyze_cost *cost = &a->cost;
	char text[256], slower[128], interval[64] = "";

	if (!cost->pairs)
		return;
	/* Where it holds nothing, the sentence leaves it out. */
	if (cost->low <= 0)
		snprintf(interval, sizeof(interval), " (%.1f to %.1f %%)", 100 * cost->low,
			 100 * cost->high);
	if (cost->known)
		snprintf(text, sizeof(text),
			 "%s runs %s%s: %u with the operators' probes beside %u without",
			 a->has_budget ? "probes make" : "recording makes",
			 header_cost(cost, slower, sizeof(slower)), interval, cost->probed,
			 cost->bare);
	else
		snprintf(text, sizeof(text),
			 "not known, with %u of the %d comparisons that it takes: record longer, "
			 "or while more runs come",
			 cost->pairs, COST_PAIRS_MIN);
	line(out, "cost", text);
}

/* Runs of the sessions that are shown, or may be, of which nothing but their time was recorded. */
static uint64_t runs_not_recorded(const struct analysis *a)
{
	uint64_t n = a->rest_nameless;

	for (size_t i = 0; i < a->sessions.n; i++)
		if (a->sessions.items[i]->process->shown)
			n += a->sessions.items[i]->rest.runs;
	return n;
}

double header_charged(const struct capture_budget *budget)
{
	double own = (double)budget->cpu_ns - (double)budget->charged_ns;

	return own > 0 ? (double)budget->charged_ns / own : budget->charged_ns ? NAN : 0;
}

const char *header_charged_text(const struct capture_budget *budget, char *to, size_t size)
{
	double charged = header_charged(budget);

	if (isnan(charged))
		snprintf(to, size, "more than 100 %%");
	else
		snprintf(to, size, "%.2f %%", 100 * charged);
	return to;
}

void header_budget_runs(const struct analysis *a, char *text, size_t size)
{
	char recorded[32], all[32];
	uint64_t rest = runs_not_recorded(a);

	text_count(recorded, sizeof(recorded), a->runs_seen);
	if (a->budget.all_seen)
		snprintf(text, size, "%s of %s runs", recorded,
			 text_count(all, sizeof(all), a->runs_seen + rest));
	else
		snprintf(text, size, "%s runs", recorded);
}

static void print_budget(const struct analysis *a, FILE *out)
{
	char text[512], runs[128], windows[32], charged[32];

	if (!a->has_budget)
		return;
	header_budget_runs(a, runs, sizeof(runs));
	snprintf(text, sizeof(text),
		 "%g %% of the CPU time, of which %s are charged: probes were in place for %s, in "
		 "%s window%s%s",
		 a->budget.share_ppm / 1e4,
		 header_charged_text(&a->budget, charged, sizeof(charged)), runs,
		 text_count(windows, sizeof(windows), a->budget.windows),
		 a->budget.windows == 1 ? "" : "s",
		 a->budget.all_seen ? ""
				    : "; how many others there were is not known, as the probes "
				      "of runs alone would have been too many");
	line(out, "budget", text);
}

int header_print(const struct analysis *a, FILE *out)
{
	print_target(a, out);
	print_roofs(a, out);
	models_print(a, out);
	print_recording(a, out);
	print_sampling(a, out);
	print_events(a, out);
	print_overhead(a, out);
	print_cost(a, out);
	print_budget(a, out);
	for (uint32_t i = 0; i < a->info.n_notes; i++)
		line(out, "note", a->info.notes[i]);
	return 0;
}

/* -- after the rows ---------------------------------------------------------- */

static void print_no_event(const struct analysis *a, FILE *out)
{
	if (a->sampling.kind == CAPTURE_SAMPLING_OFF_CPU)
		fputs("No thread of the process left a CPU and came back to one in this time.\n",
		      out);
	else
		fprintf(out,
			"There was no sample of %.100s in this time: record longer, or each of them "
			"(--sample-period 1).\n",
			a->sampling.event);
}

static void print_why_empty(const struct analysis *a, FILE *out)
{
	if (a->options.failed && !a->runs_failed && !a->runs_threw)
		fprintf(out, "No run is known to have failed%s.\n",
			a->has_status || !a->runs_seen
				? ""
				: ": what runs returned could not be read in this build");
	else if (a->has_samples && analyze_samples(&a->all_seen->seen))
		fprintf(out,
			"No operator is in the table: of %" PRIu64
			" samples, none was in one that is selected.\n",
			analyze_samples(&a->all_seen->seen));
	else if (a->has_samples && a->sampling.kind != CAPTURE_SAMPLING_TIME)
		print_no_event(a, out);
	else if (a->executions)
		fprintf(out,
			"No operator is left by the selection: the capture holds %" PRIu64
			" execution%s.\n",
			a->executions, a->executions == 1 ? "" : "s");
	else if (a->lost)
		fprintf(out, "No operators were recorded: all that ran were lost.\n");
	else if (a->runs_seen)
		fprintf(out,
			"No operators were recorded, though there were runs: they ended before "
			"their first operator, or began before the recording.\n");
	else
		fprintf(out,
			"No operators were recorded: none ran in this time. Give the process%s work "
			"while recording (send the model a request), or record longer.\n",
			a->processes.n_shown > 1 ? "es" : "");
}

/* The numbers that the marks in the table stand for. */
static void print_share(const struct analysis *a, FILE *out)
{
	double percent = 100 * a->lost_share;
	char count[32];

	if (a->lost_operators && a->n_rows)
		fprintf(out,
			"%s%.1f %% of what ran is missing in the table: counts and sums are not "
			"less (\xe2\x89\xa5), averages and shares are of what was recorded (~).\n",
			percent < 0.1 ? "<" : "", percent < 0.1 ? 0.1 : percent);
	if (a->runs_partial)
		fprintf(out, "%s runs lack operators: they are not in the Total.\n",
			text_count(count, sizeof(count), a->runs_partial));
	if (a->loss.work_lost && !a->lost_operators && a->n_rows)
		fprintf(out, "Times and counts of all threads are not less (\xe2\x89\xa5).\n");
}

static void print_losses(const struct analysis *a, FILE *out)
{
	struct loss_line lines[LOSS_LINES];
	char count[32];

	header_losses(&a->loss, lines);
	for (int i = 0; i < LOSS_LINES; i++)
		if (lines[i].n)
			fprintf(out, "lost: %s %s.\n", text_count(count, sizeof(count), lines[i].n),
				lines[i].what);
	print_share(a, out);
}

/* What is told of one way to fail: how often runs did, or setups. */
struct failed {
	const struct analyze_failure *failure;
	uint64_t times;
};

static int compare_failed(const void *a, const void *b)
{
	const struct failed *x = a, *y = b;

	return x->times < y->times ? 1 : -(x->times > y->times);
}

/* What was returned, and the message of the first that did. */
static int print_failure(const struct analysis *a, const struct failed *failed, FILE *out)
{
	const struct analyze_failure *failure = failed->failure;
	const struct analyze_session *session = sessions_get(&a->sessions, failure->session);
	char *message = text_terminal(failure->message);
	char *shorter = message ? text_shorten(message, FAILURE_WIDTH) : NULL;
	char count[32];

	fprintf(out, "  %s \xc3\x97 ", text_count(count, sizeof(count), failed->times));
	text_put(out, failure->name[0] ? failure->name : "error");
	fprintf(out, " (%" PRIu32 ")", failure->code);
	if (a->n_sessions > 1 && session) {
		fputs(" in ", out);
		text_put(out, session->title);
	}
	fprintf(out, "%s%s\n", shorter && shorter[0] ? ": " : "", shorter ? shorter : "");
	free(message);
	free(shorter);
	return shorter ? 0 : -ENOMEM;
}

/* How @setups failed, else runs: the most frequent first. */
static int print_failures(const struct analysis *a, bool setups, FILE *out)
{
	struct failed *failed = calloc(a->failures.n, sizeof(*failed));
	size_t n = 0;
	int error = 0;

	if (!failed && a->failures.n)
		return -ENOMEM;
	for (size_t i = 0; i < a->failures.n; i++) {
		const struct analyze_failure *failure = &a->failures.items[i];
		uint64_t times = setups ? failure->setups : failure->runs;

		if (times)
			failed[n++] = (struct failed){failure, times};
	}
	if (n)
		qsort(failed, n, sizeof(*failed), compare_failed);
	for (size_t i = 0; !error && i < n && i < FAILURES_SHOWN; i++)
		error = print_failure(a, &failed[i], out);
	if (n > FAILURES_SHOWN)
		fprintf(out, "  and in %zu more ways: see \"failures\" of --json.\n",
			n - FAILURES_SHOWN);
	free(failed);
	return error;
}

/* Sessions that could not be made. */
static int print_failed_setups(const struct analysis *a, FILE *out)
{
	uint64_t loads = a->setups[CAPTURE_SETUP_LOADING].failed;
	uint64_t inits = a->setups[CAPTURE_SETUP_INITIALIZATION].failed;
	char count[32];

	if (!loads && !inits)
		return 0;
	if (loads)
		fprintf(out, "%s model%s could not be loaded%s",
			text_count(count, sizeof(count), loads), loads == 1 ? "" : "s",
			inits ? ", " : "");
	if (inits)
		fprintf(out, "%s session%s could not be initialized",
			text_count(count, sizeof(count), inits), inits == 1 ? "" : "s");
	fputs(":\n", out);
	return print_failures(a, true, out);
}

/* Runs that did not end well, of those that are selected. */
static int print_outcomes(const struct analysis *a, FILE *out)
{
	char failed[32], threw[32], all[32];

	if (!a->runs_failed && !a->runs_threw)
		return 0;
	text_count(failed, sizeof(failed), a->runs_failed);
	text_count(threw, sizeof(threw), a->runs_threw);
	fprintf(out, "Of %s run%s ", text_count(all, sizeof(all), a->runs_seen),
		a->runs_seen == 1 ? "" : "s");
	if (a->runs_failed)
		fprintf(out, "%s returned an error", failed);
	if (a->runs_threw)
		fprintf(out, "%s%s %s left by an exception", a->runs_failed ? ", " : "", threw,
			a->runs_threw == 1 ? "was" : "were");
	fprintf(out, "%s\n",
		a->options.failed ? ": these are shown."
		: a->failed_inside
			? ". Their operators are in the rows, as what is read from a pipe cannot "
			  "be read twice; they themselves are not in the Total."
			: ". Nothing of them is in the table: --failed shows it.");
	return print_failures(a, false, out);
}

static void print_partial_runs(const struct analysis *a, FILE *out)
{
	char count[32], duration[64];

	if (a->outside->count && a->has_runs)
		fprintf(out,
			"%s executions (%s) belong to no run that was seen whole: they are in the "
			"Sum, not in the Total.\n",
			text_count(count, sizeof(count), a->outside->count),
			text_time(duration, sizeof(duration), a->outside->total));
	if (a->parallel)
		fprintf(out,
			"Operators of one run were on several threads, or on another one than it: "
			"the time between operators is not known.\n");
	else if (a->contradictory)
		fprintf(out,
			"Operators are recorded as longer than the run that they were in: the time "
			"between operators is not known.\n");
	else if (a->unsure && a->has_runs)
		fprintf(out, "It is not known of which runs operators were lost: the time between "
			     "operators is not known.\n");
	if (a->truncated_names)
		fprintf(out, "Names of more than 1 KiB are cut.\n");
}

/* Rows are of what was not recorded. */
static void print_missing(const struct analysis *a, FILE *out)
{
	if (a->n_rows && a->options.group == GROUP_SHAPE && !a->has_shapes)
		fputs("No shapes were recorded: opprobe record --shapes tells inputs apart.\n",
		      out);
}

static void print_pool(const struct analysis *a, FILE *out)
{
	char count[32], work[64], cpu[64], rest[64];

	if (!a->pool_threads)
		return;
	fprintf(out, "%s pool thread%s worked %s for operators",
		text_count(count, sizeof(count), a->pool_threads), a->pool_threads == 1 ? "" : "s",
		text_time(work, sizeof(work), a->pool_work_ns));
	if (a->pool_cpu_ns >= a->pool_work_ns)
		fprintf(out, "; %s used %s of CPU time, %s of it outside of them (spinning)",
			a->pool_threads == 1 ? "it" : "they",
			text_time(cpu, sizeof(cpu), a->pool_cpu_ns),
			text_time(rest, sizeof(rest), a->pool_cpu_ns - a->pool_work_ns));
	fputs(".\n", out);
}

static int print_hints(const struct analysis *a, FILE *out)
{
	struct hints hints;
	int error = hints_make(a, &hints);

	for (size_t i = 0; !error && i < hints.n; i++) {
		fputs("hint: ", out);
		text_put(out, hints.texts[i]);
		fputs(".\n", out);
	}
	hints_free(&hints);
	return error;
}

int header_print_notes(const struct analysis *a, FILE *out)
{
	int error;

	if (a->damaged)
		fprintf(out, "%s\n", a->damage.text);
	if (a->cut[0])
		fprintf(out, "%s\n", a->cut);
	if (!a->n_rows)
		print_why_empty(a, out);
	print_losses(a, out);
	error = print_failed_setups(a, out) ?: print_outcomes(a, out);
	print_missing(a, out);
	models_print_unrecorded(a, out);
	print_partial_runs(a, out);
	print_pool(a, out);
	return error ?: print_hints(a, out);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The kinds of columns, and where the value of each comes from. */
#include <math.h>
#include <string.h>

#include "columns.h"
#include "attributes.h"
#include "shapes.h"
#include "text.h"

#define BAR_CELLS 8

#define FIELD(name)  offsetof(struct analyze_row, name)
#define AMOUNT(name) offsetof(struct analyze_amounts, name)

#define ON_ALL	 (ON_SUM | ON_GAP | ON_TOTAL)
#define ON_TIMES (ON_ALL | ON_REST | ON_OUTSIDE) /* each line is a part of the time */

static const struct value absent;

/* -- a field of the row, at @of ---------------------------------------------- */

static const void *field(const struct analyze_row *row, uint32_t of)
{
	return (const char *)row + of;
}

static struct value text(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_text(*(const char *const *)field(row, of), false);
}

static struct value shapes(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_text(shapes_known(*(const struct tensor_list *const *)field(row, of)), false);
}

static struct value attributes(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_text(attributes_known(row->attributes), false);
}

/* Where "" is as good as any: the domain of ONNX itself. */
static struct value any_text(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_text(*(const char *const *)field(row, of), true);
}

static struct value number(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	uint32_t known = *(const uint32_t *)field(row, of);

	return known == CAPTURE_UNKNOWN ? absent : value_whole(known);
}

static struct value pid(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return row->process ? value_whole(row->process->pid) : absent;
}

/* The one session, or the model of several, as people call it. */
static struct value model(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	const struct analyze_session *session = sessions_get(&a->sessions, row->session);

	if (!a->has_models)
		return absent;
	return value_text(session ? session->title : row->model ? row->model->label : NULL, false);
}

/* Of executions; of samples, nobody knows how many there were. */
static struct value count(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return a->has_samples ? absent : value_whole(*(const uint64_t *)field(row, of));
}

static struct value count_if_ended(const struct analysis *a, const struct analyze_row *row,
				   uint32_t of)
{
	return row->ended ? count(a, row, of) : absent;
}

/* The least and the greatest are not kept of what was added up while recording. */
static struct value extreme(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return row->summed ? absent : count_if_ended(a, row, of);
}

static struct value run_duration(const struct analysis *a, const struct analyze_row *row,
				 uint32_t of)
{
	return row->run_timed ? value_whole(row->run_ns) : absent;
}

/* Of a row that is a session: what it did before its runs, of kind @of. */
static struct value setup(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	const struct analyze_session *session = sessions_get(&a->sessions, row->session);

	return a->options.group == GROUP_SESSION && session && session->setups[of].n
		       ? value_whole(session->setups[of].ns)
		       : absent;
}

/* -- times ------------------------------------------------------------------- */

static struct value share(double part, double whole)
{
	return whole > 0 ? value_real(100 * part / whole) : absent;
}

static enum certainty certainty(const struct analyze_estimate *e)
{
	return e->at_least ? CERTAINTY_AT_LEAST : e->exact ? CERTAINTY_EXACT : CERTAINTY_ESTIMATE;
}

/* @exact stands for what was counted in whole, where a double would round it. */
static struct value estimate(struct analyze_estimate e, uint64_t exact)
{
	struct value value;

	if (!e.known)
		return absent;
	if (e.exact)
		return value_whole(e.value < 0x1p53 ? (uint64_t)e.value : exact);
	value = value_whole(e.value < 1e19 ? (uint64_t)rint(e.value) : UINT64_MAX);
	value.real = e.value;
	value.certainty = certainty(&e);
	value.coverage = e.coverage;
	return value;
}

static struct value total(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return row->ended || (!row->count && !a->has_samples) ? value_whole(row->total) : absent;
}

/* In a typical run: the median, and where it lies by 95 %. */
enum per_run { PER_RUN_MEDIAN, PER_RUN_LOW, PER_RUN_HIGH };

static struct value per_run(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	const struct analyze_per_run *it = row->per_run;
	double ns;

	if (!it || !it->runs)
		return absent;
	ns = of == PER_RUN_MEDIAN ? it->median : of == PER_RUN_LOW ? it->low : it->high;
	return isnan(ns) ? absent : value_real(ns);
}

static bool has_runs_apart(const struct analysis *a)
{
	return a->options.runs_apart;
}

static struct value average(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return row->ended ? value_real((double)row->total / row->ended) : absent;
}

static struct value percent(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	/* Side by side in parallel mode, operators are no share of the runs' time. */
	if (!row->ended || ((row == a->runs || row == a->outside) && a->parallel))
		return absent;
	return share(row->total, a->base_ns);
}

/* As long as its time is beside that of the row that has most, in eighths of a cell. */
static struct value bar(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	static char bars[8 * BAR_CELLS + 1][3 * BAR_CELLS + 1];
	unsigned int eighths;
	char *to;

	if ((!row->ended && !a->has_samples) || !a->largest)
		return absent;
	eighths = lrint(8.0 * BAR_CELLS * analyze_extent(a, row) / a->largest);
	eighths = eighths > 8 * BAR_CELLS ? 8 * BAR_CELLS : eighths ? eighths : 1;
	to = bars[eighths];
	if (!*to)
		text_bar(to, eighths);
	return value_text(to, false);
}

/* The number of event @name; -1 if it was not counted. */
static int event_find(const struct analysis *a, const char *name)
{
	for (uint32_t i = 0; i < a->info.n_events; i++)
		if (!strcmp(a->info.events[i].event, name))
			return i;
	return -1;
}

/* The share of the time on a CPU, of all threads that worked for it. */
static struct value cpu(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	static const char *const parts[] = {"on-cpu", "ready", "blocked"};
	double sum = 0, on_cpu = NAN;

	for (int part = 0; part < 3; part++) {
		int i = event_find(a, parts[part]);
		struct analyze_estimate total = {};

		if (i >= 0)
			total = analyze_total(row, i);
		if (!total.known || total.at_least)
			return absent;
		on_cpu = part ? on_cpu : total.value;
		sum += total.value;
	}
	return share(on_cpu, sum);
}

static struct value self(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	if (a->has_samples)
		return absent;
	return row->count ? estimate(analyze_self_time(row), row->self) : value_whole(0);
}

/* Of what is given out, something always is. */
static struct value peak(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return row->peak ? value_whole(row->peak) : absent;
}

static struct value percentile(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	uint64_t ns;

	return analyze_percentile(row, of, &ns) ? value_whole(ns) : absent;
}

static struct value work(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return row->ended && a->has_work ? value_whole(row->work_ns) : absent;
}

static struct value busy(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return row->ended ? value_whole(row->total + row->work_ns) : absent;
}

static struct value others(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return row->ended && a->has_work ? share(row->work_ns, row->total + row->work_ns) : absent;
}

/* The share of all executions that is missing in the row. */
static struct value lost(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_real(row->whole && !a->unsure ? 0 : 100 * a->lost_share);
}

/* -- what samples tell ----------------------------------------------------------- */

static bool has_samples(const struct analysis *a)
{
	return a->has_samples;
}

static bool has_sampled_time(const struct analysis *a)
{
	return a->has_samples && a->sampling.kind == CAPTURE_SAMPLING_TIME;
}

static bool has_sampled_off_cpu(const struct analysis *a)
{
	return a->has_samples && a->sampling.kind == CAPTURE_SAMPLING_OFF_CPU;
}

static bool has_sampled_events(const struct analysis *a)
{
	return a->has_samples && a->sampling.kind != CAPTURE_SAMPLING_TIME;
}

static struct value samples(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return a->has_samples ? value_whole(analyze_samples(&row->seen)) : absent;
}

/* Of all samples, and where that lies by 95 %. */
enum sample_share { SHARE_SEEN, SHARE_LOW, SHARE_HIGH };

static struct value sample_share(const struct analysis *a, const struct analyze_row *row,
				 uint32_t of)
{
	struct analyze_share it;

	if (!a->has_samples || !analyze_share(a, &row->seen, &it) ||
	    (of != SHARE_SEEN && row == a->all_seen))
		return absent;
	return value_real(100 * (of == SHARE_SEEN ? it.share : of == SHARE_LOW ? it.low : it.high));
}

/* How many of the events that were sampled it had. */
static struct value events(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return has_sampled_events(a) ? value_whole(row->seen.amount) : absent;
}

/* Of the time off the CPUs, that in which it could not run, and that in which it could. */
enum off_cpu { OFF_BLOCKED, OFF_READY };

static struct value off_cpu(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	const struct analyze_seen *seen = &row->seen;

	if (!has_sampled_off_cpu(a))
		return absent;
	return value_whole(of == OFF_READY ? seen->ready : seen->amount - seen->ready);
}

/* Its share of the CPU time that all samples stand for. */
static struct value cpu_time(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	struct analyze_share it;

	if (!has_sampled_time(a) || !analyze_share(a, &row->seen, &it))
		return absent;
	return value_real(it.share * (double)a->all_seen->seen.amount);
}

static struct value pool_share(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return a->has_samples ? share(row->seen.pool, analyze_samples(&row->seen)) : absent;
}

static struct value kernel_share(const struct analysis *a, const struct analyze_row *row,
				 uint32_t of)
{
	return a->has_samples && !has_sampled_off_cpu(a)
		       ? share(row->seen.in_kernel, analyze_samples(&row->seen))
		       : absent;
}

/* Where in operators they were. */
static bool is_hot(const struct analysis *a)
{
	return a->has_samples && a->options.hot;
}

static struct value function(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_text(row->place ? row->place->label : NULL, false);
}

static struct value place_symbol(const struct analysis *a, const struct analyze_row *row,
				 uint32_t of)
{
	const char *symbol = row->place ? row->place->symbol : "";

	return value_text(*symbol ? symbol : NULL, false);
}

static struct value file(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_text(row->place ? place_file(row->place) : NULL, false);
}

enum place_number { PLACE_OFFSET, PLACE_ADDRESS, PLACE_BYTES, PLACE_BOUNDED };

static struct value place_number(const struct analysis *a, const struct analyze_row *row,
				 uint32_t of)
{
	const struct analyze_place *place = row->place;

	/* Of a file that could not be read, an address is known, and no function. */
	if (!place || (!place->size && !place->is_address))
		return absent;
	switch (of) {
	case PLACE_OFFSET:
		return value_whole(place->offset + place->at);
	case PLACE_ADDRESS:
		return place->address ? value_whole(place->address + place->at) : absent;
	case PLACE_BYTES:
		return place->is_address ? absent : value_whole(place->size);
	default:
		return value_whole(place->bounded);
	}
}

static struct value place_path(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_text(row->place ? row->place->path : NULL, false);
}

static struct value place_build_id(const struct analysis *a, const struct analyze_row *row,
				   uint32_t of)
{
	return value_text(row->place ? row->place->build_id : NULL, false);
}

/* -- what shapes tell -------------------------------------------------------- */

/* A sum over @counted of the row's executions, which may lack some. */
static struct value amount(const struct analyze_row *row, double known, uint64_t sum,
			   uint64_t counted)
{
	struct value value = isfinite(known) ? value_whole(sum) : absent;

	if (counted < row->leaves)
		value.certainty = CERTAINTY_AT_LEAST;
	return value;
}

/* Of how many executions a sum is, at @of. */
static struct value amount_counted(const struct analysis *a, const struct analyze_row *row,
				   uint32_t of)
{
	const struct analyze_amounts *amounts = analyze_amounts(row);

	return value_whole(*(const uint64_t *)((const char *)amounts + of));
}

static struct value flops(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	const struct analyze_amounts *amounts = analyze_amounts(row);

	return amount(row, analyze_flops(row), amounts->flops, amounts->flops_counted);
}

static struct value flops_missing(const struct analysis *a, const struct analyze_row *row,
				  uint32_t of)
{
	return value_text(analyze_flops_missing(row), false);
}

static struct value bytes(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	const struct analyze_amounts *amounts = analyze_amounts(row);

	return amount(row, analyze_bytes(row), amounts->bytes, amounts->bytes_counted);
}

static struct value gflops(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_real(analyze_gflops(row));
}

static struct value flop_per_byte(const struct analysis *a, const struct analyze_row *row,
				  uint32_t of)
{
	return value_real(analyze_flop_per_byte(row));
}

static struct value roof(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_real(100 * analyze_roof(a, row));
}

/* The mean of what is mostly the same each time. */
static struct value mean_size(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	double mean = analyze_size(row, of);

	return mean == floor(mean) && mean < 0x1p53 ? value_whole(mean) : value_real(mean);
}

/* -- events and metrics ------------------------------------------------------ */

static struct value event_total(const struct analysis *a, const struct analyze_row *row, uint32_t i)
{
	return estimate(analyze_total(row, i), row->counters[i].total);
}

static struct value event_self(const struct analysis *a, const struct analyze_row *row, uint32_t i)
{
	return estimate(analyze_self(row, i), analyze_parts(row, i).self);
}

static struct value event_average(const struct analysis *a, const struct analyze_row *row,
				  uint32_t i)
{
	struct analyze_estimate e = analyze_total(row, i);
	struct value value;

	if (!e.known || !row->ended)
		return absent;
	value = value_real(e.value / row->ended);
	value.certainty = certainty(&e);
	value.coverage = e.coverage;
	return value;
}

/* The calling thread's; of an estimate, nobody knows whose it is. */
static struct value event_caller(const struct analysis *a, const struct analyze_row *row,
				 uint32_t i)
{
	struct analyze_estimate e = analyze_total(row, i);

	return e.exact ? value_whole(row->counters[i].total - analyze_parts(row, i).work) : absent;
}

static struct value event_others(const struct analysis *a, const struct analyze_row *row,
				 uint32_t i)
{
	const struct analyze_counter *counter = &row->counters[i];

	/* Where no work was seen, nobody may have looked for it. */
	return a->has_work && counter->counted ? share(analyze_parts(row, i).work, counter->total)
					       : absent;
}

static struct value event_interval(const struct analysis *a, const struct analyze_row *row,
				   uint32_t i)
{
	struct analyze_estimate e = analyze_total(row, i);

	if (e.exact)
		return value_real(0);
	if (!e.has_interval || !e.value)
		return absent;
	return value_real(100 * e.interval / e.value);
}

static struct value event_counted(const struct analysis *a, const struct analyze_row *row,
				  uint32_t i)
{
	return value_whole(row->counters[i].counted);
}

static struct value metric(const struct analysis *a, const struct analyze_row *row, uint32_t i)
{
	return value_real(analyze_metric(a, row, i));
}

/* -- members of JSON alone --------------------------------------------------- */

static struct value parent(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_text(row->parent ? row->parent->label : NULL, true);
}

static struct value depth(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_whole(row->depth);
}

static struct value whole(const struct analysis *a, const struct analyze_row *row, uint32_t of)
{
	return value_whole(row->whole && !a->unsure);
}

/* -- which rows have a member ------------------------------------------------ */

static bool is_tree(const struct analysis *a)
{
	return a->options.tree && a->options.group == GROUP_NODE;
}

static bool is_by_thread(const struct analysis *a)
{
	return a->options.group == GROUP_THREAD;
}

static bool is_by_run(const struct analysis *a)
{
	return a->options.group == GROUP_RUN;
}

static bool is_by_tag(const struct analysis *a)
{
	return a->has_tags && (a->options.group == GROUP_RUN || a->options.group == GROUP_TAG);
}

static bool is_by_session(const struct analysis *a)
{
	return a->options.group == GROUP_SESSION;
}

static bool has_models(const struct analysis *a)
{
	return a->has_models;
}

static bool has_shapes(const struct analysis *a)
{
	return a->has_shapes;
}

static bool has_roofs(const struct analysis *a)
{
	return a->has_shapes && a->info.roofs.measured;
}

static bool has_peaks(const struct analysis *a)
{
	return a->has_peaks;
}

static bool has_attributes(const struct analysis *a)
{
	return a->has_attributes;
}

/* -- the entries ------------------------------------------------------------- */

const struct column_kind column_kinds[] = {
	/* The member is the row's first, and never null. */
	{"name", "Name", text, FIELD(label), &unit_text, INDENTED, .member = {}},
	{"op", "Op", text, FIELD(op_type), &unit_text, 0,
	 .member = {"op_type", "text",
		    "This and the following: null unless all executions of the row share it."}},
	{"domain", "Domain", any_text, FIELD(domain), &unit_text, 0, .member = {"domain", "text"}},
	{"provider", "Provider", text, FIELD(provider), &unit_text, 0,
	 .member = {"provider", "text"}},
	{"pid", "PID", pid, 0, &unit_pid, 0, .member = {"pid", "count"}},
	{"session", "Session", number, FIELD(session), &unit_number, 0,
	 .member = {"session", "count"}},
	{"model", "Model", model, 0, &unit_text, 0,
	 .member = {"model", "text",
		    "What people call the session, or the model of several: see session_models.",
		    has_models}},
	{"loading", "Loading", setup, CAPTURE_SETUP_LOADING, &unit_ns, 0,
	 .member = {"loading_ns", "count",
		    "Before the runs: what the session took to load its model; null unless seen.",
		    is_by_session}},
	{"init", "Init", setup, CAPTURE_SETUP_INITIALIZATION, &unit_ns, 0,
	 .member = {"initialization_ns", "count", "Likewise, to initialize.", is_by_session}},
	{"index", "Index", number, FIELD(node_index), &unit_number, 0,
	 .member = {"node_index", "count"}},
	{.value = parent,
	 .member = {"parent", "text", "With --tree: the node around it.", is_tree}},
	{"tid", "TID", number, FIELD(tid), &unit_number, 0,
	 .member = {"tid", "count", NULL, is_by_thread}},
	{"run", "Run", number, FIELD(run), &unit_number, 0,
	 .member = {"run", "count", NULL, is_by_run}},
	{"step", "Step", number, FIELD(step), &unit_number, 0,
	 .member = {"step", "count", "The run's number within its session.", is_by_run}},
	{"duration", "Duration", run_duration, 0, &unit_ns, 0,
	 .member = {"run_ns", "count", "The run's own duration.", is_by_run}},
	{"outcome", "Outcome", text, FIELD(outcome), &unit_text, 0,
	 .member = {"outcome", "text",
		    "How the run ended: good, threw, or the name of what it returned.", is_by_run}},
	{"tag", "Tag", text, FIELD(tag), &unit_text, 0,
	 .member = {"tag", "text", "What the run's caller gave it.", is_by_tag}},
	{"inputs", "Inputs", shapes, FIELD(inputs), &unit_text, 0,
	 .member = {"inputs", "tensors", "If all executions of the row share them.", has_shapes}},
	{"outputs", "Outputs", shapes, FIELD(outputs), &unit_text, 0,
	 .member = {"outputs", "tensors", NULL, has_shapes}},
	{"attributes", "Attributes", attributes, 0, &unit_text, 0,
	 .member = {"attributes", "attributes", NULL, has_attributes}},
	{.value = depth, .member = {"depth", "integer", "With --tree.", is_tree}},
	{"function", "Function", function, 0, &unit_text, 0,
	 .member = {"function", "text",
		    "With --hot: where its samples were, by the symbol as C++ has it, else by its "
		    "offset in the file; null where that is not known.",
		    is_hot}},
	{.value = place_symbol, .member = {"symbol", "text", "As the file has it.", is_hot}},
	{"file", "File", file, 0, &unit_text, 0, .member = {}},
	{.value = place_path, .member = {"file", "text", "The file's path.", is_hot}},
	{.value = place_build_id, .member = {"file_build_id", "text", NULL, is_hot}},
	{.value = place_number,
	 .of = PLACE_OFFSET,
	 .member = {"file_offset", "count", "Of the function, or with --hot=addresses of that.",
		    is_hot}},
	{.value = place_number,
	 .of = PLACE_ADDRESS,
	 .member = {"address", "count", "The same, as the file was linked.", is_hot}},
	{.value = place_number,
	 .of = PLACE_BYTES,
	 .member = {"function_bytes", "count", "How large it is.", is_hot}},
	{.value = place_number,
	 .of = PLACE_BOUNDED,
	 .member = {"is_function", "integer",
		    "1: it is one function. 0: it is what lies between those that are known.",
		    is_hot}},
	{"count", "Count", count, FIELD(count), &unit_count, ON_SUM | ON_OUTSIDE | LOSS_SUM,
	 .member = {"count", "count", "Executions; null of samples, as all else of executions."}},
	{"threw", "Threw", count, FIELD(threw), &unit_count, ON_SUM | LOSS_SUM,
	 .member = {"threw", "count",
		    "Of these, left by an exception: not in times and counters."}},
	{"total", "Total", total, 0, &unit_ns, ON_TIMES | LOSS_SUM,
	 .member = {"total_ns", "count"}},
	{"min", "Min", extreme, FIELD(min), &unit_ns, ON_TOTAL | LOSS_LEAST,
	 .member = {"min_ns", "count"}},
	{"max", "Max", extreme, FIELD(max), &unit_ns, ON_TOTAL | LOSS_SUM,
	 .member = {"max_ns", "count"}},
	{"avg", "Avg", average, 0, &unit_ns, ON_GAP | ON_TOTAL | LOSS_SAMPLE,
	 .member = {"avg_ns", "number"}},
	{"perrun", "Per run", per_run, PER_RUN_MEDIAN, &unit_ns, ON_GAP | ON_TOTAL | LOSS_SAMPLE,
	 .member = {"run_median_ns", "number",
		    "With --per-run, or within a budget, this and the next two: the median of the "
		    "runs of its session, without operators inside, and where it lies by 95 %.",
		    has_runs_apart}},
	{"perrunlow", "From", per_run, PER_RUN_LOW, &unit_ns, ON_GAP | ON_TOTAL | LOSS_SAMPLE,
	 .member = {"run_low_ns", "number", NULL, has_runs_apart}},
	{"perrunhigh", "To", per_run, PER_RUN_HIGH, &unit_ns, ON_GAP | ON_TOTAL | LOSS_SAMPLE,
	 .member = {"run_high_ns", "number", NULL, has_runs_apart}},
	{"self", "Self", self, 0, &unit_ns, ON_SUM | LOSS_SUM,
	 .member = {"self_ns", "count",
		    "Without operators that ran inside. Where that is not known of all executions, "
		    "the mean of the others times their number: see self_counted."}},
	{.value = count,
	 .of = FIELD(self_counted),
	 .member = {"self_counted", "count", "Executions whose self time is known."}},
	{"p50", "P50", percentile, 50, &unit_ns, LOSS_SAMPLE,
	 .member = {"p50_ns", "count",
		    "Percentiles: exact up to 256 executions, else within 1 %."}},
	{"p95", "P95", percentile, 95, &unit_ns, LOSS_SAMPLE, .member = {"p95_ns", "count"}},
	{"p99", "P99", percentile, 99, &unit_ns, LOSS_SAMPLE, .member = {"p99_ns", "count"}},
	{"percent", "Percent", percent, 0, &unit_percent, ON_TIMES | LOSS_SHARE,
	 .member = {"percent", "number",
		    "Of the time of all top-level operators and of that between them."}},
	{"bar", "Bar", bar, 0, &unit_text, 0, .member = {}},
	{"cpu", "On CPU", cpu, 0, &unit_percent, ON_SUM | ON_GAP | ON_TOTAL | LOSS_SAMPLE,
	 .member = {}},
	{"work", "Work", work, 0, &unit_ns, ON_SUM | ON_TOTAL | LOSS_SUM | LOSS_WORK,
	 .member = {"other_threads_ns", "count", "What other threads worked for it, summed."}},
	{"busy", "Busy", busy, 0, &unit_ns, ON_SUM | ON_TOTAL | LOSS_SUM | LOSS_WORK,
	 .member = {"busy_ns", "count", "total_ns and other_threads_ns."}},
	{"others", "Others", others, 0, &unit_percent, ON_SUM | ON_TOTAL | LOSS_SAMPLE | LOSS_WORK,
	 .member = {}},
	{"flops", "FLOP", flops, 0, &unit_count, ON_SUM | LOSS_SUM,
	 .member = {"flops", "count",
		    "With shapes: floating-point operations of the executions where they are "
		    "known.",
		    has_shapes}},
	{.value = amount_counted,
	 .of = AMOUNT(flops_counted),
	 .member = {"flops_counted", "integer", "How many these are.", has_shapes}},
	{"noflops", "No FLOP", flops_missing, 0, &unit_text, 0,
	 .member = {"flops_missing", "text", "Why FLOP of others are not known.", has_shapes}},
	{"bytes", "Bytes", bytes, 0, &unit_bytes, ON_SUM | LOSS_SUM,
	 .member = {"bytes", "count",
		    "Inputs read and outputs written, each once, of the executions where that is "
		    "known.",
		    has_shapes}},
	{.value = amount_counted,
	 .of = AMOUNT(bytes_counted),
	 .member = {"bytes_counted", "integer", "how many these are,", has_shapes}},
	{.value = count,
	 .of = FIELD(leaves),
	 .member = {"amounts_of", "integer",
		    "and of how many: those that ended and had none inside.", has_shapes}},
	{"gflops", "GFLOP/s", gflops, 0, &unit_rate, ON_SUM | LOSS_SAMPLE,
	 .member = {"gflops", "number",
		    "10^9 FLOP per second of the executions whose FLOP are known.", has_shapes}},
	{"flop/byte", "FLOP/B", flop_per_byte, 0, &unit_rate, ON_SUM | LOSS_SAMPLE,
	 .member = {"flop_per_byte", "number", "Of the executions where both are known.",
		    has_shapes}},
	{"roof", "Roof", roof, 0, &unit_percent, LOSS_SAMPLE,
	 .member = {"roof_percent", "number",
		    "With roofs: of these executions' time, what they need at least by the higher "
		    "roof, of floating-point operations or of bytes of memory, of as many CPUs as "
		    "their session has threads for an operator. More than 100: data was in caches.",
		    has_roofs}},
	{"activation", "Activation", mean_size, SIZE_ACTIVATION, &unit_bytes, LOSS_SAMPLE,
	 .member = {"activation_bytes", "number",
		    "Of inputs, constants and outputs per execution: a mean.", has_shapes}},
	{"parameters", "Parameters", mean_size, SIZE_PARAMETERS, &unit_bytes, LOSS_SAMPLE,
	 .member = {"parameter_bytes", "number", NULL, has_shapes}},
	{"output", "Output", mean_size, SIZE_OUTPUT, &unit_bytes, LOSS_SAMPLE,
	 .member = {"output_bytes", "number", NULL, has_shapes}},
	{"peak", "Peak", peak, 0, &unit_bytes, ON_SUM | ON_TOTAL | LOSS_SUM,
	 .member = {"peak_bytes", "count",
		    "With memory: what the arena had given out at most when one of them ran, of "
		    "those where that is known.",
		    has_peaks}},
	{"samples", "Samples", samples, 0, &unit_count, ON_SUM | ON_REST | ON_SEEN,
	 .member = {"samples", "integer",
		    "With --sample: how many saw a thread in it, or at work for it.", has_samples}},
	{"share", "Share", sample_share, SHARE_SEEN, &unit_percent, ON_SUM | ON_REST | ON_SEEN,
	 .member = {"share_percent", "number", "Of all samples of the processes that are shown,",
		    has_samples}},
	{"sharelow", "Low", sample_share, SHARE_LOW, &unit_percent, ON_SUM | ON_REST | ON_SEEN,
	 .member = {"share_low_percent", "number", "and where that lies by 95 %.", has_samples}},
	{"sharehigh", "High", sample_share, SHARE_HIGH, &unit_percent, ON_SUM | ON_REST | ON_SEEN,
	 .member = {"share_high_percent", "number", NULL, has_samples}},
	{"cputime", "CPU time", cpu_time, 0, &unit_ns, ON_SUM | ON_REST | ON_SEEN,
	 .member = {"cpu_ns", "number",
		    "An estimate: that share of the CPU time that all samples stand for.",
		    has_sampled_time}},
	{"events", "Events", events, 0, &unit_count, ON_SUM | ON_REST | ON_SEEN,
	 .member = {"events", "integer",
		    "With --sample-event: so many of these its samples stand for; with --sample "
		    "off-cpu: ns.",
		    has_sampled_events}},
	{"offblocked", "Blocked", off_cpu, OFF_BLOCKED, &unit_ns, ON_SUM | ON_SEEN,
	 .member = {"off_blocked_ns", "integer",
		    "With --sample off-cpu: of these, asleep, for locks, disks, other threads,",
		    has_sampled_off_cpu}},
	{"offready", "Ready", off_cpu, OFF_READY, &unit_ns, ON_SUM | ON_SEEN,
	 .member = {"off_ready_ns", "integer", "and waiting for a CPU.", has_sampled_off_cpu}},
	{"pool", "Pool", pool_share, 0, &unit_percent, ON_SUM,
	 .member = {"pool_percent", "number",
		    "Of its samples, those of threads that worked for it.", has_samples}},
	{"kernel", "Kernel", kernel_share, 0, &unit_percent, ON_SUM | ON_SEEN,
	 .member = {"kernel_percent", "number", "Of its samples, those in the kernel.",
		    has_samples}},
	{"migrated", "Migrated", count, FIELD(migrated), &unit_count, LOSS_SUM,
	 .member = {"migrated", "count", "Executions that ended on another CPU."}},
	{"lost", "Lost", lost, 0, &unit_percent, 0, .member = {}},
	{.value = whole,
	 .member = {"whole", "integer",
		    "1: all operators of the run were recorded. 0: some were lost, or it is not "
		    "known.",
		    is_by_run}},
	{},
};

const struct column_kind event_kinds[] = {
	{"", NULL, event_total, 0, NULL, ON_ALL | LOSS_SUM | LOSS_WORK, .member = {}},
	{"self:", NULL, event_self, 0, NULL, ON_SUM | LOSS_SUM | LOSS_WORK, .member = {}},
	{"avg:", NULL, event_average, 0, NULL, LOSS_SAMPLE | LOSS_WORK, .member = {}},
	{"caller:", NULL, event_caller, 0, NULL, ON_ALL | LOSS_SUM, .member = {}},
	{"others:", NULL, event_others, 0, &unit_percent,
	 ON_SUM | ON_TOTAL | LOSS_SAMPLE | LOSS_WORK, .member = {}},
	{"ci:", NULL, event_interval, 0, &unit_interval, 0, .member = {}},
	{"counted:", NULL, event_counted, 0, &unit_count, 0, .member = {}},
	{},
};

const struct column_kind metric_kind = {
	"", NULL, metric, 0, &unit_metric, ON_ALL | LOSS_SAMPLE, .member = {}};

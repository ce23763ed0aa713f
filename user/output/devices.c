// SPDX-License-Identifier: GPL-2.0-only
#include "devices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "listing.h"
#include "text.h"

/* -- a table ---------------------------------------------------------------------------------- */

enum column {
	TOTAL,
	BUSY, /* only where something overlaps */
	PERCENT,
	COUNT,
	AVERAGE,
	KERNEL,
	OPERATOR,
	QUEUED,
	REGISTERS,
	STREAM,
	DEVICE,
	COLUMNS
};

static const struct listing_column columns[COLUMNS] = {
	[TOTAL] = {"GPU time"},
	[BUSY] = {"Busy", .optional = true},
	[PERCENT] = {"Percent"},
	[COUNT] = {"Count"},
	[AVERAGE] = {"Avg"},
	[KERNEL] = {"Kernel", .is_name = true},
	[OPERATOR] = {"Operator", .is_name = true},
	[QUEUED] = {"Queued"},
	[REGISTERS] = {"Registers"},
	[STREAM] = {"Stream"},
	[DEVICE] = {"Device"},
};

/* @value, of all; "" of @unknown. */
static char *of_all(uint64_t value, uint64_t unknown)
{
	char *text = NULL;

	if (value == DEVICES_DIFFER)
		return strdup("varies");
	if (value == unknown)
		return strdup("");
	return asprintf(&text, "%" PRIu64, value) < 0 ? NULL : text;
}

static char *time_of(uint64_t ns)
{
	char text[32];

	return strdup(text_time(text, sizeof(text), ns));
}

static char *percent_of(const struct analysis *a, const struct analyze_device *row)
{
	char *text = NULL;

	return asprintf(&text, "%.2f%%", a->join.sum ? 100.0 * row->total / a->join.sum : 0) < 0
		       ? NULL
		       : text;
}

static char *operator_of(const struct analysis *a, const struct analyze_device *row)
{
	if (!row->launched)
		return strdup("(all)");
	return a->options.devices_by == DEVICES_BY_OPERATOR ? kernel_group(row->launched)
							    : kernel_operator(row->launched);
}

static bool overlap(const struct analysis *a)
{
	for (size_t i = 0; i < a->join.rows.n; i++)
		if (a->join.rows.items[i]->busy != a->join.rows.items[i]->total)
			return true;
	return false;
}

static int add_line(const struct analysis *a, struct listing *listing,
		    const struct analyze_device *row, bool with_busy)
{
	char count[32];

	return listing_add(
		listing, (char *[COLUMNS]){
				 [TOTAL] = time_of(row->total),
				 [BUSY] = with_busy ? time_of(row->busy) : strdup(""),
				 [PERCENT] = percent_of(a, row),
				 [COUNT] = strdup(text_count(count, sizeof(count), row->count)),
				 [AVERAGE] = time_of(row->total / row->count),
				 [KERNEL] = row->name ? kernel_shorten(row->name) : strdup("(all)"),
				 [OPERATOR] = operator_of(a, row),
				 [QUEUED] = row->queued_n ? time_of(row->queued / row->queued_n)
							  : strdup(""),
				 [REGISTERS] = of_all(row->registers, 0),
				 [STREAM] = of_all(row->stream, UINT64_MAX - 1),
				 [DEVICE] = of_all(row->device, UINT64_MAX - 1),
			 });
}

static void count_of(FILE *out, const char *what, uint64_t n)
{
	char text[32];

	fprintf(out, "%s%s", what, text_count(text, sizeof(text), n));
}

/* What the figures rest on. */
static void print_join(const struct analyze_join *join, FILE *out)
{
	char sum[32], busy[32], shift[32], most[32];
	uint64_t apart =
		join->match.shift < 0 ? -(uint64_t)join->match.shift : (uint64_t)join->match.shift;

	fprintf(out, "GPUs worked %s for what is shown, %s with what overlapped counted once. %s: ",
		text_time(sum, sizeof(sum), join->sum), text_time(busy, sizeof(busy), join->busy),
		join->tool);
	count_of(out, "", join->match.matched);
	count_of(out, " of ", join->launches);
	fprintf(out, " launches found, clocks %s apart, calls within %s of that.\n",
		text_time(shift, sizeof(shift), apart),
		text_time(most, sizeof(most), join->match.residual_most));
	if (join->launches == join->match.matched && !join->nothing && !join->kernels_alone &&
	    !join->copies_alone && !join->match.ambiguous)
		return;
	count_of(out, "Launches without a call: ", join->launches - join->match.matched);
	count_of(out, "; for which no GPU did anything: ", join->nothing);
	count_of(out, ". Without a launch: kernels ", join->kernels_alone);
	count_of(out, ", copies ", join->copies_alone);
	count_of(out, ". Calls that may be one of several: ", join->match.ambiguous);
	fputs(".\n", out);
}

int devices_print(const struct analysis *a, size_t limit, size_t room, FILE *out)
{
	const struct analyze_join *join = &a->join;
	struct listing listing = {.columns = columns, .n_columns = COLUMNS};
	const bool with_busy = overlap(a);
	int error = 0;

	if (!join->tool)
		return 0;
	for (size_t i = 0; i < join->rows.n && (!limit || i < limit) && !error; i++)
		error = add_line(a, &listing, join->rows.items[i], with_busy);
	fputs("\nWhat GPUs did\n", out);
	error = error ?: listing_print(&listing, join->rows.n, room, out);
	if (!error)
		print_join(join, out);
	listing_free(&listing);
	return error;
}

/* -- JSON ------------------------------------------------------------------------------------- */

static void put_number(FILE *out, const char *key, uint64_t value, bool known)
{
	if (known)
		fprintf(out, ",\"%s\":%" PRIu64, key, value);
	else
		fprintf(out, ",\"%s\":null", key);
}

static int put_operator(const struct analyze_kernel *launched, FILE *out)
{
	const bool known = launched && launched->name;
	char *group = known ? kernel_group(launched) : NULL;
	int error = known && !group ? -ENOMEM : 0;

	error = error ?: text_put_member(out, "operator", launched ? launched->name : NULL);
	error = error ?: text_put_member(out, "op_type", launched ? launched->op_type : NULL);
	error = error ?: text_put_member(out, "group", group);
	free(group);
	return error;
}

static int put_row(const struct analyze_device *row, FILE *out)
{
	int error;

	fprintf(out, "{\"total_ns\":%" PRIu64, row->total);
	put_number(out, "busy_ns", row->busy, true);
	put_number(out, "count", row->count, true);
	put_number(out, "min_ns", row->min, true);
	put_number(out, "max_ns", row->max, true);
	put_number(out, "queued_ns", row->queued, row->queued_n == row->count);
	error = text_put_member(out, "kernel", row->name);
	error = error ?: put_operator(row->launched, out);
	put_number(out, "registers", row->registers,
		   row->registers && row->registers != DEVICES_DIFFER);
	put_number(out, "stream", row->stream, row->stream != DEVICES_DIFFER);
	put_number(out, "device", row->device, row->device != DEVICES_DIFFER);
	fputs("}", out);
	return error;
}

static int put_join(const struct analyze_join *join, FILE *out)
{
	char *tool = text_json(join->tool);

	if (!tool)
		return -ENOMEM;
	fprintf(out, ",\n\"join\":{\"profiler\":%s", tool);
	free(tool);
	put_number(out, "launches", join->launches, true);
	put_number(out, "matched", join->match.matched, true);
	put_number(out, "ambiguous_calls", join->match.ambiguous, true);
	put_number(out, "launches_without_work", join->nothing, true);
	put_number(out, "kernels_without_launch", join->kernels_alone, true);
	put_number(out, "copies_without_launch", join->copies_alone, true);
	fprintf(out, ",\"clocks_apart_ns\":%" PRId64, join->match.shift);
	put_number(out, "residual_median_ns", join->match.residual_median, join->match.matched);
	put_number(out, "residual_max_ns", join->match.residual_most, join->match.matched);
	put_number(out, "sum_ns", join->sum, true);
	put_number(out, "busy_ns", join->busy, true);
	fputs("}", out);
	return 0;
}

int devices_put_json(const struct analysis *a, FILE *out)
{
	const struct analyze_join *join = &a->join;
	int error;

	if (!join->tool) {
		fputs(",\n\"join\":null,\n\"gpu\":null", out);
		return 0;
	}
	error = put_join(join, out);
	fputs(",\n\"gpu\":[", out);
	for (size_t i = 0; i < join->rows.n && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = put_row(join->rows.items[i], out);
	}
	fputs("]", out);
	return error;
}

/* clang-format off */
const char devices_schema[] =
	"    \"join\": {\n"
	"      \"description\": \"What --join found of a GPU's own profile; null without it.\",\n"
	"      \"type\": [\"object\", \"null\"],\n"
	"      \"properties\": {\n"
	"        \"profiler\": {\"type\": \"string\"},\n"
	"        \"launches\": {\n"
	"          \"description\": \"Of the recording, selected or not; of these matched have "
	"the profiler's call.\",\n"
	"          \"type\": \"integer\"\n"
	"        },\n"
	"        \"matched\": {\"type\": \"integer\"},\n"
	"        \"ambiguous_calls\": {\n"
	"          \"description\": \"Calls that may be one of several launches: they are none.\",\n"
	"          \"type\": \"integer\"\n"
	"        },\n"
	"        \"launches_without_work\": {\n"
	"          \"description\": \"Whose call was found, and for which no GPU did anything.\",\n"
	"          \"type\": \"integer\"\n"
	"        },\n"
	"        \"kernels_without_launch\": {\"type\": \"integer\"},\n"
	"        \"copies_without_launch\": {\"type\": \"integer\"},\n"
	"        \"clocks_apart_ns\": {\n"
	"          \"description\": \"By how much calls are behind launches, in the middle.\",\n"
	"          \"type\": \"integer\"\n"
	"        },\n"
	"        \"residual_median_ns\": {\n"
	"          \"description\": \"By how much calls differ from that.\",\n"
	"          \"type\": [\"integer\", \"null\"]\n"
	"        },\n"
	"        \"residual_max_ns\": {\"type\": [\"integer\", \"null\"]},\n"
	"        \"sum_ns\": {\n"
	"          \"description\": \"Time of GPUs for what is shown; busy_ns has what overlaps "
	"once.\",\n"
	"          \"type\": \"integer\"\n"
	"        },\n"
	"        \"busy_ns\": {\"type\": \"integer\"}\n"
	"      }\n"
	"    },\n"
	"    \"gpu\": {\n"
	"      \"description\": \"What GPUs did, with --join: a kernel of an operator, or what "
	"--group-by says, is an item, most time first; what differs in it is null.\",\n"
	"      \"type\": [\"array\", \"null\"],\n"
	"      \"items\": {\n"
	"        \"type\": \"object\",\n"
	"        \"properties\": {\n"
	"          \"total_ns\": {\"type\": \"integer\"},\n"
	"          \"busy_ns\": {\n"
	"            \"description\": \"The same with what overlaps counted once.\",\n"
	"            \"type\": \"integer\"\n"
	"          },\n"
	"          \"count\": {\"type\": \"integer\"},\n"
	"          \"min_ns\": {\"type\": \"integer\"},\n"
	"          \"max_ns\": {\"type\": \"integer\"},\n"
	"          \"queued_ns\": {\n"
	"            \"description\": \"From the calls until it began; null where one of them "
	"began before its call.\",\n"
	"            \"type\": [\"integer\", \"null\"]\n"
	"          },\n"
	"          \"kernel\": {\n"
	"            \"description\": \"As C++ has it; of a copy what it is.\",\n"
	"            \"type\": [\"string\", \"null\"]\n"
	"          },\n"
	"          \"operator\": {\"type\": [\"string\", \"null\"]},\n"
	"          \"op_type\": {\"type\": [\"string\", \"null\"]},\n"
	"          \"group\": {\n"
	"            \"description\": \"The operator as Op.index(name), where it is known.\",\n"
	"            \"type\": [\"string\", \"null\"]\n"
	"          },\n"
	"          \"registers\": {\"type\": [\"integer\", \"null\"]},\n"
	"          \"stream\": {\n"
	"            \"description\": \"The profiler's number of it.\",\n"
	"            \"type\": [\"integer\", \"null\"]\n"
	"          },\n"
	"          \"device\": {\"type\": [\"integer\", \"null\"]}\n"
	"        }\n"
	"      }\n"
	"    },\n";
/* clang-format on */

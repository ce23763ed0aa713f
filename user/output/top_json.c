// SPDX-License-Identifier: GPL-2.0-only
/* The live view for programs: the head's numbers, and the report of the rows, in one line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "formats.h"
#include "shapes.h"
#include "text.h"
#include "top.h"
#include "verdict.h"

static void put_number(FILE *out, const char *key, double value, bool known)
{
	if (known)
		fprintf(out, ",\"%s\":%.9g", key, value);
	else
		fprintf(out, ",\"%s\":null", key);
}

static void put_head(const struct live_look *look, FILE *out)
{
	const struct seconds_look *minute = &look->minute;
	const struct analysis *a = look->analysis;
	double waits[3], spins;
	bool all = !a->has_samples && !a->has_budget, known = verdict_waits(a, waits);

	fprintf(out, "{\"time\":%.3f", (look->now + (double)a->info.realtime_offset) / 1e9);
	put_number(out, "since_s", (look->now - look->since) / 1e9, true);
	put_number(out, "runs_per_second", minute->runs_per_second, all);
	put_number(out, "executions_per_second", minute->executions_per_second, all);
	put_number(out, "run_p50_ns", minute->p50, minute->timed);
	put_number(out, "run_p99_ns", minute->p99, minute->timed);
	put_number(out, "on_cpu", waits[0], known);
	put_number(out, "waiting", waits[1], known);
	put_number(out, "blocked", waits[2], known);
	known = verdict_spins(a, &spins);
	put_number(out, "pool_spins", spins, known);
	put_number(out, "probes_add", minute->cost, minute->cost_known && all);
	fputs(",\"seconds\":[", out);
	for (int i = 0; i < SECONDS; i++) {
		fprintf(out, "%s{\"runs\":%llu", i ? "," : "",
			(unsigned long long)minute->each[i].runs);
		put_number(out, "p50_ns", minute->each[i].p50, minute->each[i].p50);
		put_number(out, "p99_ns", minute->each[i].p99, minute->each[i].p99);
		fputs("}", out);
	}
	fprintf(out, "],\"ended\":%s,\"report\":", look->ended ? "true" : "false");
}

int top_json(const struct live_look *look, const struct report_options *report, FILE *out,
	     struct error *err)
{
	struct frame_text text;
	FILE *lines = frame_open_text(&text);
	int error =
		lines ? shapes_make_texts(look->analysis) ?: attributes_make_texts(look->analysis)
		      : -ENOMEM;

	if (error)
		error_set(err, error, "out of memory");
	else
		error = json_print(look->analysis, report, lines, err);
	if (lines && (ferror(lines) | fclose(lines)) && !error)
		error = error_set(err, -ENOMEM, "out of memory");
	if (!error && !text.text)
		error = error_set(err, -ENOMEM, "out of memory");
	if (!error) {
		/* No text of JSON holds one. */
		for (char *p = text.text; (p = strchr(p, '\n'));)
			*p = ' ';
		put_head(look, out);
		fprintf(out, "%s}\n", text.text);
	}
	free(text.text);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "show_roofs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "collect/info.h"
#include "output/text.h"
#include "roofs/roofs.h"

#define CELL 24

static void show_progress(double done)
{
	fprintf(stderr, "\r\033[Kopprobe: measuring what the machine can do at most: %.0f %%",
		100 * done);
}

static void end_progress(void)
{
	fputs("\r\033[K", stderr);
}

static int measure(struct capture_info *machine, struct roofs_about *about)
{
	bool shown = isatty(STDERR_FILENO);
	struct error err;
	int error;

	if (!shown)
		fputs("opprobe: measuring what the machine can do at most takes some seconds\n",
		      stderr);
	info_describe_machine(machine);
	error = roofs_measure(&machine->roofs, about, shown ? show_progress : NULL, &err);
	if (shown)
		end_progress();
	if (error)
		fprintf(stderr, "opprobe: %s\n", err.text);
	return error;
}

/* -- the table ------------------------------------------------------------------------ */

static void print_line(const char *label, const char *one, const char *all)
{
	printf("%-18s  %14s  %14s\n", label, one, all);
}

static const char *rate_cell(uint64_t rate, const char *unit, char cell[CELL])
{
	if (rate)
		snprintf(cell, CELL, "%.4g %s", (double)rate / 1e9, unit);
	return rate ? cell : "-";
}

static void print_rates(const char *label, uint64_t one, uint64_t all, const char *unit)
{
	char cells[2][CELL];

	print_line(label, rate_cell(one, unit, cells[0]), rate_cell(all, unit, cells[1]));
}

static void print_table(const struct capture_info *machine, const struct roofs_about *about)
{
	static const char *const levels[ROOF_LEVELS] = {
		[ROOF_L1] = "L1 cache",
		[ROOF_L2] = "L2 cache",
		[ROOF_L3] = "L3 cache",
		[ROOF_MEMORY] = "memory",
	};
	const struct capture_roofs *roofs = &machine->roofs;
	char title[64], one[32], all[32];

	snprintf(title, sizeof(title), "%u CPU%s", roofs->cpus, roofs->cpus == 1 ? "" : "s");
	print_line("at most", "one CPU", title);
	snprintf(title, sizeof(title), "%s", roofs->instructions);
	print_rates(title, roofs->one.flops, roofs->all.flops, "GFLOP/s");
	for (int level = 0; level < ROOF_LEVELS; level++)
		print_rates(levels[level], roofs->one.bytes[level], roofs->all.bytes[level],
			    "GB/s");
	if (about->memory_one && about->memory_all)
		print_line("  in buffers of", text_bytes(one, sizeof(one), about->memory_one),
			   text_bytes(all, sizeof(all), about->memory_all));
	for (size_t i = 0; i < about->n_notes; i++)
		printf("note: %s\n", about->notes[i]);
}

static int print_json(const struct capture_info *machine, const struct roofs_about *about,
		      const char *kept)
{
	char *text = roofs_json(machine, about, kept);

	if (text)
		puts(text);
	free(text);
	return text ? 0 : -1;
}

/* ---------------------------------------------------------------------------------------- */

int show_roofs(bool json)
{
	struct capture_info machine = {};
	struct roofs_about about;
	char *kept = NULL;
	struct error err;
	int status = EXIT_FAILED;

	if (measure(&machine, &about))
		return EXIT_FAILED;
	if (!roofs_whole(&machine.roofs))
		fputs("opprobe: the roofs are not kept, as not all that a roofline needs could be "
		      "measured: try again when the machine is less busy\n",
		      stderr);
	else if (roofs_keep(&machine, &about, &kept, &err))
		fprintf(stderr, "opprobe: %s\n", err.text);
	else
		status = EXIT_OK;
	if (!json)
		print_table(&machine, &about);
	else if (print_json(&machine, &about, kept))
		status = EXIT_FAILED;
	if (!json && kept)
		printf("Kept in %s: captures that are recorded on this machine have them from now "
		       "on.\n",
		       kept);
	free(kept);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("opprobe: cannot write what was measured: is the disk full, or the reader "
		      "gone?\n",
		      stderr);
		return EXIT_FAILED;
	}
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only
/* opprobe version: what this program is built from, for whoever reads a report of a problem. */
#include <argp.h>
#include <bpf/libbpf.h>
#include <capstone/capstone.h>
#include <cjson/cJSON.h>
#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/format.h"
#include "cmd.h"
#include "commit.h" /* OPPROBE_COMMIT: made by the Makefile; "" if it is not built from a checkout */
#include "runtime/runtime.h"

#if defined(__aarch64__)
#define ARCHITECTURE "aarch64"
#else
#define ARCHITECTURE "x86_64"
#endif

enum { OPTION_JSON = 256 };

static const struct argp_option version_options[] = {
	{"json", OPTION_JSON, NULL, 0,
	 "Print {\"version\", \"commit\", \"architecture\", \"capture_format\", \"runtimes\", "
	 "\"libraries\"}",
	 0},
	{},
};

static error_t parse_version(int key, char *text, struct argp_state *state)
{
	bool *json = state->input;

	switch (key) {
	case OPTION_JSON:
		*json = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "there is no argument '%s' to take", text);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp version_argp = {
	.options = version_options,
	.parser = parse_version,
	.doc = "Tell which opprobe this is: its version, the commit that it is built from, the "
	       "runtimes that it knows, and the libraries that it runs with.\v"
	       "`opprobe --version` is the first line alone. What works on a machine is told by "
	       "`opprobe doctor`.\n\n"
	       "Examples:\n"
	       "  opprobe version\n"
	       "  opprobe version --json | jq -r .commit\n",
};

#define LIBRARIES 4

/* The libraries whose versions make a difference, as they are at this moment. */
struct library {
	const char *name;
	char version[32];
};

static void know_libraries(struct library libraries[LIBRARIES])
{
	int pfm = pfm_get_version(), major, minor;

	cs_version(&major, &minor);
	libraries[0].name = "libbpf";
	/* It begins with a "v". */
	snprintf(libraries[0].version, sizeof(libraries[0].version), "%s",
		 libbpf_version_string() + 1);
	libraries[1].name = "libpfm4";
	snprintf(libraries[1].version, sizeof(libraries[1].version), "%d.%d", PFM_MAJ_VERSION(pfm),
		 PFM_MIN_VERSION(pfm));
	libraries[2].name = "capstone";
	snprintf(libraries[2].version, sizeof(libraries[2].version), "%d.%d", major, minor);
	libraries[3].name = "cJSON";
	snprintf(libraries[3].version, sizeof(libraries[3].version), "%s", cJSON_Version());
}

static void print_text(const struct library libraries[LIBRARIES])
{
	printf("%s\n", argp_program_version);
	if (*OPPROBE_COMMIT)
		printf("commit     %s\n", OPPROBE_COMMIT);
	printf("built for  %s\n", ARCHITECTURE);
	printf("captures   version %d\n", FORMAT_VERSION);
	printf("runtimes   ");
	for (size_t i = 0; runtimes[i]; i++)
		if (!runtimes[i]->is_layer)
			printf("%s%s", i ? ", " : "", runtimes[i]->title);
	printf("\nlibraries  ");
	for (size_t i = 0; i < LIBRARIES; i++)
		printf("%s%s %s", i ? ", " : "", libraries[i].name, libraries[i].version);
	putchar('\n');
}

static bool add_all(cJSON *root, const struct library libraries[LIBRARIES])
{
	cJSON *list, *object;
	bool whole =
		cJSON_AddStringToObject(root, "version", OPPROBE_VERSION) &&
		(!*OPPROBE_COMMIT || cJSON_AddStringToObject(root, "commit", OPPROBE_COMMIT)) &&
		cJSON_AddStringToObject(root, "architecture", ARCHITECTURE) &&
		cJSON_AddNumberToObject(root, "capture_format", FORMAT_VERSION);

	list = whole ? cJSON_AddArrayToObject(root, "runtimes") : NULL;
	for (size_t i = 0; list && runtimes[i] && whole; i++)
		whole = runtimes[i]->is_layer ||
			cJSON_AddItemToArray(list, cJSON_CreateString(runtimes[i]->name));
	object = whole && list ? cJSON_AddObjectToObject(root, "libraries") : NULL;
	for (size_t i = 0; object && i < LIBRARIES && whole; i++)
		whole = cJSON_AddStringToObject(object, libraries[i].name, libraries[i].version);
	return whole && object;
}

static int print_json(const struct library libraries[LIBRARIES])
{
	cJSON *root = cJSON_CreateObject();
	char *text = root && add_all(root, libraries) ? cJSON_Print(root) : NULL;

	cJSON_Delete(root);
	if (!text)
		return -1;
	puts(text);
	free(text);
	return 0;
}

int cmd_version(int argc, char **argv)
{
	struct library libraries[LIBRARIES];
	bool json = false;

	cmd_parse(&version_argp, argc, argv, &json);
	know_libraries(libraries);
	if (!json) {
		print_text(libraries);
	} else if (print_json(libraries)) {
		fputs("opprobe: cannot print the version: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_OK;
	fputs("opprobe: cannot write the version: is the disk full, or the reader gone?\n", stderr);
	return EXIT_FAILED;
}

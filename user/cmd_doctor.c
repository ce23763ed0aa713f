// SPDX-License-Identifier: GPL-2.0-only
/* opprobe doctor: what would work here, and why not, before anything is attached. */
#include <argp.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "cmd.h"
#include "examine.h"
#include "inspect/inspector.h"
#include "output/text.h"
#include "show_roofs.h"

struct doctor_arguments {
	const char *file;
	struct choice choice;
	bool json, roofs;
};

enum { OPTION_FILE = 256, OPTION_JSON, OPTION_ROOFS };

static const struct argp_option doctor_options[] = {
	{"file", OPTION_FILE, "LIBRARY", 0,
	 "Look for the places of probes in this library or program, without a process", 0},
	{"roofs", OPTION_ROOFS, NULL, 0,
	 "Measure what this machine can do at most, in FLOP per second and in bytes per second from "
	 "memory and caches, on one CPU and on all that opprobe may use; it takes some seconds, in "
	 "which these are busy. Captures that are recorded later on this machine have the result",
	 0},
	{"json", OPTION_JSON, NULL, 0,
	 "Print {\"runtime\", \"version\", \"build_id\", \"architecture\", \"sites\": [{\"role\", "
	 "\"function\", \"offset\", \"address\", \"instruction\", \"emulated\", \"routes\", "
	 "\"stack_depth\"}, ...], \"samples\": {\"operators\", \"pool\"}, \"notes\": [...]} of a file; of the machine and a process "
	 "{\"checks\": [{\"name\", \"verdict\": \"ok\"|\"warn\"|\"fail\", \"text\"}, ...]}; of roofs {\"machine\": "
	 "{\"roofs\": ...}} as in opprobe report --json-schema",
	 0},
	{},
};

static error_t parse_doctor(int key, char *text, struct argp_state *state)
{
	struct doctor_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->choice;
		break;
	case OPTION_FILE:
		if (arguments->file)
			argp_error(state, "one file at a time: '%s' is the second", text);
		arguments->file = text;
		break;
	case OPTION_JSON:
		arguments->json = true;
		break;
	case OPTION_ROOFS:
		arguments->roofs = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "there is no argument '%s' to take: did you mean --file %s?",
			   text, text);
		break;
	case ARGP_KEY_END:
		if (arguments->file && choice_made(&arguments->choice))
			argp_error(
				state,
				"--file excludes -p, -a, --comm, --container, --pod and --cgroup");
		if (arguments->roofs && (arguments->file || choice_made(&arguments->choice)))
			argp_error(state, "--roofs is of the machine: leave out %s",
				   arguments->file ? "--file" : "the process");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child doctor_children[] = {{&choice_argp, 0, "Which processes:", 0}, {}};

static const struct argp doctor_argp = {
	.options = doctor_options,
	.parser = parse_doctor,
	.children = doctor_children,
	.doc = "Say what will work here and why not, a verdict per line: on this machine, on "
	       "processes of it, their runtimes and what may be counted on them, or with --file in a library, which may be of either architecture, "
	       "x86_64 or aarch64, on any machine.\v"
	       "A probe on an instruction that the kernel emulates costs one exception; on any "
	       "other it costs two. The status is 0 if nothing failed, 1 if something did.\n\n"
	       "Examples:\n"
	       "  sudo opprobe doctor\n"
	       "  sudo opprobe doctor -p 4711\n"
	       "  sudo opprobe doctor --comm node\n"
	       "  sudo opprobe doctor --roofs\n"
	       "  opprobe doctor --file libonnxruntime.so.1\n"
	       "  opprobe doctor --file /proc/4711/root/usr/lib/libonnxruntime.so --json\n",
};

/* -- the table ----------------------------------------------------------------- */

static size_t widest_instruction(const struct location *location)
{
	size_t widest = strlen("instruction");

	for (size_t i = 0; i < location->sites.n; i++)
		if (strlen(location->sites.items[i].instruction) > widest)
			widest = strlen(location->sites.items[i].instruction);
	return widest;
}

static void print_site(const struct site *site, size_t width)
{
	char routes[64];

	site_route_names(site->routes, routes, sizeof(routes));
	printf("%-12s %8u  %#-12lx %-*s  %-13s %s\n", site_role_name(site->role), site->function,
	       (unsigned long)site->offset, (int)width, site->instruction,
	       site->emulated ? "emulated" : "single-stepped", routes);
}

static const char *sampling_text(const struct location *location)
{
	if (!location_can_sample(location, LANDMARK_OPERATOR))
		return "samples do not tell which operator runs: no --sample";
	if (!location_can_sample(location, LANDMARK_TASK))
		return "samples tell which operator runs (--sample), but not what pool threads do";
	return "samples tell which operator runs, and which one pool threads work for (--sample)";
}

static int print_location(const struct location *location, const char *file)
{
	size_t width = widest_instruction(location), emulated = 0;
	char *path = text_terminal(file);

	if (!path)
		return -1;
	printf("file          %s\n", path);
	free(path);
	printf("runtime       %s %s\n", location->runtime->title,
	       *location->version ? location->version : "(version not known)");
	printf("architecture  %s\n", location->architecture);
	printf("build-id      %s\n\n", *location->build_id ? location->build_id : "(none)");
	printf("%-12s %8s  %-12s %-*s  %-13s %s\n", "role", "function", "offset", (int)width,
	       "instruction", "the kernel", "found by");
	for (size_t i = 0; i < location->sites.n; i++) {
		print_site(&location->sites.items[i], width);
		emulated += location->sites.items[i].emulated;
	}
	printf("\n%zu places for probes, %zu of them on instructions that the kernel emulates\n",
	       location->sites.n, emulated);
	if (!location->runtime->is_layer)
		printf("%s\n", sampling_text(location));
	for (size_t i = 0; i < location->n_notes; i++)
		printf("note: %s\n", location->notes[i]);
	return 0;
}

/* -- JSON ---------------------------------------------------------------------- */

static bool add_routes(cJSON *object, unsigned int routes)
{
	cJSON *list = cJSON_AddArrayToObject(object, "routes");

	for (unsigned int route = 1; list && route && route <= routes; route <<= 1)
		if ((routes & route) &&
		    !cJSON_AddItemToArray(list, cJSON_CreateString(site_route_name(route))))
			return false;
	return list;
}

static bool add_site(cJSON *list, const struct site *site)
{
	cJSON *object = cJSON_CreateObject();

	if (!cJSON_AddItemToArray(list, object) ||
	    !cJSON_AddStringToObject(object, "role", site_role_name(site->role)) ||
	    !cJSON_AddNumberToObject(object, "function", site->function) ||
	    !cJSON_AddNumberToObject(object, "offset", (double)site->offset) ||
	    !cJSON_AddNumberToObject(object, "address", (double)site->address) ||
	    !cJSON_AddStringToObject(object, "instruction", site->instruction) ||
	    !cJSON_AddBoolToObject(object, "emulated", site->emulated) ||
	    !add_routes(object, site->routes))
		return false;
	return site->stack_depth < 0 ||
	       cJSON_AddNumberToObject(object, "stack_depth", site->stack_depth);
}

static bool add_sampling(cJSON *root, const struct location *location)
{
	cJSON *samples = cJSON_AddObjectToObject(root, "samples");

	return samples &&
	       cJSON_AddBoolToObject(samples, "operators",
				     location_can_sample(location, LANDMARK_OPERATOR)) &&
	       cJSON_AddBoolToObject(samples, "pool", location_can_sample(location, LANDMARK_TASK));
}

static cJSON *location_json(const struct location *location)
{
	cJSON *root = cJSON_CreateObject(), *sites, *notes;
	bool whole = root && cJSON_AddStringToObject(root, "runtime", location->runtime->name) &&
		     cJSON_AddStringToObject(root, "version", location->version) &&
		     cJSON_AddStringToObject(root, "build_id", location->build_id) &&
		     cJSON_AddStringToObject(root, "architecture", location->architecture);

	sites = whole ? cJSON_AddArrayToObject(root, "sites") : NULL;
	for (size_t i = 0; sites && i < location->sites.n && whole; i++)
		whole = add_site(sites, &location->sites.items[i]);
	whole = whole && sites && add_sampling(root, location);
	notes = whole ? cJSON_AddArrayToObject(root, "notes") : NULL;
	for (size_t i = 0; notes && i < location->n_notes && whole; i++)
		whole = cJSON_AddItemToArray(notes, cJSON_CreateString(location->notes[i]));
	if (sites && notes && whole)
		return root;
	cJSON_Delete(root);
	return NULL;
}

static int print_json(const struct location *location)
{
	cJSON *root = location_json(location);
	char *text = root ? cJSON_Print(root) : NULL;

	cJSON_Delete(root);
	if (!text)
		return -1;
	puts(text);
	free(text);
	return 0;
}

/* ------------------------------------------------------------------------------- */

static int locate_in_file(const char *path, struct location *location, struct error *err)
{
	const struct wanted_file file = {.path = path};
	struct inspector *inspector = inspector_new(NULL, NULL, err);
	const char *opened;
	uint32_t number;
	int error = inspector ? inspector_locate(inspector, &file, path, NULL, location, &number,
						 &opened, err)
			      : -EAGAIN;

	for (size_t i = 0; runtimes[i] && error == -ENOENT; i++)
		if (runtimes[i]->is_layer && !inspector_locate(inspector, &file, path, runtimes[i],
							       location, &number, &opened, NULL))
			error = 0;
	inspector_free(inspector);
	return error;
}

static int examine_file(const struct doctor_arguments *arguments)
{
	struct location location;
	struct error err = {};
	int error = locate_in_file(arguments->file, &location, &err);

	if (error) {
		fprintf(stderr, "opprobe: %s\n", err.text);
		return EXIT_FAILED;
	}
	error = arguments->json ? print_json(&location)
				: print_location(&location, arguments->file);
	location_free(&location);
	if (error) {
		fputs("opprobe: cannot print what was found: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	if (fflush(stdout) || ferror(stdout)) {
		fputs("opprobe: cannot write what was found: is the disk full, or the reader "
		      "gone?\n",
		      stderr);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_arguments arguments = {};

	cmd_parse(&doctor_argp, argc, argv, &arguments);
	if (arguments.file)
		return examine_file(&arguments);
	if (arguments.roofs)
		return show_roofs(arguments.json);
	return examine_machine(&arguments.choice, arguments.json);
}

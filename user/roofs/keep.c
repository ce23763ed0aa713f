// SPDX-License-Identifier: GPL-2.0-only
/* The file that roofs are kept in. Whoever it belongs to may have written anything into it. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/output_file.h"
#include "../base/sudo.h"
#include "roofs.h"

#define SCHEMA	     "opprobe-roofs"
#define VERSION	     1
#define FILE_NAME    "roofs.json"
#define FILE_MAX     (64u << 10)
#define FOR_EVERYONE "/var/lib/opprobe"

const char *const roofs_levels[ROOF_LEVELS] = {
	[ROOF_L1] = "l1_gb_per_s",
	[ROOF_L2] = "l2_gb_per_s",
	[ROOF_L3] = "l3_gb_per_s",
	[ROOF_MEMORY] = "memory_gb_per_s",
};

/* -- JSON --------------------------------------------------------------------------- */

/* Names of machines are from a BIOS, or from whoever sets up virtual ones. */
static bool add_text(cJSON *object, const char *name, const char *text)
{
	return *text ? cJSON_AddStringToObject(object, name, text) != NULL
		     : cJSON_AddNullToObject(object, name) != NULL;
}

static bool add_rate(cJSON *object, const char *name, uint64_t rate)
{
	return rate ? cJSON_AddNumberToObject(object, name, (double)rate / 1e9) != NULL
		    : cJSON_AddNullToObject(object, name) != NULL;
}

static bool add_roof(cJSON *roofs, const char *name, const struct capture_roof *roof)
{
	cJSON *object = cJSON_AddObjectToObject(roofs, name);
	bool whole = object && add_rate(object, "gflops", roof->flops);

	for (int level = 0; level < ROOF_LEVELS && whole; level++)
		whole = add_rate(object, roofs_levels[level], roof->bytes[level]);
	return whole;
}

static bool add_machine(cJSON *root, const struct capture_info *machine)
{
	const struct capture_roofs *roofs = &machine->roofs;
	cJSON *object = cJSON_AddObjectToObject(root, "machine"), *of;

	if (!object || !add_text(object, "host", machine->host) ||
	    !add_text(object, "architecture", machine->machine) ||
	    !add_text(object, "cpu", machine->cpu) ||
	    !cJSON_AddNumberToObject(object, "cpus", machine->n_cpus))
		return false;
	of = cJSON_AddObjectToObject(object, "roofs");
	return of && cJSON_AddNumberToObject(of, "measured_s", (double)roofs->measured) &&
	       add_text(of, "instructions", roofs->instructions) &&
	       cJSON_AddNumberToObject(of, "cpus", roofs->cpus) &&
	       add_roof(of, "one_cpu", &roofs->one) && add_roof(of, "all_cpus", &roofs->all);
}

static bool add_about(cJSON *root, const struct roofs_about *about, const char *kept)
{
	cJSON *notes = cJSON_AddArrayToObject(root, "notes");
	bool whole = notes && (!kept || cJSON_AddStringToObject(root, "kept", kept));

	for (size_t i = 0; i < about->n_notes && whole; i++)
		whole = cJSON_AddItemToArray(notes, cJSON_CreateString(about->notes[i]));
	return whole;
}

char *roofs_json(const struct capture_info *machine, const struct roofs_about *about,
		 const char *kept)
{
	cJSON *root = cJSON_CreateObject();
	bool whole = root && cJSON_AddStringToObject(root, "schema", SCHEMA) &&
		     cJSON_AddNumberToObject(root, "version", VERSION) &&
		     add_machine(root, machine) && add_about(root, about, kept);
	char *text = whole ? cJSON_Print(root) : NULL;

	cJSON_Delete(root);
	return text;
}

/* Does member @name say @text, or nothing where that is ""? */
static bool says(const cJSON *object, const char *name, const char *text)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (cJSON_IsString(item))
		return *text && !strcmp(item->valuestring, text);
	return !*text && (!item || cJSON_IsNull(item));
}

/* A number above 0; null, or none at all, is 0. Nothing else is taken. */
static bool take_number(const cJSON *object, const char *name, double unit, double most,
			uint64_t *number)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
	double value;

	*number = 0;
	if (!item || cJSON_IsNull(item))
		return true;
	value = cJSON_IsNumber(item) ? rint(item->valuedouble * unit) : NAN;
	if (!isfinite(value) || value < 1 || value > most)
		return false;
	*number = (uint64_t)value;
	return true;
}

static bool take_roof(const cJSON *roofs, const char *name, struct capture_roof *roof)
{
	const cJSON *object = cJSON_GetObjectItemCaseSensitive(roofs, name);
	bool good = cJSON_IsObject(object) &&
		    take_number(object, "gflops", 1e9, (double)CAPTURE_ROOF_MAX, &roof->flops);

	for (int level = 0; level < ROOF_LEVELS && good; level++)
		good = take_number(object, roofs_levels[level], 1e9, (double)CAPTURE_ROOF_MAX,
				   &roof->bytes[level]);
	return good;
}

static bool take_roofs(const cJSON *object, struct capture_roofs *roofs)
{
	const cJSON *instructions = cJSON_GetObjectItemCaseSensitive(object, "instructions");
	uint64_t cpus;

	if (!take_number(object, "measured_s", 1, 1e12, &roofs->measured) || !roofs->measured ||
	    !take_number(object, "cpus", 1, UINT32_MAX, &cpus) || !cpus ||
	    !take_roof(object, "one_cpu", &roofs->one) ||
	    !take_roof(object, "all_cpus", &roofs->all))
		return false;
	roofs->cpus = (uint32_t)cpus;
	if (cJSON_IsString(instructions))
		snprintf(roofs->instructions, sizeof(roofs->instructions), "%s",
			 instructions->valuestring);
	return true;
}

/* 0, -EBADMSG or -ESTALE. */
static int take_document(const cJSON *root, const struct capture_info *machine,
			 struct capture_roofs *roofs)
{
	const cJSON *object = cJSON_GetObjectItemCaseSensitive(root, "machine");
	const cJSON *version = cJSON_GetObjectItemCaseSensitive(root, "version");
	uint64_t cpus;

	if (!says(root, "schema", SCHEMA) || !cJSON_IsNumber(version) ||
	    version->valuedouble != VERSION || !cJSON_IsObject(object) ||
	    !take_number(object, "cpus", 1, UINT32_MAX, &cpus) ||
	    !take_roofs(cJSON_GetObjectItemCaseSensitive(object, "roofs"), roofs))
		return -EBADMSG;
	return says(object, "host", machine->host) &&
			       says(object, "architecture", machine->machine) &&
			       says(object, "cpu", machine->cpu) && cpus == machine->n_cpus
		       ? 0
		       : -ESTALE;
}

int roofs_parse(struct capture_info *machine, const char *text, size_t size)
{
	struct capture_roofs roofs = {};
	cJSON *root = size <= FILE_MAX ? cJSON_ParseWithLength(text, size) : NULL;
	int error = root ? take_document(root, machine, &roofs) : -EBADMSG;

	cJSON_Delete(root);
	if (!error)
		machine->roofs = roofs;
	return error;
}

/* -- where they are ------------------------------------------------------------------- */

/* Below the home of a user, whose own folder for what programs keep may be elsewhere. */
static bool place_of_user(const char *state, const char *home, char path[PATH_MAX])
{
	if (state && state[0] == '/')
		return snprintf(path, PATH_MAX, "%s/opprobe", state) < PATH_MAX;
	return home && home[0] == '/' &&
	       snprintf(path, PATH_MAX, "%s/.local/state/opprobe", home) < PATH_MAX;
}

/* A folder that the user has chosen for all that is kept, or NULL. */
static const char *chosen_place(void)
{
	const char *chosen = getenv("OPPROBE_STATE");

	return chosen && *chosen ? chosen : NULL;
}

/* The folder that this opprobe keeps things in; false if there is none. */
static bool own_place(char path[PATH_MAX], bool *for_everyone)
{
	*for_everyone = false;
	if (chosen_place())
		return snprintf(path, PATH_MAX, "%s", chosen_place()) < PATH_MAX;
	*for_everyone = !geteuid();
	if (*for_everyone)
		return snprintf(path, PATH_MAX, "%s", FOR_EVERYONE) < PATH_MAX;
	return place_of_user(getenv("XDG_STATE_HOME"), getenv("HOME"), path);
}

/* That of who called sudo. */
static bool callers_place(char path[PATH_MAX])
{
	uid_t user;
	gid_t group;
	const struct passwd *entry = sudo_user(&user, &group) ? getpwuid(user) : NULL;

	return entry && place_of_user(NULL, entry->pw_dir, path);
}

/* Make @folder, and what it is in. What cannot be made is told by who writes there. */
static void make_folder(const char *folder, mode_t mode)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", folder);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, mode);
		*slash = '/';
	}
	mkdir(path, mode);
}

/* -- keeping and reading ---------------------------------------------------------------- */

/* What root measured is for everyone to read, and root's, whoever called sudo. */
static int open_up(int fd)
{
	return fchown(fd, geteuid(), getegid()) || fchmod(fd, 0644) ? -errno : 0;
}

static int write_file(const char *path, const char *text, bool for_everyone, struct error *err)
{
	struct output_file file;
	int error = output_file_open(&file, path, OUTPUT_NAMED, err);

	if (error)
		return error;
	error = output_file_write(&file, text, strlen(text)) ?: output_file_write(&file, "\n", 1);
	if (!error && for_everyone)
		error = open_up(file.fd);
	if (error)
		output_file_drop(&file);
	else
		error = output_file_close(&file, true, NULL);
	return error ? error_set(err, error, "cannot keep the roofs in %s: %s", path,
				 error_reason(error))
		     : 0;
}

int roofs_keep(const struct capture_info *machine, const struct roofs_about *about, char **path,
	       struct error *err)
{
	char folder[PATH_MAX], *text;
	bool for_everyone;
	int error;

	*path = NULL;
	if (!own_place(folder, &for_everyone))
		return error_set(err, -ENOENT,
				 "cannot keep the roofs: there is no HOME; set OPPROBE_STATE to a "
				 "folder");
	make_folder(folder, for_everyone ? 0755 : 0700);
	text = roofs_json(machine, about, NULL);
	if (!text || asprintf(path, "%s/%s", folder, FILE_NAME) < 0) {
		*path = NULL;
		free(text);
		return error_set(err, -ENOMEM, "cannot keep the roofs: out of memory");
	}
	error = write_file(*path, text, for_everyone, err);
	free(text);
	if (error) {
		free(*path);
		*path = NULL;
	}
	return error;
}

/* Take what is in @folder, if that is good, and newer than what @machine has. */
static void read_place(const char *folder, struct capture_info *machine)
{
	struct capture_info found = *machine;
	char path[PATH_MAX + 16], *text = NULL;
	struct stat st;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, FILE_NAME);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && output_is_trusted(st.st_uid))
		text = malloc(FILE_MAX + 1);
	if (text)
		n = read(fd, text, FILE_MAX + 1);
	close(fd);
	if (n > 0 && !roofs_parse(&found, text, (size_t)n) &&
	    found.roofs.measured > machine->roofs.measured)
		machine->roofs = found.roofs;
	free(text);
}

void roofs_read(struct capture_info *machine)
{
	char folder[PATH_MAX];
	bool for_everyone;

	machine->roofs = (struct capture_roofs){};
	if (own_place(folder, &for_everyone))
		read_place(folder, machine);
	if (chosen_place())
		return;
	if (!for_everyone)
		read_place(FOR_EVERYONE, machine);
	if (callers_place(folder))
		read_place(folder, machine);
}

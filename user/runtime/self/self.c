// SPDX-License-Identifier: GPL-2.0-only
#include "self.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../bpf/events.h"
#include "../../target/own_code.h"

/* Of code.S. */
#define DECLARE(name)                                                                              \
	extern const char self_##name##_enter_stepped[], self_##name##_enter_emulated[];           \
	extern const char self_##name##_exit_stepped[], self_##name##_exit_emulated[]

DECLARE(inner_a);
DECLARE(inner_b);
DECLARE(outer_probed);
DECLARE(outer_plain);

void self_inner_a(void);
void self_inner_b(void);
void self_inner_plain(void);
void self_outer_probed(long count, void (*inner)(void));
void self_outer_plain(long count, void (*inner)(void));

/* Per operator: where it begins and ends, single-stepped and emulated. */
#define PLACES(name)                                                                               \
	{                                                                                          \
		{self_##name##_enter_stepped, self_##name##_enter_emulated},                       \
			{self_##name##_exit_stepped, self_##name##_exit_emulated},                 \
	}

static const char *const places[SELF_OPERATORS][2][2] = {
	[SELF_INNER_A] = PLACES(inner_a),
	[SELF_INNER_B] = PLACES(inner_b),
	[SELF_OUTER_PROBED] = PLACES(outer_probed),
	[SELF_OUTER_PLAIN] = PLACES(outer_plain),
};

static int add_site(struct location *location, const struct site *site, const char *place)
{
	struct site *added = array_push(&location->sites);

	if (!added)
		return -ENOMEM;
	*added = *site;
	return own_code_offset(place, &added->offset);
}

int self_locate(struct self_kind kind, struct location *location, struct mapped_file *file,
		struct error *err)
{
	int error = 0;

	*location = (struct location){.runtime = &self_runtime};
	for (unsigned int i = 0; i < SELF_OPERATORS && !error; i++) {
		struct site site = {.value = i, .function = i, .stack_depth = -1};

		site.role = SITE_OP_ENTER;
		site.program = "self_enter";
		site.emulated = kind.enter_emulated;
		error = add_site(location, &site, places[i][0][kind.enter_emulated]);
		site.role = SITE_OP_EXIT;
		site.program = "self_exit";
		site.emulated = kind.exit_emulated;
		if (!error)
			error = add_site(location, &site, places[i][1][kind.exit_emulated]);
	}
	if (!error)
		error = own_code_file(file);
	if (error) {
		location_free(location);
		return error_set(err, error, "opprobe cannot find its own code: %s",
				 error_reason(error));
	}
	return 0;
}

int self_instructions(struct self_kind kind)
{
	return 3 + (kind.exit_emulated - kind.enter_emulated);
}

void self_execute(void)
{
	self_inner_a();
	self_inner_b();
	self_outer_probed(SELF_NESTED, self_inner_a);
	self_outer_plain(SELF_NESTED, self_inner_plain);
}

/* -- names ------------------------------------------------------------------------- */

static bool settled(const struct naming *naming)
{
	return true;
}

/* The program's key is the site's value, in steps of 16. */
static int describe(struct naming *naming, const struct identity *identity,
		    struct strings_record *strings)
{
	memset(strings, 0, sizeof(*strings));
	strings->verified = 1;
	strings->identity = *identity;
	strings->instance = identity->key.instance;
	strings->node_index = identity->key.index >> 4;
	strings->op_type_length = snprintf(strings->op_type, sizeof(strings->op_type), "self");
	return 0;
}

static void free_naming(struct naming *naming)
{
	free(naming);
}

static const struct naming_ops ops = {
	.settled = settled,
	.describe = describe,
	.free = free_naming,
};

static struct naming *new_naming(void)
{
	struct naming *naming = calloc(1, sizeof(*naming));

	if (naming)
		naming->ops = &ops;
	return naming;
}

const struct runtime self_runtime = {
	.name = "opprobe",
	.title = "opprobe",
	.naming_new = new_naming,
};

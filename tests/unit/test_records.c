// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what the kernel sends to what the sink gets: records as the ring
 * buffer would hand them over, with names that a made-up runtime reads.
 */
#include "record_list.h"

#include <stdbool.h>
#include <unistd.h>

#include "collect/attributes.h"
#include "collect/state.h"

#define MAIN 77 /* a thread */

/* A runtime whose names are proven when the test says so. */
struct fake_naming {
	struct naming naming;
	bool proves, proven, sessions_fail;
	bool session_ends; /* while something is read */
	uint32_t *generation;
	unsigned int described, asked, attributes_asked, arenas_asked;
	bool attributes_fail;
	uint64_t arena; /* which tells where it counts */
};

static int sight(struct naming *naming, const struct sighting_record *sighting, struct error *err)
{
	struct fake_naming *fake = (struct fake_naming *)naming;

	fake->proven = fake->proves;
	return fake->proven ? 0 : -EAGAIN;
}

static bool is_settled(const struct naming *naming)
{
	return ((const struct fake_naming *)naming)->proven;
}

static struct strings_record strings_of(const struct identity *identity)
{
	struct strings_record strings = {
		.type = RECORD_STRINGS,
		.verified = 1,
		.identity = *identity,
		.node_index = identity->key.index,
		.op_type_length = 4,
		.op_type = "Conv",
		.provider_length = 3,
		.provider = "CPU",
	};

	strings.name_length = snprintf(strings.name, sizeof(strings.name), "node%u", identity->id);
	return strings;
}

static int describe(struct naming *naming, const struct identity *identity,
		    struct strings_record *strings)
{
	struct fake_naming *fake = (struct fake_naming *)naming;

	fake->described++;
	*strings = strings_of(identity);
	*fake->generation += fake->session_ends;
	return 0;
}

static int session(struct naming *naming, uint64_t owner, uint64_t root, bool memory,
		   struct session_facts *facts)
{
	struct fake_naming *fake = (struct fake_naming *)naming;

	fake->asked++;
	*facts = (struct session_facts){.has_path = 1, .path = "a.onnx", .intra_threads = owner};
	*fake->generation += fake->session_ends;
	return fake->sessions_fail ? -ENOENT : 0;
}

/* Of the operators 1 and 3 of whatever session; the first has its index as its axis. */
static int attributes(struct naming *naming, const struct operator_key *key,
		      struct attribute_list *list)
{
	struct fake_naming *fake = (struct fake_naming *)naming;
	const struct attribute axis = {
		.name = "axis", .type = ATTRIBUTE_INT, .n = 1, .ints = {(int64_t)key->session}};

	fake->attributes_asked++;
	*fake->generation += fake->session_ends;
	if (fake->attributes_fail)
		return -ENOENT;
	*array_push(&list->attributes) = axis;
	*array_push(&list->operators) = (struct operator_attributes){.index = 1, .n = 1};
	*array_push(&list->operators) = (struct operator_attributes){.index = 3, .first = 1};
	return 0;
}

static int in_use_at(struct naming *naming, uint64_t address)
{
	struct fake_naming *fake = (struct fake_naming *)naming;

	fake->arenas_asked++;
	return address == fake->arena ? 0x528 : -ENOENT;
}

/* The owner of the session 0x1000 is 0x9000; other sessions' are not found. */
static int whose(struct naming *naming, const struct stack_record *stack, uint64_t *owner)
{
	struct fake_naming *fake = (struct fake_naming *)naming;

	*fake->generation += fake->session_ends;
	for (int i = 0; i < stack->n_sessions; i++)
		if (stack->sessions[i] == 0x1000) {
			*owner = 0x9000;
			return i;
		}
	return -ENOENT;
}

static const struct naming_ops fake_ops = {.sight = sight,
					   .settled = is_settled,
					   .describe = describe,
					   .session = session,
					   .attributes = attributes,
					   .in_use_at = in_use_at,
					   .whose = whose};
static const struct runtime fake_runtime = {.name = "fake", .title = "Fake"};

struct test {
	struct collector collector;
	struct process process;
	struct location location;
	struct counter_set counters;
	struct fake_naming naming;
	struct member member;
	struct instance_state instance;
	struct opprobe_bpf bpf;
	struct opprobe_bpf__bss bss;
	struct record_list list;
	struct shapes shapes;
};

/* A collector without the kernel; names are @proven from the start, or never yet. */
static struct test *set_up(bool proven)
{
	struct test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->list = record_list();
	t->process = (struct process){.pid = getpid(), .fd = -1};
	t->location.runtime = &fake_runtime;
	t->counters.n = 1;
	t->bpf.bss = &t->bss;
	t->naming = (struct fake_naming){.naming.ops = &fake_ops,
					 .proves = true,
					 .proven = proven,
					 .generation = &t->bss.instances[0].generation};
	t->member.process = &t->process;
	t->instance = (struct instance_state){
		.member = &t->member, .location = &t->location, .naming = &t->naming.naming};
	t->collector.options.counters = &t->counters;
	t->collector.options.sink = &t->list.sink;
	t->collector.bpf = &t->bpf;
	t->collector.held = held_new();
	t->collector.identities = identity_new(&t->list.sink);
	*array_push(&t->collector.members) = &t->member;
	*array_push(&t->collector.instances) = &t->instance;
	assert_int_equal(identity_locate(t->collector.identities, 0, 0), 0);
	return t;
}

static void tear_down(struct test *t)
{
	shape_table_free(t->instance.shapes);
	attribute_lists_free(t->collector.attributes);
	held_free(t->collector.held);
	parts_free(t->collector.parts);
	sampled_free(t->collector.sampled);
	array_free(&t->collector.parts_told);
	identity_free(t->collector.identities);
	thread_numbers_clear(&t->collector.numbers);
	failures_free(&t->collector.failures);
	array_free(&t->collector.members);
	array_free(&t->collector.instances);
	array_free(&t->location.sites);
	kept_free(&t->instance.pending);
	record_list_free(&t->list);
	free(t);
}

static void take(struct test *t, const void *record, size_t size)
{
	void *copy = malloc(size);

	memcpy(copy, record, size);
	collector_take(&t->collector, copy, size);
	free(copy);
}

static struct identity identity(uint32_t id)
{
	return (struct identity){
		.key = {.session = 0x1000, .index = id}, .root = 0x1000, .id = id, .tid = MAIN};
}

static void take_strings(struct test *t, uint32_t id)
{
	struct identity whose = identity(id);
	struct strings_record strings = strings_of(&whose);

	take(t, &strings, sizeof(strings));
}

static void take_sighting(struct test *t, uint32_t id, uint32_t generation)
{
	struct sighting_record sighting = {.type = RECORD_SIGHTING, .identity = identity(id)};

	sighting.identity.generation = generation;
	take(t, &sighting, sizeof(sighting));
}

static void take_thread(struct test *t, uint32_t tid, const char *name)
{
	struct thread_record thread = {.type = RECORD_THREAD, .tid = tid, .pid = getpid()};

	snprintf(thread.comm, sizeof(thread.comm), "%s", name);
	take(t, &thread, sizeof(thread));
}

/* An execution from @start on with one count, which is @start, too. */
static void take_operator(struct test *t, uint32_t id, uint32_t run, uint32_t tid, uint64_t start)
{
	struct {
		struct operator_record record;
		uint64_t value;
	} op = {.record = {.type = RECORD_OPERATOR,
			   .counted = 1,
			   .tid = tid,
			   .id = id,
			   .run = run,
			   .parent = NO_ID,
			   .start = start,
			   .end = start + 10},
		.value = start};

	take(t, &op, sizeof(op));
}

static void take_run(struct test *t, uint32_t run, uint64_t start, uint64_t end)
{
	struct {
		struct run_record record;
		uint64_t value;
	} whole = {.record = {.type = RECORD_RUN,
			      .tid = MAIN,
			      .run = run,
			      .operators = 7 + run,
			      .session = 0x1000,
			      .start = start,
			      .end = end}};

	take(t, &whole, sizeof(whole));
}

static size_t executions(const struct test *t)
{
	return record_list_count(&t->list, CAPTURE_EXEC);
}

static const struct capture_exec *execution(const struct test *t, size_t number)
{
	return &record_list_get(&t->list, CAPTURE_EXEC, number)->exec;
}

/* -- names ------------------------------------------------------------------------ */

static void records_wait_for_names_and_come_in_their_order(void **state)
{
	struct test *t = set_up(false);

	t->naming.proves = false;
	take_sighting(t, 1, 0);
	take_operator(t, 1, 0, MAIN, 100);
	take_sighting(t, 2, 0);
	take_operator(t, 2, 0, MAIN, 200);
	take_run(t, 0, 50, 300);
	assert_int_equal(t->list.all.n, 0);
	t->naming.proves = true;
	take_sighting(t, 3, 0);
	assert_int_equal(t->naming.described, 3);
	assert_int_equal(executions(t), 2);
	assert_int_equal(execution(t, 0)->start, 100);
	assert_int_equal(execution(t, 1)->start, 200);
	assert_int_equal(execution(t, 1)->counters[0], 200);
	assert_int_equal(record_list_count(&t->list, CAPTURE_RUN), 1);
	assert_string_equal(record_list_get(&t->list, CAPTURE_OPERATOR, 1)->op.name, "node2");
	/* From now on nothing waits. */
	take_operator(t, 3, 1, MAIN, 400);
	assert_int_equal(executions(t), 3);
	assert_int_equal(t->collector.unnamed, 0);
	assert_int_equal(t->collector.operators, 3);
	assert_int_equal(t->collector.runs, 1);
	tear_down(t);
}

static void what_waits_is_bounded_and_the_rest_counted_as_lost(void **state)
{
	static unsigned char record[1 << 20] = {99}; /* of a type that means nothing */
	struct test *t = set_up(false);

	t->naming.proves = false;
	for (int i = 0; i < 70; i++)
		take(t, record, sizeof(record));
	/* Each takes four bytes more than a sixty-fourth of the room. */
	assert_int_equal(t->collector.unnamed, 70 - 63);
	assert_true(t->instance.pending.n <= 64 << 20);
	/* There is room for small ones. */
	t->naming.proves = true;
	take_sighting(t, 1, 0);
	take_operator(t, 1, 0, MAIN, 100);
	assert_int_equal(t->collector.unnamed, 70 - 63);
	assert_int_equal(executions(t), 1);
	assert_int_equal(t->instance.pending.n, 0);
	tear_down(t);
}

static void take_nested(struct test *t, uint32_t id, uint8_t flags)
{
	struct {
		struct operator_record record;
		uint64_t value;
	} op = {.record = {.type = RECORD_OPERATOR,
			   .tid = MAIN,
			   .id = id,
			   .flags = FLAG_NESTED | flags,
			   .parent = NO_ID}};

	take(t, &op, sizeof(op));
}

static uint32_t flags_of(const struct test *t, size_t n)
{
	return record_list_get(&t->list, CAPTURE_EXEC, n)->exec.flags;
}

/* The programs say so; or an operator was dropped here, and it may have been inside. */
static void what_lacks_one_that_ran_inside_says_so(void **state)
{
	struct test *t = set_up(true);

	take_strings(t, 1);
	take_nested(t, 1, 0);
	take_nested(t, 1, FLAG_LACKS);
	take_operator(t, 77, 0, MAIN, 100); /* nobody has told its name */
	assert_int_equal(t->collector.unnamed, 1);
	take_nested(t, 1, 0);
	take_operator(t, 1, 0, MAIN, 200);
	assert_int_equal(flags_of(t, 0), EXEC_NESTED);
	assert_int_equal(flags_of(t, 1), EXEC_NESTED | EXEC_LACKS);
	assert_int_equal(flags_of(t, 2), EXEC_NESTED | EXEC_LACKS);
	assert_int_equal(flags_of(t, 3), 0);
	t->collector.unnamed = 0;
	t->collector.unheld = 1;
	take_nested(t, 1, 0);
	assert_int_equal(flags_of(t, 4), EXEC_NESTED | EXEC_LACKS);
	tear_down(t);
}

static void a_run_tells_how_many_operators_it_had(void **state)
{
	struct test *t = set_up(true);
	const struct capture_run *run;

	take_run(t, 3, 50, 300);
	run = &record_list_get(&t->list, CAPTURE_RUN, 0)->run;
	assert_true(run->has_operators);
	assert_int_equal(run->operators, 10);
	tear_down(t);
}

static void what_still_waits_at_the_end_is_counted_as_lost(void **state)
{
	struct test *t = set_up(false);

	t->naming.proves = false;
	take_sighting(t, 1, 0);
	take_operator(t, 1, 0, MAIN, 100);
	take_operator(t, 1, 0, MAIN, 200);
	take_run(t, 0, 50, 300);
	assert_int_equal(t->collector.unnamed, 0);
	collector_settle(&t->collector, &t->instance);
	assert_int_equal(t->collector.unnamed, 2);
	assert_int_equal(t->instance.pending.n, 0);
	tear_down(t);
}

/* As where each session ends before opprobe is there: none of them says that the build is new. */
static void sightings_of_sessions_that_have_ended_are_not_held_against_a_build(void **state)
{
	struct test *t = set_up(false);

	array_push(&t->location.sites)->role = SITE_SESSION_END;
	t->bss.instances[0].generation = 7;
	for (uint32_t i = 0; i < 6000; i++)
		take_sighting(t, i, 6);
	assert_int_equal(t->collector.failed, 0);
	assert_false(t->naming.proven);
	take_sighting(t, 1, 7);
	take_operator(t, 1, 0, MAIN, 100);
	assert_int_equal(executions(t), 1);
	tear_down(t);
}

/* Where the ends of sessions are not seen, each run is a generation, and sessions outlive it. */
static void where_ends_are_not_seen_earlier_sightings_are_tried(void **state)
{
	struct test *t = set_up(false);

	t->bss.instances[0].generation = 7;
	take_sighting(t, 1, 6);
	assert_true(t->naming.proven);
	tear_down(t);

	t = set_up(false);
	t->naming.proves = false;
	t->bss.instances[0].generation = 7;
	for (uint32_t i = 0; i < 6000; i++)
		take_sighting(t, i, 6);
	assert_int_equal(t->collector.failed, -ENOTRECOVERABLE);
	tear_down(t);
}

static void a_name_that_was_sighted_before_a_session_ended_is_not_read(void **state)
{
	struct test *t = set_up(true);

	t->bss.instances[0].generation = 5;
	take_sighting(t, 1, 4);
	assert_int_equal(t->naming.described, 0);
	take_operator(t, 1, 0, MAIN, 100);
	assert_int_equal(executions(t), 0);
	assert_int_equal(t->collector.unnamed, 1);
	take_sighting(t, 1, 5);
	take_operator(t, 1, 0, MAIN, 200);
	assert_int_equal(executions(t), 1);
	tear_down(t);
}

static void a_name_is_not_believed_if_a_session_ended_while_it_was_read(void **state)
{
	struct test *t = set_up(true);

	t->naming.session_ends = true;
	take_sighting(t, 1, 0);
	assert_int_equal(t->naming.described, 1);
	assert_int_equal(record_list_count(&t->list, CAPTURE_OPERATOR), 0);
	take_operator(t, 1, 0, MAIN, 100);
	assert_int_equal(executions(t), 0);
	assert_int_equal(t->collector.unnamed, 1);
	tear_down(t);
}

/* -- what sessions are ------------------------------------------------------------ */

/* A collector that sees the end of sessions. */
static struct test *set_up_models(void)
{
	struct test *t = set_up(true);

	array_push(&t->location.sites)->role = SITE_SESSION_END;
	return t;
}

static void take_owned(struct test *t, uint32_t id, uint64_t owner, uint32_t generation)
{
	struct identity whose = identity(id);
	struct strings_record strings;

	whose.owner = owner;
	whose.generation = generation;
	strings = strings_of(&whose);
	take(t, &strings, sizeof(strings));
}

static void take_end(struct test *t, uint64_t owner)
{
	struct session_end_record end = {.type = RECORD_SESSION_END, .owner = owner};

	take(t, &end, sizeof(end));
}

static void take_owners_run(struct test *t, uint32_t number, uint64_t owner, uint64_t root)
{
	struct run_record run = {.type = RECORD_RUN,
				 .tid = MAIN,
				 .run = number,
				 .owner = owner,
				 .session = root,
				 .status = STATUS_UNKNOWN,
				 .start = 100,
				 .end = 200};
	struct {
		struct run_record record;
		uint64_t value;
	} whole = {run, 7};

	take(t, &whole, sizeof(whole));
}

static size_t models(const struct test *t)
{
	return record_list_count(&t->list, CAPTURE_MODEL);
}

static void what_a_session_is_is_asked_once(void **state)
{
	struct test *t = set_up_models();

	take_owned(t, 1, 0x9000, 0);
	assert_int_equal(models(t), 1);
	take_operator(t, 1, 0, MAIN, 100);
	take_owned(t, 2, 0x9000, 0);
	take_owners_run(t, 0, 0x9000, 0x1000);
	assert_int_equal(t->naming.asked, 1);
	assert_int_equal(models(t), 1);
	tear_down(t);
}

static void a_session_is_asked_for_when_its_owner_is_known(void **state)
{
	struct test *t = set_up_models();

	take_owned(t, 1, 0, 0);
	assert_int_equal(t->naming.asked, 0);
	take_owners_run(t, 0, 0x9000, 0x1000);
	assert_int_equal(models(t), 1);
	/* Of another one a run alone is known. */
	take_owners_run(t, 1, 0x8000, 0);
	assert_int_equal(models(t), 2);
	tear_down(t);
}

static void a_session_is_not_asked_for_when_one_has_ended_since(void **state)
{
	struct test *t = set_up_models();

	t->bss.instances[0].generation = 1;
	take_owned(t, 1, 0x9000, 0);
	take_owners_run(t, 0, 0x9000, 0x1000);
	assert_int_equal(t->naming.asked, 0);
	/* It was another one, of which is told now. */
	take_end(t, 0x8000);
	take_owners_run(t, 1, 0x9000, 0x1000);
	assert_int_equal(models(t), 1);
	tear_down(t);
	/* That was lost, but its operators are seen anew. */
	t = set_up_models();
	t->bss.instances[0].generation = 1;
	take_owned(t, 1, 0x9000, 0);
	take_owned(t, 2, 0x9000, 1);
	assert_int_equal(models(t), 1);
	tear_down(t);
}

static void what_a_session_is_is_not_believed_if_one_ended_meanwhile(void **state)
{
	struct test *t = set_up_models();

	t->naming.session_ends = true;
	take_owned(t, 1, 0x9000, 0);
	assert_int_equal(t->naming.asked, 1);
	assert_int_equal(models(t), 0);
	t->naming.session_ends = false;
	take_owned(t, 2, 0x9000, 1);
	assert_int_equal(models(t), 1);
	tear_down(t);
}

static void sessions_whose_end_is_not_seen_are_not_asked_for(void **state)
{
	struct test *t = set_up(true);

	take_owned(t, 1, 0x9000, 0);
	take_owners_run(t, 0, 0x9000, 0x1000);
	assert_int_equal(t->naming.asked, 0);
	tear_down(t);
}

static void a_session_that_cannot_be_told_is_not_asked_for_for_ever(void **state)
{
	struct test *t = set_up_models();

	t->naming.sessions_fail = true;
	for (uint32_t i = 0; i < 20; i++)
		take_owned(t, i, 0x9000, 0);
	assert_in_range(t->naming.asked, 2, 8);
	assert_int_equal(models(t), 0);
	tear_down(t);
}

/* -- how sessions are made ------------------------------------------------------ */

static const char *status_name(uint32_t status, uint32_t *code)
{
	*code = status;
	return "BAD";
}

static const char *setup_name(uint32_t kind, const char *text)
{
	return kind == SETUP_LOADING ? text : "init";
}

static const struct runtime setup_runtime = {
	.name = "fake", .title = "Fake", .status_name = status_name, .setup_name = setup_name};

static struct test *set_up_setups(bool proven)
{
	struct test *t = set_up(proven);

	t->location.runtime = &setup_runtime;
	array_push(&t->location.sites)->role = SITE_SESSION_END;
	return t;
}

static void take_setup(struct test *t, uint8_t kind, uint64_t owner, uint64_t start,
		       uint32_t status)
{
	struct setup_record setup = {.type = RECORD_SETUP,
				     .kind = kind,
				     .tid = MAIN,
				     .status = status,
				     .owner = owner,
				     .start = start,
				     .end = start + 10};

	memset(setup.name, 'n', sizeof(setup.name)); /* without an end */
	take(t, &setup, sizeof(setup));
}

static const struct capture_setup *setup(const struct test *t, size_t number)
{
	return &record_list_get(&t->list, CAPTURE_SETUP, number)->setup;
}

static void setups_are_of_the_session_that_runs_later(void **state)
{
	struct test *t = set_up_setups(true);

	take_setup(t, SETUP_LOADING, 0x9000, 100, 0);
	assert_int_equal(t->naming.asked, 0);
	take_setup(t, SETUP_INITIALIZATION, 0x9000, 200, 0);
	/* It is told what it is at once, and again when its operators are known. */
	assert_int_equal(models(t), 1);
	take_owned(t, 1, 0x9000, 0);
	take_owners_run(t, 0, 0x9000, 0x1000);
	assert_int_equal(models(t), 2);
	assert_int_equal(setup(t, 0)->kind, CAPTURE_SETUP_LOADING);
	assert_int_equal(strlen(setup(t, 0)->name), CAPTURE_NAME_SIZE - 1);
	assert_int_equal(setup(t, 0)->start, 100);
	assert_int_equal(setup(t, 0)->end, 110);
	assert_true(setup(t, 0)->has_status && !setup_failed(setup(t, 0)));
	assert_int_equal(setup(t, 1)->kind, CAPTURE_SETUP_INITIALIZATION);
	assert_string_equal(setup(t, 1)->name, "init");
	assert_int_equal(record_list_count(&t->list, CAPTURE_SESSION), 1);
	assert_int_equal(record_list_get(&t->list, CAPTURE_RUN, 0)->run.session, 0);
	assert_int_equal(setup(t, 0)->session, 0);
	assert_int_equal(setup(t, 1)->session, 0);
	tear_down(t);
}

static void a_setup_that_failed_tells_why(void **state)
{
	struct test *t = set_up_setups(true);
	struct failure_record failure = {
		.type = RECORD_FAILURE, .status = 7, .owner = 0x9000, .message = "why"};

	take(t, &failure, sizeof(failure));
	take_setup(t, SETUP_INITIALIZATION, 0x9000, 100, 7);
	assert_true(setup_failed(setup(t, 0)));
	assert_int_equal(setup(t, 0)->failure, 0);
	assert_string_equal(record_list_get(&t->list, CAPTURE_FAILURE, 0)->failure.name, "BAD");
	/* Of one that could not be made, there is nothing to ask. */
	assert_int_equal(t->naming.asked, 0);
	/* The next one at the same address is another one, with a failure of its own. */
	take_end(t, 0x9000);
	take_setup(t, SETUP_LOADING, 0x9000, 200, 7);
	assert_int_equal(setup(t, 1)->session, 1);
	assert_int_equal(setup(t, 1)->failure, 1);
	take_setup(t, SETUP_LOADING, 0x8000, 300, STATUS_UNKNOWN);
	assert_false(setup(t, 2)->has_status);
	tear_down(t);
}

/* Before the first operator nothing waits; behind one, all do, and none is lost. */
static void setups_need_no_names_of_operators(void **state)
{
	struct test *t = set_up_setups(false);

	t->naming.proves = false;
	take_setup(t, SETUP_LOADING, 0x9000, 100, 0);
	take_setup(t, SETUP_INITIALIZATION, 0x9000, 200, 0);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SETUP), 2);
	assert_int_equal(models(t), 1);
	take_sighting(t, 1, 0);
	take_operator(t, 1, 0, MAIN, 300);
	take_end(t, 0x9000);
	take_setup(t, SETUP_LOADING, 0x9000, 400, 0);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SETUP), 2);
	collector_settle(&t->collector, &t->instance);
	assert_int_equal(t->collector.unnamed, 1);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SETUP), 3);
	assert_int_equal(setup(t, 2)->session, 1);
	tear_down(t);
}

/* Where ends are not seen, what loads at an address is not what was there before. */
static void a_session_that_loads_is_a_new_one(void **state)
{
	struct test *t = set_up_setups(true);

	t->location.sites.n = 0;
	take_owners_run(t, 0, 0x9000, 0);
	take_setup(t, SETUP_LOADING, 0x9000, 100, 0);
	take_setup(t, SETUP_INITIALIZATION, 0x9000, 200, 0);
	assert_int_equal(setup(t, 0)->session, 1);
	assert_int_equal(setup(t, 1)->session, 1);
	/* It has a model already: that another one cannot be loaded makes no new session. */
	take_setup(t, SETUP_LOADING, 0x9000, 300, 8);
	assert_int_equal(setup(t, 2)->session, 1);
	tear_down(t);
}

static void setups_that_end_after_the_recording_are_not_taken(void **state)
{
	struct test *t = set_up_setups(true);

	t->collector.ended = 150;
	take_setup(t, SETUP_LOADING, 0x9000, 100, 0);
	take_setup(t, SETUP_INITIALIZATION, 0x9000, 145, 0);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SETUP), 1);
	tear_down(t);
}

static void operators_that_were_open_when_it_ended_are_not_taken(void **state)
{
	struct test *t = set_up(true);

	take_strings(t, 1);
	t->collector.ended = 110;
	take_operator(t, 1, 0, MAIN, 95);
	take_operator(t, 1, 0, MAIN, 100);
	take_operator(t, 1, 0, MAIN, 101);
	assert_int_equal(executions(t), 2);
	tear_down(t);
}

/* Three executions of operator 1, of which the record that tells them has @size bytes, and says
 * that they have @bytes, and that each has @each. */
static void take_batch(struct test *t, size_t size, uint32_t bytes, uint16_t each)
{
	struct batch_record batch = {.type = RECORD_BATCH, .each = each, .bytes = bytes};

	for (uint32_t i = 0; i < 3; i++) {
		const struct operator_record op = {.type = RECORD_OPERATOR,
						   .counted = 1,
						   .tid = MAIN,
						   .id = 1,
						   .parent = NO_ID,
						   .start = 100 + i,
						   .end = 200 + i};
		const uint64_t value = 7 + i;

		memcpy(batch.records + i * 48, &op, sizeof(op));
		memcpy(batch.records + i * 48 + sizeof(op), &value, sizeof(value));
	}
	take(t, &batch, size);
}

static void operators_that_come_at_once_are_each_told(void **state)
{
	struct test *t = set_up(true);

	take_strings(t, 1);
	take_batch(t, 8 + 3 * 48, 3 * 48, 48);
	assert_int_equal(executions(t), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(execution(t, i)->start, 100 + i);
		assert_int_equal(execution(t, i)->counters[0], 7 + i);
	}
	assert_int_equal(t->collector.windows.operators, 3);
	tear_down(t);
}

static void of_operators_at_once_no_more_is_taken_than_there_is(void **state)
{
	struct test *t = set_up(true);

	take_strings(t, 1);
	/* In the kernel's own place more bytes follow. */
	take_batch(t, sizeof(struct batch_record), 2 * 48, 48);
	assert_int_equal(executions(t), 2);
	take_batch(t, 8 + 48, 3 * 48, 48);
	assert_int_equal(executions(t), 3);
	take_batch(t, 8 + 3 * 48 - 1, 3 * 48, 48);
	assert_int_equal(executions(t), 5);
	take_batch(t, 8 + 3 * 48, 3 * 48, sizeof(struct operator_record) - 1);
	take_batch(t, 8 + 3 * 48, 3 * 48, 0);
	take_batch(t, 7, 3 * 48, 48);
	assert_int_equal(executions(t), 5);
	tear_down(t);
}

static void of_operators_at_once_those_that_ended_in_time_are_taken(void **state)
{
	struct test *t = set_up(true);

	take_strings(t, 1);
	t->collector.ended = 201;
	take_batch(t, 8 + 3 * 48, 3 * 48, 48);
	assert_int_equal(executions(t), 2);
	tear_down(t);
}

/* -- attributes ---------------------------------------------------------------- */

static void do_nothing(struct shapes *shapes)
{
	(void)shapes;
}

static const struct shapes_ops no_shapes = {.refuse = do_nothing, .free = do_nothing};

/* A collector that asks for attributes: sessions' ends are seen, and shapes are wanted, though
 * there are none. */
static struct test *set_up_attributes(void)
{
	struct test *t = set_up_models();

	t->shapes.ops = &no_shapes;
	t->instance.shapes = shape_table_new(&t->shapes, &t->collector.n_shapes, &(struct error){});
	assert_non_null(t->instance.shapes);
	shape_table_refuse(t->instance.shapes);
	return t;
}

static void take_inside(struct test *t, uint32_t id, uint64_t root, uint64_t session,
			uint64_t index)
{
	struct identity whose = {
		.key = {.session = session, .index = index}, .root = root, .id = id, .tid = MAIN};
	struct strings_record strings = strings_of(&whose);

	take(t, &strings, sizeof(strings));
}

static void take_in_session(struct test *t, uint32_t id, uint64_t session, uint64_t index)
{
	take_inside(t, id, session, session, index);
}

/* Attributes that were told, the last of them in @last. */
static size_t told(const struct test *t, struct capture_attributes *last)
{
	for (size_t i = 0; i < t->list.all.n; i++)
		if (t->list.all.items[i].type == CAPTURE_ATTRIBUTES)
			*last = t->list.all.items[i].attributes;
	return record_list_count(&t->list, CAPTURE_ATTRIBUTES);
}

static void attributes_are_asked_for_once_a_session(void **state)
{
	struct test *t = set_up_attributes();
	struct capture_attributes last = {};

	take_in_session(t, 0, 0x1000, 1);
	assert_int_equal(told(t, &last), 1);
	assert_true(last.op == 0 && last.n == 1 && last.attributes[0].ints[0] == 0x1000);
	/* Nothing is known of this one. */
	take_in_session(t, 1, 0x1000, 2);
	assert_int_equal(told(t, &last), 1);
	/* It has none, which is known; and is told once. */
	take_in_session(t, 2, 0x1000, 3);
	take_in_session(t, 2, 0x1000, 3);
	assert_int_equal(told(t, &last), 2);
	assert_true(last.op == 2 && !last.n);
	assert_int_equal(t->naming.attributes_asked, 1);
	take_in_session(t, 3, 0x2000, 1);
	assert_int_equal(told(t, &last), 3);
	assert_true(last.op == 3 && last.attributes[0].ints[0] == 0x2000);
	assert_int_equal(t->naming.attributes_asked, 2);
	/* A subgraph's operators are kept by themselves. */
	take_inside(t, 4, 0x1000, 0x1800, 1);
	assert_int_equal(told(t, &last), 4);
	assert_true(last.op == 4 && last.attributes[0].ints[0] == 0x1800);
	take_inside(t, 5, 0x1000, 0x1900, 1);
	assert_int_equal(told(t, &last), 5);
	assert_true(last.op == 5 && last.attributes[0].ints[0] == 0x1900);
	assert_int_equal(t->naming.attributes_asked, 4);
	/* So are those far behind. */
	take_inside(t, 6, 0x1000, 0x1900, ATTRIBUTES_TOGETHER - 1);
	assert_int_equal(t->naming.attributes_asked, 4);
	take_inside(t, 7, 0x1000, 0x1900, ATTRIBUTES_TOGETHER);
	assert_int_equal(t->naming.attributes_asked, 5);
	tear_down(t);
}

static void attributes_of_many_sessions_are_asked_for_in_turn(void **state)
{
	struct test *t = set_up_attributes();
	struct capture_attributes last = {};

	for (uint64_t i = 1; i <= 100; i++)
		take_in_session(t, i, i << 12, 1);
	assert_int_equal(told(t, &last), 100);
	/* The first has been forgotten, the last not. */
	take_in_session(t, 101, 100 << 12, 3);
	assert_int_equal(t->naming.attributes_asked, 100);
	take_in_session(t, 102, 1 << 12, 3);
	assert_int_equal(t->naming.attributes_asked, 101);
	assert_int_equal(told(t, &last), 102);
	tear_down(t);
}

static void kernels_of_no_session_are_asked_for_one_by_one(void **state)
{
	struct test *t = set_up_attributes();
	struct capture_attributes last = {};

	take_in_session(t, 0, 0, 1);
	take_in_session(t, 1, 0, 3);
	assert_int_equal(t->naming.attributes_asked, 2);
	assert_int_equal(told(t, &last), 2);
	/* Not for ever, where nothing is told. */
	t->naming.attributes_fail = true;
	for (uint32_t i = 2; i < 1000; i++)
		take_in_session(t, i, 0, i + 2);
	assert_in_range(t->naming.attributes_asked, 100, 500);
	assert_int_equal(told(t, &last), 2);
	tear_down(t);
}

static void attributes_are_not_believed_if_a_session_ended_meanwhile(void **state)
{
	struct test *t = set_up_attributes();
	struct capture_attributes last = {};

	t->naming.session_ends = true;
	take_in_session(t, 0, 0x1000, 1);
	assert_int_equal(told(t, &last), 0);
	/* One has ended that nothing was told of: this may be another in its place. */
	t->naming.session_ends = false;
	take_in_session(t, 1, 0x1000, 3);
	assert_int_equal(told(t, &last), 0);
	assert_int_equal(t->naming.attributes_asked, 1);
	tear_down(t);
}

static void attributes_that_cannot_be_read_are_not_asked_for_for_ever(void **state)
{
	struct test *t = set_up_attributes();
	struct capture_attributes last = {};

	t->naming.attributes_fail = true;
	for (uint32_t i = 0; i < 50; i++)
		take_in_session(t, i, 0x1000, i);
	assert_in_range(t->naming.attributes_asked, 1, 8);
	assert_int_equal(told(t, &last), 0);
	tear_down(t);
}

static void attributes_are_not_asked_for_without_shapes(void **state)
{
	struct test *t = set_up_models();

	take_in_session(t, 0, 0x1000, 1);
	assert_int_equal(t->naming.attributes_asked, 0);
	tear_down(t);
}

/* With two counters, of which the second was off for a part, and other threads' work. */
static void events_that_took_turns_come_with_how_long_they_were_on(void **state)
{
	struct {
		struct operator_record record;
		uint64_t values[2], work_ns, work[2], turns[4], work_turns[3];
	} op = {
		.record = {.type = RECORD_OPERATOR,
			   .flags = FLAG_WORK | FLAG_TURNS,
			   .counted = 1,
			   .tid = MAIN,
			   .id = 1,
			   .parent = NO_ID,
			   .start = 100,
			   .end = 200},
		.values = {10, 20},
		.work_ns = 30,
		.work = {40, 50},
		.turns = {90, 2, 90, 60},
		/* An event was on for longer than the clock says: read a little later. */
		.work_turns = {25, 25, 26},
	};
	struct test *t = set_up(true);
	const struct capture_exec *exec;

	t->counters.n = 2;
	take_strings(t, 1);
	take(t, &op, sizeof(op));
	exec = &record_list_get(&t->list, CAPTURE_EXEC, 0)->exec;
	assert_int_equal(exec->flags, EXEC_WORK | EXEC_TURNS);
	assert_int_equal(exec->work_ns, 30);
	assert_int_equal(exec->work_counters[1], 50);
	assert_int_equal(exec->turns.sampled, 2);
	assert_int_equal(exec->turns.enabled, 90);
	assert_int_equal(exec->turns.running[1], 60);
	assert_int_equal(exec->turns.work_enabled, 25);
	assert_int_equal(exec->turns.work_running[1], 25);
	/* No other thread worked for it, and nothing stands where that would. */
	op.work_ns = 0;
	take(t, &op, sizeof(op));
	assert_int_equal(record_list_get(&t->list, CAPTURE_EXEC, 1)->exec.flags, EXEC_TURNS);
	/* One that is too short for what it says is no record. */
	take(t, &op, sizeof(op) - 8);
	assert_int_equal(executions(t), 2);
	tear_down(t);
}

static void a_run_comes_with_how_long_events_were_on(void **state)
{
	struct {
		struct run_record record;
		uint64_t values[1], turns[3];
	} run = {.record = {.type = RECORD_RUN,
			    .tid = MAIN,
			    .flags = FLAG_TURNS,
			    .session = 0x1000,
			    .start = 10,
			    .end = 50},
		 .values = {7},
		 .turns = {40, 1, 25}};
	struct test *t = set_up(true);
	const struct capture_run *taken;

	take(t, &run, sizeof(run));
	taken = &record_list_get(&t->list, CAPTURE_RUN, 0)->run;
	assert_true(taken->has_turns && taken->turns.sampled == 1);
	assert_int_equal(taken->turns.enabled, 40);
	assert_int_equal(taken->turns.running[0], 25);
	assert_int_equal(taken->counters[0], 7);
	take(t, &run, sizeof(run) - 8);
	assert_int_equal(record_list_count(&t->list, CAPTURE_RUN), 1);
	tear_down(t);
}

/* A run from @start on, in which its thread saw @peak. */
static const struct capture_run *take_run_with_peak(struct test *t, uint64_t start, uint64_t peak,
						    uint32_t flags, size_t cut)
{
	struct {
		struct run_record record;
		uint64_t value, peak;
	} run = {.record = {.type = RECORD_RUN,
			    .tid = MAIN,
			    .flags = flags,
			    .session = 0x1000,
			    .start = start,
			    .end = start + 5},
		 .value = 7,
		 .peak = peak};
	size_t n = record_list_count(&t->list, CAPTURE_RUN);

	take(t, &run, sizeof(run) - cut);
	return &record_list_get(&t->list, CAPTURE_RUN, n)->run;
}

static void a_run_has_a_peak_if_it_is_known_from_its_start_on(void **state)
{
	struct test *t = set_up(true);
	const struct capture_run *run;

	assert_false(take_run_with_peak(t, 10, 4096, 0, 0)->has_peak);
	t->collector.with_memory = true;
	assert_false(take_run_with_peak(t, 20, 4096, 0, 0)->has_peak);
	t->instance.arenas_since = 30;
	assert_false(take_run_with_peak(t, 29, 4096, 0, 0)->has_peak);
	run = take_run_with_peak(t, 30, 4096, 0, 0);
	assert_true(run->has_peak && run->peak == 4096 && run->counters[0] == 7);
	/* It got nothing of it; it is not known; it threw; there is no such word. */
	run = take_run_with_peak(t, 40, 0, 0, 0);
	assert_true(run->has_peak && !run->peak);
	assert_false(take_run_with_peak(t, 50, PEAK_UNKNOWN, 0, 0)->has_peak);
	assert_false(take_run_with_peak(t, 60, 4096, FLAG_THREW, 0)->has_peak);
	assert_false(take_run_with_peak(t, 70, 4096, 0, 8)->has_peak);
	tear_down(t);
}

static void an_execution_has_a_peak_behind_what_was_counted(void **state)
{
	struct {
		struct operator_record record;
		uint64_t values[1], work_ns, work[1], peak, shapes;
	} op = {.record = {.type = RECORD_OPERATOR,
			   .flags = FLAG_WORK,
			   .counted = 1,
			   .tid = MAIN,
			   .id = 1,
			   .parent = NO_ID,
			   .start = 100,
			   .end = 200},
		.values = {1},
		.work_ns = 2,
		.work = {3},
		.peak = 4096,
		.shapes = 5};
	struct test *t = set_up(true);

	take_strings(t, 1);
	take(t, &op, sizeof(op));
	t->collector.with_memory = true;
	take(t, &op, sizeof(op));
	op.peak = PEAK_UNKNOWN;
	take(t, &op, sizeof(op));
	op.peak = 4096;
	op.record.flags |= FLAG_THREW;
	take(t, &op, sizeof(op));
	assert_int_equal(execution(t, 0)->peak, 0);
	assert_int_equal(execution(t, 1)->peak, 4096);
	assert_int_equal(execution(t, 2)->peak, 0);
	assert_int_equal(execution(t, 3)->peak, 0);
	tear_down(t);
}

/* As the programs do, tell of the arena at @address. */
static void tell_arena(struct test *t, uint64_t address)
{
	t->bss.instances[0].arena = address;
	collector_look_for_arenas(&t->collector);
}

static void an_arena_is_asked_where_it_counts_until_one_says_so(void **state)
{
	struct test *t = set_up(false);

	t->naming.arena = 0x9000;
	tell_arena(t, 0);
	assert_int_equal(t->naming.arenas_asked, 0);
	tell_arena(t, 0x8000);
	/* That one is of no use: another one is to be told. */
	assert_true(!t->bss.instances[0].arena && !t->instance.arenas_since);
	tell_arena(t, 0x9000);
	assert_int_equal(t->bss.instances[0].in_use_at, 0x528);
	assert_true(t->instance.arenas_since);
	tell_arena(t, 0x9000);
	assert_int_equal(t->naming.arenas_asked, 2);
	tear_down(t);
	/* Nobody asks for ever. */
	t = set_up(true);
	for (int i = 0; i < 1000; i++)
		tell_arena(t, 0x8000);
	assert_true(t->naming.arenas_asked > 10 && t->naming.arenas_asked < 100);
	assert_int_equal(record_list_count(&t->list, CAPTURE_NOTE), 0);
	t->collector.with_memory = true;
	collector_send_memory_notes(&t->collector);
	assert_int_equal(record_list_count(&t->list, CAPTURE_NOTE), 1);
	assert_non_null(strstr(record_list_get(&t->list, CAPTURE_NOTE, 0)->note.text,
			       "where they count it"));
	tear_down(t);
}

static void strings_that_are_no_name_are_refused(void **state)
{
	struct test *t = set_up(true);
	struct identity whose = identity(1);
	struct strings_record good = strings_of(&whose), bad[4] = {good, good, good, good};

	bad[0].verified = 0;
	bad[1].op_type_length = NO_ID;
	bad[2].op_type_length = 0;
	bad[3].name_length = NO_ID;
	for (unsigned int i = 0; i < 4; i++) {
		take(t, &bad[i], sizeof(bad[i]));
		take_operator(t, 1, 0, MAIN, 100);
		assert_int_equal(t->collector.unnamed, i + 1);
	}
	assert_int_equal(t->list.all.n, 1); /* the thread */
	take(t, &good, sizeof(good));
	take_operator(t, 1, 0, MAIN, 100);
	assert_int_equal(executions(t), 1);
	assert_int_equal(t->collector.unnamed, 4);
	assert_int_equal(t->collector.operators, 1);
	tear_down(t);
}

static void names_that_cannot_be_proven_end_the_recording(void **state)
{
	struct test *t = set_up(false);

	t->naming.proves = false;
	for (int i = 0; i < 4999; i++)
		take_sighting(t, 1, 0);
	assert_int_equal(t->collector.failed, 0);
	take_sighting(t, 1, 0);
	assert_int_equal(t->collector.failed, -ENOTRECOVERABLE);
	assert_non_null(strstr(t->collector.failure.text, "Fake"));
	tear_down(t);
}

/* -- threads ------------------------------------------------------------------------ */

static void a_thread_id_that_is_used_again_is_another_thread(void **state)
{
	struct test *t = set_up(true);

	take_strings(t, 1);
	take_thread(t, MAIN, "old");
	take_operator(t, 1, 0, MAIN, 100);
	take_thread(t, MAIN, "new");
	take_operator(t, 1, 0, MAIN, 200);
	assert_int_equal(record_list_count(&t->list, CAPTURE_THREAD), 2);
	assert_int_equal(execution(t, 0)->thread, 0);
	assert_int_equal(execution(t, 1)->thread, 1);
	assert_string_equal(record_list_get(&t->list, CAPTURE_THREAD, 1)->thread.comm, "new");
	tear_down(t);
}

static void a_thread_whose_first_record_was_lost_has_its_name_from_the_process(void **state)
{
	struct test *t = set_up(true);
	char name[16];

	process_thread_name(&t->process, getpid(), name);
	take_strings(t, 1);
	take_operator(t, 1, 0, getpid(), 100);
	take_operator(t, 1, 0, getpid(), 200);
	assert_int_equal(record_list_count(&t->list, CAPTURE_THREAD), 1);
	assert_string_equal(record_list_get(&t->list, CAPTURE_THREAD, 0)->thread.comm, name);
	assert_int_equal(record_list_get(&t->list, CAPTURE_THREAD, 0)->thread.tid, getpid());
	assert_string_not_equal(name, "");
	tear_down(t);
}

/* -- parts --------------------------------------------------------------------------------- */

/* A part of a section at @key, on thread @tid. */
static void take_part(struct test *t, uint64_t key, uint32_t tid, uint64_t start, uint64_t end)
{
	struct part_record part = {.type = RECORD_PART,
				   .migrated = tid == 92,
				   .cpu = tid - 90,
				   .tid = tid,
				   .pid = getpid(),
				   .key = key,
				   .start = start,
				   .end = end};

	take(t, &part, sizeof(part));
}

/* An execution of @run, for which others worked @work ns in @n parts of the sections at @keys. */
struct worked {
	uint32_t run, depth;
	uint64_t start, end, work, n, keys[2];
};

static void take_worked(struct test *t, const struct worked *worked)
{
	struct {
		struct operator_record record;
		uint64_t values[1], work_ns, work[1];
		struct part_keys keys;
		uint64_t peak;
	} op = {.record = {.type = RECORD_OPERATOR,
			   .flags = FLAG_WORK,
			   .depth = worked->depth,
			   .tid = MAIN,
			   .id = 1,
			   .run = worked->run,
			   .parent = NO_ID,
			   .start = worked->start,
			   .end = worked->end},
		.work_ns = worked->work,
		.keys = {worked->n, {worked->keys[0], worked->keys[1]}},
		.peak = 4096};

	take(t, &op, sizeof(op));
}

static struct test *set_up_parts(bool proven)
{
	struct test *t = set_up(proven);

	t->collector.parts = parts_new();
	t->collector.options.parts = true;
	t->collector.with_memory = true;
	assert_non_null(t->collector.parts);
	if (proven)
		take_strings(t, 1);
	return t;
}

/* The starts of the parts of execution number @number, which are all that it has. */
static void check_starts(const struct test *t, size_t number, const uint64_t *starts, size_t n)
{
	const struct capture_exec *exec = execution(t, number);

	assert_true(exec->flags & EXEC_PARTS);
	assert_int_equal(exec->peak, 4096);
	assert_int_equal(exec->n_parts, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(exec->parts[i].start, starts[i]);
}

#define CHECK_STARTS(t, number, ...)                                                               \
	check_starts(t, number, (const uint64_t[]){__VA_ARGS__},                                   \
		     sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void parts_come_with_the_operator_that_has_their_keys_and_time(void **state)
{
	struct part_record other = {
		.type = RECORD_PART, .pid = 1, .key = 7, .start = 120, .end = 130};
	struct test *t = set_up_parts(true);
	const struct capture_part *part;

	take_part(t, 7, 91, 20, 30);
	take_part(t, 7, 91, 150, 190);
	take_part(t, 9, 92, 110, 160);
	take_part(t, 8, 92, 165, 170);
	take(t, &other, sizeof(other));
	take_worked(t,
		    &(struct worked){.start = 100, .end = 200, .work = 90, .n = 2, .keys = {7, 9}});
	take_worked(t, &(struct worked){.start = 160, .end = 180, .work = 5, .n = 1, .keys = {8}});
	CHECK_STARTS(t, 0, 110, 150);
	CHECK_STARTS(t, 1, 165);
	part = execution(t, 0)->parts;
	assert_true(part->migrated && part->cpu == 2 && part->end == 160);
	assert_true(!part[1].migrated && part[1].cpu == 1 && part[1].end == 190);
	assert_int_equal(record_list_get(&t->list, CAPTURE_THREAD, part->thread)->thread.tid, 92);
	assert_int_equal(t->collector.parts_lost, 0);
	/* That of before is nobody's any more; that of the other process waits. */
	assert_int_equal(parts_waiting(t->collector.parts), 1);
	tear_down(t);
}

/* Both launch a section at the same place; what precedes the inner one is of the outer one. */
static void parts_of_one_key_are_of_the_innermost_that_was_open(void **state)
{
	struct test *t = set_up_parts(true);

	take_part(t, 7, 91, 110, 120);
	take_part(t, 7, 91, 150, 160);
	take_worked(t,
		    &(struct worked){
			    .depth = 1, .start = 140, .end = 170, .work = 10, .n = 1, .keys = {7}});
	take_worked(t, &(struct worked){.start = 100, .end = 200, .work = 10, .n = 1, .keys = {7}});
	CHECK_STARTS(t, 0, 150);
	CHECK_STARTS(t, 1, 110);
	assert_int_equal(parts_waiting(t->collector.parts), 0);
	tear_down(t);
}

static void parts_that_are_missing_are_counted_and_others_are_never_taken_for_them(void **state)
{
	struct test *t = set_up_parts(true);

	take_part(t, 7, 91, 110, 120);
	take_worked(t, &(struct worked){.start = 100, .end = 200, .work = 50, .n = 3, .keys = {7}});
	CHECK_STARTS(t, 0, 110);
	assert_int_equal(t->collector.parts_lost, 2);
	/* More than it has, or longer than all that it has: some are not its own. */
	take_part(t, 7, 91, 310, 320);
	take_part(t, 7, 91, 320, 330);
	take_worked(t, &(struct worked){.start = 300, .end = 400, .work = 50, .n = 1, .keys = {7}});
	take_part(t, 7, 91, 510, 540);
	take_worked(t, &(struct worked){.start = 500, .end = 600, .work = 29, .n = 1, .keys = {7}});
	assert_int_equal(execution(t, 1)->n_parts + execution(t, 2)->n_parts, 0);
	assert_true(execution(t, 1)->flags & EXEC_PARTS);
	assert_int_equal(t->collector.parts_lost, 4);
	/* Its work is not known, which is a loss of another kind. */
	take_part(t, 7, 91, 710, 720);
	take_worked(t, &(struct worked){.start = 700, .end = 800, .n = 1, .keys = {7}});
	assert_false(execution(t, 3)->flags & (EXEC_WORK | EXEC_PARTS));
	assert_int_equal(t->collector.parts_lost, 4);
	tear_down(t);
}

static void more_parts_than_a_record_has_room_for_are_lost(void **state)
{
	const uint64_t n = CAPTURE_PARTS_MAX + 5;
	struct test *t = set_up_parts(true);

	for (uint64_t i = 1; i <= n; i++)
		take_part(t, 7, 91, 100 + i, 101 + i);
	take_worked(t,
		    &(struct worked){.start = 100, .end = 200 + n, .work = n, .n = n, .keys = {7}});
	assert_int_equal(execution(t, 0)->n_parts, CAPTURE_PARTS_MAX);
	assert_int_equal(t->collector.parts_lost, 5);
	tear_down(t);
}

static void parts_wait_with_their_operator_and_are_dropped_with_it(void **state)
{
	struct test *t = set_up_parts(false);

	t->naming.proves = false;
	t->collector.options.min_duration = 1000;
	take_sighting(t, 1, 0);
	for (uint32_t run = 0; run < 2; run++) {
		take_part(t, 7, 91, 100 * run + 110, 100 * run + 120);
		take_worked(t, &(struct worked){.run = run,
						.start = 100 * run + 100,
						.end = 100 * run + 190,
						.work = 10,
						.n = 1,
						.keys = {7}});
		assert_int_equal(parts_waiting(t->collector.parts), 0);
	}
	take_run(t, 0, 0, 999);
	take_run(t, 1, 0, 1000);
	t->naming.proves = true;
	take_sighting(t, 2, 0);
	assert_int_equal(executions(t), 1);
	CHECK_STARTS(t, 0, 210);
	assert_int_equal(t->collector.parts_lost, 0);
	tear_down(t);
}

/* -- launches by pool threads -------------------------------------------------------------------
 */

static void take_launch(struct test *t, uint64_t key, uint64_t time)
{
	const struct launch_record launch = {.type = RECORD_LAUNCH,
					     .kind = LAUNCH_COPY,
					     .tid = 91,
					     .id = NO_ID,
					     .run = NO_ID,
					     .in_task = 1,
					     .key = key,
					     .time = time};

	take(t, &launch, sizeof(launch));
}

static const struct capture_launch *launch(const struct test *t, size_t number)
{
	return &record_list_get(&t->list, CAPTURE_LAUNCH, number)->launch;
}

static void launches_of_pool_threads_come_with_their_operator(void **state)
{
	struct test *t = set_up_parts(false);

	t->collector.options.parts = false;
	t->naming.proves = false;
	take_sighting(t, 1, 0);
	take_launch(t, 7, 50);
	take_launch(t, 7, 150);
	take_launch(t, 8, 160);
	assert_int_equal(record_list_count(&t->list, CAPTURE_LAUNCH), 0);
	take_worked(t, &(struct worked){.run = 3, .start = 100, .end = 200, .keys = {7}});
	/* It waits for its name, and so do they. */
	assert_int_equal(record_list_count(&t->list, CAPTURE_LAUNCH), 0);
	t->naming.proves = true;
	take_sighting(t, 1, 0);
	assert_int_equal(record_list_count(&t->list, CAPTURE_LAUNCH), 2);
	assert_int_equal(launch(t, 0)->place, CAPTURE_LAUNCH_POOL);
	assert_int_equal(launch(t, 0)->op, CAPTURE_UNKNOWN);
	assert_int_equal(launch(t, 1)->place, CAPTURE_LAUNCH_INSIDE);
	assert_int_equal(launch(t, 1)->op, execution(t, 0)->op);
	assert_int_equal(launch(t, 1)->run, 3);
	assert_int_equal(launch(t, 1)->time, 150);
	assert_false(execution(t, 0)->flags & EXEC_PARTS);
	collector_leave_launches(&t->collector, &t->member);
	assert_int_equal(launch(t, 2)->place, CAPTURE_LAUNCH_POOL);
	assert_int_equal(launch(t, 2)->time, 160);
	tear_down(t);
}

static void of_selected_runs_launches_without_an_operator_are_left_out(void **state)
{
	struct test *t = set_up_parts(true);

	t->collector.options.selective = true;
	take_launch(t, 7, 50);
	take_launch(t, 7, 150);
	take_launch(t, 8, 160);
	take_worked(t, &(struct worked){.run = 3, .start = 100, .end = 200, .keys = {7}});
	collector_leave_launches(&t->collector, NULL);
	assert_int_equal(record_list_count(&t->list, CAPTURE_LAUNCH), 1);
	assert_int_equal(launch(t, 0)->time, 150);
	tear_down(t);
}

static void more_launches_than_may_wait_are_told_without_an_operator(void **state)
{
	struct test *t = set_up_parts(true);

	for (uint64_t i = 0; i <= LAUNCHES_WAITING; i++)
		take_launch(t, 7, 100 + i);
	assert_int_equal(record_list_count(&t->list, CAPTURE_LAUNCH), LAUNCHES_WAITING / 2);
	assert_int_equal(launch(t, 0)->place, CAPTURE_LAUNCH_POOL);
	/* Those that came last have their operator yet. */
	take_worked(t, &(struct worked){.run = 3,
					.start = LAUNCHES_WAITING / 2 + 100,
					.end = 2 * LAUNCHES_WAITING,
					.keys = {7}});
	assert_int_equal(record_list_count(&t->list, CAPTURE_LAUNCH), LAUNCHES_WAITING + 1);
	assert_int_equal(launch(t, LAUNCHES_WAITING)->place, CAPTURE_LAUNCH_INSIDE);
	tear_down(t);

	/* A clock that stands still tells nothing of age. */
	t = set_up_parts(true);
	for (uint64_t i = 0; i <= LAUNCHES_WAITING; i++)
		take_launch(t, 7, 100);
	assert_int_equal(record_list_count(&t->list, CAPTURE_LAUNCH), LAUNCHES_WAITING);
	tear_down(t);
}

/* -- runs that are long enough ---------------------------------------------------------- */

static void operators_of_short_runs_are_left_out_with_them(void **state)
{
	struct test *t = set_up(true);

	t->collector.options.min_duration = 1000;
	take_strings(t, 1);
	take_operator(t, 1, 0, MAIN, 100);
	take_operator(t, 1, 1, MAIN, 200);
	take_operator(t, 1, 0, MAIN, 300);
	take_operator(t, 1, NO_ID, MAIN, 350);
	assert_int_equal(executions(t), 0);
	take_run(t, 1, 0, 999);
	assert_int_equal(executions(t), 0);
	assert_int_equal(record_list_count(&t->list, CAPTURE_RUN), 0);
	take_run(t, 0, 0, 1000);
	assert_int_equal(executions(t), 2);
	assert_int_equal(execution(t, 0)->start, 100);
	assert_int_equal(execution(t, 1)->start, 300);
	assert_int_equal(t->list.all.items[t->list.all.n - 1].type, CAPTURE_RUN);
	assert_int_equal(t->collector.unheld, 0);
	tear_down(t);
}

static void what_cannot_be_held_is_counted_as_lost(void **state)
{
	static unsigned char record[8 << 20];
	struct operator_record *op = (void *)record;
	struct test *t = set_up(true);

	t->collector.options.min_duration = 1;
	*op = (struct operator_record){.type = RECORD_OPERATOR, .parent = NO_ID};
	for (uint32_t i = 0; i < 34; i++) {
		op->run = i;
		collector_take(&t->collector, record, sizeof(record));
	}
	assert_int_equal(t->collector.unheld, 34 - 31);
	tear_down(t);
}

/* -- runs in windows --------------------------------------------------------------------- */

static struct test *set_up_windows(bool proven)
{
	struct test *t = set_up(proven);

	t->collector.options.windows = true;
	windows_see(&t->collector.windows, 0);
	windows_bare(&t->collector.windows, 0, 0);
	return t;
}

/* Run @number of session @owner from @start to @end, in which so many operators were hit. */
static void take_windows_run(struct test *t, uint32_t number, uint64_t start, uint64_t end,
			     uint32_t operators)
{
	struct {
		struct run_record record;
		uint64_t value;
	} run = {.record = {.type = RECORD_RUN,
			    .tid = MAIN,
			    .run = number,
			    .operators = operators,
			    .owner = 0x9000,
			    .status = STATUS_UNKNOWN,
			    .start = start,
			    .end = end}};

	take(t, &run, sizeof(run));
}

static void runs_that_lie_in_a_window_are_kept_whole(void **state)
{
	struct test *t = set_up_windows(true);
	const struct windows *windows = &t->collector.windows;

	take_strings(t, 1);
	take_windows_run(t, 0, 100, 200, 0);
	assert_true(windows_time(windows, 4) == 0);
	windows_open(&t->collector.windows, WINDOWS_OF_ALL, 1, 1000);
	/* Begun before the last probe was there; after; ended after; all after. */
	take_operator(t, 1, 0, MAIN, 990);
	take_operator(t, 1, 1, MAIN, 990);
	take_operator(t, 1, 2, MAIN, 1010);
	take_operator(t, 1, 3, MAIN, 1020);
	take_operator(t, 1, NO_ID, MAIN, 1030);
	take_windows_run(t, 1, 999, 1090, 1);
	take_windows_run(t, 2, 1000, 1100, 1);
	windows_close(&t->collector.windows, 2000);
	take_windows_run(t, 4, 1900, 2000, 0);
	take_windows_run(t, 3, 1010, 2001, 1);
	assert_int_equal(executions(t), 1);
	assert_int_equal(execution(t, 0)->start, 1010);
	assert_int_equal(record_list_count(&t->list, CAPTURE_RUN), 2);
	assert_int_equal(windows->recorded, 2);
	assert_int_equal(windows->recorded_ns, 200);
	assert_true(windows_time(windows, 4) == 400);
	assert_int_equal(windows->recorded_operators, 1);
	assert_int_equal(windows->operators, 5);
	/* Of another session than the node's. */
	assert_int_equal(windows->rest.n, 2);
	assert_int_equal(windows->rest.items[1].runs, 3);
	assert_int_equal(windows->rest.items[1].ns, 100 + 91 + 991);
	/* What comes late is of none, even where it would fit. */
	windows_over(&t->collector.windows);
	take_operator(t, 1, 5, MAIN, 1900);
	take_windows_run(t, 5, 1900, 1950, 1);
	assert_int_equal(windows->recorded, 2);
	assert_int_equal(executions(t), 1);
	assert_false(held_any(t->collector.held));
	windows_free(&t->collector.windows);
	tear_down(t);
}

static void what_goes_on_behind_a_window_is_forgotten_and_not_lost(void **state)
{
	struct test *t = set_up_windows(true);

	take_strings(t, 1);
	windows_open(&t->collector.windows, WINDOWS_OF_ALL, 0, 1000);
	take_operator(t, 1, 1, MAIN, 1010);
	assert_true(held_any(t->collector.held));
	held_clear(t->collector.held);
	assert_false(held_any(t->collector.held));
	take_windows_run(t, 1, 1000, 1100, 1);
	assert_int_equal(executions(t), 0);
	assert_int_equal(t->collector.unfinished, 0);
	windows_free(&t->collector.windows);
	tear_down(t);
}

/* It is compared with those that have no probes, which says what these take. */
static void the_first_run_of_a_window_is_not_kept(void **state)
{
	struct test *t = set_up_windows(true);
	const struct windows *windows = &t->collector.windows;

	take_strings(t, 1);
	windows_open(&t->collector.windows, WINDOWS_OF_ALL, 1, 1000);
	take_operator(t, 1, 1, MAIN, 1010);
	take_operator(t, 1, 2, MAIN, 1020);
	assert_true(held_any(t->collector.held));
	take_windows_run(t, 1, 1000, 1500, 1);
	assert_int_equal(executions(t), 0);
	assert_int_equal(windows->recorded, 0);
	assert_int_equal(windows->rest.items[1].runs, 1);
	assert_int_equal(windows->with.n, 1);
	assert_true(windows->with.runs[0].probed);
	assert_int_equal(windows->without.n, 0);
	take_windows_run(t, 2, 1020, 1100, 1);
	assert_int_equal(executions(t), 1);
	assert_int_equal(execution(t, 0)->start, 1020);
	assert_int_equal(windows->recorded, 1);
	assert_int_equal(windows->with.n, 2);
	assert_false(held_any(t->collector.held));
	assert_int_equal(t->collector.unheld, 0);
	windows_free(&t->collector.windows);
	tear_down(t);
}

/* As each has pages of its own that probes are put into. */
static void the_first_run_of_each_process_is_not_kept(void **state)
{
	struct run_record run = {.type = RECORD_RUN, .start = 1010, .end = 1020};
	struct windows windows = {};

	for (int round = 0; round < 2; round++) {
		windows_open(&windows, WINDOWS_OF_ALL, 1, 1000);
		/* By two processes in turns; of the second one, 4 is seen before 2 is. */
		windows_note(&windows, 1, 4);
		windows_note(&windows, 1, 2);
		for (run.run = 1; run.run < 7; run.run++) {
			run.instance = run.run % 2 == 0;
			assert_int_equal(windows_take(&windows, &run, CAPTURE_UNKNOWN),
					 run.run > 2);
		}
		assert_int_equal(windows.with.n, 6);
		assert_int_equal(windows.recorded, 4 * (round + 1));
	}
	/* One that ends before anything was seen of another one that began before it. */
	windows_open(&windows, WINDOWS_OF_ALL, 1, 1000);
	for (run.run = 8; run.run > 5; run.run--)
		assert_false(windows_take(&windows, &run, CAPTURE_UNKNOWN));
	run.run = 9;
	assert_true(windows_take(&windows, &run, CAPTURE_UNKNOWN));
	(void)state;
	windows_free(&windows);
}

static void a_window_of_one_process_has_no_runs_of_others(void **state)
{
	struct run_record run = {.type = RECORD_RUN, .start = 1010, .end = 1020};
	struct windows windows = {};

	windows_open(&windows, 1 << 2 | 1ULL << (INSTANCES_MAX - 1), 1, 1000);
	for (run.run = 1; run.run < 9; run.run++) {
		run.instance = run.run % 2 ? 1 : run.run > 4 ? INSTANCES_MAX - 1 : 2;
		assert_int_equal(windows_want(&windows, run.instance, run.run), run.run % 2 == 0);
		/* Not those of instance 1, and of others not the first. */
		assert_int_equal(windows_take(&windows, &run, CAPTURE_UNKNOWN),
				 run.run == 4 || run.run == 8);
	}
	assert_int_equal(windows.with.n, 4);
	assert_int_equal(windows.nameless.runs, 6);
	(void)state;
	windows_free(&windows);
}

/* Who left what is open when there is enough would see short runs only. */
static void window_waits_from(struct windows *windows, uint32_t first)
{
	struct run_record run = {.type = RECORD_RUN, .start = 1010, .end = 1020};
	/* Of before, the first, behind, and of it. */
	const uint32_t order[] = {first - 1, first, first + 3, first + 1};

	windows_see(windows, first - 1);
	windows_open(windows, WINDOWS_OF_ALL, first, 1000);
	assert_false(windows_await(windows, first - 2));
	assert_true(windows_await(windows, first - 1));
	assert_false(windows_await(windows, first + 1));
	windows_note(windows, 1, first + 1);
	assert_true(windows_await(windows, first + 1));
	assert_false(windows_await(windows, first + 2));
	windows_fill(windows, first + 3);
	assert_true(windows_reach(windows, first + 2));
	assert_false(windows_reach(windows, first + 3));
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		run.run = order[i];
		assert_int_equal(windows_take(windows, &run, CAPTURE_UNKNOWN), i == 3);
	}
	run.run = first + 2;
	assert_int_equal(windows_take(windows, &run, CAPTURE_UNKNOWN), 1);
}

static void a_window_waits_for_the_runs_that_began_in_it(void **state)
{
	struct windows windows = {};

	(void)state;
	window_waits_from(&windows, 7);
	/* The next one, and where numbers start again. */
	window_waits_from(&windows, 20);
	window_waits_from(&windows, UINT32_MAX);
	windows_free(&windows);
}

/* Its operators tell which run it is, where others end before it. */
static void the_first_run_of_a_window_is_known_by_its_operators(void **state)
{
	struct test *t = set_up_windows(true);

	take_strings(t, 1);
	windows_open(&t->collector.windows, WINDOWS_OF_ALL, 1, 1000);
	take_operator(t, 1, 1, MAIN, 1010);
	take_operator(t, 1, 2, MAIN, 1020);
	take_windows_run(t, 2, 1020, 1100, 1);
	assert_int_equal(executions(t), 1);
	assert_int_equal(execution(t, 0)->start, 1020);
	take_windows_run(t, 1, 1000, 1500, 1);
	assert_int_equal(executions(t), 1);
	assert_int_equal(t->collector.windows.recorded, 1);
	assert_false(held_any(t->collector.held));
	windows_free(&t->collector.windows);
	tear_down(t);
}

/* Before a window opens there are no operators, whose names would be proven. */
static void runs_of_no_window_wait_for_no_names(void **state)
{
	struct test *t = set_up_windows(false);

	t->naming.proves = false;
	take_windows_run(t, 0, 100, 200, 0);
	assert_int_equal(t->collector.windows.rest.items[0].runs, 1);
	assert_int_equal(t->collector.windows.without.n, 1);
	windows_open(&t->collector.windows, WINDOWS_OF_ALL, 1, 1000);
	take_sighting(t, 1, 0);
	take_operator(t, 1, 1, MAIN, 1005);
	take_operator(t, 1, 2, MAIN, 1010);
	take_windows_run(t, 2, 1000, 1100, 1);
	assert_int_equal(t->collector.windows.recorded, 0);
	assert_int_equal(t->collector.windows.operators, 2);
	t->naming.proves = true;
	take_sighting(t, 2, 0);
	assert_int_equal(t->collector.windows.recorded, 1);
	assert_int_equal(executions(t), 1);
	windows_free(&t->collector.windows);
	tear_down(t);
}

/* The kernel closes what was open when the probes went with the end of another. */
static void runs_that_began_before_their_probes_are_none(void **state)
{
	struct test *t = set_up_windows(true);
	struct windows *windows = &t->collector.windows;

	windows_see(windows, 7);
	take_windows_run(t, 6, 100, 999, 0);
	assert_int_equal(windows->rest.n + windows->without.n, 0);
	take_windows_run(t, 7, 900, 999, 0);
	assert_int_equal(windows->rest.items[0].runs, 1);
	/* Numbers start again. */
	windows_see(windows, UINT32_MAX);
	windows_bare(windows, UINT32_MAX, 0);
	take_windows_run(t, UINT32_MAX - 1, 1000, 1001, 0);
	take_windows_run(t, UINT32_MAX, 1000, 1001, 0);
	take_windows_run(t, 0, 1000, 1001, 0);
	assert_int_equal(windows->rest.items[0].runs, 3);
	windows_free(windows);
	tear_down(t);
}

static void runs_are_compared_with_those_that_had_no_probes(void **state)
{
	struct test *t = set_up_windows(true);
	struct windows *windows = &t->collector.windows;

	take_strings(t, 1);
	windows_bare(windows, 0, 100);
	take_windows_run(t, 0, 99, 200, 0);
	take_windows_run(t, 1, 100, 220, 0);
	take_windows_run(t, 2, 100, 220, 3);
	assert_int_equal(windows->without.n, 1);
	assert_int_equal(windows->without.runs[0].ns, 120);
	assert_false(windows->without.runs[0].probed);
	windows_open(windows, WINDOWS_OF_ALL, 3, 1000);
	take_windows_run(t, 3, 900, 1900, 0);
	assert_int_equal(windows->without.n, 1);
	for (uint32_t i = 0; i < WINDOW_SAMPLES + 2; i++)
		take_windows_run(t, 4 + i, 1000, 1500 + i, 3);
	assert_int_equal(windows->with.n, WINDOW_SAMPLES + 2);
	assert_int_equal(windows->with.runs[1].ns, 500 + WINDOW_SAMPLES + 1);
	assert_int_equal(windows->with.runs[2].ns, 502);
	assert_true(windows->with.runs[2].probed);
	/* Who is still open when there are enough is longer than most. */
	windows_fill(windows, 40);
	take_windows_run(t, 39, 1000, 9000, 3);
	assert_int_equal(windows->with.n, WINDOW_SAMPLES + 2);
	windows_free(windows);
	tear_down(t);
}

/* -- the sink ---------------------------------------------------------------------------- */

static void a_sink_that_fails_ends_the_recording(void **state)
{
	struct test *t = set_up(true);

	take_strings(t, 1);
	take_operator(t, 1, 0, MAIN, 100);
	t->list.failure = -ENOSPC;
	take_operator(t, 1, 0, MAIN, 200);
	assert_int_equal(t->collector.failed, -ENOSPC);
	assert_non_null(strstr(t->collector.failure.text, "No space left"));
	t->list.failure = 0;
	take_operator(t, 1, 0, MAIN, 300);
	assert_int_equal(executions(t), 1);
	tear_down(t);
}

static void records_that_are_too_short_for_their_counts_are_left_out(void **state)
{
	struct operator_record op = {.type = RECORD_OPERATOR, .id = 1, .parent = NO_ID};
	struct run_record run = {.type = RECORD_RUN};
	struct test *t = set_up(true);

	take_strings(t, 1);
	take(t, &op, sizeof(op));
	take(t, &run, sizeof(run));
	assert_int_equal(executions(t), 0);
	assert_int_equal(record_list_count(&t->list, CAPTURE_RUN), 0);
	tear_down(t);
}

/* -- samples ----------------------------------------------------------------------- */

static struct test *set_up_samples(bool proven)
{
	struct test *t = set_up(proven);

	t->collector.sampled = sampled_new(&t->collector);
	assert_non_null(t->collector.sampled);
	return t;
}

static void take_sample(struct test *t, uint8_t kind, uint8_t flags, uint32_t id, uint64_t time)
{
	struct sample_record record = {.type = RECORD_SAMPLE,
				       .kind = kind,
				       .flags = flags,
				       .tid = MAIN,
				       .pid = getpid(),
				       .id = id,
				       .time = time,
				       .period = 10 * time};

	take(t, &record, sizeof(record));
}

/* What lies on the stack of one that is in operators of these sessions, up to 0. */
static void take_stack(struct test *t, uint64_t inner, uint64_t middle, uint64_t outer)
{
	struct stack_record record = {.type = RECORD_STACK, .sessions = {inner, middle, outer}};

	record.n_sessions = 1 + !!middle + !!outer;
	record.generation = t->bss.instances[0].generation;
	take(t, &record, sizeof(record));
}

/* Of operator @id in @session, by its kernel, inside of @parent. */
static void take_sampled_strings(struct test *t, uint32_t id, uint64_t session, uint32_t parent)
{
	struct identity whose_it_is = {.key = {.index = 0x5000 + id, .owned = 1},
				       .root = session,
				       .id = id,
				       .tid = MAIN,
				       .generation = t->bss.instances[0].generation,
				       .parent = parent};
	struct strings_record strings = strings_of(&whose_it_is);

	take(t, &strings, sizeof(strings));
}

static const struct capture_sample *sampled(const struct test *t, size_t number)
{
	return &record_list_get(&t->list, CAPTURE_SAMPLE, number)->sample;
}

static void samples_say_what_was_seen(void **state)
{
	struct test *t = set_up_samples(true);

	take_stack(t, 0x1000, 0, 0);
	take_sampled_strings(t, 0, 0x1000, NO_ID);
	take_sample(t, SAMPLE_OWN, 0, 0, 1);
	take_sample(t, SAMPLE_POOL, SAMPLE_IN_KERNEL, 0, 2);
	take_sample(t, SAMPLE_NOTHING, SAMPLE_IN_RUNTIME, NO_ID, 3);
	take_sample(t, SAMPLE_NOTHING, 0, NO_ID, 4);
	take_sample(t, SAMPLE_UNNAMED, SAMPLE_IN_RUNTIME, NO_ID, 5);
	take_sample(t, SAMPLE_UNKNOWN, SAMPLE_IN_RUNTIME, NO_ID, 6);
	/* Its strings were lost, or could not be read. */
	take_sample(t, SAMPLE_OWN, 0, 9, 7);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SAMPLE), 7);
	for (size_t i = 0; i < 7; i++) {
		static const uint32_t seen[] = {CAPTURE_SEEN_OWN,     CAPTURE_SEEN_POOL,
						CAPTURE_SEEN_RUNTIME, CAPTURE_SEEN_ELSEWHERE,
						CAPTURE_SEEN_UNNAMED, CAPTURE_SEEN_UNKNOWN,
						CAPTURE_SEEN_UNNAMED};
		const struct capture_sample *sample = sampled(t, i);

		assert_int_equal(sample->seen, seen[i]);
		assert_int_equal(sample->op, i < 2 ? 0 : CAPTURE_UNKNOWN);
		assert_int_equal(sample->parent, CAPTURE_UNKNOWN);
		assert_int_equal(sample->time, i + 1);
		assert_int_equal(sample->amount, 10 * (i + 1));
		assert_int_equal(sample->in_kernel, i == 1);
		assert_int_equal(sample->thread, 0);
	}
	/* Those that are of an operator are told to the user as such. */
	assert_int_equal(collector_operators(&t->collector), 2);
	tear_down(t);
}

/* In the test's own code, of which no inspector tells anything but the file. */
static void a_sample_tells_its_file_and_where_it_was_in_it(void **state)
{
	struct test *t = set_up_samples(true);
	struct located located = {};
	struct sample_record record = {.type = RECORD_SAMPLE,
				       .kind = SAMPLE_OWN,
				       .tid = MAIN,
				       .pid = getpid(),
				       .time = 1,
				       .period = 1,
				       .mapped = 7};
	struct mapped_file *files = NULL;
	const struct capture_file *file;
	const struct capture_function *function;

	t->member.located = &located;
	take_stack(t, 0x1000, 0, 0);
	take_sampled_strings(t, 0, 0x1000, NO_ID);
	assert_true(process_mapped_files(&t->process, &files, NULL) > 0);
	for (int i = 0; i < 3; i++) {
		record.ip = files[0].start + 0x10 + i;
		take(t, &record, sizeof(record));
	}
	/* What is in no operator is not looked into; nor is there code anywhere. */
	record.kind = SAMPLE_NOTHING;
	take(t, &record, sizeof(record));
	record.kind = SAMPLE_POOL;
	record.ip = 1;
	take(t, &record, sizeof(record));
	assert_int_equal(record_list_count(&t->list, CAPTURE_FILE), 1);
	assert_int_equal(record_list_count(&t->list, CAPTURE_FUNCTION), 1);
	file = &record_list_get(&t->list, CAPTURE_FILE, 0)->file;
	function = &record_list_get(&t->list, CAPTURE_FUNCTION, 0)->function;
	assert_int_equal(function->file, file->file);
	assert_int_equal(function->size, 0);
	assert_false(function->bounded);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(sampled(t, i)->function, function->function);
		assert_int_equal(sampled(t, i)->at, files[0].offset + 0x10 + i);
	}
	assert_int_equal(sampled(t, 3)->function, CAPTURE_UNKNOWN);
	assert_int_equal(sampled(t, 4)->function, CAPTURE_UNKNOWN);
	free(files);
	tear_down(t);
}

static void samples_of_other_processes_are_not_told(void **state)
{
	struct test *t = set_up_samples(true);
	struct sample_record record = {.type = RECORD_SAMPLE, .kind = SAMPLE_NOTHING, .pid = 1};

	take(t, &record, sizeof(record));
	assert_int_equal(record_list_count(&t->list, CAPTURE_SAMPLE), 0);
	tear_down(t);
}

static void a_sampled_operator_is_of_the_session_that_its_own_is_a_part_of(void **state)
{
	struct test *t = set_up_samples(true);
	const struct capture_session *session;

	/* Two subgraphs deep; both are parts of the one that has an owner. */
	take_stack(t, 0x3000, 0x2000, 0x1000);
	take_sampled_strings(t, 0, 0x1000, NO_ID);
	take_sampled_strings(t, 1, 0x2000, 0);
	take_sampled_strings(t, 2, 0x3000, 1);
	take_sample(t, SAMPLE_OWN, 0, 2, 1);
	take_sample(t, SAMPLE_OWN, 0, 0, 2);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SESSION), 1);
	session = &record_list_get(&t->list, CAPTURE_SESSION, 0)->session;
	assert_int_equal(session->address, 0x9000);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(record_list_get(&t->list, CAPTURE_OPERATOR, i)->op.session, 0);
	assert_int_equal(sampled(t, 0)->parent, 1);
	assert_int_equal(sampled(t, 0)->depth, 2);
	assert_int_equal(sampled(t, 1)->parent, CAPTURE_UNKNOWN);
	assert_int_equal(sampled(t, 1)->depth, 0);
	tear_down(t);
}

static void what_is_left_on_the_stack_around_a_whole_session_is_nothing(void **state)
{
	struct test *t = set_up_samples(true);

	/* Further up lies what another session's run has left there. */
	take_stack(t, 0x1000, 0x7000, 0);
	take_sampled_strings(t, 0, 0x7000, NO_ID);
	take_sampled_strings(t, 1, 0x1000, 0);
	take_sample(t, SAMPLE_OWN, 0, 1, 1);
	assert_int_equal(sampled(t, 0)->parent, CAPTURE_UNKNOWN);
	assert_int_equal(sampled(t, 0)->depth, 0);
	/* Whose that one is was not found. */
	assert_int_equal(record_list_get(&t->list, CAPTURE_OPERATOR, 0)->op.session,
			 CAPTURE_UNKNOWN);
	assert_int_equal(record_list_get(&t->list, CAPTURE_OPERATOR, 1)->op.session, 0);
	tear_down(t);
}

static void a_session_without_an_owner_is_one_if_it_is_in_no_other(void **state)
{
	struct test *t = set_up_samples(true);

	take_stack(t, 0x2000, 0, 0);
	take_sampled_strings(t, 0, 0x2000, NO_ID);
	take_stack(t, 0x3000, 0x4000, 0);
	take_sampled_strings(t, 1, 0x3000, NO_ID);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SESSION), 1);
	assert_int_equal(record_list_get(&t->list, CAPTURE_SESSION, 0)->session.address, 0x2000);
	assert_int_equal(record_list_get(&t->list, CAPTURE_OPERATOR, 1)->op.session,
			 CAPTURE_UNKNOWN);
	tear_down(t);
}

static void whose_a_session_was_is_not_believed_if_one_ended_meanwhile(void **state)
{
	struct test *t = set_up_samples(true);

	t->naming.session_ends = true;
	take_stack(t, 0x1000, 0, 0);
	t->naming.session_ends = false;
	t->bss.instances[0].generation = 0;
	take_sampled_strings(t, 0, 0x1000, NO_ID);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SESSION), 0);
	tear_down(t);
}

static void sessions_of_former_generations_say_nothing_of_these(void **state)
{
	struct test *t = set_up_samples(true);

	take_stack(t, 0x1000, 0, 0);
	t->bss.instances[0].generation = 1;
	/* The address is another's by now, whose stack is still to come. */
	take_sampled_strings(t, 0, 0x1000, NO_ID);
	assert_int_equal(record_list_count(&t->list, CAPTURE_SESSION), 0);
	assert_int_equal(record_list_get(&t->list, CAPTURE_OPERATOR, 0)->op.session,
			 CAPTURE_UNKNOWN);
	tear_down(t);
}

static void a_sampled_sighting_proves_names_and_names_nothing(void **state)
{
	struct test *t = set_up_samples(false);
	struct sighting_record sighting = {
		.type = RECORD_SIGHTING, .sampled = 1, .identity = {.id = NO_ID, .tid = MAIN}};

	take_sample(t, SAMPLE_UNNAMED, 0, NO_ID, 1);
	take(t, &sighting, sizeof(sighting));
	assert_true(t->naming.proven);
	assert_int_equal(t->naming.described, 0);
	take_sampled_strings(t, 0, 0x1000, NO_ID);
	take_sample(t, SAMPLE_OWN, 0, 0, 2);
	assert_int_equal(sampled(t, 0)->seen, CAPTURE_SEEN_UNNAMED);
	assert_int_equal(sampled(t, 1)->seen, CAPTURE_SEEN_OWN);
	tear_down(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_wait_for_names_and_come_in_their_order),
		cmocka_unit_test(what_waits_is_bounded_and_the_rest_counted_as_lost),
		cmocka_unit_test(what_lacks_one_that_ran_inside_says_so),
		cmocka_unit_test(a_run_tells_how_many_operators_it_had),
		cmocka_unit_test(what_still_waits_at_the_end_is_counted_as_lost),
		cmocka_unit_test(
			sightings_of_sessions_that_have_ended_are_not_held_against_a_build),
		cmocka_unit_test(where_ends_are_not_seen_earlier_sightings_are_tried),
		cmocka_unit_test(a_name_that_was_sighted_before_a_session_ended_is_not_read),
		cmocka_unit_test(a_name_is_not_believed_if_a_session_ended_while_it_was_read),
		cmocka_unit_test(what_a_session_is_is_asked_once),
		cmocka_unit_test(a_session_is_asked_for_when_its_owner_is_known),
		cmocka_unit_test(a_session_is_not_asked_for_when_one_has_ended_since),
		cmocka_unit_test(what_a_session_is_is_not_believed_if_one_ended_meanwhile),
		cmocka_unit_test(sessions_whose_end_is_not_seen_are_not_asked_for),
		cmocka_unit_test(a_session_that_cannot_be_told_is_not_asked_for_for_ever),
		cmocka_unit_test(setups_are_of_the_session_that_runs_later),
		cmocka_unit_test(a_setup_that_failed_tells_why),
		cmocka_unit_test(setups_need_no_names_of_operators),
		cmocka_unit_test(a_session_that_loads_is_a_new_one),
		cmocka_unit_test(setups_that_end_after_the_recording_are_not_taken),
		cmocka_unit_test(operators_that_were_open_when_it_ended_are_not_taken),
		cmocka_unit_test(operators_that_come_at_once_are_each_told),
		cmocka_unit_test(of_operators_at_once_no_more_is_taken_than_there_is),
		cmocka_unit_test(of_operators_at_once_those_that_ended_in_time_are_taken),
		cmocka_unit_test(attributes_are_asked_for_once_a_session),
		cmocka_unit_test(attributes_of_many_sessions_are_asked_for_in_turn),
		cmocka_unit_test(kernels_of_no_session_are_asked_for_one_by_one),
		cmocka_unit_test(attributes_are_not_believed_if_a_session_ended_meanwhile),
		cmocka_unit_test(attributes_that_cannot_be_read_are_not_asked_for_for_ever),
		cmocka_unit_test(attributes_are_not_asked_for_without_shapes),
		cmocka_unit_test(events_that_took_turns_come_with_how_long_they_were_on),
		cmocka_unit_test(a_run_comes_with_how_long_events_were_on),
		cmocka_unit_test(strings_that_are_no_name_are_refused),
		cmocka_unit_test(names_that_cannot_be_proven_end_the_recording),
		cmocka_unit_test(a_thread_id_that_is_used_again_is_another_thread),
		cmocka_unit_test(
			a_thread_whose_first_record_was_lost_has_its_name_from_the_process),
		cmocka_unit_test(a_run_has_a_peak_if_it_is_known_from_its_start_on),
		cmocka_unit_test(an_execution_has_a_peak_behind_what_was_counted),
		cmocka_unit_test(an_arena_is_asked_where_it_counts_until_one_says_so),
		cmocka_unit_test(parts_come_with_the_operator_that_has_their_keys_and_time),
		cmocka_unit_test(parts_of_one_key_are_of_the_innermost_that_was_open),
		cmocka_unit_test(
			parts_that_are_missing_are_counted_and_others_are_never_taken_for_them),
		cmocka_unit_test(more_parts_than_a_record_has_room_for_are_lost),
		cmocka_unit_test(parts_wait_with_their_operator_and_are_dropped_with_it),
		cmocka_unit_test(launches_of_pool_threads_come_with_their_operator),
		cmocka_unit_test(of_selected_runs_launches_without_an_operator_are_left_out),
		cmocka_unit_test(more_launches_than_may_wait_are_told_without_an_operator),
		cmocka_unit_test(operators_of_short_runs_are_left_out_with_them),
		cmocka_unit_test(what_cannot_be_held_is_counted_as_lost),
		cmocka_unit_test(runs_that_lie_in_a_window_are_kept_whole),
		cmocka_unit_test(what_goes_on_behind_a_window_is_forgotten_and_not_lost),
		cmocka_unit_test(the_first_run_of_a_window_is_not_kept),
		cmocka_unit_test(the_first_run_of_each_process_is_not_kept),
		cmocka_unit_test(a_window_of_one_process_has_no_runs_of_others),
		cmocka_unit_test(the_first_run_of_a_window_is_known_by_its_operators),
		cmocka_unit_test(a_window_waits_for_the_runs_that_began_in_it),
		cmocka_unit_test(runs_of_no_window_wait_for_no_names),
		cmocka_unit_test(runs_that_began_before_their_probes_are_none),
		cmocka_unit_test(runs_are_compared_with_those_that_had_no_probes),
		cmocka_unit_test(a_sink_that_fails_ends_the_recording),
		cmocka_unit_test(records_that_are_too_short_for_their_counts_are_left_out),
		cmocka_unit_test(samples_say_what_was_seen),
		cmocka_unit_test(a_sample_tells_its_file_and_where_it_was_in_it),
		cmocka_unit_test(samples_of_other_processes_are_not_told),
		cmocka_unit_test(a_sampled_operator_is_of_the_session_that_its_own_is_a_part_of),
		cmocka_unit_test(what_is_left_on_the_stack_around_a_whole_session_is_nothing),
		cmocka_unit_test(a_session_without_an_owner_is_one_if_it_is_in_no_other),
		cmocka_unit_test(whose_a_session_was_is_not_believed_if_one_ended_meanwhile),
		cmocka_unit_test(sessions_of_former_generations_say_nothing_of_these),
		cmocka_unit_test(a_sampled_sighting_proves_names_and_names_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

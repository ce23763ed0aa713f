// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table, CSV, JSON and sorting say the same of every column, whatever a
 * capture holds and lacks.
 */
#include "output_helper.h"

#include <math.h>
#include <pty.h>
#include <sys/ioctl.h>

#include "output/columns.h"

#define GE "\xe2\x89\xa5"
#define PM "\xc2\xb1"
#define US " \xc2\xb5s"

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 33) % limit;
}

#define OPERATORS 9

/* Executions of all kinds, with whatever may be missing missing here and there. */
static struct test_capture lacking_capture(void)
{
	static const char *const types[] = {"MatMul", "Relu", "Concat", "Weird"};
	struct capture_info info = test_info(4);
	uint64_t clock = 1000;
	struct test_capture c;

	strcpy(info.events[0].unit, "ns");
	strcpy(info.events[2].name, "never");
	c = test_begin(&info);
	random_state = 1;
	assert_int_equal(capture_write_session(c.writer, &(struct capture_session){1, 0x2000, 0}),
			 0);
	test_shapes(&c, 0, "[{\"float\":[4,8]},!{\"float\":[8,16]}]", "[{\"float\":[4,16]}]");
	test_shapes(&c, 1, "[{\"int8\":[4000000001]},{\"odd\":[2]}]", "[?]");
	for (uint32_t i = 0; i < OPERATORS; i++) {
		char name[16];
		struct capture_operator op = {.op = i,
					      .session = i % 2,
					      .node_index = i % 5 ? i : CAPTURE_UNKNOWN,
					      .name = name,
					      .op_type = types[i % 4],
					      .domain = i % 3 ? "" : "ai.onnx",
					      .provider = i % 4 == 1 ? "" : "CPU"};

		snprintf(name, sizeof(name), "node%u", i);
		assert_int_equal(capture_write_operator(c.writer, &op), 0);
	}
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t duration = random_below(i % 50 ? 5000 : 3000000000);
		struct capture_exec exec =
			test_exec(random_below(OPERATORS), clock, clock + duration);
		struct capture_run run = test_run(i / 20, clock - 500, clock + duration + 100);

		clock += duration + random_below(200);
		exec.thread = exec.op == 7;
		exec.run = i / 20;
		exec.shapes = random_below(3) - 1;
		exec.flags = random_below(4) ? 0 : EXEC_MIGRATED;
		exec.counted = random_below(16) & (exec.op == 4 ? 15 : 11);
		for (int e = 0; e < 4; e++) {
			exec.counters[e] = random_below(e == 3 ? 3 : 1000000000);
			exec.work_counters[e] = random_below(1000);
		}
		if (!random_below(3)) {
			exec.flags |= EXEC_WORK;
			exec.work_ns = random_below(9000);
		}
		if (exec.op == 5 || !random_below(20)) {
			exec.flags |= EXEC_THREW;
			exec.end = exec.start;
			exec.counted = 0;
		}
		test_write(&c, exec);
		if (i % 20 == 19 && i != 99)
			assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	return c;
}

/* A CSV field without its quotes. */
static char *unquoted(const char *field)
{
	char *text = strdup(field), *to = text;

	if (*field != '"')
		return text;
	for (const char *p = field + 1; p[1]; p++) {
		*to++ = *p;
		if (*p == '"')
			p++;
	}
	*to = '\0';
	return text;
}

/* The number that stands in a cell of a table, and half of its last digit. */
static double read_cell(const char *cell, double *precision)
{
	static const struct {
		const char *name;
		double scale;
	} units[] = {{US, 1e3},		  {" ms", 1e6},		 {" s", 1e9},
		     {" KiB", 1024},	  {" MiB", 1024 * 1024}, {" GiB", 1ull << 30},
		     {" TiB", 1ull << 40}};
	char digits[64];
	size_t n = 0;
	const char *p = cell, *point = NULL;
	double scale = 1;

	p += strspn(p, "~" GE PM);
	for (; (*p >= '0' && *p <= '9') || strchr(",.-", *p); p++) {
		if (!*p)
			break;
		if (*p == '.')
			point = digits + n;
		if (*p != ',')
			digits[n++] = *p;
	}
	digits[n] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strncmp(p, units[i].name, strlen(units[i].name)))
			scale = units[i].scale;
	*precision = scale * (point ? pow(10, -(digits + n - point - 1.0)) : 1) * 0.50001;
	return strtod(digits, NULL) * scale;
}

/* @cell of the table against what CSV has. */
static void check_cell(const char *key, char *cell, const char *csv)
{
	size_t length = strlen(cell);
	double precision, shown;
	char *end;
	double value = strtod(csv, &end);

	/* "s" is one column narrower than the other units. */
	if (length > 2 && !strcmp(cell + length - 2, "s "))
		cell[length - 1] = '\0';
	if (!*csv) {
		/* The default domain has no name, and is known. */
		if (strcmp(cell, "-") && (*cell || strcmp(key, "domain")))
			fail_msg("%s: '%s' in the table, nothing in CSV", key, cell);
		return;
	}
	if (*end) {
		char *text = unquoted(csv);

		assert_string_equal(cell, text);
		free(text);
		return;
	}
	if (!strcmp(cell, "<0.01")) {
		assert_true(value > 0 && value < 0.01);
		return;
	}
	shown = read_cell(cell, &precision);
	if (!(fabs(shown - value) <= precision + fabs(value) * 5e-9))
		fail_msg("%s: '%s' in the table, %s in CSV", key, cell, csv);
}

/* Where JSON has what @key names, or NULL. */
static const cJSON *item_of(const cJSON *row, const char *key)
{
	const cJSON *counters = cJSON_GetObjectItem(row, "counters"), *event;
	const char *name = strncmp(key, "counted:", 8) ? key : key + 8;

	for (const struct column_kind *kind = column_kinds; kind->value; kind++)
		if (kind->key && !strcmp(kind->key, key))
			return kind->member.name
				       ? cJSON_GetObjectItemCaseSensitive(row, kind->member.name)
				       : NULL;
	event = cJSON_GetObjectItemCaseSensitive(counters, name);
	if (event)
		return cJSON_GetObjectItemCaseSensitive(event,
							name == key ? "estimate" : "counted");
	return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItem(row, "metrics"), key);
}

#define KEYS_MAX 96
#define ROWS_MAX 64

/* All columns that a report of lacking_capture() can have. */
static size_t all_keys(char (*keys)[32])
{
	size_t n = 0;

	for (const struct column_kind *kind = column_kinds; kind->value; kind++)
		if (kind->key)
			snprintf(keys[n++], sizeof(*keys), "%s", kind->key);
	for (const struct column_kind *kind = event_kinds; kind->value; kind++)
		for (int event = 0; event < 4; event++)
			snprintf(keys[n++], sizeof(*keys), "%s%s", kind->key,
				 (const char *[]){"event0", "event1", "never", "event3"}[event]);
	snprintf(keys[n++], sizeof(*keys), "ratio");
	assert_true(n <= KEYS_MAX);
	return n;
}

static const struct report_options lacking_options = {.analyze.metrics = {"ratio=event1/self_ns"},
						      .analyze.n_metrics = 1};

/* Returns how many numbers JSON had. */
static size_t compare_column(const struct test_capture *c, struct report_options options,
			     const cJSON *rows, const char *key)
{
	char *csv[ROWS_MAX + 2], *table[ROWS_MAX + 8];
	size_t n_csv = lines_of(c, options, "csv", key, csv, ROWS_MAX + 2), numbers = 0;
	size_t n_table = lines_of(c, options, "table", key, table, ROWS_MAX + 8);
	const cJSON *row = rows->child, *item;

	assert_true(n_table > n_csv + 1);
	for (size_t i = 1; i < n_csv; i++, row = row->next) {
		check_cell(key, table[i + 1], csv[i]);
		item = item_of(row, key);
		if (item) {
			char *text = unquoted(csv[i]);

			if (!cJSON_IsString(item) || item->valuestring[0])
				check_same(key, item, text);
			numbers += cJSON_IsNumber(item);
			free(text);
		}
	}
	assert_null(row);
	free_lines(csv, n_csv);
	free_lines(table, n_table);
	return numbers;
}

static void table_csv_and_json_have_the_same_values(void **state)
{
	struct test_capture c = lacking_capture();
	char keys[KEYS_MAX][32];
	size_t n = all_keys(keys), numbers = 0;

	for (int group = GROUP_NODE; group <= GROUP_PROCESS; group++) {
		struct report_options options = lacking_options;
		cJSON *json;

		options.analyze.group = group;
		options.format = "json";
		json = parse(report(&c, &options));
		for (size_t i = 0; i < n; i++)
			numbers += compare_column(&c, options,
						  cJSON_GetObjectItem(json, "operators"), keys[i]);
		cJSON_Delete(json);
	}
	assert_true(numbers > 1000);
	test_remove(&c);
}

/* Whether @item is what the schema says of a member of @type. */
static bool is_of(const cJSON *item, const char *type)
{
	if (cJSON_IsNull(item))
		return strcmp(type, "integer") != 0;
	if (!strcmp(type, "text"))
		return cJSON_IsString(item);
	if (!strcmp(type, "tensors"))
		return cJSON_IsArray(item) && (!item->child || cJSON_IsArray(item->child->child));
	return cJSON_IsNumber(item) &&
	       (!strcmp(type, "number") || item->valuedouble == floor(item->valuedouble));
}

static void members_of_rows_are_of_the_type_that_the_schema_tells(void **state)
{
	struct test_capture c = lacking_capture();
	size_t nulls = 0;

	for (int group = GROUP_NODE; group <= GROUP_PROCESS; group++) {
		struct report_options options = lacking_options;
		const cJSON *row, *item;
		cJSON *json;

		options.analyze.group = group;
		options.format = "json";
		json = parse(report(&c, &options));
		cJSON_ArrayForEach(row, cJSON_GetObjectItem(json, "operators"))
		{
			for (const struct column_kind *kind = column_kinds; kind->value; kind++) {
				if (!kind->member.name)
					continue;
				item = cJSON_GetObjectItemCaseSensitive(row, kind->member.name);
				if (item && !is_of(item, kind->member.type))
					fail_msg("%s is no %s", kind->member.name,
						 kind->member.type);
				nulls += cJSON_IsNull(item);
			}
		}
		cJSON_Delete(json);
	}
	assert_true(nulls > 100);
	test_remove(&c);
}

static bool is_ascending(const char *key, const char *field)
{
	static const char *const names[] = {"session", "index", "tid", "run", "step"};
	char *end;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i]))
			return true;
	strtod(field, &end);
	return *end;
}

static void check_order(const char *key, const char *field, const char *next)
{
	char *x = unquoted(field), *y = unquoted(next), *end;
	double difference = strtod(y, NULL) - strtod(x, &end);
	bool wrong = *end			? strcmp(x, y) > 0
		     : is_ascending(key, field) ? difference < 0
						: difference > 0;

	if ((!*field && *next && strcmp(key, "domain")) || (*field && *next && wrong))
		fail_msg("sorted by %s, %s is in front of %s", key, field, next);
	free(x);
	free(y);
}

static void rows_are_sorted_by_what_stands_in_the_column(void **state)
{
	struct test_capture c = lacking_capture();
	char keys[KEYS_MAX][32], *lines[ROWS_MAX];
	size_t n = all_keys(keys);

	for (size_t i = 0; i < n; i++) {
		struct report_options options = lacking_options;
		size_t rows;

		options.sort = keys[i];
		rows = lines_of(&c, options, "csv", keys[i], lines, ROWS_MAX);
		assert_int_equal(rows, OPERATORS + 1);
		for (size_t r = 1; r + 1 < rows; r++)
			check_order(keys[i], lines[r], lines[r + 1]);
		free_lines(lines, rows);
	}
	test_remove(&c);
}

static void runs_are_sorted_by_their_number(void **state)
{
	struct test_capture c = lacking_capture();
	struct report_options options = {.analyze.group = GROUP_RUN};
	char *lines[ROWS_MAX], number[32];
	size_t n = lines_of(&c, options, "csv", "run", lines, ROWS_MAX);

	assert_true(n > 10);
	for (size_t i = 1; i < n; i++) {
		snprintf(number, sizeof(number), "%zu", i - 1);
		assert_string_equal(lines[i], number);
	}
	free_lines(lines, n);
	test_remove(&c);
}

/* Nobody asked to sort by what the user calls "total". */
static void an_event_called_total_does_not_sort_the_rows(void **state)
{
	struct capture_info info = test_info(1);
	struct report_options options = {0};
	struct test_capture c;
	char *lines[4];
	size_t n;

	strcpy(info.events[0].name, "total");
	c = test_begin(&info);
	for (uint32_t op = 0; op < 2; op++) {
		struct capture_exec exec = test_exec(op, op * 1000, op * 1000 + 100 + op);

		test_operator(&c, op, op ? "long" : "short", "Conv");
		exec.counted = 1;
		exec.counters[0] = op ? 1 : 1000;
		test_write(&c, exec);
	}
	test_finish(&c);
	n = lines_of(&c, options, "csv", "name,total", lines, 4);
	assert_int_equal(n, 3);
	assert_string_equal(lines[0], "name,total");
	assert_string_equal(lines[1], "long,1");
	assert_string_equal(lines[2], "short,1000");
	free_lines(lines, n);
	test_remove(&c);
}

/* -- room ------------------------------------------------------------------------ */

/* What a terminal of @width columns shows. */
static char *on_terminal(const struct test_capture *c, struct report_options options,
			 unsigned short width)
{
	const struct winsize size = {.ws_row = 24, .ws_col = width};
	char *text = calloc(1, 1 << 16);
	struct error err;
	int master, slave;
	size_t n = 0;
	ssize_t got;
	FILE *out;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	out = fdopen(slave, "w");
	assert_non_null(out);
	assert_int_equal(report_print(c->path, &options, out, &err), 0);
	fclose(out);
	while ((got = read(master, text + n, (1 << 16) - 1 - n)) > 0)
		n += got;
	close(master);
	return text;
}

static void metrics_that_nobody_asked_for_give_way(void **state)
{
	struct capture_info info = test_info(2);
	struct report_options options = {.header = HEADER_NONE};
	struct capture_exec exec = test_exec(0, 0, 100);
	struct test_capture c;
	char *text;

	strcpy(info.events[0].name, "cycles");
	strcpy(info.events[1].name, "instructions");
	c = test_begin(&info);
	test_operator(&c, 0, "/a/name/of/some/length", "Conv");
	exec.counted = 3;
	exec.counters[0] = 100;
	exec.counters[1] = 150;
	test_write(&c, exec);
	test_finish(&c);
	text = on_terminal(&c, options, 400);
	assert_non_null(strstr(text, "IPC"));
	assert_null(strstr(text, "more column"));
	free(text);
	text = on_terminal(&c, options, 80);
	assert_null(strstr(text, "IPC"));
	assert_non_null(strstr(text, "more columns"));
	assert_non_null(strstr(text, "cycles"));
	free(text);
	options.columns = "name,count,total,avg,min,max,percent,self,cycles,instructions,IPC";
	text = on_terminal(&c, options, 80);
	assert_non_null(strstr(text, "IPC"));
	free(text);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_csv_and_json_have_the_same_values),
		cmocka_unit_test(members_of_rows_are_of_the_type_that_the_schema_tells),
		cmocka_unit_test(rows_are_sorted_by_what_stands_in_the_column),
		cmocka_unit_test(runs_are_sorted_by_their_number),
		cmocka_unit_test(an_event_called_total_does_not_sort_the_rows),
		cmocka_unit_test(metrics_that_nobody_asked_for_give_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

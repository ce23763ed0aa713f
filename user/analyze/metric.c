// SPDX-License-Identifier: GPL-2.0-only
#include "metric.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 128
#define DEPTH_MAX 32

/* The expression in reverse Polish order. */
struct step {
	char what; /* 'n' number, 'v' variable, '~' negation, or the operation */
	union {
		double number;
		unsigned int variable;
	};
};

struct metric {
	char name[64];
	struct step steps[STEPS_MAX];
	size_t n_steps;
};

struct parser {
	struct metric *metric;
	const char *text, *p;
	const char (*titles)[160];
	size_t n_titles;
	unsigned int depth;
	struct error *err;
};

static int parse_sum(struct parser *parser);

static int fail(struct parser *parser, const char *expected)
{
	return error_set(parser->err, -EINVAL,
			 "the metric '%s' cannot be understood at column %zu: expected %s",
			 parser->text, (size_t)(parser->p - parser->text) + 1, expected);
}

static int push(struct parser *parser, struct step step)
{
	if (parser->metric->n_steps == STEPS_MAX)
		return fail(parser, "a shorter expression");
	parser->metric->steps[parser->metric->n_steps++] = step;
	return 0;
}

static void skip_space(struct parser *parser)
{
	while (isspace((unsigned char)*parser->p))
		parser->p++;
}

/* Whether @name, of @length bytes, stands at @p and ends there. */
static bool name_at(const char *p, const char *name, size_t length)
{
	unsigned char next;

	if (!length || strncmp(p, name, length))
		return false;
	next = p[length];
	return !isalnum(next) && next != '_';
}

static bool find_name(struct parser *parser, unsigned int *variable, size_t *length)
{
	static const char *const others[] = {"ns", "self_ns", "busy_ns", "count"};

	*length = 0;
	for (size_t i = 0; i < 4; i++)
		if (name_at(parser->p, others[i], strlen(others[i]))) {
			*variable = METRIC_NS + i;
			*length = strlen(others[i]);
		}
	for (size_t i = 0; i < parser->n_titles; i++) {
		size_t size = strlen(parser->titles[i]);

		if (size > *length && name_at(parser->p, parser->titles[i], size)) {
			*variable = i;
			*length = size;
		}
	}
	return *length;
}

static int parse_quoted(struct parser *parser)
{
	const char *end = strchr(parser->p + 1, '"');
	size_t length = end ? end - parser->p - 1 : 0;

	for (size_t i = 0; i < parser->n_titles; i++)
		if (length && strlen(parser->titles[i]) == length &&
		    !strncmp(parser->p + 1, parser->titles[i], length)) {
			parser->p = end + 1;
			return push(parser, (struct step){.what = 'v', .variable = i});
		}
	return fail(parser, "the name of a recorded event in quotes");
}

static int parse_atom(struct parser *parser)
{
	unsigned int variable;
	size_t length;
	char *end;
	double number;

	skip_space(parser);
	if (*parser->p == '"')
		return parse_quoted(parser);
	if (*parser->p == '(') {
		parser->p++;
		if (parse_sum(parser))
			return -EINVAL;
		if (*parser->p != ')')
			return fail(parser, "')'");
		parser->p++;
		return 0;
	}
	if (find_name(parser, &variable, &length)) {
		parser->p += length;
		return push(parser, (struct step){.what = 'v', .variable = variable});
	}
	if (!isdigit((unsigned char)*parser->p) && *parser->p != '.')
		return fail(parser, "a number or a recorded event");
	number = strtod(parser->p, &end);
	if (end == parser->p)
		return fail(parser, "a number");
	parser->p = end;
	return push(parser, (struct step){.what = 'n', .number = number});
}

static int parse_factor(struct parser *parser)
{
	int error;

	skip_space(parser);
	if (++parser->depth > DEPTH_MAX)
		return fail(parser, "less nesting");
	if (*parser->p == '-') {
		parser->p++;
		error = parse_factor(parser);
		if (!error)
			error = push(parser, (struct step){.what = '~'});
	} else {
		error = parse_atom(parser);
	}
	parser->depth--;
	skip_space(parser);
	return error;
}

static int parse_product(struct parser *parser)
{
	int error = parse_factor(parser);

	while (!error && (*parser->p == '*' || *parser->p == '/')) {
		char what = *parser->p++;

		error = parse_factor(parser);
		if (!error)
			error = push(parser, (struct step){.what = what});
	}
	return error;
}

static int parse_sum(struct parser *parser)
{
	int error = parse_product(parser);

	while (!error && (*parser->p == '+' || *parser->p == '-')) {
		char what = *parser->p++;

		error = parse_product(parser);
		if (!error)
			error = push(parser, (struct step){.what = what});
	}
	return error;
}

int metric_parse(const char *text, const char (*titles)[160], size_t n_titles,
		 struct metric **parsed, struct error *err)
{
	struct metric *metric = calloc(1, sizeof(*metric));
	struct parser parser = {.metric = metric,
				.text = text,
				.p = text,
				.titles = titles,
				.n_titles = n_titles,
				.err = err};
	const char *equals = strchr(text, '=');
	size_t length = equals ? equals - text : 0;
	int error;

	if (!metric)
		return error_set(err, -ENOMEM, "cannot compute the metric '%s': out of memory",
				 text);
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (!length || length >= sizeof(metric->name)) {
		error = fail(&parser, "NAME=EXPR with a name of at most 63 bytes");
	} else {
		memcpy(metric->name, text, length);
		parser.p = equals + 1;
		error = parse_sum(&parser);
		if (!error && *parser.p)
			error = fail(&parser, "an operation or the end");
	}
	if (error)
		metric_free(metric);
	else
		*parsed = metric;
	return error;
}

const char *metric_name(const struct metric *metric)
{
	return metric->name;
}

/* The parser only makes expressions whose operations find their operands. */
static void operate(char what, double *stack, size_t *n)
{
	double right = stack[*n - 1], *left;

	if (what == '~') {
		stack[*n - 1] = -right;
		return;
	}
	left = &stack[--*n - 1];
	switch (what) {
	case '+':
		*left += right;
		break;
	case '-':
		*left -= right;
		break;
	case '*':
		*left *= right;
		break;
	default:
		*left /= right;
	}
}

double metric_value(const struct metric *metric, const double *values)
{
	double stack[STEPS_MAX];
	size_t n = 0;

	memset(stack, 0, metric->n_steps * sizeof(stack[0]));
	for (const struct step *s = metric->steps; s < metric->steps + metric->n_steps; s++) {
		if (s->what == 'n')
			stack[n++] = s->number;
		else if (s->what == 'v')
			stack[n++] = values[s->variable];
		else
			operate(s->what, stack, &n);
	}
	return n == 1 && isfinite(stack[0]) ? stack[0] : NAN;
}

void metric_free(struct metric *metric)
{
	free(metric);
}

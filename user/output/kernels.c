// SPDX-License-Identifier: GPL-2.0-only
#include "kernels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/demangle.h"
#include "listing.h"
#include "text.h"

/* -- names ------------------------------------------------------------------------------------ */

/* What clang puts in front of the name of a kernel's stub. */
#define STUB_MARK "__device_stub__"

static void remove_mark(char *name)
{
	char *mark = strstr(name, STUB_MARK);

	if (mark)
		memmove(mark, mark + strlen(STUB_MARK), strlen(mark + strlen(STUB_MARK)) + 1);
}

/* Where the arguments of the function @name begin: its end where none are told. */
static size_t arguments_of(const char *name)
{
	static const char nameless[] = "(anonymous namespace)", call[] = "operator()";
	int depth = 0;

	for (size_t i = 0; name[i]; i++) {
		if (!strncmp(name + i, call, strlen(call)))
			i += strlen(call) - 1;
		else if (!strncmp(name + i, nameless, strlen(nameless)))
			i += strlen(nameless) - 1;
		else if (name[i] == '<')
			depth++;
		else if (name[i] == '>')
			depth--;
		else if (name[i] == '(' && depth <= 0)
			return i;
	}
	return strlen(name);
}

/* Without arguments, and without what it returns: a kernel returns nothing. */
static void shorten(char *name)
{
	static const char nothing[] = "void ";

	if (!strncmp(name, nothing, strlen(nothing)))
		memmove(name, name + strlen(nothing), strlen(name) - strlen(nothing) + 1);
	name[arguments_of(name)] = '\0';
}

char *kernel_shorten(const char *name)
{
	char *copy = strdup(name);

	if (copy)
		shorten(copy);
	if (copy && *copy)
		return copy;
	/* "(a graph)" */
	free(copy);
	return strdup(name);
}

char *kernel_of_symbol(const char *symbol, bool whole)
{
	char *name = demangle(symbol);

	if (!name)
		return NULL;
	remove_mark(name);
	if (!whole)
		shorten(name);
	return name;
}

static char *name_of_stub(const struct analyze_place *stub, bool whole)
{
	char title[1024];

	return *stub->symbol ? kernel_of_symbol(stub->symbol, whole)
			     : strdup(place_title(stub, title, sizeof(title)));
}

const char *const kernel_waits[CAPTURE_WAITS] = {
	[CAPTURE_WAIT_STREAM] = "(wait for a stream)",
	[CAPTURE_WAIT_EVENT] = "(wait for an event)",
	[CAPTURE_WAIT_DEVICE] = "(wait for the device)",
	[CAPTURE_WAIT_COPY] = "(wait for a copy)",
};

char *kernel_name(const struct analyze_kernel *kernel, bool whole)
{
	char text[64];

	if (kernel->stub)
		return name_of_stub(kernel->stub, whole);
	if (kernel->kind == CAPTURE_LAUNCH_COPY)
		snprintf(text, sizeof(text), "(copy)");
	else if (kernel->kind == CAPTURE_LAUNCH_WAIT)
		snprintf(text, sizeof(text), "%s", kernel_waits[kernel->waits_for]);
	else
		snprintf(text, sizeof(text), "(%s 0x%" PRIx64 ")",
			 kernel->kind == CAPTURE_LAUNCH_GRAPH ? "graph"
			 : kernel->driver		      ? "function"
							      : "kernel at",
			 kernel->kernel);
	return strdup(text);
}

static const char *const places[CAPTURE_LAUNCH_PLACES] = {
	[CAPTURE_LAUNCH_OUTSIDE] = "(in no operator)",
	[CAPTURE_LAUNCH_UNNAMED] = "(in one that is not known)",
	[CAPTURE_LAUNCH_POOL] = "(in a parallel section)",
};

char *kernel_operator(const struct analyze_kernel *kernel)
{
	char *text = NULL;

	if (!kernel->name)
		return strdup(places[kernel->place]);
	if (!*kernel->name)
		return strdup(kernel->op_type);
	return asprintf(&text, "%s (%s)", kernel->name, kernel->op_type) < 0 ? NULL : text;
}

char *kernel_group(const struct analyze_kernel *kernel)
{
	char index[16] = "", *text = NULL;

	if (!kernel->name)
		return strdup(places[kernel->place]);
	if (kernel->index != CAPTURE_UNKNOWN)
		snprintf(index, sizeof(index), ".%" PRIu32, kernel->index);
	if (asprintf(&text, *kernel->name ? "%s%s(%s)" : "%s%s%s", kernel->op_type, index,
		     kernel->name) < 0)
		return NULL;
	return text;
}

/* -- a table ---------------------------------------------------------------------------------- */

enum column { COUNT, KERNEL, OPERATOR, GRID, BLOCK, BYTES, STREAM, WAITED, COLUMNS };

static const struct listing_column columns[COLUMNS] = {
	[COUNT] = {"Count"},
	[KERNEL] = {"Kernel", .is_name = true},
	[OPERATOR] = {"Operator", .is_name = true},
	[GRID] = {"Grid"},
	[BLOCK] = {"Block"},
	[BYTES] = {"Bytes"},
	[STREAM] = {"Stream"},
	[WAITED] = {"Waited", .optional = true},
};

static char *three(const struct analyze_kernel *kernel, const uint32_t values[3], uint32_t differ)
{
	char *text = NULL;

	if (kernel->kind != CAPTURE_LAUNCH_KERNEL)
		return strdup("");
	if (kernel->differ & differ)
		return strdup("varies");
	return asprintf(&text, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, values[0], values[1],
			values[2]) < 0
		       ? NULL
		       : text;
}

/* Of copies all, of a kernel the shared memory that each launch asks for. */
static char *bytes_of(const struct analyze_kernel *kernel)
{
	char text[32];

	if (kernel->kind == CAPTURE_LAUNCH_GRAPH || kernel->kind == CAPTURE_LAUNCH_WAIT)
		return strdup("");
	if (kernel->kind == CAPTURE_LAUNCH_COPY)
		return strdup(text_bytes(text, sizeof(text), kernel->bytes_total));
	return strdup(kernel->differ & DIFFER_BYTES
			      ? "varies"
			      : text_bytes(text, sizeof(text), kernel->first.bytes));
}

static bool has_stream(const struct analyze_kernel *kernel)
{
	if (kernel->kind == CAPTURE_LAUNCH_WAIT)
		return kernel->waits_for == CAPTURE_WAIT_STREAM;
	return kernel->kind != CAPTURE_LAUNCH_COPY;
}

static char *waited_of(const struct analyze_kernel *kernel)
{
	char text[32];

	return strdup(kernel->kind == CAPTURE_LAUNCH_WAIT
			      ? text_time(text, sizeof(text), kernel->waited)
			      : "");
}

static char *stream_of(const struct analyze_kernel *kernel)
{
	char text[32];

	if (!has_stream(kernel))
		return strdup("");
	if (kernel->differ & DIFFER_STREAM)
		return strdup("varies");
	if (!kernel->first.stream)
		return strdup("default");
	snprintf(text, sizeof(text), "0x%" PRIx64, kernel->first.stream);
	return strdup(text);
}

static int add_line(struct listing *listing, const struct analyze_kernel *kernel)
{
	char count[32];

	return listing_add(
		listing, (char *[COLUMNS]){
				 [COUNT] = strdup(text_count(count, sizeof(count), kernel->count)),
				 [KERNEL] = kernel_name(kernel, false),
				 [OPERATOR] = kernel_operator(kernel),
				 [GRID] = three(kernel, kernel->first.grid, DIFFER_GRID),
				 [BLOCK] = three(kernel, kernel->first.block, DIFFER_BLOCK),
				 [BYTES] = bytes_of(kernel),
				 [STREAM] = stream_of(kernel),
				 [WAITED] = waited_of(kernel),
			 });
}

int kernels_print(const struct analysis *a, size_t limit, size_t room, FILE *out)
{
	struct listing listing = {.columns = columns, .n_columns = COLUMNS};
	int error = 0;

	if (!a->launches.n)
		return 0;
	for (size_t i = 0; i < a->launches.n && (!limit || i < limit) && !error; i++)
		error = add_line(&listing, a->launches.items[i]);
	fputs("\nWhat GPUs were told to do\n", out);
	error = error ?: listing_print(&listing, a->launches.n, room, out);
	listing_free(&listing);
	return error;
}

/* -- JSON ------------------------------------------------------------------------------------- */

static const char *const kinds[CAPTURE_LAUNCH_KINDS] = {
	[CAPTURE_LAUNCH_KERNEL] = "kernel",
	[CAPTURE_LAUNCH_GRAPH] = "graph",
	[CAPTURE_LAUNCH_COPY] = "copy",
	[CAPTURE_LAUNCH_WAIT] = "wait",
};

static const char *const wait_keys[CAPTURE_WAITS] = {
	[CAPTURE_WAIT_STREAM] = "stream",
	[CAPTURE_WAIT_EVENT] = "event",
	[CAPTURE_WAIT_DEVICE] = "device",
	[CAPTURE_WAIT_COPY] = "copy",
};

static const char *const place_keys[CAPTURE_LAUNCH_PLACES] = {
	[CAPTURE_LAUNCH_OUTSIDE] = "outside",
	[CAPTURE_LAUNCH_INSIDE] = "operator",
	[CAPTURE_LAUNCH_UNNAMED] = "unnamed",
	[CAPTURE_LAUNCH_POOL] = "pool",
};

/* Numbers of 64 bits are no numbers everywhere. */
static int put_hex(FILE *out, const char *key, uint64_t value, bool known)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	return text_put_member(out, key, known ? text : NULL);
}

static void put_three(FILE *out, const char *key, const uint32_t values[3], bool known)
{
	if (known)
		fprintf(out, ",\"%s\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", key, values[0],
			values[1], values[2]);
	else
		fprintf(out, ",\"%s\":null", key);
}

static void put_index(FILE *out, const struct analyze_kernel *kernel)
{
	if (kernel->index != CAPTURE_UNKNOWN)
		fprintf(out, ",\"node_index\":%" PRIu32, kernel->index);
	else
		fputs(",\"node_index\":null", out);
}

static int put_kernel(const struct analyze_kernel *kernel, FILE *out)
{
	const bool runs = kernel->kind == CAPTURE_LAUNCH_KERNEL;
	const bool copies = kernel->kind == CAPTURE_LAUNCH_COPY;
	const bool waits = kernel->kind == CAPTURE_LAUNCH_WAIT;
	const struct capture_launch *first = &kernel->first;
	const bool in_file = kernel->stub && *kernel->stub->path;
	const char *symbol = kernel->stub && *kernel->stub->symbol ? kernel->stub->symbol : NULL;
	char *name = symbol ? kernel_name(kernel, true) : NULL;
	int error = symbol && !name ? -ENOMEM : 0;

	fprintf(out, "{\"kind\":\"%s\",\"place\":\"%s\",\"launches\":%" PRIu64, kinds[kernel->kind],
		place_keys[kernel->place], kernel->count);
	error = error ?: text_put_member(out, "operator", kernel->name);
	error = error ?: text_put_member(out, "op_type", kernel->op_type);
	put_index(out, kernel);
	error = error ?: text_put_member(out, "name", name);
	error = error ?: text_put_member(out, "symbol", symbol);
	error = error ?: text_put_member(out, "file", in_file ? kernel->stub->path : NULL);
	error = error ?: put_hex(out, "offset", in_file ? kernel->stub->offset : 0, in_file);
	error = error ?: put_hex(out, "handle", kernel->kernel, !kernel->stub && !copies && !waits);
	free(name);
	put_three(out, "grid", first->grid, runs && !(kernel->differ & DIFFER_GRID));
	put_three(out, "block", first->block, runs && !(kernel->differ & DIFFER_BLOCK));
	if (runs && !(kernel->differ & DIFFER_BYTES))
		fprintf(out, ",\"shared_bytes\":%" PRIu64, first->bytes);
	else
		fputs(",\"shared_bytes\":null", out);
	if (copies)
		fprintf(out, ",\"copied_bytes\":%" PRIu64, kernel->bytes_total);
	else
		fputs(",\"copied_bytes\":null", out);
	error = error
			?: put_hex(out, "stream", first->stream,
				   has_stream(kernel) && !(kernel->differ & DIFFER_STREAM));
	error = error
			?: text_put_member(out, "waits_for",
					   waits ? wait_keys[kernel->waits_for] : NULL);
	if (waits)
		fprintf(out, ",\"waited_ns\":%" PRIu64, kernel->waited);
	else
		fputs(",\"waited_ns\":null", out);
	fputs("}", out);
	return error;
}

int kernels_put_json(const struct analysis *a, FILE *out)
{
	int error = 0;

	fputs(",\n\"kernels\":[", out);
	for (size_t i = 0; i < a->launches.n && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = put_kernel(a->launches.items[i], out);
	}
	fputs("]", out);
	return error;
}

/* clang-format off */
const char kernels_schema[] =
	"    \"kernels\": {\n"
	"      \"description\": \"What GPUs were told to do, with --gpu: the launches of a kernel "
	"by an operator are one item, most launches first.\",\n"
	"      \"type\": \"array\",\n"
	"      \"items\": {\n"
	"        \"type\": \"object\",\n"
	"        \"properties\": {\n"
	"          \"kind\": {\"enum\": [\"kernel\", \"graph\", \"copy\", \"wait\"]},\n"
	"          \"place\": {\n"
	"            \"description\": \"In an operator, in one that is not known, in a parallel "
	"section of one that is not known, or in none.\",\n"
	"            \"enum\": [\"operator\", \"unnamed\", \"pool\", \"outside\"]\n"
	"          },\n"
	"          \"launches\": {\"type\": \"integer\"},\n"
	"          \"operator\": {\"type\": [\"string\", \"null\"]},\n"
	"          \"op_type\": {\"type\": [\"string\", \"null\"]},\n"
	"          \"node_index\": {\"type\": [\"integer\", \"null\"]},\n"
	"          \"name\": {\n"
	"            \"description\": \"Of the kernel, as C++ has it; null where it has no "
	"symbol.\",\n"
	"            \"type\": [\"string\", \"null\"]\n"
	"          },\n"
	"          \"symbol\": {\"type\": [\"string\", \"null\"]},\n"
	"          \"file\": {\n"
	"            \"description\": \"With the host's function that stands for the kernel, which "
	"begins at offset.\",\n"
	"            \"type\": [\"string\", \"null\"]\n"
	"          },\n"
	"          \"offset\": {\"$ref\": \"#/$defs/hex\"},\n"
	"          \"handle\": {\n"
	"            \"description\": \"Where that is not known: its address or the driver's "
	"handle; of a graph its own.\",\n"
	"            \"$ref\": \"#/$defs/hex\"\n"
	"          },\n"
	"          \"grid\": {\n"
	"            \"description\": \"Of each launch; null here and below where launches "
	"differ.\",\n"
	"            \"$ref\": \"#/$defs/three\"\n"
	"          },\n"
	"          \"block\": {\"$ref\": \"#/$defs/three\"},\n"
	"          \"shared_bytes\": {\n"
	"            \"description\": \"Of shared memory, beside what the kernel has itself.\",\n"
	"            \"type\": [\"integer\", \"null\"]\n"
	"          },\n"
	"          \"copied_bytes\": {\n"
	"            \"description\": \"By all of these copies.\",\n"
	"            \"type\": [\"integer\", \"null\"]\n"
	"          },\n"
	"          \"stream\": {\n"
	"            \"description\": \"Its handle; 0x0 is the default one.\",\n"
	"            \"$ref\": \"#/$defs/hex\"\n"
	"          },\n"
	"          \"waits_for\": {\n"
	"            \"description\": \"What a thread waited for, launches times.\",\n"
	"            \"enum\": [\"stream\", \"event\", \"device\", \"copy\", null]\n"
	"          },\n"
	"          \"waited_ns\": {\n"
	"            \"description\": \"By all of these waits.\",\n"
	"            \"type\": [\"integer\", \"null\"]\n"
	"          }\n"
	"        }\n"
	"      }\n"
	"    },\n";
/* clang-format on */

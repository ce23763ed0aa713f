// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a session and what lies around it: what is told of it must be fit
 * for whoever asked. Classes are there, as the input cannot be expected to make
 * their type information.
 */
#include <errno.h>

#include "base/utf8.h"
#include "inspect/answers.h"
#include "require.h"
#include "runtime/ort/session.h"

#define BASE	0x100000 /* where the input lies, and in it: */
#define SESSION (BASE + 16)
#define CLASSES 0x20000000 /* where classes lie, each at a multiple of: */
#define CLASS	0x100

/* The address point of a class's vtable is its second word. */
static const char *const class_names[] = {
	"N11onnxruntime16InferenceSessionE",
	"N11onnxruntime11concurrency15ThreadPoolTemplINS_3EnvEEE",
	"N11onnxruntime12_GLOBAL__N_18PosixEnvE",
	"N11onnxruntime8BFCArenaE",
};

#define N_CLASSES (sizeof(class_names) / sizeof(class_names[0]))

static uint8_t classes[N_CLASSES][CLASS];
static const uint8_t *memory_data;
static size_t memory_size;

static void make_classes(void)
{
	for (size_t i = 0; i < N_CLASSES; i++) {
		uint64_t at = CLASSES + i * CLASS, words[] = {at + 0x20, 0, 0, 0, 0, at + 0x40};

		memcpy(classes[i], words, sizeof(words));
		strcpy((char *)classes[i] + 0x40, class_names[i]);
	}
}

static int read_from(const uint8_t *data, size_t n, uint64_t base, uint64_t address, void *buffer,
		     size_t size)
{
	if (address < base || address - base > n || size > n - (address - base))
		return -EFAULT;
	memcpy(buffer, data + (address - base), size);
	return 0;
}

static int read_input(void *unused, uint64_t address, void *buffer, size_t size)
{
	(void)unused;
	if (!read_from(classes[0], sizeof(classes), CLASSES, address, buffer, size))
		return 0;
	return read_from(memory_data, memory_size, BASE, address, buffer, size);
}

static const struct memory memory = {.read = read_input};

static void check_text(const char *text)
{
	char clean[SESSION_PATH];

	strcpy(clean, text);
	utf8_clean(clean);
	require(!strcmp(clean, text));
}

static void check(const struct session_facts *facts)
{
	struct session_facts taken;

	require(answers_session(facts, &taken));
	check_text(facts->path);
	check_text(facts->graph);
	check_text(facts->producer);
	check_text(facts->providers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct memory_range range = {BASE, BASE + size};
	static struct session_facts all[4];
	struct session_facts facts;
	bool whole;
	size_t n;

	memory_data = data;
	memory_size = size;
	make_classes();
	if (!ort_read_session(&memory, SESSION, &facts)) {
		ort_read_session_memory(&memory, SESSION, &facts);
		check(&facts);
	}
	n = ort_find_sessions(&memory, CLASSES, &range, 1, all, 4, &whole);
	require(n <= 4);
	for (size_t i = 0; i < n; i++)
		check(&all[i]);
	return 0;
}

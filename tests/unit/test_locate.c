// SPDX-License-Identifier: GPL-2.0-only
/*
 * Location in a library with the shape of ONNX Runtime, built by whatever
 * compilers and linkers are here; the published libraries are the end-to-end
 * tests' matter. What was found in a stripped file is checked against the
 * symbols of the same build before it was stripped.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "elf_files.h"
#include "fake_runtime.h"
#include "needs.h"
#include "../../bpf/events.h"
#include "base/array.h"
#include "runtime/ort/locate.h"
#include "target/elf_image.h"

#define LIBRARY "-fPIC -shared -fvisibility=hidden "

struct build {
	const char *compiler, *flags, *name;
};

static const struct build new_builds[] = {
	{"g++", LIBRARY "-O2", "gcc.so"},
	{"g++", LIBRARY "-O2 -fstack-protector-strong -fcf-protection", "gcc-protected.so"},
	{"g++", LIBRARY "-Os", "gcc-small.so"},
	{"g++", LIBRARY "-O2 -fno-omit-frame-pointer", "gcc-fp.so"},
	{"g++", "-fPIC -shared -O2", "gcc-visible.so"},
	{"g++", "-DPROGRAM -O2 -no-pie -fno-pie", "gcc-fixed"},
	{"g++", "-DPROGRAM -O2 -static", "gcc-static"},
	{"clang++", LIBRARY "-O2", "clang.so"},
	{"clang++", LIBRARY "-O2 -fstack-protector-strong", "clang-protected.so"},
	{"clang++", LIBRARY "-O2 -fuse-ld=lld -Wl,--pack-dyn-relocs=relr", "clang-relr.so"},
#ifdef __x86_64__
	{"g++", LIBRARY "-O3 -march=x86-64-v3", "gcc-avx.so"},
#endif
};

static const struct build old_builds[] = {
	{"g++", LIBRARY "-DOLD_EXECUTOR -O2", "gcc-old.so"},
	{"clang++", LIBRARY "-DOLD_EXECUTOR -O2", "clang-old.so"},
	{"clang++", LIBRARY "-DOLD_EXECUTOR -O2 -fuse-ld=lld", "clang-old-lld.so"},
};

/* Build @build as it is, and a stripped copy of it; false if it cannot be built here. */
static bool make(const struct build *build, char whole[FAKE_PATH], char stripped[FAKE_PATH])
{
	snprintf(stripped, FAKE_PATH, "%s/stripped-%s", fake_directory, build->name);
	return fake_build(build->compiler, build->flags, build->name, whole) &&
	       fake_shell("objcopy --strip-all %s %s", whole, stripped);
}

/* Freed at the end: tests look at several at once. */
static ARRAY_OF(struct location) located;

static void locate(const char *path, struct location *location)
{
	struct error err = {.text = ""};

	if (locate_file(path, location, &err))
		fail_msg("%s", err.text);
	assert_non_null(array_push(&located));
	located.items[located.n - 1] = *location;
	assert_string_equal(location->runtime->name, "onnxruntime");
	assert_string_equal(location->version, "1.99.0");
	assert_true(*location->build_id);
}

static unsigned int count(const struct location *location, enum site_role role)
{
	unsigned int n = 0;

	for (size_t i = 0; i < location->sites.n; i++)
		n += location->sites.items[i].role == role;
	return n;
}

/* The symbol of the function around each site must have one of these parts. */
static const char *const names[SITE_ROLES][3] = {
	[SITE_OP_ENTER] = {"13ExecuteKernel", "Executor"},
	[SITE_OP_EXIT] = {"13ExecuteKernel", "Executor"},
	[SITE_RUN_ENTER] = {"16InferenceSession3Run"},
	[SITE_RUN_EXIT] = {"16InferenceSession3Run"},
	[SITE_SETUP_ENTER] = {"16InferenceSession4Load", "16InferenceSession10Initialize",
			      "16InferenceSession13LoadOwnFormat"},
	[SITE_SETUP_EXIT] = {"16InferenceSession4Load", "16InferenceSession10Initialize",
			     "16InferenceSession13LoadOwnFormat"},
	[SITE_SESSION_END] = {"16InferenceSessionD"},
	[SITE_TASK_ENTER] = {"9_M_invoke"},
	[SITE_TASK_EXIT] = {"9_M_invoke"},
	[SITE_ALLOC_ENTER] = {"8BFCArena5Alloc", "12CPUAllocator5Alloc"},
	[SITE_ALLOC_EXIT] = {"8BFCArena5Alloc", "8BFCArena11AllocateRaw", "12CPUAllocator5Alloc"},
	[SITE_ALLOC] = {"8BFCArena12FindChunkPtr"},
	[SITE_FREE] = {"8BFCArena4Free", "12CPUAllocator4Free"},
};

static bool is_inside(const struct elf_image *image, const struct site *site)
{
	struct elf_symbol symbol;

	for (uint32_t index = 0; elf_symbol_next(image->symbols, &index, &symbol);) {
		if (!symbol.function || site->address < symbol.address ||
		    site->address >= symbol.address + symbol.size)
			continue;
		for (int i = 0; i < 3; i++)
			if (names[site->role][i] && strstr(symbol.name, names[site->role][i]))
				return true;
	}
	return false;
}

static void assert_sites_are_right(const struct location *location, const char *whole)
{
	struct elf_image *image;

	assert_int_equal(elf_image_open(whole, &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];
		uint64_t offset;

		if (!is_inside(image, site))
			fail_msg("%s: %s at 0x%lx is in the wrong function", whole,
				 site_role_name(site->role), (unsigned long)site->address);
		assert_true(elf_offset(image, site->address, &offset));
		assert_int_equal(offset, site->offset);
		assert_true(site->length && *site->instruction && site->routes);
	}
	elf_image_close(image);
}

static void assert_pairs_share_a_function(const struct location *location, enum site_role enter,
					  enum site_role exit)
{
	for (size_t i = 0; i < location->sites.n; i++) {
		bool found = false;

		if (location->sites.items[i].role != enter)
			continue;
		for (size_t k = 0; k < location->sites.n; k++)
			found |= location->sites.items[k].role == exit &&
				 location->sites.items[k].function ==
					 location->sites.items[i].function;
		assert_true(found);
	}
}

/*
 * Two allocators. What they return is known of the arena, and where it finds a chunk in a
 * place of its own, by that one probe; of the other one, where it returns itself.
 */
static void assert_allocators_are_told_apart(const struct location *location, bool both_return)
{
	unsigned int arenas = count(location, SITE_ALLOC), others = 0;

	assert_int_equal(count(location, SITE_ALLOC_ENTER), 2 - arenas);
	assert_int_equal(count(location, SITE_FREE), 2);
	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];
		bool returns = false;

		if (site->role == SITE_ALLOC) {
			assert_string_equal(site->program, "ort_alloc_chunk");
			assert_int_not_equal(ORT_CHUNK_CHUNK(site->value),
					     ORT_CHUNK_ARENA(site->value));
		}
		if (site->role != SITE_ALLOC_ENTER)
			continue;
		for (size_t k = 0; k < location->sites.n; k++)
			returns |= location->sites.items[k].role == SITE_ALLOC_EXIT &&
				   location->sites.items[k].function == site->function;
		assert_int_equal(returns, (site->value & ORT_ALLOC_RETURNS) != 0);
		assert_int_equal(returns, both_return || site->value & ORT_ALLOC_ARENA);
		arenas += (site->value & ORT_ALLOC_ARENA) != 0;
		others += !(site->value & ORT_ALLOC_ARENA);
	}
	assert_int_equal(arenas, 1);
	assert_int_equal(others, 1);
}

/* Is @landmark the address behind a call, in a function that a site is in as well? */
static bool is_behind_a_call(const struct elf_image *image, const struct location *location,
			     const struct landmark *landmark)
{
	/* call *8(%reg) and the like, of two to seven bytes. */
	const uint8_t *code = elf_view(image, landmark->address - 7, 7);
	bool call = false;
	struct site site = {.address = landmark->address,
			    .role = landmark->kind == LANDMARK_TASK ? SITE_TASK_ENTER
								    : SITE_OP_ENTER};

	for (int at = 0; code && at <= 5; at++)
		call |= code[at] == 0xff && (code[at + 1] >> 3 & 7) == 2;
	return call && is_inside(image, &site);
}

static bool is_symbol(const struct elf_image *image, uint64_t address, const char *part)
{
	struct elf_symbol symbol;

	for (uint32_t index = 0; elf_symbol_next(image->symbols, &index, &symbol);)
		if (address >= symbol.address && address < symbol.address + symbol.size &&
		    strstr(symbol.name, part))
			return true;
	return false;
}

/*
 * All that there are of a kind, or none. On x86-64 they are found in whatever gcc makes without
 * saving space: releases are made by it.
 */
static void assert_landmarks_are_right(const struct location *location, const char *whole,
				       unsigned int operators, const char *flags)
{
	unsigned int n[LANDMARK_KINDS] = {};
	struct elf_image *image;

	assert_int_equal(elf_image_open(whole, &image, NULL), 0);
	assert_int_equal(elf_image_load(image, NULL), 0);
	for (size_t i = 0; i < location->n_landmarks; i++) {
		const struct landmark *landmark = &location->landmarks[i];
		bool task = landmark->kind == LANDMARK_TASK;

		assert_true(is_behind_a_call(image, location, landmark));
		assert_true(is_symbol(image, landmark->object,
				      task ? "9_M_invoke" : "OpKernelContextInternal"));
		assert_int_equal(landmark->distance % 8, 0);
		assert_int_equal(landmark->distance > 0, !task);
		n[landmark->kind]++;
	}
	elf_image_close(image);
	assert_true(n[LANDMARK_OPERATOR] == operators || !n[LANDMARK_OPERATOR]);
	assert_true(n[LANDMARK_TASK] == 2 || !n[LANDMARK_TASK]);
#ifdef __x86_64__
	if (strstr(whole, "gcc") && !strstr(flags, "-Os")) {
		assert_int_equal(n[LANDMARK_OPERATOR], operators);
		assert_int_equal(n[LANDMARK_TASK], 2);
	}
#endif
}

static unsigned int examine_builds(const struct build *builds, size_t n, unsigned int operators,
				   const char *program)
{
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	struct location location;
	unsigned int built = 0;

	for (size_t i = 0; i < n; i++) {
		if (!make(&builds[i], whole, stripped))
			continue;
		locate(stripped, &location);
		assert_int_equal(count(&location, SITE_OP_ENTER), operators);
		assert_true(count(&location, SITE_OP_EXIT) >= operators);
		assert_string_equal(location.sites.items[0].program, program);
		assert_int_equal(count(&location, SITE_RUN_ENTER), 1);
		assert_true(count(&location, SITE_RUN_EXIT) >= 1);
		assert_int_equal(count(&location, SITE_SETUP_ENTER), 3);
		assert_true(count(&location, SITE_SETUP_EXIT) >= 3);
		assert_true(count(&location, SITE_SESSION_END) >= 1);
		assert_int_equal(count(&location, SITE_TASK_ENTER), 2);
		assert_true(count(&location, SITE_TASK_EXIT) >= 2);
		assert_allocators_are_told_apart(&location, operators == 2);
		/* Protected from smashed stacks, as releases are, it is left in one place. */
		if (operators == 1 && strstr(builds[i].flags, "stack-protector"))
			assert_int_equal(count(&location, SITE_ALLOC), 1);
		assert_landmarks_are_right(&location, whole, operators, builds[i].flags);
		assert_int_equal(location.n_notes, 0);
		assert_sites_are_right(&location, whole);
		assert_pairs_share_a_function(&location, SITE_OP_ENTER, SITE_OP_EXIT);
		assert_pairs_share_a_function(&location, SITE_RUN_ENTER, SITE_RUN_EXIT);
		assert_pairs_share_a_function(&location, SITE_TASK_ENTER, SITE_TASK_EXIT);
		assert_pairs_share_a_function(&location, SITE_SETUP_ENTER, SITE_SETUP_EXIT);
		built++;
	}
	return built;
}

/* -- what is found ------------------------------------------------------------------------- */

static void every_build_is_located_without_symbols(void **state)
{
	if (!examine_builds(new_builds, sizeof(new_builds) / sizeof(*new_builds), 1,
			    "ort_enter_index"))
		leave_out(NEEDS_COMPILER);
}

static void executors_that_run_kernels_themselves_are_located(void **state)
{
	if (!examine_builds(old_builds, sizeof(old_builds) / sizeof(*old_builds), 2,
			    ORT_ENTER_KERNEL))
		leave_out(NEEDS_COMPILER);
}

/* Else some of what operators get would be missed: where it is asked for and got is probed. */
static void chunks_are_not_believed_if_there_is_more_than_they(void **state)
{
	static const struct build builds[] = {
		{"g++", LIBRARY "-O2 -fstack-protector-strong -DCHUNKS_ASIDE=0", "gcc-aside.so"},
		{"g++", LIBRARY "-O2 -fstack-protector-strong -DCHUNKS_ASIDE=64", "gcc-by.so"},
		{"g++", LIBRARY "-O2 -fstack-protector-strong -DCHUNKS_OF_TWO", "gcc-of-two.so"},
		{"g++", LIBRARY "-O2 -fstack-protector-strong -DCHUNK_ADDRESS=requested_size",
		 "gcc-other.so"},
		{"g++", LIBRARY "-O2 -fstack-protector-strong -DNOTHING=64", "gcc-nothing.so"},
	};
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	struct location location;

	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		if (!make(&builds[i], whole, stripped))
			leave_out(NEEDS_COMPILER);
		locate(stripped, &location);
		assert_int_equal(count(&location, SITE_ALLOC), 0);
		assert_allocators_are_told_apart(&location, false);
		assert_sites_are_right(&location, whole);
	}
}

/* Each that runs kernels has a number of its own, and as many as there can be are told apart. */
static void eight_functions_that_run_kernels_are_told_apart(void **state)
{
	static const struct build eight = {"g++", LIBRARY "-DOLD_EXECUTOR -DMORE_EXECUTORS=7 -O2",
					   "gcc-eight.so"};
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	unsigned int entered = 0, left = 0;
	struct location location;

	if (!make(&eight, whole, stripped))
		leave_out(NEEDS_COMPILER);
	locate(stripped, &location);
	assert_int_equal(count(&location, SITE_OP_ENTER), 8);
	for (size_t i = 0; i < location.sites.n; i++) {
		const struct site *site = &location.sites.items[i];

		if (site->role == SITE_OP_ENTER)
			entered |= 1U << site->value;
		if (site->role == SITE_OP_EXIT)
			left |= 1U << site->value;
	}
	assert_int_equal(entered, 0xff);
	assert_int_equal(left, 0xff);
}

/* How many functions of setups are of @kind; each has a value of its own, at all its sites. */
static unsigned int count_setups(const struct location *location, enum setup_kind kind)
{
	unsigned int n = 0;

	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];

		if (site->role != SITE_SETUP_ENTER && site->role != SITE_SETUP_EXIT)
			continue;
		for (size_t k = 0; k < location->sites.n; k++) {
			const struct site *other = &location->sites.items[k];

			if (other->role == SITE_SETUP_ENTER || other->role == SITE_SETUP_EXIT)
				assert_int_equal(site->value == other->value,
						 site->function == other->function);
		}
		n += site->role == SITE_SETUP_ENTER && ORT_SETUP_KIND(site->value) == kind;
		/* The result is where its address is; names are of loads. */
		assert_true(site->value & ORT_SETUP_RESULT);
		assert_int_equal((site->value & ORT_SETUP_NAME) != 0 ||
					 site->value >> ORT_SETUP_SAVED_SHIFT,
				 ORT_SETUP_KIND(site->value) == SETUP_LOADING);
	}
	return n;
}

static void setups_are_told_apart(void **state)
{
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	struct location location;

	if (!make(&new_builds[0], whole, stripped))
		leave_out(NEEDS_COMPILER);
	locate(stripped, &location);
	assert_int_equal(count_setups(&location, SETUP_LOADING), 2);
	assert_int_equal(count_setups(&location, SETUP_INITIALIZATION), 1);
}

/* As the built-in profiler has it; what was no such argument may be any text. */
static void loads_are_called_what_they_are_given_if_it_is_a_name(void **state)
{
	extern const struct runtime ort_runtime;
	const char *(*name)(uint32_t kind, const char *text) = ort_runtime.setup_name;

	assert_string_equal(name(SETUP_LOADING, "model_loading_uri"), "model_loading_uri");
	assert_string_equal(name(SETUP_LOADING, "model_loading"), "model_loading");
	assert_string_equal(name(SETUP_LOADING, "conv1"), "model_loading");
	assert_string_equal(name(SETUP_LOADING, ""), "model_loading");
	assert_string_equal(name(SETUP_LOADING, "model_loading_\x1b[31m"), "model_loading");
	assert_string_equal(name(SETUP_INITIALIZATION, "model_loading_uri"),
			    "session_initialization");
}

/* Which it is, is not known: then there are none, and a note says so. */
static void two_functions_that_say_to_initialize_are_not_believed(void **state)
{
	static const struct build build = {"g++", LIBRARY "-O2 -DTWO_INITIALIZE", "two.so"};
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	struct location location;

	if (!make(&build, whole, stripped))
		leave_out(NEEDS_COMPILER);
	locate(stripped, &location);
	assert_int_equal(count(&location, SITE_SETUP_ENTER) + count(&location, SITE_SETUP_EXIT), 0);
	assert_int_equal(count(&location, SITE_RUN_ENTER), 1);
	assert_int_equal(location.n_notes, 1);
	assert_non_null(strstr(location.notes[0], "sessions initialized could not be proven"));
}

static void all_routes_agree(void **state)
{
	char whole[FAKE_PATH], stripped[FAKE_PATH], text[64];
	struct location location;

	if (!make(&new_builds[0], whole, stripped))
		leave_out(NEEDS_COMPILER);
	locate(stripped, &location);
	assert_int_equal(location.sites.items[0].routes, ROUTE_STRING | ROUTE_RTTI);
	site_route_names(location.sites.items[0].routes, text, sizeof(text));
	assert_string_equal(text, "string+rtti");
	locate(whole, &location);
	assert_int_equal(location.sites.items[0].routes, ROUTE_SYMBOL | ROUTE_STRING | ROUTE_RTTI);
	for (size_t i = 0; i < location.sites.n; i++)
		assert_true(location.sites.items[i].routes & ROUTE_SYMBOL);
}

static void a_debug_file_gives_the_symbols(void **state)
{
	char whole[FAKE_PATH], stripped[FAKE_PATH], debug[FAKE_PATH + 8];
	struct location location;

	if (!make(&new_builds[0], whole, stripped) || !fake_shell("command -v objcopy >/dev/null"))
		leave_out(NEEDS_COMPILER);
	snprintf(debug, sizeof(debug), "%s.debug", stripped);
	assert_true(fake_shell("objcopy --only-keep-debug %s %s", whole, debug));
	assert_true(fake_shell("objcopy --add-gnu-debuglink=%s %s", debug, stripped));
	locate(stripped, &location);
	assert_true(location.sites.items[0].routes & ROUTE_SYMBOL);
	assert_sites_are_right(&location, whole);
	/* One that belongs to another build is not believed. */
	assert_true(fake_shell("echo more >>%s && objcopy --remove-section=.note.gnu.build-id %s",
			       debug, debug));
	locate(stripped, &location);
	assert_false(location.sites.items[0].routes & ROUTE_SYMBOL);
}

static void a_library_that_exports_no_api_has_its_runs_and_version(void **state)
{
	static const struct build build = {"g++", LIBRARY "-O2 -DHIDDEN_API", "hidden.so"};
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	struct location location;

	if (!make(&build, whole, stripped))
		leave_out(NEEDS_COMPILER);
	locate(stripped, &location);
	assert_int_equal(count(&location, SITE_RUN_ENTER), 1);
	assert_sites_are_right(&location, whole);
}

static void the_kernel_emulates_what_is_probed_in_a_protected_build(void **state)
{
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	struct location location;

#ifndef __x86_64__
	leave_out(NEEDS_X86_64);
#endif
	if (!make(&new_builds[1], whole, stripped))
		leave_out(NEEDS_COMPILER);
	locate(stripped, &location);
	for (size_t i = 0; i < location.sites.n; i++)
		assert_true(location.sites.items[i].emulated);
	/* Not the endbr64 in front: the push behind it, where the stack is still the entry's. */
	assert_non_null(strstr(location.sites.items[0].instruction, "push"));
	assert_int_equal(location.sites.items[0].stack_depth, 0);
	assert_true(location.sites.items[1].stack_depth > 0);
}

/* -- what is refused ------------------------------------------------------------------------- */

static void two_functions_that_fit_are_refused(void **state)
{
	static const struct build build = {"g++", LIBRARY "-O2 -DMISLEADING", "misleading.so"};
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	struct error err = {.text = ""};
	struct location location;

	if (!make(&build, whole, stripped))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(locate_file(stripped, &location, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "2 places"));
}

static void more_functions_that_run_kernels_than_are_told_apart_are_refused(void **state)
{
	static const struct build build = {"g++", LIBRARY "-DOLD_EXECUTOR -DMORE_EXECUTORS=12 -O2",
					   "gcc-many.so"};
	char whole[FAKE_PATH], stripped[FAKE_PATH];
	struct error err = {.text = ""};
	struct location location;

	if (!make(&build, whole, stripped))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(locate_file(stripped, &location, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "more than 8 functions"));
}

static void a_file_without_the_runtime_is_not_an_error(void **state)
{
	struct error err = {.text = ""};
	struct location location;

	assert_int_equal(locate_file("/bin/sh", &location, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/bin/sh"));
}

static void a_mapped_file_is_located_through_its_link_in_proc(void **state)
{
	char whole[FAKE_PATH], stripped[FAKE_PATH], line[512], link[128] = "";
	struct location location;
	unsigned long start, end;
	struct elf_image *image;
	FILE *maps;

	if (geteuid())
		leave_out(NEEDS_ROOT);
	if (!make(&new_builds[0], whole, stripped))
		leave_out(NEEDS_COMPILER);
	assert_int_equal(elf_image_open(stripped, &image, NULL), 0);
	maps = fopen("/proc/self/maps", "r");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, stripped) && sscanf(line, "%lx-%lx", &start, &end) == 2)
			snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", start, end);
	fclose(maps);
	/* As after an upgrade: the file has no name any more. */
	assert_int_equal(unlink(stripped), 0);
	if (access(link, R_OK)) {
		elf_image_close(image);
		leave_out("CAP_CHECKPOINT_RESTORE");
	}
	locate(link, &location);
	assert_int_equal(count(&location, SITE_OP_ENTER), 1);
	elf_image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_build_is_located_without_symbols),
		cmocka_unit_test(executors_that_run_kernels_themselves_are_located),
		cmocka_unit_test(chunks_are_not_believed_if_there_is_more_than_they),
		cmocka_unit_test(eight_functions_that_run_kernels_are_told_apart),
		cmocka_unit_test(setups_are_told_apart),
		cmocka_unit_test(loads_are_called_what_they_are_given_if_it_is_a_name),
		cmocka_unit_test(two_functions_that_say_to_initialize_are_not_believed),
		cmocka_unit_test(all_routes_agree),
		cmocka_unit_test(a_debug_file_gives_the_symbols),
		cmocka_unit_test(a_library_that_exports_no_api_has_its_runs_and_version),
		cmocka_unit_test(the_kernel_emulates_what_is_probed_in_a_protected_build),
		cmocka_unit_test(two_functions_that_fit_are_refused),
		cmocka_unit_test(more_functions_that_run_kernels_than_are_told_apart_are_refused),
		cmocka_unit_test(a_file_without_the_runtime_is_not_an_error),
		cmocka_unit_test(a_mapped_file_is_located_through_its_link_in_proc),
	};

	int failed = cmocka_run_group_tests(tests, fake_setup, fake_teardown);

	for (size_t i = 0; i < located.n; i++)
		location_free(&located.items[i]);
	array_free(&located);
	return failed;
}

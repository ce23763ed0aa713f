// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose operators are its functions op_*: some 3,000 of them (with -DFEW some 30),
 * which nest, recur and throw, for the runtime of tests/runtime. It keeps an account of its own.
 *
 *   symbols [THREADS]
 *
 * Commands come on stdin, one per line. Each but load is done on THREADS new threads, and answered by
 * one line of JSON: {"ok", "ns": what all took, "executions": [[thread id, name, depth, name of
 * the operator around it or null, was it left by an exception, how many, ns that these spent in
 * themselves, where they keep count]...]}.
 *
 *   all N        every nest, with the leaves and the smaller nests in it, N times
 *   deep N D     N times D operators inside each other, all but the innermost with a leaf behind
 *   throw N D    N times an exception that leaves D operators; who catches it goes on with
 *                others, further down the stack than any of those was
 *   part N       N times an operator of symbols_part.cc, which keeps no account: it may be loaded
 *   wide N       N times another, with nine parallel sections
 *   load PATH    another file of operators
 *   spin N US    N times an operator that is busy for US microseconds before and after three
 *                others that are for as long
 *
 * C++ for its exceptions alone: built without the headers of its library, which an emulated
 * machine's sysroot lacks.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace std
{
int uncaught_exceptions() noexcept;
}

/* What the operators' symbols begin with, for whoever looks for them. */
extern "C" {
extern const char symbols_of_operators[];
const char symbols_of_operators[] = "op_";
}

#define KEEP	    __attribute__((noinline))
#define PLACES	    (1 << 15)
#define THREADS_MAX 64

/* -- the account ------------------------------------------------------------------------- */

/* What executions have in common, and what they come to. */
struct entry {
	const char *name, *around; /* the names are pooled: one address each */
	unsigned int depth;
	bool threw;
	unsigned long count;
	uint64_t ns;
};

struct account {
	struct entry entries[PLACES];
	pid_t tid;
};

struct execution;
static thread_local struct account *account;
static thread_local struct execution *innermost;

static uint64_t now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static struct entry *entry_of(const char *name, const char *around, unsigned int depth, bool threw)
{
	uint64_t hash = ((uintptr_t)name * 31 + (uintptr_t)around) * 31 + depth * 2 + threw;
	size_t place = (hash * 0x9e3779b97f4a7c15) >> 49;

	for (;; place = (place + 1) % PLACES) {
		struct entry *entry = &account->entries[place];

		if (!entry->name)
			*entry = (struct entry){name, around, depth, threw, 0, 0};
		if (entry->name == name && entry->around == around && entry->depth == depth &&
		    entry->threw == threw)
			return entry;
	}
}

/* One execution of an operator, as long as it lasts. */
struct execution {
	struct execution *around;
	const char *name;
	unsigned int depth;
	int exceptions;
	uint64_t ns;

	KEEP explicit execution(const char *its_name)
		: around(innermost), name(its_name), depth(around ? around->depth + 1 : 0),
		  exceptions(std::uncaught_exceptions()), ns(0)
	{
		innermost = this;
	}
	KEEP ~execution()
	{
		struct entry *entry = entry_of(name, around ? around->name : NULL, depth,
					       std::uncaught_exceptions() > exceptions);

		entry->count++;
		entry->ns += ns;
		innermost = around;
	}
};

/* -- operators ----------------------------------------------------------------------------- */

typedef void operator_function(long argument);

static void leaf(struct execution *self, int number, long argument);
static void nest(struct execution *self, int number, long argument);
static void deep(struct execution *self, int number, long argument);
static void fall(struct execution *self, int number, long argument);
static void land(struct execution *self, int number, long argument);
static void spin(struct execution *self, int number, long argument);

/* Number with four digits: op_leaf_0017, which is leaf(..., 17, ...). */
#define DEFINE(kind, number)                                                                       \
	extern "C" KEEP void op_##kind##_##number(long argument)                                   \
	{                                                                                          \
		struct execution self("op_" #kind "_" #number);                                    \
                                                                                                   \
		kind(&self, 1##number - 10000, argument);                                          \
	}
#define LIST(kind, number) op_##kind##_##number,

#define TEN(do, kind, n)                                                                           \
	do(kind, n##0) do(kind, n##1) do(kind, n##2) do(kind, n##3) do(kind, n##4)                 \
	do(kind, n##5) do(kind, n##6) do(kind, n##7) do(kind, n##8) do(kind, n##9)
#define HUNDRED(do, kind, n)                                                                       \
	TEN(do, kind, n##0) TEN(do, kind, n##1) TEN(do, kind, n##2) TEN(do, kind, n##3)            \
	TEN(do, kind, n##4) TEN(do, kind, n##5) TEN(do, kind, n##6) TEN(do, kind, n##7)            \
	TEN(do, kind, n##8) TEN(do, kind, n##9)
#define THOUSAND(do, kind, n)                                                                      \
	HUNDRED(do, kind, n##0) HUNDRED(do, kind, n##1) HUNDRED(do, kind, n##2)                    \
	HUNDRED(do, kind, n##3) HUNDRED(do, kind, n##4) HUNDRED(do, kind, n##5)                    \
	HUNDRED(do, kind, n##6) HUNDRED(do, kind, n##7) HUNDRED(do, kind, n##8)                    \
	HUNDRED(do, kind, n##9)

#ifdef FEW
#define LEAVES(do) TEN(do, leaf, 000)
#define NESTS(do)  TEN(do, nest, 000)
#else
#define LEAVES(do) THOUSAND(do, leaf, 0) THOUSAND(do, leaf, 1)
#define NESTS(do)  THOUSAND(do, nest, 0)
#endif

LEAVES(DEFINE)
NESTS(DEFINE)
TEN(DEFINE, fall, 000)
DEFINE(deep, 0000)
DEFINE(land, 0000)
DEFINE(spin, 0000)
DEFINE(spin, 0001)

static operator_function *const leaves[] = {LEAVES(LIST)};
static operator_function *const nests[] = {NESTS(LIST)};
static operator_function *const falls[] = {TEN(LIST, fall, 000)};

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))

KEEP static void leaf(struct execution *, int, long)
{
	__asm__ volatile("" ::: "memory");
}

KEEP static void nest(struct execution *, int number, long)
{
	leaves[2 * number % N(leaves)](0);
	leaves[(2 * number + 1) % N(leaves)](0);
	if (number)
		nests[number / 10](0);
}

KEEP static void deep(struct execution *, int, long levels)
{
	if (levels <= 1)
		return;
	op_deep_0000(levels - 1);
	leaves[3](0);
}

/* The innermost of @levels throws, and its exception leaves the others. */
KEEP static void fall(struct execution *, int number, long levels)
{
	if (levels <= 1)
		throw number;
	falls[(number + 1) % N(falls)](levels - 1);
}

KEEP static void go_on(size_t further_down)
{
	/* cppcheck-suppress allocaCalled */
	volatile char *room = (volatile char *)alloca(further_down);

	room[0] = 0;
	leaves[1](0);
	nests[3](0);
	room[further_down - 1] = 0;
}

KEEP static void land(struct execution *, int, long levels)
{
	try {
		falls[0](levels);
	} catch (int) {
		go_on(64 << 10);
	}
	leaves[2](0);
	go_on(64 << 10);
}

KEEP static void be_busy(struct execution *self, long microseconds)
{
	uint64_t start = now(), end = start;

	while (end - start < microseconds * 1000ULL)
		end = now();
	self->ns += end - start;
}

KEEP static void spin(struct execution *self, int number, long microseconds)
{
	be_busy(self, microseconds);
	for (int i = 0; !number && i < 3; i++)
		op_spin_0001(microseconds);
	if (!number)
		be_busy(self, microseconds);
}

/* -- commands ------------------------------------------------------------------------------ */

struct command {
	char name[16];
	long times, argument;
};

static struct command command;
static struct account *accounts[THREADS_MAX];

KEEP static void call_part(const char *name)
{
	void (*part)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, name);

	if (part)
		part();
}

static void *work(void *own)
{
	account = (struct account *)own;
	account->tid = syscall(SYS_gettid);
	for (long i = 0; i < command.times; i++) {
		if (!strcmp(command.name, "all"))
			for (int k = 0; k < N(nests); k++)
				nests[k](0);
		else if (!strcmp(command.name, "deep"))
			op_deep_0000(command.argument);
		else if (!strcmp(command.name, "throw"))
			op_land_0000(command.argument);
		else if (!strcmp(command.name, "part"))
			call_part("op_part_0000");
		else if (!strcmp(command.name, "wide"))
			call_part("op_wide_0000");
		else if (!strcmp(command.name, "spin"))
			op_spin_0000(command.argument);
	}
	return NULL;
}

static void print_entry(const struct account *of, const struct entry *entry, bool first)
{
	printf("%s[%d,\"%s\",%u,", first ? "" : ",", of->tid, entry->name, entry->depth);
	printf(entry->around ? "\"%s\"" : "null", entry->around);
	printf(",%s,%lu,%llu]", entry->threw ? "true" : "false", entry->count,
	       (unsigned long long)entry->ns);
}

static void answer(int threads)
{
	uint64_t start = now(), end;
	pthread_t workers[THREADS_MAX];
	bool first = true;

	for (int i = 0; i < threads; i++) {
		accounts[i] = (struct account *)calloc(1, sizeof(*accounts[i]));
		if (!accounts[i] || pthread_create(&workers[i], NULL, work, accounts[i]))
			exit(1);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i], NULL);
	end = now();
	printf("{\"ok\":true,\"ns\":%llu,\"executions\":[", (unsigned long long)(end - start));
	for (int i = 0; i < threads; i++) {
		for (const struct entry &entry : accounts[i]->entries) {
			if (!entry.name)
				continue;
			print_entry(accounts[i], &entry, first);
			first = false;
		}
		free(accounts[i]);
	}
	puts("]}");
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	char line[512], path[256];

	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	puts("{\"ok\":true}");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		command = (struct command){};
		if (sscanf(line, "load %255s", path) == 1)
			puts(dlopen(path, RTLD_NOW | RTLD_GLOBAL) ? "{\"ok\":true}" : "{\"ok\":false}");
		else if (sscanf(line, "%15s %ld %ld", command.name, &command.times, &command.argument) >= 2)
			answer(threads);
		else
			puts("{\"ok\":false}");
		fflush(stdout);
	}
	return 0;
}

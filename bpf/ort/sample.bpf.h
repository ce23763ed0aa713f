/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX Runtime: which operator a sampled thread is in, or works for. What is found beside a
 * landmark is an OpKernelContextInternal, which has the kernel. A pool thread finds the key of
 * its section in what it was called with (see ort_task_enter()): that is in the stack of the
 * thread that is in the operator, somewhat below the landmark.
 */
#ifndef OPPROBE_ORT_SAMPLE_BPF_H
#define OPPROBE_ORT_SAMPLE_BPF_H

#include "../sample.bpf.h"
#include "context.h"
#include "names.bpf.h"

#define WINDOW_WORDS	64 /* of the stack, around where a task is, that tell which one it is */
#define KEYS_TRIED	6  /* in these */
#define LANDMARKS_TRIED 8  /* that are of no operator, one after the other */

/* Sessions whose owner user space knows; it puts them in. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct sampled_session);
	__type(value, __u8);
} sessions_told SEC(".maps");

/* An operator that was found. */
struct open_operator {
	__u64 found; /* where its landmark is */
	__u64 context, kernel, session;
	__u64 frame; /* of all operators of its graph, which is the run's */
	__u32 instance;
	__u32 pad;
};

/*
 * What is known of the thread that is looked at; one per CPU, as its walk. Functions that the
 * verifier looks at once, whoever calls them, take nothing else than numbers before 5.12.
 */
struct look {
	__u32 pid, tid;
	__u32 task; /* of the first task that was met, its landmark + 1; 0: none was */
	__u32 n;    /* of around[] */
	__u64 task_at;
	__u64 end;		   /* of the stack that look->open is on */
	__u64 words[WINDOW_WORDS]; /* around that, see find_words() */
	__u32 next_word;	   /* of these, to be looked at */
	__u32 pad;
	struct open_operator open;			/* found last */
	struct open_operator around[SAMPLE_AROUND_MAX]; /* from the innermost outwards */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct look);
} looks SEC(".maps");

static __always_inline struct look *look_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&looks, &zero);
}

/* Is what was found at landmark @number of the process an operator? Then it is in look->open. */
__noinline int is_operator(__u32 number)
{
	struct look *look = look_of_cpu();
	const struct walk *walk = walk_of_cpu();
	const struct sampled_process *process;
	const struct sampled_landmark *landmark;
	__u64 words[CONTEXT_KERNEL + 1] = {};

	if (!look || !walk)
		return 0;
	process = bpf_map_lookup_elem(&sampled, &look->pid);
	if (!process)
		return 0;
	landmark = &process->landmarks[number & (SAMPLED_LANDMARKS - 1)];
	if (landmark->kind == SAMPLED_TASK) {
		if (!look->task) {
			look->task = number + 1;
			look->task_at = walk->place;
		}
		return 0;
	}
	look->open.found = walk->found;
	look->open.context = walk->found + (__s64)landmark->distance;
	look->open.instance = landmark->instance;
	if (bpf_probe_read_user(words, sizeof(words), (void *)look->open.context) ||
	    words[0] != landmark->object)
		return 0;
	look->open.kernel = words[CONTEXT_KERNEL];
	look->open.frame = words[CONTEXT_FRAME];
	return 1;
}

/*
 * Go on to the next operator that the stack of the walk is in, which is in look->open then: 0.
 * Else enum walk_end.
 */
__noinline int next_operator(void)
{
	for (int i = 0; i < LANDMARKS_TRIED; i++) {
		int number = walk_on();

		if (number < 0 || number >= SAMPLED_LANDMARKS)
			return number;
		if (is_operator(number))
			return 0;
	}
	return WALK_LONG;
}

/* -- pool threads --------------------------------------------------------------------- */

/*
 * The words in which the task of look is looked for: around where its landmark is, but not below
 * @sp. Whoever calls its invoker has the address of the std::function in a register that calls
 * preserve, and whoever uses that register later saves it.
 */
__noinline int find_words(__u64 sp)
{
	struct look *look = look_of_cpu();
	__u64 at;

	if (!look)
		return 0;
	at = look->task_at - WINDOW_WORDS / 2 * 8;
	if (look->task_at < sp + WINDOW_WORDS / 2 * 8)
		at = sp & ~7ULL;
	look->next_word = 0;
	if (bpf_probe_read_user(look->words, WINDOW_WORDS * 8, (void *)at))
		__builtin_memset(look->words, 0, WINDOW_WORDS * 8);
	return 0;
}

/*
 * The key of a section whose task @invoker calls, by the next word that is the address of such a
 * std::function: two words of storage, its manager, its invoker. 0 if there is none any more.
 * What was left by calls that are over may look like one, too.
 */
__noinline __u64 next_key(__u64 invoker)
{
	struct look *look = look_of_cpu();
	__u64 function[5];

	if (!look)
		return 0;
	for (__u32 i = 0; i < WINDOW_WORDS; i++) {
		__u64 word = look->words[i], closure, key;

		if (i < look->next_word || word & 7 || word < LOWEST_ADDRESS ||
		    word >= ADDRESS_END ||
		    bpf_probe_read_user(function, sizeof(function), (void *)word))
			continue;
		/* In what a task is made of, it is behind a word. */
		if (function[3] == invoker)
			closure = function[0];
		else if (function[4] == invoker)
			closure = function[1];
		else
			continue;
		look->next_word = i + 1;
		key = read_pointer(closure);
		return key < LOWEST_ADDRESS ? closure : key;
	}
	return 0;
}

/*
 * The thread of look, whose stack pointer is @sp, is in a task of @invoker. Is there one operator
 * that it can be of? Then it is in look->open: the key is in the stack of a thread that is in it.
 */
__noinline int find_launcher(__u64 sp, __u64 invoker)
{
	struct walk *walk = walk_of_cpu();
	struct look *look = look_of_cpu();
	struct open_operator found = {};
	__u64 last = 0;

	if (!walk || !look)
		return 0;
	find_words(sp);
	for (int i = 0; i < KEYS_TRIED; i++) {
		__u64 key = next_key(invoker);

		if (!key)
			break;
		if (key == last)
			continue;
		last = key;
		walk_start(walk, key, ADDRESS_END);
		if (next_operator())
			continue;
		if (found.kernel && found.kernel != look->open.kernel)
			return 0;
		found = look->open;
	}
	look->open = found;
	return found.kernel != 0;
}

/* -- operators that were not seen before -------------------------------------------------- */

/*
 * Up to @n words of a stack from @at on, up to @end at most, to @words: as many as can be had,
 * where it ends with its mapping.
 */
static __always_inline __u32 copy_stack(__u64 *words, __u32 n, __u64 at, __u64 end)
{
	for (; n >= 32; n /= 2)
		if (at + n * 8 <= end && !bpf_probe_read_user(words, n * 8, (void *)at))
			return n;
	return 0;
}

/* Send what there is on the stack above the outermost of look->around, and of the run. */
__noinline int send_stack(void)
{
	const struct look *look = look_of_cpu();
	const struct open_operator *outermost;
	struct stack_record *record;
	__u32 instance;

	if (!look)
		return 0;
	outermost = &look->around[(look->n - 1) & (SAMPLE_AROUND_MAX - 1)];
	record = record_reserve(sizeof(*record));
	if (!record)
		return 0;
	instance = look->around[0].instance;
	record->type = RECORD_STACK;
	record->instance = instance;
	record->generation = instance_of(instance)->generation;
	record->n_sessions = look->n;
	for (__u32 i = 0; i < SAMPLE_AROUND_MAX; i++)
		record->sessions[i] = i < look->n ? look->around[i].session : 0;
	record->n = copy_stack(record->words, SAMPLED_OWN_STACK, outermost->found, look->end);
	record->n_run =
		copy_stack(record->words + SAMPLED_OWN_STACK, SAMPLED_STACK - SAMPLED_OWN_STACK,
			   outermost->frame & ~7ULL, ADDRESS_END);
	record_submit(record);
	return 1;
}

/*
 * Ask user space whose the session of look->around[0] is, unless it knows. Each operator is new
 * once, so that of a session that cannot be told no more is asked for than it has operators.
 */
static __always_inline void ask_whose(const struct look *look)
{
	struct sampled_session session = {
		.root = look->around[0].session,
		.instance = look->around[0].instance,
		.generation = instance_of(look->around[0].instance)->generation,
	};

	if (session.root && !bpf_map_lookup_elem(&sessions_told, &session))
		send_stack();
}

/* The id of look->around[@i], inside of operator @parent: known, or given now. */
__noinline int id_of_around(__u32 i, __u32 parent)
{
	const struct look *look = look_of_cpu();
	struct operator_key key = {.owned = 1};
	const struct open_operator *open;
	struct identity identity = {};
	__u32 id;

	if (!look)
		return NO_ID;
	open = &look->around[i & (SAMPLE_AROUND_MAX - 1)];
	key.index = open->kernel;
	key.instance = open->instance;
	id = operator_lookup(&key);
	if (id != NO_ID)
		return id;
	identity.id = NO_ID;
	if (!layout_of(key.instance)->proven) {
		identity.key = key;
		identity.tid = look->tid;
		identity.parent = NO_ID;
		identity.generation = instance_of(key.instance)->generation;
		send_sighting(&identity, open->context);
		return NO_ID;
	}
	if (!operator_new(&key, &identity, look->tid, open->session, 0))
		return identity.id;
	identity.parent = parent;
	if (!send_strings(&identity))
		return NO_ID;
	operator_keep(&identity);
	return identity.id;
}

static __always_inline __u64 session_of(const struct open_operator *open)
{
	return read_pointer(open->context + layout_of(open->instance)->session);
}

/*
 * look->open is not known yet: find what it is inside of, further up the stack of the walk, and
 * tell of all of them; what lies on the stack is told as well. An operator and the one around it
 * are of different sessions, as a subgraph has its own: what is found further up of the same
 * session was left there by a call that is over. Returns the id.
 */
__noinline int first_sight(void)
{
	struct walk *walk = walk_of_cpu();
	struct look *look = look_of_cpu();
	__u32 id = NO_ID;

	if (!walk || !look)
		return NO_ID;
	walk_further(walk, look->open.found, look->end);
	look->around[0] = look->open;
	look->n = 1;
	look->task = 1; /* none is looked for any more */
	if (!layout_of(look->open.instance)->proven)
		return id_of_around(0, NO_ID);
	look->around[0].session = session_of(&look->open);
	for (__u32 i = 1; i < LANDMARKS_TRIED; i++) {
		__u32 n = look->n;

		if (n >= SAMPLE_AROUND_MAX || next_operator())
			break;
		look->open.session = session_of(&look->open);
		if (look->open.session == look->around[(n - 1) & (SAMPLE_AROUND_MAX - 1)].session)
			continue;
		look->around[n & (SAMPLE_AROUND_MAX - 1)] = look->open;
		look->n = n + 1;
	}
	ask_whose(look);
	for (__u32 i = SAMPLE_AROUND_MAX; i-- > 0;)
		if (i < look->n)
			id = id_of_around(i, id);
	return id;
}

/* -- the sample ------------------------------------------------------------------------ */

/* What a thread was doing when it was looked at. */
struct doing {
	__u32 pid, tid;
	__u32 id; /* of the operator, or NO_ID */
	__u32 instance;
	__u32 kind;  /* enum sample_kind */
	__u32 flags; /* SAMPLE_IN_RUNTIME */
	__u64 time;  /* ns, when it was looked at */
	__u64 ip;    /* in user space */
	__u64 mapped;
};

/* The thread is in, or works for, look->open: whose id is that? */
__noinline int id_of_open(void)
{
	const struct look *look = look_of_cpu();
	struct operator_key key = {.owned = 1};
	__u32 id;

	if (!look)
		return NO_ID;
	key.index = look->open.kernel;
	key.instance = look->open.instance;
	id = operator_lookup(&key);
	return id != NO_ID ? id : first_sight();
}

/* What is the thread of look doing, that has these @registers? Returns enum sample_kind. */
static __always_inline __u32 look_at(struct look *look, struct walk *walk,
				     const struct user_registers *registers)
{
	__u64 sp = registers->sp;
	const struct sampled_process *process;
	int end;

	look->end = stack_end(sp, look->pid, look->tid);
	walk_thread(walk, registers, look->end);
	end = next_operator();
	if (!end)
		return SAMPLE_OWN;
	if (!look->task)
		return end == WALK_END ? SAMPLE_NOTHING : SAMPLE_UNKNOWN;
	/* It works for an operator that another thread is in. */
	look->end = ADDRESS_END;
	process = bpf_map_lookup_elem(&sampled, &look->pid);
	if (!process)
		return SAMPLE_UNKNOWN;
	return find_launcher(sp,
			     process->landmarks[(look->task - 1) & (SAMPLED_LANDMARKS - 1)].object)
		       ? SAMPLE_POOL
		       : SAMPLE_UNKNOWN;
}

/* What the current thread is doing; false if it is no target's. */
static __always_inline bool look_at_current(struct doing *doing)
{
	const struct sampled_process *process;
	struct walk *walk = walk_of_cpu();
	struct look *look = look_of_cpu();
	struct user_registers registers;

	if (!recording || !walk || !look || !current_target(&doing->pid, &doing->tid))
		return false;
	process = bpf_map_lookup_elem(&sampled, &doing->pid);
	if (!process)
		return false;
	/* What is done from here on belongs to the time off the CPU, as by the scheduler's account.
	 */
	doing->time = bpf_ktime_get_ns();
	registers = user_registers();
	walk->pid = look->pid = doing->pid;
	walk->low = process->low;
	walk->span = process->span;
	walk->turns = SAMPLE_TURNS;
	look->tid = doing->tid;
	look->task = 0;
	look->open.instance = process->instance;
	doing->kind = look_at(look, walk, &registers);
	doing->id = NO_ID;
	if (doing->kind == SAMPLE_OWN || doing->kind == SAMPLE_POOL) {
		doing->id = id_of_open();
		if (doing->id == NO_ID)
			doing->kind = SAMPLE_UNNAMED;
	}
	doing->instance = look->open.instance;
	doing->ip = registers.ip;
	doing->mapped = pages_of_code();
	doing->flags = 0;
	if (registers.ip - process->code_low < process->code_span)
		doing->flags = SAMPLE_IN_RUNTIME;
	return true;
}

/* Tell of @amount of what samples are of, @ready of which it could have run. */
static __always_inline void send_sample(const struct doing *doing, __u32 flags, __u64 time,
					__u64 amount, __u64 ready)
{
	struct sample_record *record = record_reserve(sizeof(*record));

	if (!record)
		return;
	record->type = RECORD_SAMPLE;
	record->instance = doing->instance;
	record->kind = doing->kind;
	record->flags = doing->flags | flags;
	record->tid = doing->tid;
	record->pid = doing->pid;
	record->id = doing->id;
	record->time = time;
	record->period = amount;
	record->ready = ready;
	record->ip = doing->ip;
	record->mapped = doing->mapped;
	record_submit(record);
}

/* Events on this CPU that there was a sample for, of whatever process, or that are left out. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} events_counted SEC(".maps");

/*
 * With a sample at each so many events, of which there have been @amount since those that are
 * @counted: what had no sample, as the kernel left it out. Where several are due at once, it may
 * come yet.
 */
static __always_inline void count_left_out(__u64 *counted, __u64 amount)
{
	__u64 more;

	if (amount < sample_every) {
		__sync_fetch_and_add(&events_left_out, -sample_every);
		return;
	}
	more = amount - amount % sample_every - sample_every;
	if (more)
		__sync_fetch_and_add(&events_left_out, more);
	*counted += more + sample_every;
}

/*
 * What the sample stands for: the period of a clock, so many events, or by rate, where periods
 * follow how often they happen, all since the sample before it.
 */
static __always_inline __u64 amount_of(struct bpf_perf_event_data *ctx)
{
	__u64 period = sample_periods[bpf_get_smp_processor_id() & (SAMPLED_CPUS - 1)], amount;
	struct bpf_perf_event_value value;
	__u32 zero = 0;
	__u64 *counted;

	if (period)
		return period;
	counted = bpf_map_lookup_elem(&events_counted, &zero);
	if (!counted || bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
		return ctx->sample_period;
	/* Where the CPU was off meanwhile, its event is a new one. */
	if (value.counter < *counted)
		*counted = 0;
	amount = value.counter - *counted;
	if (sample_every) {
		count_left_out(counted, amount);
		return sample_every;
	}
	*counted = value.counter;
	return amount;
}

/* An event on a CPU: of whatever runs there, which is a target's thread or not. */
SEC("perf_event")
int ort_sample(struct bpf_perf_event_data *ctx)
{
	__u64 amount = amount_of(ctx);
	struct doing doing;

	if (look_at_current(&doing))
		send_sample(&doing, in_kernel(ctx) ? SAMPLE_IN_KERNEL : 0, doing.time, amount, 0);
	return 0;
}

#endif

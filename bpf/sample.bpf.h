/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples: what a thread is doing at a moment, told by its stack. No probe is hit. As long as
 * a thread is in an operator, the address that the operator's call returns to lies on its
 * stack: a landmark (user/runtime/runtime.h), at a known distance from the object that tells
 * which operator it is.
 *
 *	walk_thread(registers) ─▶ { walk_on() ─▶ which landmark, and where }
 *
 * On x86-64 a call that is over has left such an address as well. It is overwritten by the next
 * call from the same function; below the stack pointer nothing is looked at; and what is found
 * counts only if the object is one of its class. On arm64 the frames that are live are chained.
 */
#ifndef OPPROBE_SAMPLE_BPF_H
#define OPPROBE_SAMPLE_BPF_H

#include "operators.bpf.h"

#define SAMPLE_WORDS  128 /* of the stack, read at once */
#define SAMPLE_BYTES  (SAMPLE_WORDS * 8)
#define SAMPLE_CHUNKS 128 /* so many at most, and as many turns of the walk: 128 KiB */
#define SAMPLE_TURNS  256 /* of all walks that one sample takes */
#define PAGE_BYTES    4096
/* Of user space, where pages have four levels, of 4 KiB. */
#if defined(__TARGET_ARCH_arm64)
#define ADDRESS_END (1ULL << 48)
#else
#define ADDRESS_END (1ULL << 47)
#endif

/* The processes that are sampled, by pid; written by user space. */
SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, INSTANCES_MAX);
	__type(key, __u32);
	__type(value, struct sampled_process);
} sampled SEC(".maps");

enum walk_end {
	WALK_END = 64,	 /* the stack ends, */
	WALK_UNREADABLE, /* goes on where nothing can be read, */
	WALK_LONG,	 /* or is longer than is looked at */
};

/*
 * A walk up a stack, one per CPU: nothing interrupts a program on an event but an event, whose
 * program is not run then (bpf_overflow_handler()).
 */
struct walk {
	__u64 at;	 /* where words[] are from */
	__u64 end;	 /* of the stack */
	__u64 record;	 /* by frames: the next one's record */
	__u64 place;	 /* where the last landmark was found, */
	__u64 found;	 /* and what its distance is from */
	__u64 low, span; /* of the process's landmarks */
	__u32 pid;
	__u32 next;  /* word to look at */
	__u32 turns; /* left for this walk and those that follow it for the same sample */
	__u32 by_frames;
	__u64 words[SAMPLE_WORDS];
};

SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk);
} walks SEC(".maps");

static __always_inline struct walk *walk_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&walks, &zero);
}

/* From @at up to @end. */
static __always_inline void walk_start(struct walk *walk, __u64 at, __u64 end)
{
	walk->by_frames = 0;
	walk->at = (at & ~7ULL) - SAMPLE_BYTES;
	walk->end = end;
	walk->next = SAMPLE_WORDS;
}

/*
 * Read the words behind those that there are. Where the stack ends with its mapping, the last
 * ones are fewer.
 */
static __always_inline bool walk_read(struct walk *walk)
{
	__u64 at = walk->at + SAMPLE_BYTES;
	__u32 n = PAGE_BYTES - (at & (PAGE_BYTES - 1));

	walk->at = at;
	walk->next = 0;
	if (!bpf_probe_read_user(walk->words, SAMPLE_BYTES, (void *)at))
		return true;
	if (n >= SAMPLE_BYTES)
		return false;
	__builtin_memset(walk->words, 0, SAMPLE_BYTES);
	walk->end = at + n;
	return !bpf_probe_read_user(walk->words, n & (SAMPLE_BYTES - 1), (void *)at);
}

/* The next word that may be a landmark, of those that were read; SAMPLE_WORDS: none. */
__weak __noinline int next_code_word(void)
{
	struct walk *walk = walk_of_cpu();
	__u64 low, span;
	__u32 from;

	if (!walk)
		return SAMPLE_WORDS;
	from = walk->next;
	low = walk->low;
	span = walk->span;
	for (__u32 i = 0; i < SAMPLE_WORDS; i++)
		if (walk->words[i] - low < span && i >= from)
			return i;
	return SAMPLE_WORDS;
}

/* The landmark of process @pid at @address, plus 1; 0: there is none. */
__weak __noinline int landmark_at(__u32 pid, __u64 address)
{
	const struct sampled_process *process = bpf_map_lookup_elem(&sampled, &pid);

	for (__u32 i = 0; process && i < SAMPLED_LANDMARKS; i++) {
		if (i >= process->n)
			break;
		if (process->landmarks[i].address == address)
			return i + 1;
	}
	return 0;
}

#if defined(__TARGET_ARCH_arm64)
#define NO_RECORD 1 /* where none can be */

/*
 * Who is called saves the address to return to in its frame record, behind that of the caller's
 * (AAPCS64, "The Frame Pointer"). So only frames that are live are looked at.
 */
static __always_inline int next_of_frames(struct walk *walk)
{
	for (__u32 turn = 0; walk->turns && turn < SAMPLE_CHUNKS; turn++) {
		__u64 record[2], place = walk->record;
		int landmark;

		walk->turns--;
		if (!place)
			return WALK_END;
		if (place & 7 || bpf_probe_read_user(record, sizeof(record), (void *)place))
			return WALK_UNREADABLE;
		/* The outermost has none around it, and others are further up: else it is none. */
		walk->record = record[0] > place || !record[0] ? record[0] : NO_RECORD;
		landmark = landmark_at(walk->pid, record[1]);
		if (!landmark)
			continue;
		walk->place = place;
		walk->found = record[0];
		return landmark - 1;
	}
	return WALK_LONG;
}

/* Where the caller's frame record is, of whose call the address to return to is at @place. */
static __always_inline __u64 caller_of(__u64 place)
{
	__u64 record = 0;

	bpf_probe_read_user(&record, sizeof(record), (void *)(place - 8));
	return record;
}
#else
static __always_inline int next_of_frames(struct walk *walk)
{
	return WALK_END;
}

/* Calls push that address: it lies right below the caller's frame. */
static __always_inline __u64 caller_of(__u64 place)
{
	return place;
}
#endif

/* The number of the next landmark, or enum walk_end. */
__weak __noinline int walk_on(void)
{
	struct walk *walk = walk_of_cpu();

	if (walk && walk->by_frames)
		return next_of_frames(walk);
	for (__u32 turn = 0; walk && walk->turns && turn < SAMPLE_CHUNKS; turn++) {
		__u32 i, landmark;

		walk->turns--;
		if (walk->next >= SAMPLE_WORDS) {
			if (walk->at + SAMPLE_BYTES >= walk->end)
				return WALK_END;
			if (!walk_read(walk))
				return WALK_UNREADABLE;
		}
		i = next_code_word();
		walk->next = i + 1;
		if (i >= SAMPLE_WORDS)
			continue;
		landmark = landmark_at(walk->pid, walk->words[i]);
		if (!landmark)
			continue;
		walk->place = walk->at + 8 * i;
		walk->found = caller_of(walk->place);
		return landmark - 1;
	}
	return WALK_LONG;
}

/* -- the thread that is looked at ------------------------------------------------------- */

struct user_registers {
	__u64 sp, ip, fp;
};

#define TASK_EXITS   0x4    /* PF_EXITING of include/linux/sched.h */
#define THREAD_BYTES 0x4000 /* of a kernel stack, x86-64 */

#if defined(__TARGET_ARCH_x86)
/* Those of the current thread in user space: task_pt_regs() of arch/x86/include/asm/processor.h. */
static __always_inline struct pt_regs *task_regs(void)
{
	char *stack = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), stack);

	return (struct pt_regs *)(stack + THREAD_BYTES) - 1;
}
#endif

/* Where the current thread is in user space, or was when it entered the kernel. */
static __always_inline struct user_registers user_registers(void)
{
	struct user_registers registers = {};
	struct pt_regs *regs;

#if defined(__TARGET_ARCH_x86)
	if (use_task_regs) {
		regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
		registers.sp = regs->sp;
		registers.ip = regs->ip;
	} else {
		registers.sp = BPF_CORE_READ(task_regs(), sp);
		registers.ip = BPF_CORE_READ(task_regs(), ip);
	}
#elif defined(__TARGET_ARCH_arm64)
	if (use_task_regs) {
		regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
		registers.sp = regs->user_regs.sp;
		registers.ip = regs->user_regs.pc;
		registers.fp = regs->user_regs.regs[29];
	}
#endif
	return registers;
}

/*
 * Where the stack ends that has @sp, at the latest. The C library puts what a thread has for
 * itself at the end of its stack, where fs points to; the first one's ends with its arguments.
 */
static __always_inline __u64 stack_end(__u64 sp, __u32 pid, __u32 tid)
{
	__u64 end = 0;

#if defined(__TARGET_ARCH_x86)
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	end = pid == tid ? BPF_CORE_READ(task, mm, start_stack)
			 : BPF_CORE_READ(task, thread.fsbase);
#endif
	/* Of a stack that the program has made itself it is somewhere else. */
	return end > sp && end - sp < SAMPLE_CHUNKS * SAMPLE_BYTES ? end : ADDRESS_END;
}

/* From where the current thread is, up to the @end of its stack. */
static __always_inline void walk_thread(struct walk *walk, const struct user_registers *registers,
					__u64 end)
{
	walk_start(walk, registers->sp, end);
#if defined(__TARGET_ARCH_arm64)
	walk->by_frames = 1;
	walk->record = registers->fp;
#endif
}

/* Further up from what was @found. */
static __always_inline void walk_further(struct walk *walk, __u64 found, __u64 end)
{
	walk_start(walk, found + 8, end);
#if defined(__TARGET_ARCH_arm64)
	walk->by_frames = 1;
	walk->record = found;
#endif
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sessions do before their runs, for any runtime: they load a model, and make of it
 * what is executed. Seldom, and long: a setup has a clock and no counters.
 *
 *	setup_begin() ... it runs ... setup_end() -> emit_setup()
 */
#ifndef OPPROBE_SETUPS_BPF_H
#define OPPROBE_SETUPS_BPF_H

#include "thread.bpf.h"

/*
 * Forget the setups that an exception has left: their functions began below @sp, where
 * this thread is now.
 */
static __always_inline void drop_setups(struct thread_state *thread, __u64 sp)
{
	for (int i = 0; i < SETUPS_MAX; i++) {
		__u32 n = thread->n_setups;

		if (!n || thread->setups[(n - 1) % SETUPS_MAX].sp >= sp)
			break;
		thread->n_setups = n - 1;
	}
}

/*
 * The session @owner begins at @site what is to be told of it before its runs. What its
 * runtime keeps of it is for its runtime to fill in; NULL if it is not to be told.
 */
static __always_inline struct setup *setup_begin(struct thread_state *thread,
						 const struct site *site, __u64 owner)
{
	struct setup *setup;
	__u32 n;

	drop_setups(thread, site->sp + 1);
	n = thread->n_setups;
	if (!recording || n >= SETUPS_MAX)
		return NULL;
	setup = &thread->setups[n % SETUPS_MAX];
	thread->n_setups = n + 1;
	setup->sp = site->sp;
	setup->owner = owner;
	setup->value = site->value;
	setup->instance = site->instance;
	setup->start = bpf_ktime_get_ns();
	return setup;
}

/*
 * At @site, where the stack pointer is @sp, a setup has returned: the innermost one, if
 * that began in the same function, else NULL. Each function has a value of its own.
 */
static __always_inline const struct setup *setup_end(struct thread_state *thread,
						     const struct site *site, __u64 sp)
{
	const struct setup *setup;
	__u32 n;

	drop_setups(thread, sp);
	n = thread->n_setups;
	if (!n)
		return NULL;
	setup = &thread->setups[(n - 1) % SETUPS_MAX];
	if (setup->value != site->value || setup->instance != site->instance)
		return NULL;
	thread->n_setups = n - 1;
	return setup;
}

/* Tell of @setup, of @kind, which was over at @end and returned @status. */
static __always_inline void emit_setup(const struct thread_state *thread, const struct setup *setup,
				       __u8 kind, __u64 end, __u32 status)
{
	struct setup_record *record = recording ? record_reserve(sizeof(*record)) : NULL;

	if (!record)
		return;
	record->type = RECORD_SETUP;
	record->instance = setup->instance;
	record->kind = kind;
	record->tid = thread->tid;
	record->status = status;
	record->owner = setup->owner;
	record->start = setup->start;
	record->end = end;
	__builtin_memcpy(record->name, setup->name, sizeof(record->name));
	record_submit(record);
}

#endif

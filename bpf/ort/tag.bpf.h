/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ONNX Runtime: the tag that a run's caller gave it, in its RunOptions: {int severity,
 * int verbosity, std::string run_tag, ...}, see
 * include/onnxruntime/core/framework/run_options.h. Few runs have one.
 */
#ifndef OPPROBE_ORT_TAG_BPF_H
#define OPPROBE_ORT_TAG_BPF_H

#include "names.bpf.h"

#define LENGTH_BEFORE 24 /* the text of an old string */
#define SEVERITY_MAX  4	 /* ORT_LOGGING_LEVEL_FATAL; the default is -1 */

/* The options, with the tag as libstdc++'s newer string. */
struct run_options {
	__s32 severity, verbosity;
	__u64 text, length;
};

/* Is the string in @options, of either kind, @n long, or longer than a record holds? */
static __always_inline bool is_length(const struct run_options *options, __u64 n)
{
	__u64 older = read_pointer(options->text - LENGTH_BEFORE);

	if (n == TAG_BYTES - 1)
		return options->length >= n || older >= n;
	return n == options->length || n == older;
}

/*
 * Send the tag in the RunOptions at @address, of the run of @thread. Both of GNU's strings
 * begin with a pointer to their text, and its length stands behind or in front of it:
 * which of them it is may not be known yet. What has another length is neither.
 */
static __noinline int tell_tag(struct thread_state *thread, __u64 address)
{
	struct run_options options = {};
	struct tag_record *record;
	char first = 0;
	long size;

	if (!thread || !address ||
	    bpf_probe_read_user(&options, sizeof(options), (void *)address) ||
	    options.severity < -1 || options.severity > SEVERITY_MAX ||
	    bpf_probe_read_user(&first, sizeof(first), (void *)options.text) || !first)
		return 0;
	record = record_reserve(sizeof(*record));
	if (!record)
		return 0;
	record->type = RECORD_TAG;
	record->instance = thread->run_instance;
	record->run = thread->run;
	size = bpf_probe_read_user_str(record->text, sizeof(record->text), (void *)options.text);
	if (size > 1 && is_length(&options, size - 1))
		record_submit(record);
	else
		bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif

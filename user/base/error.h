/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors are values: a function that can fail returns a negative errno and
 * leaves one sentence in a struct error, made where the context is known.
 * The sentence says what failed, on what, why, and what the user can do.
 */
#ifndef OPPROBE_ERROR_H
#define OPPROBE_ERROR_H

struct error {
	char text[1024];
};

/*
 * Store the formatted sentence in @err (which may be NULL) and return @code,
 * a negative errno, so that `return error_set(err, -EINVAL, ...)` reads well.
 * The result is fit for a terminal and for JSON, see utf8_clean(): parts of it
 * may come from the target.
 */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What @error, a negative errno, says, with the remedy where there is one: for sentences. */
const char *error_reason(int error);

#ifdef __clang_analyzer__
/* The analyser sees one file at a time, and must be told that this is a failure. */
#define error_set(err, code, ...)                                                                  \
	({                                                                                         \
		int code_ = (code);                                                                \
		error_set(err, code_, __VA_ARGS__);                                                \
		code_ < 0 ? code_ : -1;                                                            \
	})
#endif

#endif

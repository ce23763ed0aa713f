// SPDX-License-Identifier: GPL-2.0-only
#include "inspector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/array.h"
#include "../base/clock.h"
#include "answers.h"
#include "hands.h"
#include "spawn.h"

#define STOP_PATIENCE UINT64_C(300000000)   /* ns, after the user asked to stop */
#define LOOK_MAX      UINT64_C(200000000)   /* ns between two looks, which are every 20 ms */
#define EXCUSED_MAX   UINT64_C(60000000000) /* ns for which it may have no CPU, a question */

struct inspector {
	const volatile sig_atomic_t *stop;
	pid_t target; /* 0: none */
	pid_t pid;
	int fd;
	struct hands hands;
	bool greeted;
	uint64_t left; /* ns, for answers */
	char opened[HANDS_PATH];
	/* Of the question that is open: waited until then, and when the user asked to stop. */
	uint64_t waited, looked, stopped;
	uint64_t excused; /* ns of what was waited: there was no CPU for it, as ready told last */
	uint64_t ready;
	ARRAY_OF(uint8_t) answer;
	int failed;
	struct error failure;
};

/* -- start ---------------------------------------------------------------------------- */

static int start(struct inspector *inspector, struct error *err)
{
	int questions[2], wants, error;

	error = hands_start(&inspector->hands, &wants, err);
	if (error)
		return error;
	error = spawn_sockets(questions);
	if (!error) {
		const int sockets[2] = {questions[1], wants};

		inspector->fd = questions[0];
		error = spawn_helper(HELPER_INSPECTOR, sockets, &inspector->pid);
		close(questions[1]);
	}
	close(wants);
	return error ? error_set(err, error,
				 "cannot start opprobe's inspector, a process that reads what "
				 "others made: %s",
				 error_reason(error))
		     : 0;
}

struct inspector *inspector_new(const struct process *process, const volatile sig_atomic_t *stop,
				struct error *err)
{
	struct inspector *inspector = calloc(1, sizeof(*inspector));

	if (!inspector) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	inspector->fd = inspector->hands.fd = -1;
	inspector->stop = stop;
	inspector->target = process ? process->pid : 0;
	inspector->left = INSPECTOR_TIME;
	if (start(inspector, err)) {
		inspector_free(inspector);
		return NULL;
	}
	return inspector;
}

void inspector_hurry(const struct inspector *inspector)
{
	spawn_hurry(inspector->pid);
	spawn_hurry(inspector->hands.pid);
}

void inspector_allow(struct inspector *inspector, uint64_t ns)
{
	inspector->left = ns;
}

void inspector_allow_more(struct inspector *inspector, uint64_t ns)
{
	inspector->left += ns;
	if (inspector->left > INSPECTOR_TIME)
		inspector->left = INSPECTOR_TIME;
}

/* -- end --------------------------------------------------------------------------------- */

/* End it, and tell how it ended: wait status, or -1 if that is not to be had. */
static int end(struct inspector *inspector)
{
	int status = -1;

	if (inspector->fd >= 0)
		close(inspector->fd);
	inspector->fd = -1;
	/* One that ended by itself tells why. */
	if (inspector->pid > 0)
		status = spawn_end(inspector->pid, inspector->failed == -EPIPE);
	inspector->pid = 0;
	return status;
}

void inspector_retire(struct inspector *inspector)
{
	if (!inspector->failed)
		inspector->failed =
			error_set(&inspector->failure, -ESRCH,
				  "process %d has exited, and is not looked into any more",
				  inspector->target);
	end(inspector);
	hands_end(&inspector->hands);
}

void inspector_free(struct inspector *inspector)
{
	if (!inspector)
		return;
	end(inspector);
	hands_end(&inspector->hands);
	array_free(&inspector->answer);
	free(inspector);
}

/* Whose files and objects, for sentences. */
static void name_target(const struct inspector *inspector, char *text, size_t size)
{
	if (inspector->target)
		snprintf(text, size, "process %d", inspector->target);
	else
		snprintf(text, size, "the file");
}

/* Why it ended by itself. */
static void say_end(struct inspector *inspector, const char *target, int status)
{
	struct error *err = &inspector->failure;
	int signal = status >= 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (signal == SIGBUS)
		error_set(
			err, -ESTALE,
			"a file of %s was cut short while it was read: try again when it has been "
			"replaced",
			target);
	else if (signal == SIGSYS)
		error_set(
			err, -EBADMSG,
			"opprobe's inspector tried what it has no right to while it looked into %s, "
			"and was ended: please report it",
			target);
	else if (signal == SIGXCPU)
		error_set(err, -ETIME, "looking into %s took too much time on the CPU", target);
	else if (signal == SIGKILL)
		error_set(err, -ENOMEM,
			  "opprobe's inspector was killed while it looked into %s, perhaps by the "
			  "kernel for want of memory (see dmesg)",
			  target);
	else if (signal)
		error_set(err, -EBADMSG,
			  "opprobe's inspector ended with signal %d (%s) while it looked into %s: "
			  "something in it is damaged in a way that opprobe does not know, please "
			  "report it",
			  signal, strsignal(signal), target);
	else
		error_set(err, -EBADMSG,
			  "opprobe's inspector ended while it looked into %s: there may be too "
			  "little memory",
			  target);
}

/* Has it failed before? Then the same again. */
static int failed(const struct inspector *inspector, struct error *err)
{
	if (inspector->failed && err)
		*err = inspector->failure;
	return inspector->failed;
}

/* It is of no use any more, because of @error; returns it. */
static int fail(struct inspector *inspector, int error, struct error *err)
{
	char target[64];
	int status;

	inspector->failed = error == -ECONNRESET ? -EPIPE : error;
	status = end(inspector);
	name_target(inspector, target, sizeof(target));
	switch (inspector->failed) {
	case -EPIPE:
		say_end(inspector, target, status);
		break;
	case -ETIME:
		error_set(&inspector->failure, error,
			  "looking into %s took longer than %.1f s and was given up: its files or "
			  "objects are not those of a runtime that opprobe knows, or withheld",
			  target, inspector->left / 1e9);
		break;
	case -EINTR:
		error_set(&inspector->failure, error, "interrupted while looking into %s", target);
		break;
	default:
		error_set(&inspector->failure, error, "opprobe's inspector of %s failed: %s",
			  target, error_reason(error));
	}
	if (inspector->failed != -EINTR)
		inspector->failed = -ENOTRECOVERABLE;
	return failed(inspector, err);
}

/* -- questions ------------------------------------------------------------------------------ */

static void begin_waiting(struct inspector *inspector)
{
	inspector->looked = clock_ns();
	inspector->waited = inspector->stopped = inspector->excused = 0;
}

/* Add what was waited since the last look. Who was stopped meanwhile did not wait for others. */
static void add_waited(struct inspector *inspector)
{
	uint64_t now = clock_ns(), since = now - inspector->looked;

	inspector->waited += since < LOOK_MAX ? since : LOOK_MAX;
	inspector->looked = now;
}

/*
 * On a machine that has no CPU for it the inspector is not what is slow; but
 * neither does anybody wait for it for ever.
 */
static void excuse(struct inspector *inspector)
{
	uint64_t before = inspector->ready, ready = spawn_ready_ns(inspector->pid), more;

	if (ready <= before)
		return;
	inspector->ready = ready;
	more = ready - before;
	if (more > inspector->waited)
		more = inspector->waited;
	if (inspector->excused + more > EXCUSED_MAX)
		return;
	inspector->excused += more;
	inspector->waited -= more;
}

static int patience(void *context)
{
	struct inspector *inspector = context;

	add_waited(inspector);
	if (inspector->stop && *inspector->stop && !inspector->stopped)
		inspector->stopped = inspector->looked;
	if (inspector->stopped && inspector->looked - inspector->stopped > STOP_PATIENCE)
		return -EINTR;
	if (inspector->waited > inspector->left)
		excuse(inspector);
	return inspector->waited > inspector->left ? -ETIME : 0;
}

/* Receive what must be an answer of @type into @answer. */
static int receive(struct inspector *inspector, uint32_t type)
{
	struct message head;
	int error = message_receive(inspector->fd, &head, NULL, patience, inspector);

	if (error)
		return error;
	if (head.type != type || head.size < sizeof(struct answer) || head.size > ANSWER_MAX)
		return -EBADMSG;
	inspector->answer.n = 0;
	error = array_extend(&inspector->answer, head.size);
	return error
		       ?: message_receive_data(inspector->fd, inspector->answer.items, head.size,
					       patience, inspector);
}

/* The result of what was received; a failure with its sentence. */
static int result_of(struct inspector *inspector, struct error *err)
{
	struct answer *answer = (struct answer *)inspector->answer.items;

	answer->text[sizeof(answer->text) - 1] = '\0';
	if (answer->result < -4095)
		answer->result = -EBADMSG;
	if (answer->result < 0 && *answer->text)
		error_set(err, answer->result, "%s", answer->text);
	return answer->result;
}

/* The first it says is whether it has given up its rights. */
static int greet(struct inspector *inspector, struct error *err)
{
	int error = receive(inspector, 0);

	if (error)
		return fail(inspector, error, err);
	error = result_of(inspector, &inspector->failure);
	if (error) {
		end(inspector);
		inspector->failed = error < 0 ? -EPERM : -EBADMSG;
		return failed(inspector, err);
	}
	inspector->greeted = true;
	return 0;
}

static int exchange(struct inspector *inspector, enum question question, const void *data,
		    size_t size, struct error *err)
{
	int error = inspector->greeted ? 0 : greet(inspector, err);

	if (error)
		return error;
	error = message_send(inspector->fd, question, data, size, -1, patience, inspector);
	error = error ?: receive(inspector, question);
	return error ? fail(inspector, error, err) : 0;
}

int inspector_ask(struct inspector *inspector, enum question question, const void *data,
		  size_t size, size_t wanted, const void **data_back, struct error *err)
{
	int error = failed(inspector, err);

	if (error)
		return error;
	begin_waiting(inspector);
	error = exchange(inspector, question, data, size, err);
	add_waited(inspector);
	inspector->left -=
		inspector->waited < inspector->left ? inspector->waited : inspector->left;
	if (error)
		return error;
	error = result_of(inspector, err);
	if (error >= 0 && wanted && inspector->answer.n != sizeof(struct answer) + wanted)
		return fail(inspector, -EBADMSG, err);
	if (data_back)
		*data_back = inspector->answer.items + sizeof(struct answer);
	return error;
}

size_t inspector_answered(const struct inspector *inspector)
{
	return inspector->answer.n - sizeof(struct answer);
}

/* The hands are elsewhere: they get a whole path. 0 or a negative errno with @err set. */
static int set_path(struct hands_task *task, const char *path, struct error *err)
{
	char *whole = realpath(path, NULL);
	int error = -errno;

	if (whole) {
		size_t size = strlen(whole) + 1;

		error = size <= sizeof(task->path) ? 0 : -ENAMETOOLONG;
		memcpy(task->path, whole, error ? 0 : size);
	}
	free(whole);
	return error ? error_set(err, error, "cannot open %s: %s", path, error_reason(error)) : 0;
}

int inspector_hand_over(struct inspector *inspector, const struct wanted_file *file,
			struct error *err)
{
	struct hands_task task = {
		.pid = inspector->target, .is_mapped = file->mapped, .is_open = file->open};
	int error = failed(inspector, err);

	if (error)
		return error;
	if (file->mapped)
		task.mapped = *file->mapped;
	if (file->open)
		snprintf(task.path, sizeof(task.path), "%s", file->path);
	error = file->mapped || file->open ? 0 : set_path(&task, file->path, err);
	if (error)
		return error;
	begin_waiting(inspector);
	error = hands_set(&inspector->hands, &task, file->open ? *file->open : -1, patience,
			  inspector);
	return error ? fail(inspector, error, err) : 0;
}

int inspector_locate(struct inspector *inspector, const struct wanted_file *file, const char *name,
		     const struct runtime *only, struct location *location, uint32_t *number,
		     const char **path, struct error *err)
{
	struct locate_question question = {.runtime = runtime_number(only)};
	const void *data;
	int error;

	snprintf(question.name, sizeof(question.name), "%s", name);
	error = inspector_hand_over(inspector, file, err);
	error = error
			?: inspector_ask(inspector, ASK_LOCATE, &question, sizeof(question), 0,
					 &data, err);
	if (error)
		return error < 0 ? error : fail(inspector, -EBADMSG, err);
	error = hands_opened(&inspector->hands, inspector->opened, patience, inspector);
	*path = inspector->opened;
	error = error ?: answers_location(data, inspector_answered(inspector), location, number);
	return error ? fail(inspector, error, err) : 0;
}

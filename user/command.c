// SPDX-License-Identifier: GPL-2.0-only
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sudo.h"

#define CANNOT_EXECUTE 126 /* as shells tell it, */
#define NOT_FOUND      127
#define KILLED	       128 /* and the signal */
#define WAIT_SLICE     20  /* ms, between two looks at @stop */

/* What the command's process says before it executes, and if it cannot. */
struct report {
	enum step {
		STEP_READY, /* it waits to be let go */
		STEP_NAMESPACE,
		STEP_USER,
		STEP_EXECUTE,
	} step;
	int error;
};

struct command {
	struct command_options options;
	const struct passwd *user; /* NULL: as opprobe */
	pid_t pid;
	int go, said; /* ends of pipes, or -1 */
	bool executed, ended;
	int status; /* of wait() */
};

/* -- signals ---------------------------------------------------------------------- */

static struct {
	int signal;
	struct sigaction before;
} ignored[4];
static unsigned int n_ignored;

void command_ignore(int signal)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	if (n_ignored == sizeof(ignored) / sizeof(ignored[0]))
		return;
	ignored[n_ignored].signal = signal;
	if (!sigaction(signal, &ignore, &ignored[n_ignored].before))
		n_ignored++;
}

static void restore_signals(void)
{
	for (unsigned int i = 0; i < n_ignored; i++)
		sigaction(ignored[i].signal, &ignored[i].before, NULL);
}

/* -- its own process -------------------------------------------------------------- */

static void say(int said, enum step step, int error)
{
	const struct report report = {step, error};

	if (write(said, &report, sizeof(report)) != sizeof(report))
		_exit(CANNOT_EXECUTE);
}

static void fail(int said, enum step step, int error)
{
	say(said, step, error);
	_exit(error == -ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

/* As a login of @user has it; sudo's own words are no longer true. */
static void set_environment(const struct passwd *user)
{
	static const char *const sudos[] = {"SUDO_USER", "SUDO_UID", "SUDO_GID", "SUDO_COMMAND"};

	setenv("HOME", user->pw_dir, 1);
	setenv("USER", user->pw_name, 1);
	setenv("LOGNAME", user->pw_name, 1);
	setenv("SHELL", *user->pw_shell ? user->pw_shell : "/bin/sh", 1);
	for (size_t i = 0; i < sizeof(sudos) / sizeof(sudos[0]); i++)
		unsetenv(sudos[i]);
}

static int become(const struct passwd *user)
{
	if (initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
		return -errno;
	set_environment(user);
	return 0;
}

static void be_it(const struct command *command, int go, int said)
{
	char *const *arguments = command->options.arguments;
	char word;

	if (unshare(CLONE_NEWNS))
		fail(said, STEP_NAMESPACE, -errno);
	say(said, STEP_READY, 0);
	/* Nobody lets it go any more? Then nothing has begun. */
	if (read(go, &word, 1) != 1)
		_exit(CANNOT_EXECUTE);
	if (command->options.out_to_err)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	restore_signals();
	if (command->user && become(command->user))
		fail(said, STEP_USER, -errno);
	execvp(arguments[0], arguments);
	fail(said, STEP_EXECUTE, -errno);
}

/* -- the start -------------------------------------------------------------------- */

static const struct passwd *find_user(const char *name)
{
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	return getpwnam(name) ?: *name && !*end ? getpwuid(number) : NULL;
}

/* Whose rights the command is to have. 0, or a negative errno with @err set. */
static int choose_user(struct command *command, struct error *err)
{
	const char *name = command->options.user;
	uid_t user;
	gid_t group;

	if (name)
		command->user = find_user(name);
	else if (sudo_user(&user, &group) && user)
		command->user = getpwuid(user);
	else
		return 0;
	if (command->user)
		return 0;
	if (name)
		return error_set(err, -ENOENT, "there is no user '%s' to run the command as", name);
	return error_set(err, -ENOENT,
			 "the user %u, who called sudo, is not known here: name another with "
			 "--user, such as root",
			 user);
}

/* What the process says next. 0 with *@report, -EPIPE if it says no more, or another -errno. */
static int hear(const struct command *command, struct report *report)
{
	ssize_t n;

	do
		n = read(command->said, report, sizeof(*report));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == sizeof(*report) ? 0 : -EPIPE;
}

static int explain(const struct command *command, const struct report *report, struct error *err)
{
	const char *name = command_name(command);

	switch (report->step) {
	case STEP_NAMESPACE:
		return error_set(
			err, report->error,
			"cannot start a command so that its first session is seen: %s; run "
			"opprobe as root (sudo), or start it yourself and give its -p PID",
			error_reason(report->error));
	case STEP_USER:
		return error_set(err, report->error, "cannot run '%s' as %s: %s", name,
				 command->user->pw_name, error_reason(report->error));
	default:
		if (report->error == -ENOENT && !strchr(name, '/'))
			return error_set(
				err, report->error, "there is no command '%s' in PATH%s", name,
				getenv("SUDO_UID") ? ", which sudo may have made another: give its "
						     "whole path"
						   : "");
		return error_set(err, report->error, "cannot execute '%s': %s", name,
				 error_reason(report->error));
	}
}

static int await_ready(struct command *command, struct error *err)
{
	struct report report;
	int error = hear(command, &report);

	if (error)
		return error_set(err, error, "cannot start '%s': %s", command_name(command),
				 error_reason(error));
	return report.step == STEP_READY ? 0 : explain(command, &report, err);
}

static int hold_process(struct command *command, struct error *err)
{
	int go[2] = {-1, -1}, said[2] = {-1, -1}, error = 0;

	if (pipe2(go, O_CLOEXEC) || pipe2(said, O_CLOEXEC))
		error = -errno;
	/* What is in stdio's buffers is opprobe's. */
	fflush(NULL);
	command->go = go[1];
	command->said = said[0];
	command->pid = error ? -1 : fork();
	if (!error && command->pid < 0)
		error = -errno;
	if (!command->pid) {
		close(go[1]);
		close(said[0]);
		be_it(command, go[0], said[1]);
	}
	if (go[0] >= 0)
		close(go[0]);
	if (said[1] >= 0)
		close(said[1]);
	return error ? error_set(err, error, "cannot start '%s': %s", command_name(command),
				 error_reason(error))
		     : await_ready(command, err);
}

struct command *command_start(const struct command_options *options, struct error *err)
{
	struct command *command = calloc(1, sizeof(*command));

	if (!command) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	command->options = *options;
	command->go = command->said = -1;
	if (choose_user(command, err) || hold_process(command, err)) {
		command_free(command);
		return NULL;
	}
	return command;
}

pid_t command_pid(const struct command *command)
{
	return command->pid;
}

const char *command_name(const struct command *command)
{
	return command->options.arguments[0];
}

int command_go(struct command *command, struct error *err)
{
	struct report report;
	int error = write(command->go, "", 1) == 1 ? 0 : -errno;

	error = error ?: hear(command, &report);
	/* It says nothing more once it executes. */
	if (error == -EPIPE) {
		command->executed = true;
		return 0;
	}
	command_wait(command, NULL);
	return error ? error_set(err, error, "cannot start '%s': %s", command_name(command),
				 error_reason(error))
		     : explain(command, &report, err);
}

/* -- the end ---------------------------------------------------------------------- */

static bool reap(struct command *command, int flags)
{
	if (!command->ended && command->pid > 0)
		command->ended = waitpid(command->pid, &command->status, flags) == command->pid;
	return command->ended;
}

bool command_ended(struct command *command)
{
	return reap(command, WNOHANG);
}

bool command_runs(struct command *command)
{
	return command->executed && !command_ended(command);
}

void command_wait(struct command *command, const volatile sig_atomic_t *stop)
{
	const struct timespec slice = {.tv_nsec = WAIT_SLICE * 1000000L};

	while (!reap(command, stop ? WNOHANG : 0) && !(stop && *stop))
		if (stop)
			nanosleep(&slice, NULL);
}

int command_status(const struct command *command)
{
	if (!command->ended)
		return -1;
	return WIFSIGNALED(command->status) ? KILLED + WTERMSIG(command->status)
					    : WEXITSTATUS(command->status);
}

void command_free(struct command *command)
{
	if (!command)
		return;
	if (command->go >= 0)
		close(command->go);
	if (command->said >= 0)
		close(command->said);
	/* Not let go, it ends by itself. */
	if (!command->executed)
		reap(command, 0);
	free(command);
}

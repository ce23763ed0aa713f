// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inspector: what it may not do, what it hands over, and that whatever it
 * says or does not say, the part that has rights gets an answer or a sentence
 * in time. This program is executed again as the inspector, of the kind that
 * the environment tells: a good one, or one that was taken over.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fake_runtime.h"
#include "inspect/answers.h"
#include "inspect/child.h"
#include "inspect/find.h"
#include "inspect/hands.h"
#include "inspect/remote.h"
#include "inspect/sandbox.h"
#include "made_session.h"
#include "needs.h"
#include "runtime/skeleton.h"
#include "target/debug_file.h"
#include "target/elf_image.h"

#define KIND	"OPPROBE_TEST_INSPECTOR"
#define SHORT	UINT64_C(200000000) /* ns */
#define SECONDS UINT64_C(1000000000)
#define CROWD	7

/* -- inspectors that were taken over --------------------------------------------- */

static void say(uint32_t type, const void *data, size_t size)
{
	message_send(HELPER_FIRST, type, data, size, -1, NULL, NULL);
}

static void keep_silent(void)
{
	for (;;)
		poll(NULL, 0, 1000);
}

/* A head that promises what does not come. */
static void promise(uint32_t size)
{
	struct message head = {ASK_LOCATE, size};
	struct iovec io = {&head, sizeof(head)};
	const struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1};

	if (sendmsg(HELPER_FIRST, &message, 0) > 0)
		keep_silent();
}

static void take_question(void)
{
	struct message head;
	char data[8192];

	message_receive(HELPER_FIRST, &head, NULL, NULL, NULL);
	message_receive_data(HELPER_FIRST, data, head.size, NULL, NULL);
}

static void open_a_file(void)
{
	if (open("/etc/passwd", O_RDONLY) < 0)
		exit(0);
}

static void execute(void)
{
	execl("/bin/true", "true", NULL);
}

static void make_code(void)
{
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void kill_its_parent(void)
{
	kill(getppid(), SIGTERM);
}

static void make_a_socket(void)
{
	close(socket(AF_INET, SOCK_STREAM, 0));
}

static void trace(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static void write_a_file(void)
{
	struct iovec io = {"x", 1};

	if (pwritev(HELPER_FIRST, &io, 1, 0) < 0)
		exit(0);
}

static void answer_once(uint32_t question, const struct answer *answer)
{
	say(question, answer, sizeof(*answer));
	keep_silent();
}

static void answer_another_question(void)
{
	answer_once(ASK_VERIFY, &(struct answer){.result = -ENOEXEC, .text = "of another"});
}

static void answer_too_much(void)
{
	promise(UINT32_MAX);
}

static void answer_half(void)
{
	promise(4096);
}

static void answer_nothing(void)
{
	answer_once(ASK_LOCATE, &(struct answer){});
}

static void tell_no_shapes(void)
{
	answer_once(ASK_SHAPES, &(struct answer){.result = 1});
}

static void want_for_ever(void)
{
	struct memory_want want = {0};

	while (!message_send(HELPER_SECOND, WANT_MEMORY, &want, sizeof(want), -1, NULL, NULL))
		;
	keep_silent();
}

static void want_nonsense(void)
{
	char data[sizeof(struct debug_want)];

	memset(data, 'x', sizeof(data));
	message_send(HELPER_SECOND, WANT_DEBUG_FILE, data, sizeof(data), -1, NULL, NULL);
	message_send(HELPER_SECOND, 4711, data, sizeof(data), -1, NULL, NULL);
	keep_silent();
}

static void cut_short(void)
{
	signal(SIGBUS, SIG_DFL); /* not a sanitizer's */
	raise(SIGBUS);
}

static void answer_with_escapes(void)
{
	struct answer answer = {.result = -ENOEXEC};

	memset(answer.text, 'x', sizeof(answer.text)); /* not ended, either */
	memcpy(answer.text, "\033[31m\xc2\x9b", 7);
	answer_once(ASK_LOCATE, &answer);
}

static void answer_late(void)
{
	struct answer answer = {.result = -ENOEXEC, .text = "late"};

	poll(NULL, 0, 3800);
	answer_once(ASK_LOCATE, &answer);
}

/* It has half a second of work, on a CPU. */
static void answer_after_work(void)
{
	struct answer answer = {.result = -ENOEXEC, .text = "worked"};
	struct timespec used = {};

	while (used.tv_nsec < 500000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	answer_once(ASK_LOCATE, &answer);
}

/* Shapes that are always proven, at the second guess. */
static void tell_shapes(bool sane)
{
	struct {
		struct answer answer;
		struct shapes_answer shapes;
	} first = {};
	struct {
		struct answer answer;
		struct words words;
	} proof = {.answer.result = 1};
	struct answer yes = {.result = 1};
	struct ort_shape_layout layout = {.epoch = 1};

	memcpy(&first.shapes.words, &layout, sizeof(layout));
	first.shapes.n_elements = sane ? 1 : UINT32_MAX;
	first.shapes.elements[0].class = 4711;
	first.shapes.elements[0].element = (struct element){ELEMENT_FLOAT, 32};
	layout = (struct ort_shape_layout){.epoch = 2, .proven = 1, .dims = sane ? 8 : 1U << 31};
	memcpy(&proof.words, &layout, sizeof(layout));
	/* The first question was taken. */
	say(ASK_SHAPES, &first, sizeof(first));
	take_question();
	say(ASK_PROVE, &proof, sizeof(proof));
	take_question();
	say(ASK_VERIFY, &yes, sizeof(yes));
	keep_silent();
}

static void tell_good_shapes(void)
{
	tell_shapes(true);
}

static void tell_bad_shapes(void)
{
	tell_shapes(false);
}

static const struct kind {
	const char *name;
	void (*act)(void); /* when it was asked something, in its sandbox or, if @free, out of it */
	const char *sentence;
	bool free;
	bool once; /* the answer is one, and not the end of it */
} kinds[] = {
	{"open", open_a_file, "no right"},
	{"exec", execute, "no right"},
	{"code", make_code, "no right"},
	{"kill", kill_its_parent, "no right"},
	{"socket", make_a_socket, "no right"},
	{"trace", trace, "no right"},
	{"write", write_a_file, "no right"},
	{"silent", keep_silent, "took longer"},
	{"other", answer_another_question, "Bad message"},
	{"much", answer_too_much, "Bad message"},
	{"half", answer_half, "took longer"},
	{"nothing", answer_nothing, "Bad message"},
	{"wants", want_for_ever, "took longer"},
	{"nonsense", want_nonsense, "took longer"},
	{"bus", cut_short, "cut short", true},
	{"escapes", answer_with_escapes, "?[31m", .once = true},
	{"late", answer_late, "took longer"},
	{"works", answer_after_work, "worked", .once = true},
	{"shapes", tell_good_shapes, "Bad message"},
	{"bad shapes", tell_bad_shapes, "Bad message"},
	{"no shapes", tell_no_shapes, "Bad message"},
};

static int act_as(const char *name)
{
	struct answer greeting = {};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, name) != 0)
			continue;
		if (!kinds[i].free)
			greeting.result = sandbox_enter(HELPER_SECOND, NULL);
		say(0, &greeting, sizeof(greeting));
		take_question();
		kinds[i].act();
	}
	return 0;
}

/* -- questions ---------------------------------------------------------------------- */

static struct process self_process(void)
{
	struct process self;

	assert_int_equal(process_open(&self, getpid(), NULL), 0);
	return self;
}

static struct inspector *start(const struct process *process, const volatile sig_atomic_t *stop)
{
	struct error err;
	struct inspector *inspector = inspector_new(process, stop, &err);

	if (!inspector)
		fail_msg("%s", err.text);
	return inspector;
}

static int locate(struct inspector *inspector, const char *path, struct location *location,
		  struct error *err)
{
	const struct wanted_file file = {.path = path};
	const char *opened;
	uint32_t number;

	return inspector_locate(inspector, &file, path, NULL, location, &number, &opened, err);
}

static void whatever_an_inspector_does_there_is_a_sentence_in_time(void **state)
{
	struct process self = self_process();
	struct location location;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint64_t started = clock_ns();
		struct inspector *inspector;
		struct error err = {}, again = {};

#ifdef __SANITIZE_ADDRESS__
		if (!strcmp(kinds[i].sentence, "no right"))
			continue; /* the sanitizer needs more calls: there is no filter */
#endif
		setenv(KIND, kinds[i].name, 1);
		inspector = start(&self, NULL);
		inspector_allow(inspector, 2 * SECONDS);
		assert_true(locate(inspector, "/bin/true", &location, &err) < 0);
		if (!strstr(err.text, kinds[i].sentence))
			fail_msg("%s: %s", kinds[i].name, err.text);
		assert_null(strchr(err.text, '\033'));
		assert_null(strstr(err.text, "\x9b"));
		/* And once it has failed, at once, for the same reason. */
		if (!kinds[i].once) {
			assert_true(locate(inspector, "/bin/true", &location, &again) < 0);
			assert_string_equal(again.text, err.text);
		}
		inspector_free(inspector);
		assert_true(clock_ns() - started < 8 * SECONDS);
	}
	unsetenv(KIND);
	process_close(&self);
}

static void an_answer_has_the_size_of_what_was_asked_for(void **state)
{
	struct process self = self_process();
	struct inspector *inspector;
	const void *data = NULL;
	struct error err = {}, again = {};

	setenv(KIND, "no shapes", 1);
	inspector = start(&self, NULL);
	assert_int_equal(
		inspector_ask(inspector, ASK_SHAPES, "x", 1, sizeof(struct words), &data, &err),
		-ENOTRECOVERABLE);
	assert_non_null(strstr(err.text, "Bad message"));
	/* Asked once more, it is for the same reason that it does not. */
	assert_true(inspector_ask(inspector, ASK_SHAPES, "x", 1, 0, &data, &again) < 0);
	assert_string_equal(again.text, err.text);
	inspector_free(inspector);
	unsetenv(KIND);
	process_close(&self);
}

static void stopping_does_not_wait_for_answers(void **state)
{
	static volatile sig_atomic_t stop = 1;
	struct inspector *inspector;
	struct location location;
	struct error err = {};

	setenv(KIND, "silent", 1);
	inspector = start(NULL, &stop);
	assert_int_equal(locate(inspector, "/bin/true", &location, &err), -EINTR);
	assert_non_null(strstr(err.text, "interrupted"));
	inspector_free(inspector);
	unsetenv(KIND);
	/* An answer that comes soon is taken all the same. */
	inspector = start(NULL, &stop);
	assert_int_equal(locate(inspector, "/bin/true", &location, &err), -ENOENT);
	inspector_free(inspector);
}

/* By a child, after 300 ms. */
static pid_t stop_this_process_for(int ms)
{
	pid_t child = fork();

	if (child)
		return child;
	poll(NULL, 0, 300);
	kill(getppid(), SIGSTOP);
	poll(NULL, 0, ms);
	kill(getppid(), SIGCONT);
	_exit(0);
}

static void time_in_which_opprobe_is_stopped_does_not_count(void **state)
{
	struct inspector *inspector;
	struct location location;
	struct error err = {};
	pid_t stopper;

	setenv(KIND, "late", 1);
	inspector = start(NULL, NULL);
	inspector_allow(inspector, 2 * SECONDS);
	stopper = stop_this_process_for(3000);
	assert_int_equal(locate(inspector, "/bin/true", &location, &err), -ENOEXEC);
	assert_string_equal(err.text, "late");
	assert_int_equal(waitpid(stopper, NULL, 0), stopper);
	inspector_free(inspector);
	unsetenv(KIND);
}

/* As many as want the first CPU that this process may use, and leave it to nobody. */
static void crowd(pid_t *pids, int n)
{
	cpu_set_t all, one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0); /* kill(-1) would be for all */
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			__asm__ volatile("");
	}
}

static void time_in_which_there_is_no_cpu_for_it_does_not_count(void **state)
{
	struct inspector *inspector;
	struct location location;
	struct error err = {};
	pid_t pids[CROWD];
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	setenv(KIND, "works", 1);
	crowd(pids, CROWD);
	inspector = start(NULL, NULL);
	/* It takes half a second for each of the crowd. */
	inspector_allow(inspector, CROWD * SECONDS / 4);
	assert_int_equal(locate(inspector, "/bin/true", &location, &err), -ENOEXEC);
	assert_string_equal(err.text, "worked");
	inspector_free(inspector);
	/* Nobody who works, or who waits for something else, is excused, though. */
	for (int i = 0; i < 2; i++) {
		setenv(KIND, i ? "silent" : "works", 1);
		inspector = start(NULL, NULL);
		inspector_allow(inspector, SHORT);
		assert_int_equal(locate(inspector, "/bin/true", &location, &err), -ENOTRECOVERABLE);
		assert_non_null(strstr(err.text, "took longer"));
		inspector_free(inspector);
	}
	for (int i = 0; i < CROWD; i++) {
		kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	unsetenv(KIND);
}

/* The child that is the inspector. */
static int find_inspector(void)
{
	char path[64], command[64] = "";
	int child = 0;
	FILE *children, *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	children = fopen(path, "re");
	assert_non_null(children);
	while (!strstr(command, "inspector") && fscanf(children, "%d", &child) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/cmdline", child);
		file = fopen(path, "re");
		assert_non_null(file);
		memset(command, 0, sizeof(command));
		assert_true(fread(command, 1, sizeof(command) - 1, file) > 8);
		fclose(file);
		memmove(command, command + 8, sizeof(command) - 8); /* behind "opprobe" */
	}
	fclose(children);
	return child;
}

/* The line of its /proc/PID/status that begins with @key. */
static void read_status(const char *key, char *value, size_t size)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", find_inspector());
	file = fopen(path, "re");
	*value = '\0';
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			snprintf(value, size, "%s", line + strlen(key));
	fclose(file);
}

static void it_has_no_rights_once_it_has_answered(void **state)
{
	struct inspector *inspector;
	struct location location;
	struct error err;
	char value[128];

	if (geteuid())
		leave_out(NEEDS_ROOT);
	inspector = start(NULL, NULL);
	assert_int_equal(locate(inspector, "/bin/true", &location, &err), -ENOENT);
	read_status("Uid:", value, sizeof(value));
	assert_string_equal(value, "\t65534\t65534\t65534\t65534\n");
	read_status("Gid:", value, sizeof(value));
	assert_string_equal(value, "\t65534\t65534\t65534\t65534\n");
	read_status("Groups:", value, sizeof(value));
	assert_string_equal(value, "\t \n");
	read_status("CapPrm:", value, sizeof(value));
	assert_string_equal(value, "\t0000000000000000\n");
	read_status("CapEff:", value, sizeof(value));
	assert_string_equal(value, "\t0000000000000000\n");
	read_status("NoNewPrivs:", value, sizeof(value));
	assert_string_equal(value, "\t1\n");
#ifndef __SANITIZE_ADDRESS__
	read_status("Seccomp:", value, sizeof(value));
	assert_string_equal(value, "\t2\n");
#endif
	inspector_free(inspector);
}

static void nothing_is_left_of_it(void **state)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	for (int i = 0; i < 20; i++) {
		struct inspector *inspector = start(NULL, NULL);
		struct location location;

		if (i & 1)
			locate(inspector, "/bin/true", &location, NULL);
		inspector_free(inspector);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(after, before + 1);
	close(after);
	close(before);
}

/* -- what it finds ------------------------------------------------------------------ */

static void make_runtime(char path[FAKE_PATH])
{
	if (!fake_build("g++", FAKE_FLAGS, "inspected.so", path))
		leave_out(NEEDS_COMPILER);
}

static void what_it_locates_is_what_is_there(void **state)
{
	struct location direct, inspected;
	struct inspector *inspector;
	struct elf_image *image;
	char path[FAKE_PATH];
	struct error err;

	make_runtime(path);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	assert_int_equal(runtime_locate(image, NULL, &direct, NULL), 0);
	elf_image_close(image);
	inspector = start(NULL, NULL);
	if (locate(inspector, path, &inspected, &err))
		fail_msg("%s", err.text);
	assert_ptr_equal(inspected.runtime, direct.runtime);
	assert_string_equal(inspected.version, direct.version);
	assert_string_equal(inspected.build_id, direct.build_id);
	assert_string_equal(inspected.architecture, direct.architecture);
	assert_int_equal(inspected.sites.n, direct.sites.n);
	assert_true(direct.sites.n > 4);
	for (size_t i = 0; i < direct.sites.n; i++) {
		const struct site *a = &direct.sites.items[i], *b = &inspected.sites.items[i];

		assert_int_equal(a->role, b->role);
		assert_string_equal(a->program, b->program);
		assert_int_equal(a->value, b->value);
		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->address, b->address);
		assert_int_equal(a->length, b->length);
		assert_int_equal(a->emulated, b->emulated);
		assert_int_equal(a->routes, b->routes);
		assert_string_equal(a->instruction, b->instruction);
		assert_int_equal(a->stack_depth, b->stack_depth);
		assert_int_equal(a->function, b->function);
	}
	assert_int_equal(inspected.n_notes, direct.n_notes);
	location_free(&direct);
	location_free(&inspected);
	/* What its user may not read, it is handed. */
	chmod(path, 0600);
	assert_int_equal(locate(inspector, path, &inspected, &err), 0);
	location_free(&inspected);
	inspector_free(inspector);
}

static void a_file_is_found_in_a_process_though_another_has_its_name(void **state)
{
	struct inspector *inspector;
	struct process self = self_process();
	struct located *found;
	struct error err = {};
	char path[FAKE_PATH];
	struct stat status;
	void *code;
	int fd;

	make_runtime(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (code == MAP_FAILED)
		leave_out("a /tmp from which programs may be mapped");
	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "another", 7), 7);
	close(fd);
	inspector = start(&self, NULL);
	if (runtime_find(&self, inspector, &found, &err)) {
		if (geteuid())
			leave_out(NEEDS_ROOT);
		fail_msg("%s", err.text);
	}
	assert_true(found->file.deleted);
	assert_int_equal(stat(found->file.open_path, &status), 0);
	assert_int_equal(status.st_ino, found->file.inode);
	assert_null(found->next);
	located_free(found);
	inspector_free(inspector);
	munmap(code, 4096);
	unlink(path);
	process_close(&self);
}

/* Nothing that opprobe opens may wait, or do anything. */
static void only_files_are_opened(void **state)
{
	struct inspector *inspector = start(NULL, NULL);
	struct location location;
	struct error err;
	char path[FAKE_PATH];

	snprintf(path, sizeof(path), "%s/fifo", fake_directory);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(locate(inspector, path, &location, &err) < 0);
	assert_true(locate(inspector, "/dev/zero", &location, &err) < 0);
	assert_true(locate(inspector, "/", &location, &err) < 0);
	assert_int_equal(locate(inspector, "/nowhere", &location, &err), -ENOENT);
	/* Nor where a library's debug file should be. */
	assert_int_equal(debug_file_open(path, DEBUG_LINK, "fifo", 0), -EINVAL);
	unlink(path);
	inspector_free(inspector);
}

static void a_file_of_holes_is_no_library(void **state)
{
	struct inspector *inspector = start(NULL, NULL);
	struct location location;
	char path[FAKE_PATH], sparse[FAKE_PATH];
	uint64_t started;
	struct error err;

	make_runtime(path);
	snprintf(sparse, sizeof(sparse), "%s/sparse.so", fake_directory);
	assert_true(fake_shell("cp %s %s && truncate -s 10G %s", path, sparse, sparse));
	started = clock_ns();
	assert_int_equal(locate(inspector, sparse, &location, &err), -ENOENT);
	assert_true(clock_ns() - started < 5 * SECONDS);
	/* Linkers do leave some. */
	assert_true(fake_shell("cp %s %s && truncate -s +16M %s", path, sparse, sparse));
	assert_int_equal(locate(inspector, sparse, &location, &err), 0);
	location_free(&location);
	unlink(sparse);
	inspector_free(inspector);
}

/* -- names and shapes, read from outside -------------------------------------------------- */

/* A runtime in this very process, and names that are to be read. */
struct names {
	struct opprobe_bpf bpf;
	struct process self;
	struct inspector *inspector;
	struct located *found;
	struct naming *naming;
	void *code;
};

static void begin_names(struct names *n)
{
	struct error err = {};
	char path[FAKE_PATH];
	int fd;

	if (geteuid())
		leave_out(NEEDS_ROOT);
	make_runtime(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n->code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (n->code == MAP_FAILED)
		leave_out("a /tmp from which programs may be mapped");
	n->bpf.bss = calloc(1, sizeof(*n->bpf.bss));
	n->self = self_process();
	n->inspector = start(&n->self, NULL);
	if (runtime_find(&n->self, n->inspector, &n->found, &err))
		fail_msg("%s", err.text);
	n->naming = remote_naming_new(n->found, &n->bpf, 2);
	assert_non_null(n->naming);
}

static void end_names(struct names *n)
{
	n->naming->ops->free(n->naming);
	located_free(n->found);
	inspector_free(n->inspector);
	munmap(n->code, 4096);
	process_close(&n->self);
	free(n->bpf.bss);
}

static void names_are_read_and_the_programs_are_told_where(void **state)
{
	struct session session = make_session(STRING_CXX11, 0x68, 0x10);
	struct sighting_record sighting = sight(&session, 4);
	struct strings_record strings;
	const struct naming_ops *ops;
	struct error err = {};
	struct names n = {};

	begin_names(&n);
	ops = n.naming->ops;
	/* What lies nowhere proves nothing, and harms nothing. */
	sighting.identity.key.session = sighting.context = 8;
	memset(sighting.memory, 0x10, sizeof(sighting.memory));
	assert_int_equal(ops->sight(n.naming, &sighting, &err), -EAGAIN);
	assert_false(ops->settled(n.naming));
	assert_int_equal(n.bpf.bss->ort_layouts[2].proven, 0);
	sighting = sight(&session, 4);
	assert_int_equal(ops->sight(n.naming, &sighting, &err), 0);
	assert_true(ops->settled(n.naming));
	assert_int_equal(n.bpf.bss->ort_layouts[2].proven, 1);
	assert_int_equal(n.bpf.bss->ort_layouts[2].kernels, 0x68);
	for (uint64_t i = 0; i < NODES; i++) {
		sighting = sight(&session, i);
		sighting.identity.id = 100 + i;
		assert_int_equal(ops->describe(n.naming, &sighting.identity, &strings), 0);
		assert_int_equal(strings.identity.id, 100 + i);
		assert_int_equal(strings.op_type_length, strlen(types[i]));
		assert_memory_equal(strings.op_type, types[i], strlen(types[i]));
		assert_int_equal(strings.name_length, strlen(names[i]));
		assert_memory_equal(strings.name, names[i], strlen(names[i]));
	}
	end_names(&n);
}

/* Is operator @index of a session described, and by its own names? */
static bool names_it(const struct names *n, const struct session *session, uint64_t index,
		     uint32_t generation)
{
	struct sighting_record sighting = sight(session, index);
	struct strings_record strings;

	sighting.identity.id = 100 + index;
	sighting.identity.generation = generation;
	if (n->naming->ops->describe(n->naming, &sighting.identity, &strings))
		return false;
	assert_int_equal(strings.identity.id, 100 + index);
	assert_int_equal(strings.identity.generation, generation);
	assert_int_equal(strings.name_length, strlen(names[index]));
	assert_memory_equal(strings.name, names[index], strlen(names[index]));
	return true;
}

static void names_beside_those_asked_for_are_known_until_a_session_ends(void **state)
{
	struct session session = make_session(STRING_CXX11, 0x68, 0x10);
	struct session other = make_session(STRING_CXX11, 0x68, 0x10);
	struct sighting_record sighting = sight(&session, 4);
	struct error err = {};
	struct names n = {};

	begin_names(&n);
	assert_int_equal(n.naming->ops->sight(n.naming, &sighting, &err), 0);
	other.nodes[2][0] = 3;
	assert_true(names_it(&n, &session, 1, 7));
	assert_true(names_it(&n, &other, 1, 7));
	assert_false(names_it(&n, &other, 2, 7));
	/* What is there by now is another one, and those of both came before. */
	session.nodes[4][0] = other.nodes[4][0] = 3;
	assert_true(names_it(&n, &session, 4, 7));
	assert_true(names_it(&n, &other, 4, 7));
	/* Each of them once. */
	assert_false(names_it(&n, &session, 4, 7));
	/* After the end of some session, what was read before is not believed. */
	session.nodes[3][0] = 4;
	assert_false(names_it(&n, &session, 3, 8));
	assert_true(names_it(&n, &session, 2, 8));
	assert_true(names_it(&n, &session, 0, 8));
	end_names(&n);
}

/* Wherever it looks there are a million kernels, of which the last is none. */
static void a_search_that_finds_no_end_is_given_up(void **state)
{
	struct session session = make_session(STRING_CXX11, 0x68, 0x10);
	size_t size = 1000000 * sizeof(uint64_t);
	uint64_t started = clock_ns(), *kernels;
	struct sighting_record sighting;
	struct error err = {};
	struct names n = {};

	kernels = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(kernels != MAP_FAILED);
	kernels[4] = (uintptr_t)session.kernels[4];
	kernels[999999] = (uintptr_t)session.kernels[4];
	for (unsigned int i = 0; i < 0x400 / 8; i++)
		session.state[i] = (uintptr_t)kernels + (i % 3 ? size : 0);
	for (unsigned int i = 0; i < SIGHT_BYTES / 8; i++)
		session.context[i] = (uintptr_t)session.state;
	sighting = sight(&session, 4);
	begin_names(&n);
	inspector_allow(n.inspector, SHORT);
	assert_int_equal(n.naming->ops->sight(n.naming, &sighting, &err), -ENOTRECOVERABLE);
	assert_non_null(strstr(err.text, "took longer"));
	assert_true(clock_ns() - started < 10 * SECONDS);
	end_names(&n);
	munmap(kernels, size);
}

/* Until somebody fills the page, which nobody does: whoever reads it is held. */
static void *make_withheld_page(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register place = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(page != MAP_FAILED);
	place.range = (struct uffdio_range){(uintptr_t)page, 65536};
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &place))
		leave_out("userfaultfd");
	return page;
}

static void memory_that_is_withheld_is_given_up(void **state)
{
	struct session session = make_session(STRING_CXX11, 0x68, 0x10);
	struct sighting_record sighting;
	struct error err = {};
	uint64_t started = clock_ns();
	struct names n = {};

	session.context[0] = (uintptr_t)make_withheld_page();
	sighting = sight(&session, 4);
	begin_names(&n);
	inspector_allow(n.inspector, SHORT);
	assert_int_equal(n.naming->ops->sight(n.naming, &sighting, &err), -ENOTRECOVERABLE);
	/* So long it had, and not what others have. */
	assert_non_null(strstr(err.text, "took longer than 0.2 s"));
	end_names(&n);
	assert_true(clock_ns() - started < 10 * SECONDS);
	/* Whoever was held goes at last. */
	munmap((void *)session.context[0], 65536);
	for (int i = 0; i < 1000 && !waitpid(-1, NULL, WNOHANG); i++)
		poll(NULL, 0, 10);
}

/* Of this process: no other file of it is wanted. */
static struct shapes *begin_shapes(const char *kind, struct inspector **inspector,
				   struct opprobe_bpf *bpf, struct error *err)
{
	const struct process self = {.pid = getpid(), .fd = -1};
	static struct located located;

	bpf->bss = calloc(1, sizeof(*bpf->bss));
	assert_non_null(bpf->bss);
	setenv(KIND, kind, 1);
	*inspector = start(NULL, NULL);
	unsetenv(KIND);
	located = (struct located){.inspector = *inspector, .location.runtime = runtimes[0]};
	return remote_shapes_new(&located, &self, bpf, 1, err);
}

static void shapes_are_those_of_the_guess_that_was_proven(void **state)
{
	struct shapes_record record = {.epoch = 1, .n_values = SHAPE_VALUES};
	struct inspector *inspector;
	struct opprobe_bpf bpf = {};
	struct error err = {};
	struct shapes *shapes = begin_shapes("shapes", &inspector, &bpf, &err);

	if (!shapes)
		fail_msg("%s", err.text);
	assert_int_equal(bpf.bss->ort_shape_layouts[1].epoch, 1);
	assert_int_equal(shapes->ops->element(shapes, 4711)->type, ELEMENT_FLOAT);
	assert_null(shapes->ops->element(shapes, 4712));
	/* Of another epoch: nobody is asked. */
	record.epoch = 2;
	assert_int_equal(shapes->ops->prove(shapes, &record), 0);
	record.epoch = 1;
	assert_int_equal(shapes->ops->prove(shapes, &record), 1);
	assert_int_equal(bpf.bss->ort_shape_layouts[1].epoch, 2);
	assert_int_equal(bpf.bss->ort_shape_layouts[1].dims, 8);
	assert_false(shapes->ops->verify(shapes, &record));
	record.verified = 1;
	assert_false(shapes->ops->verify(shapes, &record));
	record.epoch = 2;
	assert_true(shapes->ops->verify(shapes, &record));
	record.verified = 0;
	assert_true(shapes->ops->verify(shapes, &record));
	shapes->ops->refuse(shapes);
	assert_int_equal(bpf.bss->ort_shape_layouts[1].epoch, 0);
	shapes->ops->free(shapes);
	inspector_free(inspector);
	free(bpf.bss);
}

static void shapes_that_cannot_be_are_not_told_to_the_programs(void **state)
{
	struct inspector *inspector;
	struct opprobe_bpf bpf = {};
	struct error err = {};

	assert_null(begin_shapes("bad shapes", &inspector, &bpf, &err));
	assert_non_null(strstr(err.text, "cannot be"));
	inspector_free(inspector);
	free(bpf.bss);
}

/* -- answers, looked at without trust -------------------------------------------------- */

/* A location as an inspector would tell it: two sites, one name. */
struct told {
	struct located_head head;
	struct located_site sites[2];
	char names[15];
};

static struct told good_answer(void)
{
	struct told told = {
		.head = {.number = 7,
			 .version = "1.2.3",
			 .build_id = "0123abcd",
			 .architecture = "x86_64",
			 .n_sites = 2,
			 .n_names = 1,
			 .n_landmarks = 2,
			 .landmarks = {{.distance = 360, .address = 0x1000, .object = 0x2000},
				       {.kind = LANDMARK_TASK, .address = 0x3000}},
			 .n_notes = 1,
			 .notes = {"a note"}},
		.sites = {{.role = SITE_OP_ENTER, .length = 1, .instruction = "nop"},
			  {.role = SITE_OP_EXIT, .length = 1, .program = 1, .stack_depth = -1}},
	};

	memcpy(told.names, "long-name\0Conv", sizeof(told.names));
	return told;
}

#define TOLD_SIZE (offsetof(struct told, names) + sizeof(((struct told *)0)->names))

static int take_told(const struct told *told, size_t size, struct location *location)
{
	uint32_t number;

	return answers_location(told, size, location, &number);
}

static void expect_refused(struct told told)
{
	struct location location;

	assert_int_equal(take_told(&told, TOLD_SIZE, &location), -EBADMSG);
}

static void an_answer_is_taken_whole_or_not_at_all(void **state)
{
	struct told told = good_answer();
	struct location location;
	uint32_t number;

	assert_int_equal(answers_location(&told, TOLD_SIZE, &location, &number), 0);
	assert_int_equal(number, 7);
	assert_int_equal(location.sites.n, 2);
	assert_string_equal(location.names.items[0].name, "long-name");
	assert_string_equal(location.names.items[0].op_type, "Conv");
	assert_string_equal(location.notes[0], "a note");
	assert_int_equal(location.n_landmarks, 2);
	assert_int_equal(location.landmarks[0].distance, 360);
	assert_int_equal(location.landmarks[1].kind, LANDMARK_TASK);
	location_free(&location);
	for (size_t size = 0; size < TOLD_SIZE; size++)
		assert_int_equal(take_told(&told, size, &location), -EBADMSG);
	assert_int_equal(take_told(&told, TOLD_SIZE + 1, &location), -EBADMSG);
}

static void what_cannot_be_in_an_answer_is_refused(void **state)
{
	struct told told;

#define WITH(change)                                                                               \
	told = good_answer();                                                                      \
	change;                                                                                    \
	expect_refused(told)

	WITH(told.head.runtime = 1000);
	WITH(told.head.n_sites = UINT32_MAX);
	WITH(told.head.n_sites = 3);
	WITH(told.head.n_names = UINT32_MAX);
	WITH(told.head.n_notes = LOCATION_NOTES + 1);
	WITH(told.head.n_landmarks = LANDMARKS_MAX + 1);
	WITH(told.head.landmarks[1].kind = LANDMARK_KINDS);
	WITH(told.head.landmarks[0].distance = 361);
	WITH(told.head.landmarks[0].distance = LANDMARK_DISTANCE_MAX + 8);
	WITH(memset(told.head.version, '1', sizeof(told.head.version)));
	WITH(memset(told.head.build_id, '1', sizeof(told.head.build_id)));
	WITH(memset(told.head.architecture, '1', sizeof(told.head.architecture)));
	WITH(memset(told.head.notes, '1', sizeof(told.head.notes)));
	WITH(strcpy(told.head.version, "1\033[0m"));
	WITH(strcpy(told.head.build_id, "../.."));
	WITH(strcpy(told.head.architecture, "vax"));
	WITH(told.sites[0].role = SITE_ROLES);
	WITH(told.sites[0].program = 14);
	WITH(told.sites[0].function = UINT32_MAX);
	WITH(told.sites[0].length = 256);
	WITH(told.sites[0].stack_depth = -2);
	WITH(told.sites[0].emulated = 2);
	WITH(memset(told.sites[0].instruction, 'x', 64));
	WITH(told.sites[0].value = 1); /* there is one name */
#undef WITH
}

static void notes_cannot_steer_a_terminal(void **state)
{
	struct told told = good_answer();
	struct location location;

	strcpy(told.head.notes[0], "\033]0;x\a");
	strcpy(told.sites[0].instruction, "\033c");
	assert_int_equal(take_told(&told, TOLD_SIZE, &location), 0);
	assert_string_equal(location.notes[0], "?]0;x?");
	assert_string_equal(location.sites.items[0].instruction, "?c");
	location_free(&location);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_an_inspector_does_there_is_a_sentence_in_time),
		cmocka_unit_test(time_in_which_opprobe_is_stopped_does_not_count),
		cmocka_unit_test(time_in_which_there_is_no_cpu_for_it_does_not_count),
		cmocka_unit_test(an_answer_has_the_size_of_what_was_asked_for),
		cmocka_unit_test(stopping_does_not_wait_for_answers),
		cmocka_unit_test(it_has_no_rights_once_it_has_answered),
		cmocka_unit_test(nothing_is_left_of_it),
		cmocka_unit_test(what_it_locates_is_what_is_there),
		cmocka_unit_test(a_file_is_found_in_a_process_though_another_has_its_name),
		cmocka_unit_test(only_files_are_opened),
		cmocka_unit_test(a_file_of_holes_is_no_library),
		cmocka_unit_test_setup_teardown(
			names_beside_those_asked_for_are_known_until_a_session_ends, session_set_up,
			session_tear_down),
		cmocka_unit_test_setup_teardown(names_are_read_and_the_programs_are_told_where,
						session_set_up, session_tear_down),
		cmocka_unit_test_setup_teardown(a_search_that_finds_no_end_is_given_up,
						session_set_up, session_tear_down),
		cmocka_unit_test_setup_teardown(memory_that_is_withheld_is_given_up, session_set_up,
						session_tear_down),
		cmocka_unit_test(shapes_are_those_of_the_guess_that_was_proven),
		cmocka_unit_test(shapes_that_cannot_be_are_not_told_to_the_programs),
		cmocka_unit_test(an_answer_is_taken_whole_or_not_at_all),
		cmocka_unit_test(what_cannot_be_in_an_answer_is_refused),
		cmocka_unit_test(notes_cannot_steer_a_terminal),
	};
	const char *kind = getenv(KIND);

	if (spawn_is(HELPER_HANDS, argc, argv))
		return hands_child();
	if (spawn_is(HELPER_INSPECTOR, argc, argv))
		return kind ? act_as(kind) : inspector_child();
	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}

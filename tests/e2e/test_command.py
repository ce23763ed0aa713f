# SPDX-License-Identifier: GPL-2.0-only
"""opprobe -- COMMAND: from its first session on, and unharmed whatever becomes of opprobe."""

import contextlib
import fcntl
import itertools
import json
import os
import pwd
import random
import re
import signal
import subprocess
import sys
import termios
import threading

from harness import (TARGETS, NodeTarget, OrtTarget, Process, PythonTarget, check, check_counts,
                     check_equal, described_counts, one_sentence, status_of, succeeds, test)

VERSIONS = ("1.10.0", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.30.0")
NOBODY = pwd.getpwnam("nobody")


def start(t, kind, command, *options, environment=None, **popen):
    """Start a command by way of opprobe, which passes its input and output on."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(t.path("capture.opp"))
    return t.start(kind, [t.program, "record", "-o", t.path("capture.opp"), *options, "--",
                          *command], environment, **popen)


def node(t, version):
    return ["node", "--expose-gc", os.path.join(TARGETS, "run.cjs"), t.runtime(version)]


def ort_run(t, version, model, *runs):
    return [t.ort_program, t.library(version), t.model(model), *runs]


def report(t):
    return json.loads(succeeds(t, "report", t.path("capture.opp"), "--json"))


def is_whole(found, runs=1):
    return found["runs"] == runs and not found["lost"] and all(
        session[kind] is not None for session in found["session_models"]
        for kind in ("loading_ns", "initialization_ns"))


def look_at_start(t, target, runs=1, sessions=1):
    """What ran from the first session on is in the capture, and nothing else; then it ends."""
    t.recorded("not all since the start is", lambda found: is_whole(found, runs))
    target.child.stdin.close()
    check_equal(target.wait(), 0, "exit status")
    found = report(t)
    check(is_whole(found, runs), "it is not whole", found["losses"], found["session_models"])
    check_equal(len(found["session_models"]), sessions, "sessions")
    check_equal(sorted(row["run"] for row in json.loads(
        succeeds(t, "report", t.path("capture.opp"), "--json", "--group-by", "run"))["operators"]),
        list(range(runs)), "runs")
    counts = {}
    for op in found["operators"]:
        key = op["name"], op["op_type"]
        counts[key] = counts.get(key, 0) + op["count"]
    return counts


def in_node(version, wrapped, from_bytes):
    how = {None: "itself", "sh": "in a shell", "npm": "as npm's script"}[wrapped]
    @test("a command: node.js %s with %s, a model from %s: its first session and run are whole" %
          (how, version, "memory" if from_bytes else "a file"))
    def _(t):
        command = node(t, version)
        if wrapped:
            line = " ".join(command)
            command = ["sh", "-c", line + "; exit $?"]
        if wrapped == "npm":
            with open(t.path("package.json"), "w", encoding="utf-8") as file:
                json.dump({"name": "test", "scripts": {"start": line}}, file)
            command = ["npm", "--silent", "start"]
        target = start(t, NodeTarget, command).ready()
        target.run(target.load_plain(t.model("tiny"), from_bytes=from_bytes))
        counts = look_at_start(t, target)
        check_counts(described_counts(t.model("tiny"), 1), counts)


for each in VERSIONS:
    in_node(each, None, each > "1.16")
in_node("1.24.3", "sh", True)
in_node("1.30.0", "npm", False)


@test("a command: Debian's Python: its first session and run are whole")
def _(t):
    plain = t.debian_python()
    plain.close()
    target = start(t, PythonTarget, plain.arguments, environment={
        "PYTHONHOME": os.path.join(os.path.dirname(os.path.dirname(
            os.path.dirname(plain.arguments[3]))), "usr"),
        "PYTHONPATH": os.path.join(os.path.dirname(os.path.dirname(plain.arguments[3])),
                                   "lib/python3/dist-packages"),
        "PYTHONDONTWRITEBYTECODE": "1"}).ready()
    target.run(target.load_plain(t.model("tiny")))
    look_at_start(t, target)


@test("a command: 8 starts on a machine that is busy, the first run whole each time")
def _(t):
    busy = [t.start(Process, [sys.executable, "-c", "while True: pass"])
            for _ in range(3 * os.cpu_count())]
    for _ in range(8):
        target = start(t, OrtTarget, ort_run(t, "1.24.3", "tiny")).ready()
        target.run(1)
        look_at_start(t, target)
    check(all(process.alive() for process in busy), "it was not busy")


@test("a command: programs that one after the other load a runtime are recorded, each from its start")
def _(t):
    programs = [" ".join(ort_run(t, version, model)) for version, model in
                (("1.24.3", "tiny"), ("1.16.3", "cnn"))]
    target = start(t, OrtTarget, ["sh", "-c", "; ".join(programs)]).ready()
    target.run(1)
    t.recorded("the first program is not", is_whole)
    # Its end, without closing what the second one reads from.
    target.write("exec-nothing\n")
    check(not json.loads(target.line())["ok"], "the target knows that")
    os.kill(int(re.search(r"attached to process (\d+)", target.stderr)[1]), signal.SIGKILL)
    target.ready()
    target.run(2)
    look_at_start(t, target, runs=3, sessions=2)


# -- what a user sees ------------------------------------------------------------------

@test("a command's exit status is opprobe's, whether or not there was something to record")
def _(t):
    for command, status in ((["false"], 1), (["sh", "-c", "exit 77"], 77),
                            (["sh", "-c", "kill -KILL $$"], 128 + signal.SIGKILL)):
        process = start(t, Process, command)
        check_equal(process.wait(), status, "status of %r" % command)
        check("none of its processes had loaded a runtime" in one_sentence(process.stderr),
              "it is not said", process.stderr)
        check(not os.path.exists(t.path("capture.opp")), "a capture is left")
    # Long enough for names to be read while it lives, beside whatever else runs here.
    line = " ".join(ort_run(t, "1.24.3", "tiny", "2000"))
    process = start(t, Process, ["sh", "-c", line + "; exit 5"])
    check_equal(process.wait(), 5, "exit status")
    check("\"runs\":2000" in process.stdout, "what the command said", process.stdout)
    check(report(t)["runs"], "nothing was recorded")


@test("a command that cannot be executed is told in a sentence, with a shell's status")
def _(t):
    with open(t.path("no-program"), "wb"):
        pass
    for command, status, words in (("no-such-command", 127, "there is no command"),
                                   (t.path("no/such/file"), 127, "cannot execute"),
                                   (t.path("no-program"), 126, "cannot execute")):
        sentence = t.fails("record", "-o", t.path("capture.opp"), "--", command, status=status)
        check(words in sentence and command in sentence, "the sentence", sentence)
        check(not os.path.exists(t.path("capture.opp")), "a capture is left")
    for arguments in (["-p", "1", "--", "true"], ["--wait", "--", "true"], ["--user", "root"],
                      ["true"], ["-a", "--", "true"]):
        process = t.opprobe("record", *arguments)
        check_equal(process.wait(), 2, "status of %r" % arguments)


@test("a command has the signals, the streams, the group and the CPUs of whoever called opprobe")
def _(t):
    script = ("import os, signal; print([line for line in open('/proc/self/status') "
              "if line.startswith('Sig')][1:], os.getpgrp() == os.getpgid(os.getppid()), "
              "os.getpriority(0, 0), sorted(os.sched_getaffinity(0)), "
              "sorted(os.listdir('/proc/self/fd')))")
    # Python ignores some signals by itself.
    commands = ([sys.executable, "-c", script], ["grep", "^Sig", "/proc/self/status"])
    for ignored, command in itertools.product((signal.SIG_DFL, signal.SIG_IGN), commands):
        def before():
            signal.signal(signal.SIGPIPE, ignored)
        plain = t.start(Process, command, preexec_fn=before, restore_signals=False)
        plain.wait()
        process = start(t, Process, command, preexec_fn=before, restore_signals=False)
        check_equal(process.wait(), 0, "exit status")
        check_equal(process.stdout, plain.stdout, "what it has")


@test("a command runs as who called sudo, or as --user says, with their home")
def _(t):
    os.chmod(t.directory, 0o777)
    command = ["sh", "-c", "echo $(id -u) $(id -g) $(id -G) $HOME $USER ${SUDO_UID-none}"]
    sudo = {"SUDO_UID": str(NOBODY.pw_uid), "SUDO_GID": str(NOBODY.pw_gid)}
    nobody = "%d %d %d %s nobody none\n" % (NOBODY.pw_uid, NOBODY.pw_gid, NOBODY.pw_gid,
                                            NOBODY.pw_dir)
    for options, environment, expected in (
            ([], sudo, nobody), (["--user", "nobody"], {}, nobody),
            (["--user", str(NOBODY.pw_uid)], {}, nobody),
            (["--user", "root"], sudo, "0 0 0 /root root none\n")):
        process = start(t, Process, command, *options, environment=environment)
        check_equal(process.wait(), 0, "exit status (%s)" % process.stderr)
        check_equal(process.stdout, expected, "who it is with %r" % options)
    sentence = t.fails("record", "--user", "no-such-user", "--", "true")
    check("no user 'no-such-user'" in sentence, "the sentence", sentence)


@test("a command's output stays its own: the table is on stderr, and JSON alone on stdout")
def _(t):
    command = ort_run(t, "1.24.3", "tiny", "300")
    process = t.start(Process, [t.program, "-o", t.path("capture.opp"), "--", *command])
    check_equal(process.wait(), 0, "exit status")
    check_equal(json.loads(process.stdout)["runs"], 300, "what it said")
    check("Total of" in process.stderr, "the table", process.stderr)
    for arguments in (["--json"], ["record", "-o", "-"]):
        process = t.start(Process, [t.program, *arguments, "--", *command])
        check_equal(process.wait(), 0, "exit status")
        check("\"runs\":300" in process.stderr, "what it said", process.stderr)
        if arguments == ["--json"]:
            check(json.loads(process.stdout)["runs"] > 0, "what was recorded")
    read = subprocess.run([t.program, "report", "-", "--json"], check=True,
                          input=b"".join(process.out), stdout=subprocess.PIPE)
    check(json.loads(read.stdout)["runs"] > 0, "what was recorded")


@test("a command goes on behind -d, and opprobe waits for it and passes its status on")
def _(t):
    target = start(t, OrtTarget, ort_run(t, "1.24.3", "tiny"), "-d", "300ms").ready()
    target.run(5)
    target.wait_for("to end, unrecorded")
    check_equal(report(t)["runs"], 5, "runs")
    target.run(5)
    target.child.stdin.close()
    check_equal(target.wait(), 0, "exit status")
    check_equal(report(t)["runs"], 5, "runs")


@test("a signal to opprobe alone ends the recording, and the command goes on")
def _(t):
    target = start(t, OrtTarget, ort_run(t, "1.24.3", "tiny")).ready()
    target.run(5)
    t.recorded("not all runs are", lambda found: is_whole(found, 5))
    pid = int(re.search(r"attached to process (\d+)", target.stderr)[1])
    target.signal(signal.SIGTERM)
    check_equal(target.child.wait(), 0, "exit status")
    check(is_whole(report(t), 5), "the recording")
    target.run(5)
    check(not int(status_of(pid)["SigPnd"], 16), "a signal came")
    target.child.stdin.close()


@test("Ctrl-C is for the command, whose end is recorded; a second one ends the recording")
def _(t):
    for deaf in (False, True):
        leader, terminal = os.openpty()
        line = " ".join(ort_run(t, "1.24.3", "tiny"))
        before = "trap '' INT; exec " if deaf else "exec "

        def own_terminal():
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
            # Whoever runs the tests in the background may have it ignored.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        target = start(t, OrtTarget, ["sh", "-c", before + line],
                       preexec_fn=own_terminal).ready()
        os.close(terminal)
        target.run(3)
        t.recorded("not all runs are", lambda found: is_whole(found, 3))
        os.write(leader, b"\x03")
        if deaf:
            target.run(3)
            t.recorded("what came behind Ctrl-C is not", lambda found: is_whole(found, 6))
            os.write(leader, b"\x03")
            # Whoever has the terminal is waited for, but a third one ends that.
            target.wait_for("capture ")
            target.child.stdin.close()
            check_equal(target.wait(), 0, "exit status")
        else:
            check_equal(target.wait(), 128 + signal.SIGINT, "exit status")
        check(is_whole(report(t), 6 if deaf else 3), "the recording")
        os.close(leader)


@test("what a command leaves behind goes on, unrecorded, and is told of")
def _(t):
    os.mkfifo(t.path("told"))
    target = start(t, OrtTarget, ["sh", "-c", "exec 9<&0; %s <&9 & read _ <%s; exit 9" % (
        " ".join(ort_run(t, "1.24.3", "tiny")), t.path("told"))]).ready()
    target.run(3)
    t.recorded("not all runs are", lambda found: is_whole(found, 3))
    with open(t.path("told"), "w", encoding="ascii") as file:
        file.write("go\n")
    said = target.wait_for("which it left behind")
    check(re.search(r"process \d+, which it left behind, goes on unrecorded", said), "it", said)
    check_equal(target.child.wait(), 9, "exit status")
    target.run(3)
    check(is_whole(report(t), 3), "the recording")
    target.child.stdin.close()


# -- harm ------------------------------------------------------------------------------

@test("a command is held by nobody once opprobe is gone, and nobody else is held meanwhile")
def _(t):
    opens = [sys.executable, "-c",
             "import sys\nfor line in sys.stdin: print(len(open(line.strip(), 'rb').read(4)), "
             "flush=True)"]
    inside, outside = start(t, Process, opens), t.start(Process, opens)
    library = t.library("1.24.3") + "\n"
    for process in inside, outside:
        process.write(library)
        check_equal(process.line(), "4\n", "what it read")
    inside.signal(signal.SIGSTOP)
    inside.write(library)
    for _ in range(5):
        outside.write(library)
        check_equal(outside.line(), "4\n", "what another read while opprobe was stopped")
    check_equal(len(inside.out), 1, "opens of the command while opprobe was stopped")
    inside.child.kill()
    check_equal(inside.line(), "4\n", "what the command read")
    inside.child.stdin.close()


@test("kill -9 of opprobe at any moment of the start: the command does what it does without")
def _(t):
    command = ort_run(t, "1.24.3", "tiny", "3")
    plain = t.start(Process, command)
    check_equal(plain.wait(), 0, "exit status")
    expected = json.loads(plain.stdout)["sum"]
    random.seed(1)
    began = 0
    for number in range(30):
        target = start(t, Process, command)
        # Not a wait for anything: each at another moment.
        timer = threading.Timer(0.02 + 0.03 * number * random.random(), target.child.kill)
        timer.start()
        target.wait()
        timer.join()
        if target.stdout:
            answer = json.loads(target.stdout)
            check_equal((answer["sum"], answer["failed"], answer["runs"]), (expected, 0, 3),
                        "what it computed")
            began += 1
    check(began, "none of them began")

# SPDX-License-Identifier: GPL-2.0-only
"""What cannot be done is said in one sentence with a remedy, and the exit
status tells failure (1) from wrong usage (2)."""

import os
import shutil
import subprocess
import sys

from harness import (HERE, Opprobe, Process, Skipped, check, check_counts, check_equal,
                     described_counts, one_sentence, test)


def says(sentence, *words):
    """Each of `words` (or one of a tuple of them) is in the sentence."""
    for word in words:
        options = (word,) if isinstance(word, str) else word
        check(any(option.lower() in sentence.lower() for option in options),
              "the sentence does not say %s" % " or ".join(map(repr, options)), sentence)


def confined(t, what, *arguments):
    """Run opprobe with something taken away; returns its one sentence."""
    # Its own directory may be closed to others.
    program = shutil.copy(t.program, t.path("opprobe"))
    process = t.start(Opprobe, [sys.executable, os.path.join(HERE, "confine"), *what.split(), "--",
                                program, *map(str, arguments)])
    status = process.wait()
    check_equal(status, 1, "exit status (%s)" % process.stderr.strip())
    return one_sentence(process.stderr)


def server_like(t):
    target = t.node("1.24.3")
    target.load_plain(t.model("mlp"))
    return target


@test("no such process")
def _(t):
    child = subprocess.Popen(["true"])
    child.wait()
    says(t.fails("-p", child.pid), ("no such process", "no process"), str(child.pid))


@test("an ordinary user is told that it is not permitted, and what to do")
def _(t):
    target = server_like(t)
    says(confined(t, "nobody", "-p", target.pid), ("not permitted", "permission"),
         ("root", "sudo", "CAP_"))


@test("no ONNX Runtime in the process: what was looked at is listed")
def _(t):
    target = t.start(Process, ["sleep", "1000"])
    says(t.fails("-p", target.pid), "ONNX Runtime", "sleep", "--wait")


@test("--wait waits for a runtime that is loaded later, and records it from then on")
def _(t):
    target = t.node("1.24.3")
    probe = t.opprobe("-p", target.pid, "--wait", "--json", "-o", t.path("capture.opp"),
                      "--trace", t.path("trace.json"))
    probe.wait_for("wait")
    session = target.load_plain(t.model("mlp"))
    probe.attached()
    target.run(session, 5)
    check_counts(probe.stop().counts(), described_counts(t.model("mlp"), 5))


@test("--wait for a process that ends without a runtime ends, and says so")
def _(t):
    target = t.node("1.24.3")
    probe = t.opprobe("-p", target.pid, "--wait")
    probe.wait_for("wait")
    target.child.stdin.close()
    target.wait()
    check_equal(probe.wait(), 1, "exit status")
    says(probe.stderr, ("exited", "ended", "gone"))


@test("a 32-bit target is refused")
def _(t):
    source, program = t.path("small.S"), t.path("small")
    with open(source, "w", encoding="utf-8") as file:
        file.write(".globl _start\n_start: movl $29, %eax\n int $0x80\n jmp _start\n")
    built = subprocess.run(["gcc", "-m32", "-nostdlib", "-static", "-o", program, source],
                           stderr=subprocess.PIPE, check=False)
    if built.returncode:
        raise Skipped("gcc cannot build 32-bit programs here")
    try:
        target = t.start(Process, [program])
    except OSError:
        raise Skipped("this kernel runs no 32-bit programs") from None
    says(t.fails("-p", target.pid), "32-bit")


@test("a kernel without BTF")
def _(t):
    says(confined(t, "no-btf", "-p", server_like(t).pid), "BTF", ("CONFIG_DEBUG_INFO_BTF", "kernel"))


@test("a kernel without BPF")
def _(t):
    says(confined(t, "deny=bpf:ENOSYS", "-p", server_like(t).pid), "BPF",
         ("kernel", "Linux"))


@test("BPF is refused by a sandbox")
def _(t):
    says(confined(t, "deny=bpf:EPERM", "-p", server_like(t).pid), ("BPF", "not permitted"))


@test("a system call that a filter refuses is told from a right that opprobe lacks")
def _(t):
    def refused(what, *arguments):
        return confined(t, what, *(arguments or ("serve", "-a", "--listen", "127.0.0.1:0")))

    target = server_like(t).pid
    filtered = ("not permitted, although opprobe has CAP_BPF and CAP_PERFMON: a seccomp filter",
                "run it with seccomp unconfined")
    for call in ("bpf", "perf_event_open"):
        says(refused("deny=%s:EPERM" % call), "processes that load a runtime", *filtered)
    says(refused("deny=bpf:EPERM", "-p", target), "BPF programs", *filtered)
    says(refused("deny=perf_event_open:EPERM", "-p", target, "--sample", "99"), "what CPUs do", *filtered)
    says(refused("user-namespace"), "not permitted, although opprobe has CAP_BPF and CAP_PERFMON: "
         "rights of a user namespace", "root of the host")
    says(refused("nobody"), "not permitted; run opprobe as root (sudo), or with CAP_BPF and "
         "CAP_PERFMON")


@test("BPF programs are refused, though there is the right to load some")
def _(t):
    says(confined(t, "deny=bpf:EACCES", "-p", server_like(t).pid), "BPF",
         "Linux %s" % os.uname().release, "seccomp", "report")


@test("perf events are refused")
def _(t):
    says(confined(t, "deny=perf_event_open:EACCES", "-p", server_like(t).pid, "-e", "task-clock"),
         "task-clock", ("perf_event_paranoid", "permission", "seccomp"))


@test("a misspelt event gets the nearest names")
def _(t):
    says(t.fails("-p", server_like(t).pid, "-e", "page-fautls"), "page-fautls", "page-faults")


@test("an event that this machine cannot count is told from one that does not exist")
def _(t):
    if os.path.isdir("/sys/bus/event_source/devices/cpu/events"):
        raise Skipped("this machine has a PMU")
    sentence = t.fails("-p", server_like(t).pid, "-e", "cycles")
    says(sentence, "cycles", ("PMU", "hardware counters"), ("virtual", "software", "task-clock"))


@test("too many events are refused")
def _(t):
    events = ",".join("task-clock=n%d" % i for i in range(40))
    says(t.fails("-p", server_like(t).pid, "-e", events, status=1), ("16", "too many"))


@test("a config that cannot be read")
def _(t):
    says(t.fails("-p", server_like(t).pid, "--config", t.path("absent.json")), "absent.json",
         "No such file")


def bad_config(sentence, text, *words):
    @test("a config with " + sentence)
    def _(t):
        with open(t.path("events.json"), "w", encoding="utf-8") as file:
            file.write(text)
        says(t.fails("-p", server_like(t).pid, "--config", t.path("events.json")), "events.json",
             *words)


bad_config("a syntax error: line and column",
           '{\n  "perf::PERF_COUNT_SW_PAGE_FAULTS": "faults",\n  "x" "y"\n}\n',
           ("line 3", ":3:"), ("column 7", ":3:7"))
bad_config("a value that is no name", '{\n  "perf::PERF_COUNT_SW_PAGE_FAULTS": 1\n}\n',
           ("line 2", ":2:"))
bad_config("an unknown event", '{"perf::NO_SUCH_EVENT_AT_ALL": "x"}', "NO_SUCH_EVENT_AT_ALL")
bad_config("something else than an object", '[1, 2]', ("line 1", ":1:"))
bad_config("nothing in it", '', ("empty", "line 1", ":1:"))


def output(option):
    @test("%s in a directory that does not exist fails before anything is attached" % option)
    def _(t):
        name = t.path("absent/output")
        process = t.opprobe("-p", server_like(t).pid, option, name)
        check_equal(process.wait(), 1, "exit status")
        says(one_sentence(process.stderr), name, "No such file or directory")


output("-o")
output("--trace")


@test("without a place for the capture in the current directory nothing is attached")
def _(t):
    says(t.fails("-p", server_like(t).pid, cwd="/proc/self"), "opprobe-")


def usage(sentence, *arguments):
    @test("wrong usage, status 2: " + sentence)
    def _(t):
        process = t.opprobe(*arguments)
        check_equal(process.wait(), 2, "exit status (%s)" % process.stderr.strip())
        check(process.stdout == "", "wrong usage printed to stdout", process.stdout)
        check("--help" in process.stderr or "--usage" in process.stderr or "Usage" in process.stderr,
              "no hint at the help", process.stderr)


def slip(what, expected, *arguments):
    @test("a slip is told what comes nearest: " + what)
    def _(t):
        capture = t.path("capture.opp")
        if "CAPTURE" in arguments:
            target = t.ort_run("1.24.3", "mlp")
            target.run(1)
            probe = t.attach(target, "-e", "task-faults")
            target.run(2)
            probe.stop()
        process = t.opprobe(*(capture if word == "CAPTURE" else word for word in arguments))
        check_equal(process.wait(), 2, "exit status (%s)" % process.stderr.strip())
        says(process.stderr, *expected)
        check("/" not in process.stderr.replace(capture, "").split(":")[0], "a path in front",
              process.stderr)


slip("a command", ["no command 'reprot'", "nearest: 'report'"], "reprot")
slip("the shortest command", ["no command 'sp'", "nearest: 'ps'"], "sp")
slip("an option", ["no option '--min-duraton'", "nearest: 'min-duration'", "record --help"],
     "record", "-p", "1", "--min-duraton", "5ms")
slip("an option of opprobe -p", ["opprobe: there is no option '--shaeps'", "nearest: 'shapes'"],
     "-p", "1", "--shaeps")
slip("an option behind the argument of another", ["no option '--jsno'", "nearest: 'json'"],
     "report", "x", "--name", "--json", "-s", "--csv", "--jsno=1")
slip("a format", ["no format 'crome'", "nearest: 'chrome'"], "export", "x", "--format", "crome")
slip("a group", ["group by 'shpae'", "nearest: 'shape'"], "report", "x", "--group-by", "shpae")
slip("a column", ["no column 'totl'", "nearest: 'total'"], "report", "CAPTURE", "--sort", "totl")
slip("an event's column", ["no column 'self:task-fauls'", "nearest: 'task-faults'"], "report",
     "CAPTURE", "--columns", "name,self:task-fauls")
slip("a column of what was not recorded", ["no column 'avg:cycles'", "record -e cycles"],
     "report", "CAPTURE", "--columns", "name,avg:cycles")


usage("nothing at all")
usage("an unknown option", "--no-such-option")
usage("an unknown command", "no-such-command")
usage("-p without a number", "-p", "abc")
usage("-p 0", "-p", "0")
usage("a number and a name", "-p", "1", "--comm", "node")
usage("all and a number", "record", "-a", "-p", "1")
usage("no name", "--comm", "")
usage("a pod without a name", "--pod", "")
usage("what is no container", "--container", "Web_1")
usage("what is no control group", "--cgroup", "system.slice")
usage("an argument of ps", "ps", "1")
usage("a pid that is 1 in 32 bits", "doctor", "-p", str((1 << 32) + 1))
usage("a duration without sense", "-p", "1", "-d", "soon")
usage("a column that does not exist", "-p", "1", "--sort", "colour")
usage("a limit that is no number", "-p", "1", "--limit", "x")
usage("a limit of no rows", "report", "x", "--limit", "0")
usage("two formats at once", "report", "x", "--json", "--csv")
usage("a least duration without a unit", "record", "-p", "1", "--min-duration", "5")
usage("a width that nothing fits in", "report", "x", "--width", "5")
usage("a colour that there is not", "report", "x", "--color", "red")
usage("-e and --config together", "-p", "1", "-e", "page-faults", "--config", "x.json")


@test("--help goes to stdout, has examples, and succeeds")
def _(t):
    for arguments in (["--help"], ["-p", "1", "--help"], ["record", "--help"], ["doctor", "--help"],
                      ["list", "--help"], ["ps", "--help"]):
        process = t.opprobe(*arguments)
        check_equal(process.wait(), 0, "exit status")
        check("opprobe" in process.stdout and process.stderr == "", "no help", process.stdout,
              process.stderr)
        check("xample" in process.stdout, "no examples in the help of %r" % arguments,
              process.stdout)


@test("an ordinary user with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE needs no more")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-O", "0")
    program = shutil.copy(t.program, t.path("opprobe"))
    os.chmod(program, 0o755)
    os.chmod(t.directory, 0o777)
    caps = "+bpf,+perfmon,+sys_ptrace"
    process = t.start(Opprobe, ["setpriv", "--reuid", "65534", "--regid", "65534",
                                "--clear-groups", "--inh-caps", caps, "--ambient-caps", caps,
                                program, "-p", str(target.pid), "--json", "-o",
                                t.path("capture.opp"), "--trace", t.path("trace.json")])
    process.attached()
    target.run(5)
    report = process.stop().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("mlp"), 5))

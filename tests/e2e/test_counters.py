# SPDX-License-Identifier: GPL-2.0-only
"""Counters agree with what the target reads of itself."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading

from harness import FRESH_MEMORY, Process, Skipped, check, check_equal, test


def page_faults(version, pages):
    @test("%s: the page faults of an operator that touches %d new pages" % (version, pages))
    def _(t):
        target = t.ort_run(version, "pages", "-O", "0", "-m", **FRESH_MEMORY)
        target.ask("set shape %d" % (1024 * pages))
        target.run(3)
        probe = t.attach(target, "-e", "page-faults")
        truth = target.run(20)["faults"]
        report = probe.stop().nothing_lost()
        touch = report.counter("page-faults", [report.operator("touch")])
        # One more per run holds malloc's header, before the tensor.
        check(20 * pages <= touch <= 20 * (pages + 3),
              "the operator touches %d pages in 20 runs, counted: %d" % (20 * pages, touch))
        every = report.counter("page-faults")
        check(every <= truth and truth - every <= 40 + 0.01 * truth,
              "getrusage says %d page faults, all operators together have %d" % (truth, every))


for version in ("1.10.0", "1.20.1", "1.30.0"):
    page_faults(version, 1000)
page_faults("1.24.3", 3000)


@test("page faults in node.js agree with the process's own usage")
def _(t):
    target = t.node("1.24.3", **FRESH_MEMORY)
    session = target.load_plain(t.model("pages"), enableCpuMemArena=False, enableMemPattern=False)
    wanted = {"shape": {"values": [1024 * 2000]}}
    target.run(session, 3, change=wanted)
    probe = t.attach(target, "-e", "page-faults,minor-faults")
    before = target.do("usage")["minor_faults"]
    target.run(session, 20, change=wanted)
    truth = target.do("usage")["minor_faults"] - before
    report = probe.stop().nothing_lost()
    touch = report.operator("touch")
    for name in ("page-faults", "minor-faults"):
        counted = report.counter(name, [touch])
        check(40000 <= counted <= min(truth, 40060),
              "%s: %d counted, getrusage says %d for the process" % (name, counted, truth))


@contextlib.contextmanager
def contention(pid):
    """More busy threads than CPUs, and the process `pid` moved to and fro between these."""
    cpus = sorted(os.sched_getaffinity(0))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(2 * len(cpus))]
    over = threading.Event()

    def move():
        turn = 0
        while not over.is_set():
            turn += 1
            with contextlib.suppress(OSError):  # a thread that has just ended
                for tid in os.listdir("/proc/%d/task" % pid):
                    os.sched_setaffinity(int(tid), {cpus[turn % len(cpus)]})
            over.wait(0.0005)

    mover = threading.Thread(target=move)
    mover.start()
    try:
        yield
    finally:
        over.set()
        mover.join()
        for process in busy:
            process.kill()
            process.wait()


@contextlib.contextmanager
def perf_stat(t, pid, events):
    """What perf counts meanwhile on all threads of `pid`, those born later too: {event: count}"""
    counted, pipes = {}, [t.path("perf.control"), t.path("perf.ack")]
    for pipe in pipes:
        os.mkfifo(pipe)
    perf = t.start(Process, ["perf", "stat", "-x", ",", "-e", ",".join(events), "-p", pid,
                             "-D", "-1", "--control", "fifo:" + ",".join(pipes)])
    with open(pipes[0], "r+b", 0) as control, open(pipes[1], "r+b", 0) as acknowledged:
        control.write(b"enable\n")
        acknowledged.read(1)
    yield counted
    perf.signal(signal.SIGINT)
    perf.wait()
    for line in perf.stderr.splitlines():
        fields = line.split(",")
        if len(fields) > 2:
            counted[fields[2]] = int(fields[0])


@test("threads that wait for a CPU and are moved have perf's numbers under perf's names")
def _(t):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skipped("a single CPU")
    events = ("cpu-migrations", "context-switches", "page-faults", "minor-faults")
    target = t.ort_run("1.30.0", "pages", "-O", "0", "-m", "-c", "3", **FRESH_MEMORY)
    target.ask("set shape %d" % (1024 * 1000))
    target.run(3)
    probe = t.attach(target, "-e", ",".join(events) + ",task-migrations")
    with perf_stat(t, target.pid, events) as perf, contention(target.pid):
        target.run(100)
    report = probe.stop().nothing_lost()
    counters = report.json["total"]["counters"]
    for event in events:
        # What lies between the runs, and what a thread did before it was announced.
        check(0.85 * perf[event] <= counters[event]["total"] <= perf[event],
              "%s: perf has %d, opprobe %d" % (event, perf[event], counters[event]["total"]),
              counters)
    # Each of the moves is a number of its own: the test is none where there are no more of them.
    check(counters["task-migrations"]["total"] > 1.2 * perf["cpu-migrations"],
          "perf has %d migrations, the threads themselves %d" %
          (perf["cpu-migrations"], counters["task-migrations"]["total"]))


@test("pages that come without a fault are in task-faults, and not in page-faults")
def _(t):
    target = t.ort_run("1.30.0", "pages", "-O", "0", "-m", "-e", **FRESH_MEMORY)
    target.ask("set shape %d" % (1024 * 1000))
    target.run(3)
    locked = target.ask_any("lock")
    if not locked["ok"]:
        raise Skipped("mlockall: " + locked["error"])
    probe = t.attach(target, "-e", "page-faults,minor-faults,task-faults,task-minor-faults")
    truth = target.run(20)
    report = probe.stop().nothing_lost()
    for event in ("task-faults", "task-minor-faults"):
        counted = report.counter(event)
        check(20 * 1000 <= counted <= truth["faults"],
              "%s: getrusage says %d, all operators %d" % (event, truth["faults"], counted))
    for event in ("page-faults", "minor-faults"):
        counted = report.counter(event)
        check(counted <= truth["page_faults"] <= 1000,
              "%s: an event of the thread's own has %d, all operators %d" %
              (event, truth["page_faults"], counted))


def task_clock(version):
    @test("%s: task-clock adds up to what the thread counts of itself" % version)
    def _(t):
        target = t.ort_run(version, "heavy", "-O", "0", "-e")
        target.run(3)
        probe = t.attach(target, "-e", "task-clock")
        truth = target.run(10)
        report = probe.stop().nothing_lost()
        counted = report.counter("task-clock")
        check(0.97 * truth["task_clock"] <= counted <= truth["task_clock"],
              "an event of the thread's own has %d ns, all operators together %d" %
              (truth["task_clock"], counted))
        # The thread's CPU time leaves out what interrupts and the machine below took.
        check(0.9 * truth["thread_cpu_ns"] <= counted <= 1.1 * truth["thread_cpu_ns"],
              "the thread took %d ns of CPU, all operators together %d" %
              (truth["thread_cpu_ns"], counted))


for version in ("1.12.0", "1.24.3", "1.30.0"):
    task_clock(version)


@test("an operator that counts nothing has a 0, and every execution of it is counted")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    target.run(session, 50)
    probe = t.attach(target, "-e", "page-faults,context-switches,cpu-migrations,task-clock")
    target.run(session, 50)
    report = probe.stop().nothing_lost()
    for op in report.operators:
        check_equal(set(op["counters"]), {"page-faults", "context-switches", "cpu-migrations",
                                          "task-clock"}, "counters of " + op["name"])
        for name, value in op["counters"].items():
            check_equal(value["counted"], op["count"], "counted executions of " + name)
            check(value["total"] >= 0, "a counter is negative", op)


@test("--config names the counters as the file says, in the order of the file")
def _(t):
    with open(t.path("events.json"), "w", encoding="utf-8") as file:
        file.write('{"perf::PERF_COUNT_SW_PAGE_FAULTS": "faults",\n'
                   ' "perf::PERF_COUNT_SW_TASK_CLOCK": "cpu time"}\n')
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    probe = t.attach(target, "--config", t.path("events.json"))
    target.run(session, 5)
    report = probe.stop().nothing_lost()
    for op in report.operators:
        check_equal(list(op["counters"]), ["faults", "cpu time"], "counters")


@test("an event may be given a name of one's own with -e EVENT=NAME")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    probe = t.attach(target, "-e", "page-faults=faults,task-clock=busy")
    target.run(session, 5)
    report = probe.stop()
    check_equal(list(report.operators[0]["counters"]), ["faults", "busy"], "counters")


@test("counters are read on threads that are born while opprobe is attached")
def _(t):
    target = t.ort_run("1.24.3", "heavy", "-s", "1", "-c", "3", "-O", "0")
    probe = t.attach(target, "-e", "task-clock,page-faults")
    for _ in range(3):  # each batch has threads of its own
        target.run(2)
    report = probe.stop().nothing_lost()
    for op in report.operators:
        check_equal(op["count"], 18, "executions of " + op["name"])
        for name, value in op["counters"].items():
            check(value["counted"] > 0, "%s was never counted" % name, op)
            check(value["total"] > 0 or name != "task-clock", "a false zero", op)


def taken_off(t, target, capture, *options, left=1 / 2):
    """Record runs: a sentence on what is wrong with what was taken off them, or None. Of what
    was recorded beside the truth, less than `left` may remain."""
    plain = target.run(300)["thread_cpu_ns"] / 300
    probe = t.opprobe("record", "-p", target.pid, "-e", "task-clock", "-o", capture,
                      *options).attached()
    target.run(5)
    target.run(300)
    probe.signal(2)
    check_equal(probe.wait(), 0, "exit status")
    plain = min(plain, target.run(300)["thread_cpu_ns"] / 300)

    def clock(*arguments):
        process = t.opprobe("report", capture, "--json", "--run", "10-", *arguments)
        check_equal(process.wait(), 0, "exit status")
        report = json.loads(process.stdout)
        total, sums = report["total"], report["sum"]
        return (total["counters"]["task-clock"]["total"] / total["count"],
                sums["counters"]["task-clock"]["total"] / total["count"],
                sums["self_ns"] / total["count"])

    recorded, recorded_ops, _ = clock("--no-compensate")
    compensated, ops, ops_ns = clock()
    # The executor between the operators has a share in any run, but not the most of it.
    wrong = (abs(compensated - plain) >= left * abs(recorded - plain) or compensated <= 0.75 * plain
             or not 0.3 * plain < ops <= compensated or ops_ns <= 0.3 * plain)
    return ("a run takes %.0f ns of CPU, recorded %.0f, compensated %.0f; its operators recorded "
            "%.0f, compensated %.0f, by time %.0f" %
            (plain, recorded, compensated, recorded_ops, ops, ops_ns)) if wrong else None


def nearer(model, *options, **limits):
    @test("%s: taking off what the probes add brings the runs nearer to the truth, and not "
          "below it" % " ".join((model, *options)))
    def _(t):
        target = t.ort_run("1.30.0", model, "-O", "0")
        target.run(20)
        said = []
        # What a probe costs is measured at the start: a machine that is slower then than while
        # it records, or faster, has it wrong. Not so three times in a row.
        for attempt in range(3):
            said.append(taken_off(t, target, t.path("run%d.opp" % attempt), *options, **limits))
            if not said[-1]:
                return
        check(False, "too much or too little was taken off", *said)


nearer("tiny")
# Half of it is reading shapes: with that in, more would be left.
nearer("tiny", "--shapes", left=1 / 3)

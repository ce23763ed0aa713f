# SPDX-License-Identifier: GPL-2.0-only
"""Some runs only: the schedule, chosen runs, slow runs; captures per cycle; streams."""

import collections
import json
import os
import signal

from harness import ProbeHits, Report, check, check_counts, check_equal, described_counts, test


def report_of(t, capture):
    process = t.opprobe("report", capture, "--json")
    check_equal(process.wait(), 0, "exit status of report")
    return Report(process.stdout, t.directory)


def record(t, target, *arguments):
    return t.opprobe("record", "-p", target.pid, *arguments).attached()


@test("a schedule records its cycles exactly, one capture each, and calls back with their names")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    target.run(session, 2)
    process = record(t, target, "--schedule", "skip_first=5,wait=4,warmup=2,active=3,repeat=3",
                     "--per-cycle", "-o", t.path("run.opp"), "--on-capture",
                     "nice >>%s; echo complete >>%s" % (t.path("nice"), t.path("told")))
    while process.alive():
        target.run(session, 3)
    process.wait()
    check_equal(process.child.returncode, 0, "exit status (%s)" % process.stderr)
    for cycle in (1, 2, 3):
        report = report_of(t, t.path("run.%d.opp" % cycle)).nothing_lost()
        check_equal(report.json["runs"], 3, "runs of cycle %d" % cycle)
        check(report.json["recording"]["compensated"] or "is not subtracted" in process.stderr,
              "what the probes added is not subtracted in cycle %d" % cycle)
        check_counts(report.counts(), described_counts(t.model("mlp"), 3))
    with open(t.path("told"), encoding="utf-8") as told:
        names = sorted(line.split()[-1] for line in told)
    check_equal(names, [t.path("run.%d.opp" % cycle) for cycle in (1, 2, 3)], "names told")
    with open(t.path("nice"), encoding="utf-8") as nice:
        check_equal(nice.read().split(), [str(os.nice(0))] * 3, "priority of who is told")


@test("the runs of a warmup have passed before any is recorded")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-O", "0")
    process = record(t, target, "--schedule", "wait=5,warmup=20000,active=2,repeat=1", "-o",
                     t.path("warm.opp"))
    while process.alive():
        target.run(500)
    check_equal(process.wait(), 0, "exit status")
    runs = sorted(run_times(t, t.path("warm.opp")))
    check_equal(len(runs), 2, "runs")
    check(runs[0] >= 20005, "recorded before the warmup was over: %r" % runs)


@test("a schedule into one capture has the runs of all cycles")
def _(t):
    target = t.node("1.30.0")
    session = target.load_plain(t.model("nested"))
    process = record(t, target, "--schedule", "wait=3,active=2,repeat=4", "-o", t.path("all.opp"))
    while process.alive():
        target.run(session, 2)
    report = report_of(t, t.path("all.opp")).nothing_lost()
    check_equal(report.json["runs"], 8, "runs")
    check_counts(report.counts(), described_counts(t.model("nested"), 8))


def programs_hit(target, process, runs):
    """Which programs on the target ran, and how often, in so many of its runs."""
    with ProbeHits(process.pid) as hits:
        before = hits.count()
        target.run(runs)
        after = hits.count()
    return {name: after[name] - before[name] for name in after
            if after[name] > before[name] and name not in ("task_born", "task_executes")}


@test("while a schedule waits, no operator hits a probe")
def _(t):
    target = t.ort_run("1.24.3", "tiny", "-O", "0")
    process = record(t, target, "--schedule", "wait=1000000,active=1", "-o", t.path("none.opp"))
    target.run(5000)  # long enough for it to act, if it were to
    check_equal(programs_hit(target, process, 50), {"ort_run_enter": 50, "ort_run_exit": 50},
                "programs that ran, and how often")
    process.signal(2)
    check_equal(process.wait(), 130, "exit status")
    report = report_of(t, t.path("none.opp"))
    check_equal(report.operators, [], "operators")


@test("after a cycle of a schedule, and until the next, no operator hits a probe")
def _(t):
    target = t.ort_run("1.24.3", "tiny", "-O", "0")
    process = record(t, target, "--schedule", "wait=400,active=2,repeat=2", "-o", t.path("two.opp"))
    while process.alive() and "cycle 1" not in process.stderr:
        target.run(20)
    check_equal(programs_hit(target, process, 100), {"ort_run_enter": 100, "ort_run_exit": 100},
                "programs that ran, and how often")
    while process.alive():
        target.run(20)
    report = report_of(t, t.path("two.opp")).nothing_lost()
    check_counts(report.counts(), described_counts(t.model("tiny"), 4))


@test("--runs records the runs that it names, numbered from 0")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    process = record(t, target, "--runs", "1,3-5,9-", "-o", t.path("some.opp"))
    target.run(session, 12)
    process.signal(2)
    process.wait()
    process = t.opprobe("report", t.path("some.opp"), "--group-by", "run", "--json")
    process.wait()
    runs = sorted(row["run"] for row in json.loads(process.stdout)["operators"])
    check_equal(runs, [1, 3, 4, 5, 9, 10, 11], "runs recorded")


@test("runs that are named with an end: the recording ends when it has them")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    for options, kept in ((("--runs", "4-5,1,3-4,2-3"), 5),
                          (("--runs", "0-2", "--min-duration", "1m"), 0)):
        process = record(t, target, *options, "-o", t.path("named.opp"))
        # A run that is waited for in vain ends it as well, a thousand others later.
        target.run(session, 20)
        check_equal(process.wait(), 0, "exit status")
        report = report_of(t, t.path("named.opp")).nothing_lost()
        check_equal(report.json["runs"], kept, "runs of " + " ".join(options))
        check_equal(report.json["recording"]["reason"], "runs recorded", "reason")


@test("--min-duration keeps the slow runs, whole")
def _(t):
    target = t.node("1.24.3")
    small, large = (target.load_plain(t.model(name)) for name in ("mlp", "heavy"))
    target.run(large, 3)
    # Another recording of the same runs tells how long they took, to some microseconds.
    every = record(t, target, "-o", t.path("every.opp"))
    slow = record(t, target, "--min-duration", "2ms", "-o", t.path("slow.opp"))
    for _ in range(3):
        target.run(small, 20)
        target.run(large, 5)
    for process in (slow, every):
        process.signal(signal.SIGINT)
        check_equal(process.wait(), 0, "exit status")
    took, kept = (run_times(t, t.path(name)) for name in ("every.opp", "slow.opp"))
    check_equal(len(took), 75, "runs")
    check(min(took.values()) < 1000 and max(took.values()) > 3000, "no fast or no slow runs", took)
    for run, us in took.items():
        if not 1500 < us < 2500:
            check_equal(run in kept, us > 2000, "run %d of %d us was kept" % (run, us))
    report = report_of(t, t.path("slow.opp")).nothing_lost()
    check_equal(report.json["runs"], len(kept), "runs kept")
    expected = collections.Counter()
    for run in kept:
        expected += described_counts(t.model("mlp" if run % 25 < 20 else "heavy"), 1)
    check_counts(report.counts(), expected)


def run_times(t, capture):
    """Microseconds of each run, as they were recorded."""
    process = t.opprobe("export", capture, "--format", "chrome")
    check_equal(process.wait(), 0, "exit status of export")
    events = json.loads(process.stdout)
    events = events["traceEvents"] if isinstance(events, dict) else events
    return {event["args"]["run"]: event["dur"] for event in events
            if "step" in event.get("args", {})}


@test("a capture streams through a pipe into a report")
def _(t):
    target = t.ort_run("1.24.3", "cnn", "-O", "0")
    read, write = os.pipe()
    reporter = t.opprobe("report", "-", "--json", stdin=read)
    recorder = t.opprobe("record", "-p", target.pid, "-o", "-", stdout=write)
    os.close(read)
    os.close(write)
    recorder.attached()
    target.run(10)
    recorder.signal(signal.SIGINT)
    check_equal(recorder.wait(), 0, "exit status of record")
    report = reporter.finish().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("cnn"), 10))


@test("a schedule that records nothing, or cannot be read, is wrong usage")
def _(t):
    for text in ("wait=5", "active=x", "active=-1", "nonsense", "active=0", "active=1;wait=2"):
        process = t.opprobe("record", "-p", "1", "--schedule", text)
        check_equal(process.wait(), 2, "exit status of --schedule " + text)
        check("schedule" in process.stderr, "it does not say what is wrong", process.stderr)

# SPDX-License-Identifier: GPL-2.0-only
"""Several processes in one recording, what they fork and execute, and libraries that they load."""

import collections
import json
import subprocess
import time

from capture import Capture
from harness import check, check_counts, check_equal, described_counts, helpers_of, test
from perfetto import Trace


def started(t, *arguments):
    """opprobe with a report as JSON, until its probes are in place."""
    return t.opprobe("--json", "-o", t.path("capture.opp"), "--trace", t.path("trace.json"),
                     *arguments).attached()


def counts_of(report, session):
    found = collections.Counter()
    for op in report.operators:
        if op["session"] == session:
            found[op["name"], op["op_type"]] += op["count"]
    return found


def per_session(report):
    """The operators of each session, in the order of their first runs."""
    return [counts_of(report, session)
            for session in sorted({op["session"] for op in report.operators})]


def recorded(t, models):
    """A process for each (release, model, runs), recorded while one after the other runs."""
    targets = [t.ort_run(version, model, "-O", "0") for version, model, _ in models]
    probe = started(t, "-p", ",".join(str(target.pid) for target in targets))
    for done, (target, (_, _, runs)) in enumerate(zip(targets, models)):
        target.run(runs)
        t.named(done + 1)
    report = probe.stop().nothing_lost()
    return targets, report


def seconds_per_run(answer):
    return answer["thread_cpu_ns"] / answer["runs"]


@test("three processes on three releases, in one recording: counts are nodes times runs of each")
def _(t):
    models = (("1.30.0", "tiny", 3), ("1.16.3", "cnn", 5), ("1.12.0", "nested", 7))
    targets, report = recorded(t, models)
    check_equal(report.json["runs"], 15, "runs")
    found = per_session(report)
    check_equal(len(found), 3, "sessions")
    for counts, (_, model, runs) in zip(found, models):
        check_counts(counts, described_counts(t.model(model), runs), model)


@test("two processes of one library: the same addresses are not the same operators")
def _(t):
    targets = [t.ort_run("1.24.3", model, "-O", "0", "-t", "2") for model in ("mlp", "cnn", "mlp")]
    probe = started(t, "-p", ",".join(str(target.pid) for target in targets), "--shapes")
    for done, target in enumerate(targets):
        target.run(4)
        t.named(done + 1)
    for _ in range(4):
        for target in targets:
            target.run(4)
    found = per_session(probe.stop().nothing_lost())
    check_equal(len(found), 3, "sessions")
    for counts, model in zip(found, ("mlp", "cnn", "mlp")):
        check_counts(counts, described_counts(t.model(model), 20), model)


@test("one of two processes exits: it is said, and the other is recorded on")
def _(t):
    first, second = (t.ort_run("1.30.0", "tiny", "-O", "0") for _ in range(2))
    probe = started(t, "-p", "%d,%d" % (first.pid, second.pid))
    first.run(4)
    t.named()
    second.run(2)
    first.child.stdin.close()
    probe.wait_for("process %d exited" % first.pid)
    second.run(3)
    found = per_session(probe.stop().nothing_lost())
    check_counts(found[0], described_counts(t.model("tiny"), 4), "of the one that exited")
    check_counts(found[1], described_counts(t.model("tiny"), 5), "of the other")


@test("a recording of several processes ends when all have exited")
def _(t):
    targets = [t.ort_run("1.24.3", "tiny", "-O", "0") for _ in range(2)]
    probe = started(t, "-p", ",".join(str(target.pid) for target in targets))
    for target in targets:
        target.run(2)
    t.named(2)
    for target in targets:
        target.child.stdin.close()
    report = probe.finish().nothing_lost()
    check("all processes have exited" in probe.stderr, "it is not said", probe.stderr)
    check_equal(report.json["runs"], 4, "runs")


@test("a process without a runtime among several is refused, and none is recorded")
def _(t):
    target = t.ort_run("1.24.3", "tiny")
    other = t.start(type(target), ["sleep", "1000"])
    sentence = t.fails("record", "-p", "%d,%d" % (target.pid, other.pid), "-o", t.path("x.opp"))
    check("process %d" % other.pid in sentence, "it does not say which", sentence)


@test("a forked child is told of and left without probes, and the parent is recorded on")
def _(t):
    target = t.ort_run("1.30.0", "tiny", "-O", "0")
    plain = min(seconds_per_run(target.ask("run 50")) for _ in range(5))
    probe = started(t, "-p", target.pid)
    target.run(2)
    recorded = min(seconds_per_run(target.ask("run 20")) for _ in range(3))
    child = target.ask("fork")["child"]
    line = probe.wait_for("has forked process")
    check(str(child) in line and "--follow" in line, "it does not say what to do", line)
    left = min(seconds_per_run(target.ask("child run 50")) for _ in range(5))
    check(left - plain < (recorded - plain) / 4,
          "a run of the child takes %d ns, of the parent %d with probes and %d without" %
          (left, recorded, plain))
    target.run(3)
    report = probe.stop().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("tiny"), 65))


@test("--follow records a forked child, and what that forks in turn")
def _(t):
    target = t.ort_run("1.24.3", "cnn", "-O", "0")
    probe = started(t, "-p", target.pid, "--follow")
    target.run(2)
    t.named()
    child = target.ask("fork")["child"]
    line = probe.wait_for("recorded from now on")
    check(str(child) in line, "another process is said to be recorded", line)
    target.ask("child run 5")
    t.named(2)
    grandchild = target.ask("child fork")["child"]
    line = probe.wait_for("recorded from now on")
    check(str(grandchild) in line, "another process is said to be recorded", line)
    target.ask("child child run 7")
    target.run(1)
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 15, "runs")
    found = per_session(report)
    check_equal(len(found), 3, "sessions: each process has its own")
    for counts, runs in zip(found, (3, 5, 7)):
        check_counts(counts, described_counts(t.model("cnn"), runs))


@test("another program is executed: it is said, and what was recorded is kept")
def _(t):
    target = t.ort_run("1.30.0", "tiny", "-O", "0")
    probe = started(t, "-p", target.pid)
    target.run(3)
    t.named()
    target.ask("exec")
    probe.wait_for("executes another program")
    report = probe.finish().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("tiny"), 3))


@test("--follow records on when another program is executed")
def _(t):
    target = t.ort_run("1.12.0", "nested", "-O", "0")
    probe = started(t, "-p", target.pid, "--follow")
    target.run(3)
    t.named()
    target.ask("exec")
    probe.wait_for("is recorded again from now on")
    target.run(4)
    found = per_session(probe.stop().nothing_lost())
    check_equal(len(found), 2, "sessions")
    check_counts(found[0], described_counts(t.model("nested"), 3), "before")
    check_counts(found[1], described_counts(t.model("nested"), 4), "after")


@test("a library that is loaded again from another file is recorded from then on")
def _(t):
    target = t.ort_run("1.16.3", "cnn", "-O", "0")
    probe = started(t, "-p", target.pid)
    target.run(3)
    t.named()
    target.ask("reload " + t.library("1.20.1"))
    probe.wait_for("is recorded from now on")
    target.run(5)
    found = per_session(probe.stop().nothing_lost())
    check_equal(len(found), 2, "sessions")
    check_counts(found[0], described_counts(t.model("cnn"), 3), "of the first file")
    check_counts(found[1], described_counts(t.model("cnn"), 5), "of the second")


@test("each capture of a schedule knows all processes")
def _(t):
    targets = [t.ort_run("1.24.3", "tiny", "-O", "0") for _ in range(2)]
    process = t.opprobe("record", "-p", ",".join(str(target.pid) for target in targets),
                        "--schedule", "wait=1,active=4,repeat=2", "--per-cycle", "-o",
                        t.path("run.opp")).attached()
    while process.alive():
        for target in targets:
            target.run(1)
    check_equal(process.wait(), 0, "exit status")
    for cycle in (1, 2):
        report = t.opprobe("report", t.path("run.%d.opp" % cycle), "--json")
        check_equal(report.wait(), 0, "exit status of the report")


@test("each process has its rows, its view and its group of tracks in a trace")
def _(t):
    models = (("1.30.0", "tiny", 3), ("1.16.3", "cnn", 5))
    targets, report = recorded(t, models)
    pids = [target.pid for target in targets]
    check_equal([process["pid"] for process in report.json["processes"]], pids, "processes")
    check_equal([process["version"] for process in report.json["processes"]],
                [version for version, _, _ in models], "versions")
    with open(t.path("trace.json"), encoding="utf-8") as trace:
        events = json.load(trace)["traceEvents"]
    for target, (_, model, runs) in zip(targets, models):
        expected = described_counts(t.model(model), runs)
        rows = collections.Counter()
        for op in report.operators:
            if op["pid"] == target.pid:
                rows[op["name"], op["op_type"]] += op["count"]
        check_counts(rows, expected, "rows of " + model)
        view = subprocess.run([t.program, "report", t.path("capture.opp"), "--json", "--process",
                               str(target.pid)], stdout=subprocess.PIPE, check=True)
        view = json.loads(view.stdout)
        check_equal(view["runs"], runs, "runs of " + model)
        check_equal(sum(op["count"] for op in view["operators"]), sum(expected.values()),
                    "operators of " + model)
        names = collections.Counter(event["name"] for event in events
                                    if event["pid"] == target.pid)
        check_equal(names[model + ".onnx"], runs, "runs in the trace of " + model)
        trace = Trace(t, "--process", str(target.pid))
        check_equal({trace.thread(found).pid for found in trace.of("Node")}, {target.pid},
                    "processes in Perfetto's trace")
        check_equal(len([found for found in trace.slices if found.name == model + ".onnx"]), runs,
                    "runs in Perfetto's trace of " + model)
        check_equal(names["process_name"], 1, "groups of tracks of " + model)


@test("a recording of busy processes begins with all of them at once, when probes are in place")
def _(t):
    targets = [t.ort_run("1.30.0", "tiny") for _ in range(6)]
    for target in targets:
        target.keep_running()
    probe = t.opprobe("record", "-p", ",".join(str(target.pid) for target in targets), "-d", "300ms",
                      "--no-cost", "-o", t.path("capture.opp"))
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
    capture = Capture(t.path("capture.opp"))
    recording = t.opprobe("report", t.path("capture.opp"), "--json").finish().json["recording"]
    took = capture.begin - capture.start
    check_equal(recording["start_ns"], capture.begin, "the start")
    check_equal(recording["duration_ns"], capture.end - capture.begin, "how long it lasted")
    check(recording["duration_ns"] >= 3e8, "it was shorter", recording["duration_ns"])
    # None of them was recorded before, and by then the probes of all had come.
    first = {}
    for execution in capture.execs:
        process = capture.processes[execution.thread]
        first[process] = min(first.get(process, execution.start), execution.start)
    check_equal(len(first), len(targets), "processes")
    check(0 <= min(first.values()) - capture.begin < took / 2, "when they began", capture.begin,
          took, first)


@test("a process that ends while probes come is left out, and the others are recorded")
def _(t):
    stays = t.ort_run("1.30.0", "tiny")
    stays.keep_running()
    for i in range(6):
        goes = t.ort_run("1.30.0", "tiny")
        probe = t.opprobe("record", "-a", "--comm", "ort_run", "-d", "300ms", "--no-cost", "-o",
                          t.path("%d.opp" % i))
        # Both have been found, or will be soon; some tenths of a second later probes come.
        patience = probe.patience()
        while len(helpers_of(probe.pid, "(inspector)")) < 2:
            check(not patience.over() and probe.alive(), "nobody is looked into", probe.stderr)
        time.sleep(0.06 * i)
        goes.close()
        check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
        report = t.opprobe("report", t.path("%d.opp" % i), "--json").finish()
        check(report.json["runs"] > 0, "nothing was recorded", report.json["processes"])

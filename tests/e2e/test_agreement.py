# SPDX-License-Identifier: GPL-2.0-only
"""Names and counts are those of the built-in profiler, which is on at the same
time. It works in node.js from 1.24 on; through the C API it works everywhere."""

import bisect
import collections
import os

from capture import Capture
from harness import (check, check_counts, check_equal, described_counts, read_profile, test)

VERSIONS = ("1.24.3", "1.27.0", "1.30.0")
RUNS = 20
MODELS = [
    ("a CNN", "cnn"),
    ("a transformer block", "transformer"),
    ("If and Loop nested twice", "nested"),
    ("a Scan", "scan"),
    ("a GRU", "gru"),
    ("unnamed nodes", "unnamed"),
    ("unnamed nodes in nested subgraphs", "nested_unnamed"),
    ("names with quotes, line breaks and UTF-8", "names"),
]


def agree(t, report, prefix="profile"):
    """Table and trace hold exactly what the built-in profiler recorded."""
    expected = read_profile(t.directory, prefix)
    check_counts(report.nothing_lost().counts(provider=True), expected, "operators of the table")
    check_counts(report.trace_counts(provider=True), expected, "operators of the trace")
    return expected


def in_node(version, sentence, model, **options):
    @test("node.js, %s: %s: names and counts equal the built-in profiler's" % (version, sentence))
    def _(t):
        target = t.node(version)
        session = target.load(t.model(model), profile="profile", **options)
        probe = t.attach(target)
        answer = target.run(session, RUNS)
        report = probe.stop()
        check_equal(report.json["runs"], RUNS, "runs")
        check_equal(len(answer["sums"]), 1, "different results")
        target.do("end_profiling", session=session)
        agree(t, report)


for version in VERSIONS:
    for sentence, model in MODELS:
        in_node(version, sentence, model)
    in_node(version, "2 intra-op threads", "transformer", intraOpNumThreads=2)
    in_node(version, "a CNN with 2 intra-op threads", "cnn", intraOpNumThreads=2)
    in_node(version, "parallel mode", "branches", executionMode="parallel", interOpNumThreads=3)
    in_node(version, "parallel mode with subgraphs", "nested", executionMode="parallel",
            interOpNumThreads=2, intraOpNumThreads=2)


def three_sessions(version):
    @test("node.js, %s: 3 sessions with 4 concurrent runs each equal the built-in profiler" %
          version)
    def _(t):
        target = t.node(version)
        models = ("cnn", "nested", "transformer")
        sessions = [target.load(t.model(name), profile="profile-" + name, intraOpNumThreads=2)
                    for name in models]
        probe = t.attach(target)
        answer = target.do("concurrent", sessions=sessions, each=4, times=10)
        check_equal((answer["done"], answer["failed"]), (120, 0), "runs")
        report = probe.stop()
        for session in sessions:
            target.do("end_profiling", session=session)
        agree(t, report)
        check_equal(report.json["runs"], 120, "runs")
        check_equal(len({op["session"] for op in report.operators}), 3, "sessions")


for version in VERSIONS:
    three_sessions(version)


def through_c(version, sentence, model, runs, *options):
    @test("C API, %s: %s: names and counts equal the built-in profiler's" % (version, sentence))
    def _(t):
        target = t.ort_run(version, model, "-P", "profile", *options)
        probe = t.attach(target)
        answer = target.run(10)
        check_equal(answer["runs"], runs, "runs")
        report = probe.stop()
        target.ask("end-profiling")
        agree(t, report)
        check_equal(report.json["runs"], runs, "runs")


for version in ("1.10.0", "1.12.0", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0"):
    through_c(version, "3 sessions, each run by 4 threads at once", "nested", 120,
              "-s", "3", "-c", "4", "-t", "2")
    through_c(version, "an optimised CNN", "cnn", 10)
for version in ("1.10.0", "1.16.3", "1.20.1", "1.30.0"):
    through_c(version, "parallel mode, 4 threads at once", "branches", 40,
              "-p", "-i", "3", "-t", "2", "-c", "4")


@test("an operator's times and those of the built-in profiler tell the same story")
def _(t):
    target = t.node("1.24.3")
    session = target.load(t.model("heavy"))
    target.run(session, 3)
    probe = t.attach(target)
    target.run(session, 10)
    report = probe.stop().nothing_lost()
    for op in report.operators:
        check(0 < op["min_ns"] <= op["total_ns"] / op["count"] <= op["max_ns"],
              "min, average and max are out of order", op)
        check(op["self_ns"] <= op["total_ns"], "self is more than total", op)
    products = sum(op["total_ns"] for op in report.operators if "MatMul" in op["op_type"])
    check(products > 0.5 * report.json["sum"]["total_ns"], "the products are not the slow part")
    check(report.json["sum"]["total_ns"] <= report.json["total"]["total_ns"],
          "the sum of the operators is more than the runs took")


@test("a Loop's total holds its body and its self does not")
def _(t):
    target = t.node("1.30.0")
    session = target.load_plain(t.model("nested"))
    probe = t.attach(target, "-e", "task-clock")
    target.run(session, 50)
    report = probe.stop().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("nested"), 50))
    outer = report.operator("outer/Loop")
    inside = sum(op["self_ns"] for op in report.operators
                 if op["name"].startswith(("outer/", "inner/", "Identity_"))
                 and op is not outer)
    check(outer["counters"]["task-clock"]["self"] < outer["counters"]["task-clock"]["total"] / 2,
          "the Loop's counters are those of its body", outer)
    traced = sum(event["args"]["task-clock"] for event in report.trace()
                 if event["name"] == "outer/Loop")
    raw = t.opprobe("report", t.path("capture.opp"), "--no-compensate", "--json").finish()
    check_equal(traced, raw.operator("outer/Loop")["counters"]["task-clock"]["total"],
                "task-clock of the Loop in the trace")
    rest = outer["total_ns"] - outer["self_ns"]
    check(abs(rest - inside) <= 0.01 * outer["total_ns"],
          "total less self is %d, the body took %d" % (rest, inside))


def record_briefly(t, target, *how):
    """A recording that ends amid a run, and the number of its operator outer/Loop."""
    path = t.path("capture.opp")
    probe = t.opprobe("record", "-p", target.pid, "-d", "100ms", "-e", "none", "--no-cost", "-o",
                      path, *how)
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
    capture = Capture(path)
    os.unlink(path)
    return capture, [i for i, op in capture.operators.items() if op.name == "outer/Loop"]


def inside_of_loops(capture, loops):
    """How many operators ran directly inside of an outer/Loop, by how often that was so."""
    inside = collections.Counter()
    for thread in {one.thread for one in capture.execs}:
        below = sorted(one.start for one in capture.execs
                       if one.thread == thread and one.depth == 1)
        for one in capture.execs:
            if one.thread == thread and one.op in loops:
                inside[bisect.bisect(below, one.end) - bisect.bisect(below, one.start)] += 1
    return inside


@test("what was recorded has all that ran inside of it, up to the end of the recording")
def _(t):
    target = t.ort_run("1.24.3", "nested", "-c", "4")
    target.run(5)
    target.keep_running()
    for _ in range(t.times(10)):
        capture, loops = record_briefly(t, target)
        inside = inside_of_loops(capture, loops)
        check_equal(list(inside), [12], "operators inside of loops, of %s" % inside)
        capture, loops = record_briefly(t, target, "--aggregate")
        for one in capture.sums:
            if one.op in loops:
                check_equal(one.children, 12 * sum(one.buckets.values()),
                            "operators inside of loops, added up")

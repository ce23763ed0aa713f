# SPDX-License-Identifier: GPL-2.0-only
"""Attach, record and report, on a real ONNX Runtime, whatever the kernel is."""

import os

from capture import Capture
from harness import (check, check_counts, check_equal, described_counts, read_shapes,
                     recorded_shapes, test)
from models import look_at_models
from outcomes import look_at_outcomes
from setup import look_at_setup

VERSIONS = ("1.12.0", "1.20.1", "1.30.0")
RUNS = 10


def through_c(version, model, *options):
    @test("C API, %s: %s: counts are nodes times runs" % (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, "-O", "0", *options)
        truth = target.run(1)["sum"]
        probe = t.attach(target)
        check_equal(target.run(RUNS)["sum"], truth, "result while attached")
        report = probe.stop().nothing_lost()
        expected = described_counts(t.model(model), RUNS)
        check_counts(report.counts(), expected, "operators of the table")
        check_counts(report.trace_counts(), expected, "operators of the trace")
        check_equal(report.json["runs"], RUNS, "runs")
        check_equal(target.run(1)["sum"], truth, "result after it detached")


through_c("1.12.0", "nested")
through_c("1.30.0", "transformer", "-t", "2")


def added_up(version, model, *options):
    @test("C API, %s: %s: what is added up in the kernel is nodes times runs" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, "-O", "0", *options)
        probe = t.opprobe("-p", target.pid, "--aggregate", "--json", "--no-cost", "-o",
                          t.path("capture.opp")).attached()
        target.run(RUNS)
        report = probe.stop().nothing_lost()
        check_counts(report.counts(), described_counts(t.model(model), RUNS))
        check_equal((report.json["runs"], report.json["aggregated"]), (RUNS, True), "runs")
        capture = Capture(t.path("capture.opp"))
        check_equal((len(capture.execs), capture.runs), (0, 0), "records of single executions")
        check_equal(report.json["between_operators"] is not None, True, "a gap")


added_up("1.12.0", "nested")
added_up("1.30.0", "transformer", "-t", "2")


def within_a_budget(t):
    target = t.ort_run("1.30.0", "mlp", "-O", "0", "-d")
    target.keep_running()
    windows, seconds, report = 0, 4, None
    while windows < 2:
        check(seconds < 200, "no windows", report and report.json["recording"])
        probe = t.opprobe("record", "-p", target.pid, "--max-overhead", "5%", "-e", "none", "-d",
                          "%ds" % seconds, "--no-cost", "-o", t.path("capture.opp"))
        check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr)
        report = t.opprobe("report", t.path("capture.opp"), "--json").finish().nothing_lost()
        check_counts(report.counts(), {key: count * report.json["runs"] for key, count in
                                       described_counts(t.model("mlp"), 1).items()}
                     if report.json["runs"] else {})
        windows = report.json["recording"]["budget"]["windows"]
        seconds *= 2


# What the kernel's age may change, and not the architecture: arm64 is emulated most slowly.
if os.uname().machine == "x86_64":
    test("C API, 1.30.0: windows within a budget hold whole runs, and nothing is lost")(
        within_a_budget)


# On arm64 each sample is compared with probes: see there.
for each in VERSIONS if os.uname().machine == "x86_64" else ():
    @test("C API, %s: samples see the operators" % each)
    def _(t, version=each):
        target = t.ort_run(version, "cnn", "-t", "2", "-O", "0")
        target.run(1)
        target.keep_running()
        seen, seconds = 0, 4
        while seen < 100:
            check(seconds < 200, "few samples were in operators", seen)
            probe = t.opprobe("record", "-p", target.pid, "--sample", "200", "-d",
                              "%ds" % seconds, "-o", t.path("capture.opp"))
            check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr)
            report = t.opprobe("report", t.path("capture.opp"), "--json").finish().nothing_lost()
            seen, seconds = report.json["sum"]["samples"], seconds * 2
        described = {key for key, _ in described_counts(t.model("cnn"), 1).items()}
        for row in report.operators:
            check((row["name"], row["op_type"]) in described, "there is no such node", row)
            check_equal(row["model"], "cnn.onnx", "the model")
        sampling = report.json["recording"]["sampling"]
        check(sampling["unknown"] <= 0.2 * sampling["samples"], "stacks do not tell", sampling)


@test("C API, 1.30.0: what threads wait in is told, and how long")
def _(t):
    target = t.ort_run("1.30.0", "cnn", "-t", "2", "-O", "0")
    target.run(1)
    target.keep_running()
    probe = t.opprobe("record", "-p", target.pid, "--sample", "off-cpu", "-d", "5s", "-o",
                      t.path("capture.opp"))
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr)
    report = t.opprobe("report", t.path("capture.opp"), "--json").finish().nothing_lost()
    sampling = report.json["recording"]["sampling"]
    check(sampling["samples"] > 20 and sampling["own"] + sampling["pool"] > 0, "few waits", sampling)
    check_equal(sampling["event"], "off-cpu", "what they are of")
    # Two threads share what CPUs there are with opprobe: they are kept from them.
    check(sum(row["off_ready_ns"] for row in report.operators) > 0, "nobody was ready",
          report.operators)


@test("node.js, 1.20.1: counts are nodes times runs")
def _(t):
    target = t.node("1.20.1")
    session = target.load_plain(t.model("mlp"))
    probe = t.attach(target)
    target.run(session, RUNS)
    report = probe.stop().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("mlp"), RUNS))
    check_equal(report.json["runs"], RUNS, "runs")


for each in ("1.12.0", "1.20.1", "1.30.0"):
    @test("C API, %s: runs are told by their tags, and failed ones by what they return" % each)
    def _(t, version=each):
        look_at_outcomes(t, version)


@test("C API, 1.24.3: loading and initialization take as long as the built-in profiler says")
def _(t):
    look_at_setup(t, "1.24.3")


@test("C API, 1.30.0: sessions are what their options say")
def _(t):
    look_at_models(t, "1.30.0")


@test("a capture that is recorded here is reported here, with counters")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-O", "0")
    record = t.opprobe("record", "-p", target.pid, "-o", t.path("run.opp"),
                       "-e", "task-clock,page-faults,task-faults,context-switches").attached()
    target.run(RUNS)
    record.signal(2)
    check_equal(record.wait(), 0, "status of record")
    report = t.opprobe("report", t.path("run.opp"), "--json").finish().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("nested"), RUNS))
    for op in report.operators:
        for name in ("task-clock", "page-faults", "task-faults", "context-switches"):
            check_equal(op["counters"][name]["counted"], op["count"], name + " of " + op["name"])


@test("parallel mode: every operator belongs to its run, and each run is on a new thread")
def _(t):
    target = t.ort_run("1.30.0", "branches", "-O", "0", "-p", "-i", "2", "-c", "16")
    probe = t.attach(target, "-e", "none")
    for _ in range(5):
        target.run(1)
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 80, "runs")
    check_equal(report.json["outside_of_runs"]["count"], 0, "operators of no run")
    check_counts(report.counts(), described_counts(t.model("branches"), 80))


def shapes(version, model):
    @test("C API, %s: %s: shapes equal the built-in profiler's" % (version, model))
    def _(t):
        target = t.ort_run(version, model, "-P", "profile")
        probe = t.attach(target, "--shapes")
        target.run(RUNS)
        probe.stop().nothing_lost()
        target.ask("end-profiling")
        check_counts(recorded_shapes(t), read_shapes(t))


shapes("1.12.0", "nested")
shapes("1.30.0", "transformer")

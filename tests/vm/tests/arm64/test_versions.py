# SPDX-License-Identifier: GPL-2.0-only
"""Every generation of ONNX Runtime, as it is published for arm64."""

from attributes import look_at_attributes
from harness import (SHAPES, SIZES, check, check_counts, check_equal, read_profile, read_shapes,
                     recorded_shapes, test)
from memory import look_at_memory
from models import look_at_models
from outcomes import look_at_outcomes
from setup import look_at_setup

VERSIONS = ("1.10.0", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")
RUNS = 10


def agreement(version, model, *options):
    @test("arm64, %s: %s: names, counts, shapes and runs equal the built-in profiler's" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, "-P", "profile", *options)
        probe = t.attach(target, "--shapes")
        runs = target.run(RUNS)["runs"]
        report = probe.stop().nothing_lost()
        target.ask("end-profiling")
        expected = read_profile(t.directory, "profile")
        check_counts(report.counts(provider=True), expected, "operators of the table")
        check_counts(report.trace_counts(provider=True), expected, "operators of the trace")
        check_equal(report.json["runs"], runs, "runs")
        check_equal(report.json["runtime"]["version"], version, "version of the runtime")
        if model != "names":  # which break the built-in profiler's file
            # The oldest tells sizes only.
            told = SIZES if version == "1.10.0" else SHAPES
            check_counts(recorded_shapes(t, told), read_shapes(t, fields=told))
        for op in report.operators:
            names = set(op["counters"])
            check({"cycles", "instructions"} <= names, "counted by default: %s" % sorted(names))


def outcomes(version):
    @test("arm64, %s: runs are told by their tags, and failed ones by what they return" % version)
    def _(t):
        look_at_outcomes(t, version)


def models(version):
    @test("arm64, %s: sessions are what their options say" % version)
    def _(t):
        look_at_models(t, version)


def attributes(version):
    @test("arm64, %s: attributes, and FLOP, are those of the model" % version)
    def _(t):
        look_at_attributes(t, version)


def memory(version):
    @test("arm64, %s: what operators get, and what the arena holds, is what the runtime says" %
          version)
    def _(t):
        look_at_memory(t, version)


def setup(version):
    @test("arm64, %s: loading and initialization take as long as the built-in profiler says" %
          version)
    def _(t):
        look_at_setup(t, version)


for each in VERSIONS:
    attributes(each)
    memory(each)
    setup(each)
    outcomes(each)
    models(each)

agreement("1.10.0", "cnn")
agreement("1.14.0", "nested")
agreement("1.16.3", "transformer", "-t", "2", "-c", "2")
agreement("1.20.1", "nested_unnamed", "-t", "2")
agreement("1.24.3", "unnamed", "-s", "2", "-c", "2")
agreement("1.27.0", "branches", "-p", "-i", "3")
agreement("1.30.0", "names")

# SPDX-License-Identifier: GPL-2.0-only
"""Hardware counters against what is known to be true. This machine counts the
instructions of user mode exactly."""

import re
import subprocess

from harness import OrtTarget, check, check_equal, test

VERSIONS = ("1.30.0",)
RUNS = 20
KNOWN = 2_000_005  # the instructions of known_counts.S


def exact(t, version):
    program = t.objects + "/tests/vm/exact"
    return t.start(OrtTarget, [program, t.library(version), program + ".onnx"]).ready()


@test("the machine itself counts a program of known length exactly, every time")
def _(t):
    for _ in range(3):
        made = subprocess.run(
            ["perf", "stat", "-x,", "-e", "instructions:u", t.objects + "/tests/vm/known_counts"],
            stderr=subprocess.PIPE, check=True)
        check_equal(int(made.stderr.split(b",")[0]), KNOWN, "instructions")


def known_instructions(version, *how):
    @test("%s: operators of known instructions differ by exactly that many" %
          " ".join((version,) + how))
    def _(t):
        target = exact(t, version)
        target.ask("run 3")
        probe = t.opprobe("-p", target.pid, "--json", "-e", "instructions", "-o",
                          t.path("capture.opp"), *how).attached()
        target.ask("run %d" % RUNS)
        report = probe.stop().nothing_lost()
        check_equal(report.json["aggregated"], bool(how), "added up")
        empty = report.operator("exact_0")["counters"]["instructions"]["total"]
        check(0 < empty < 10_000 * RUNS, "an operator that does nothing takes %d" % empty)
        for op in report.operators:
            name = re.match(r"exact_(\d+)$", op["name"])
            if not name:
                continue
            known = int(name[1])
            counter = op["counters"]["instructions"]
            check_equal(counter["counted"], RUNS, "counted executions of " + op["name"])
            check_equal(counter["total"] - empty, known * RUNS, "instructions of " + op["name"])


for version in VERSIONS:
    known_instructions(version)
    known_instructions(version, "--aggregate")


def record_model(t, model, runs):
    """One capture of a fresh process; returns the report and the thread's own count."""
    target = t.ort_run("1.30.0", model, "-e")
    target.run(2)
    probe = t.attach(target, "-e", "instructions,cycles")
    truth = target.run(runs)["instructions"]
    report = probe.stop().nothing_lost()
    target.close()
    return report, truth


def recorded_twice(model):
    @test("a %s, recorded twice: every large operator has equal counts" % model)
    def _(t):
        first, second = (record_model(t, model, RUNS)[0] for _ in range(2))
        large = 0
        for op in first.operators:
            one = op["counters"]["instructions"]["total"]
            other = second.operator(op["name"])["counters"]["instructions"]["total"]
            if one > 10_000 * RUNS:
                large += 1
                check(abs(one - other) <= 0.001 * one,
                      "%s: %d instructions, then %d" % (op["name"], one, other))
        check(large >= 3, "only %d operators are large enough to compare" % large)


recorded_twice("transformer")
recorded_twice("cnn")


@test("a ResNet: its operators and the rest of its runs are what the thread counts itself")
def _(t):
    # What the thread does around its runs would be too much of a smaller model.
    report, truth = record_model(t, "resnet", 1)
    total = report.json["total"]["counters"]["instructions"]["total"]
    summed = report.counter("instructions")
    check(summed <= total, "the operators have %d, the run %d" % (summed, total))
    check(0 <= truth - total <= 0.001 * truth,
          "the run has %d instructions, the thread %d" % (total, truth))


@test("an event that this machine lacks is refused before anything is attached")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    sentence = t.fails("-p", target.pid, "-e", "cache-misses", "-o", t.path("capture.opp"))
    check("cache-misses" in sentence, "the sentence does not name the event", sentence)

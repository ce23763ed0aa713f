# SPDX-License-Identifier: GPL-2.0-only
"""--sample where stacks are walked by their frames, against what probes see at that moment; and
samples of an event whose number is exact."""

import collections
import re
import signal

from capture import IN_RUNTIME, OWN, UNKNOWN, WORKS_FOR, Capture
from harness import OrtTarget, check, check_equal, test
from truth import Truth, compare

# The frame record lies at the bottom of the frame in the one, and near its top in the other.
VERSIONS = ("1.10.0", "1.30.0")


def equals_probes(version, model, *options, pool=False):
    @test("%s: %s: samples see what the probes saw at that moment" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, "-O", "0", *options)
        target.run(2)
        target.keep_running()
        right, seconds = collections.Counter(), 2
        while right[OWN] < 50 or (pool and right[WORKS_FOR] < 5):
            check(seconds < 100, "few samples were in operators", right)
            probe = t.opprobe("record", "-p", target.pid, "--sample", "250", "-o",
                              t.path("capture.opp")).attached()
            every = t.opprobe("record", "-p", target.pid, "-e", "none", "--no-cost", "--parts",
                              "--buffer", "64M", "-d", "%ds" % seconds, "-o", t.path("every.opp"))
            check_equal(every.wait(), 0, "exit status (%s)" % every.stderr[-2000:])
            probe.signal(signal.SIGINT)
            check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
            lost = t.opprobe("report", t.path("every.opp"), "--json").finish().json["losses"]
            samples = Capture(t.path("capture.opp"))
            seconds *= 2
            if not any(lost.values()):
                right += compare(samples, Truth(Capture(t.path("every.opp"))), model == "nested")
        seen = collections.Counter(one.seen for one in samples.samples)
        check(seen[UNKNOWN] <= 0.02 * len(samples.samples), "many stacks did not tell", seen)
        check(seen[IN_RUNTIME] < 0.8 * len(samples.samples), "few samples are in operators", seen)
        places = collections.Counter(one.function and "libonnxruntime" in one.function.path and
                                     one.function.bounded for one in samples.samples
                                     if one.op is not None)
        check(places[True] and places[None] <= 0.02 * sum(places.values()),
              "functions of the library are not known", places)


for each in VERSIONS:
    equals_probes(each, "cnn", "-t", "2", pool=True)


@test("1.30.0: samples of cycles are where the instructions are that operators are known to execute")
def _(t):
    program, period, runs = t.objects + "/tests/vm/exact", 500_009, 20
    target = t.start(OrtTarget, [program, t.library("1.30.0"), program + ".onnx"]).ready()
    probe = t.opprobe("record", "-p", target.pid, "--sample-event", "cycles", "--sample-period",
                      period, "-o", t.path("capture.opp")).attached()
    target.ask("run %d" % runs)
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
    report = t.opprobe("report", t.path("capture.opp"), "--json").finish().nothing_lost()
    hot = t.opprobe("report", t.path("capture.opp"), "--json", "--hot").finish()
    large = 0
    for row in report.operators:
        name = re.match(r"exact_(\d+)$", row["name"])
        told = period * row["samples"]  # each is some cycles behind the period's end
        check(abs(row["events"] - told) <= 0.01 * told, "cycles that samples stand for", row)
        if not name or int(name[1]) * runs < 20 * period:
            continue
        # An instruction takes two cycles here; first sights are of nothing that has a name.
        known, large = 2 * int(name[1]) * runs, large + 1
        check(abs(row["events"] - known) <= 0.05 * known + 3 * period,
              "%s: %d cycles by samples, %d are known" % (row["name"], row["events"], known))
        # All of them are a loop in one function.
        rows = [one for one in hot.operators if one["name"] == row["name"]]
        inside = sum(one["samples"] for one in rows if one["function"] == "exact_compute" and
                     one["file"].endswith("/exact") and one["is_function"])
        check(inside >= 0.95 * row["samples"], "where they were", rows)
    check(large > 0, "no operator is large enough", report.operators)

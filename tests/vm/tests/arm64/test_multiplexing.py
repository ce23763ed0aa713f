# SPDX-License-Identifier: GPL-2.0-only
"""More events than the machine has counters: seven here, and one of them for cycles alone."""

import re

from harness import OrtTarget, check, check_equal, test

VERSIONS = ("1.30.0",)
RUNS = 60
MIXED_RUNS = 120

# From so many instructions on, estimates are also near: within 2.5 % in ten repetitions. What
# is shorter takes as long as a tick that falls into it, which its interval tells: 8 to 12 %.
LONG = 10000

ALIASES = ["again%d" % i for i in range(9)]


@test("12 events on 7 counters: estimates are true, and what was not counted is not 0")
def _(t):
    program = t.objects + "/tests/vm/exact"
    target = t.start(OrtTarget, [program, t.library("1.30.0"), program + ".onnx"]).ready()
    target.ask("run 3")
    events = ["instructions=" + name for name in ALIASES] + ["cycles", "r08", "r11"]
    probe = t.attach(target, "-e", ",".join(events))
    target.ask("run %d" % RUNS)
    report = probe.stop().nothing_lost()
    compared = 0
    for name in ALIASES:
        empty = report.operator("exact_0")["counters"][name]
        check(empty["estimate"], "an operator that does nothing was never counted")
        for op in report.operators:
            known = re.match(r"exact_(\d+)$", op["name"])
            counter = op["counters"][name]
            check(counter["counted"] < RUNS, "%s was always counted" % op["name"], counter)
            if not counter["counted"]:
                check_equal(counter["total"], None, "total of what was never counted in whole")
            if not counter["coverage"]:
                check_equal(counter["estimate"], None, "not counted")
            elif known and int(known[1]):
                truth = int(known[1]) * RUNS
                error = abs(counter["estimate"] - empty["estimate"] - truth)
                near = error <= 0.05 * counter["estimate"] or int(known[1]) < LONG
                check(near and error <= counter["interval95"] + empty["interval95"],
                      "%s of %s: %r, true is %d" % (name, op["name"], counter,
                                                    empty["estimate"] + truth))
                compared += 1
    check(compared >= 4 * len(ALIASES), "only %d figures could be compared" % compared)


@test("operators of mixed lengths on 7 counters: the truth lies in the intervals")
def _(t):
    program = t.objects + "/tests/vm/exact"
    model = t.objects + "/tests/vm/mixed.onnx"
    target = t.start(OrtTarget, [program, t.library("1.30.0"), model]).ready()
    target.ask("run 4")  # as many as the longest "every"
    events = ["instructions=" + name for name in ALIASES] + ["cycles", "r08", "r11"]
    probe = t.attach(target, "-e", ",".join(events))
    target.ask("run %d" % MIXED_RUNS)
    report = probe.stop().nothing_lost()
    inside, outside, alone = 0, [], {}
    for name in ALIASES:
        empty = report.operator("exact_0")["counters"][name]["estimate"]
        for op in report.operators:
            known = re.match(r"mixed_(\d+)_(\d+)_(\d+)$", op["name"])
            counter = op["counters"][name]
            if not known:
                continue
            count, other, every = map(int, known.groups())
            truth = MIXED_RUNS // every * other + (MIXED_RUNS - MIXED_RUNS // every) * count
            check(counter["interval95"] > 0 and counter["coverage"] < 1, op["name"], counter)
            check(abs(counter["estimate"] - empty - truth) <= 0.05 * truth,
                  "%s of %s: %r, true is %d" % (name, op["name"], counter, empty + truth))
            if abs(counter["estimate"] - empty - truth) <= counter["interval95"]:
                inside += 1
            else:
                outside.append((name, op["name"], counter, truth))
            alone[name] = max(alone.get(name, 0), counter["estimate"])
        total = report.json["sum"]["counters"][name]
        check(total["estimate"] >= alone[name], "the sum is less than one of its rows", total)
    check(inside + len(outside) == 4 * len(ALIASES), "figures", inside, outside)
    check(len(outside) <= 2, "outside of their intervals", outside)


@test("16 events, with shapes: the programs are not too long for this kernel's verifier")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-e")
    target.run(1)
    names = ["again%d" % i for i in range(16)]
    probe = t.attach(target, "-e", ",".join("instructions=" + name for name in names), "--shapes")
    target.run(RUNS)
    report = probe.stop().nothing_lost()
    for name in names:
        total = report.json["sum"]["counters"][name]
        check(total["estimate"] or total["total"], "%s was never counted" % name, total)

# SPDX-License-Identifier: GPL-2.0-only
"""More events than the machine has counters: seven here, and one of them for cycles alone."""

import re

from harness import OrtTarget, check, check_equal, test

VERSIONS = ("1.30.0",)
RUNS = 60
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
        empty = report.operator("exact_0")["counters"][name]["estimate"]
        check(empty, "an operator that does nothing was never counted")
        for op in report.operators:
            known = re.match(r"exact_(\d+)$", op["name"])
            counter = op["counters"][name]
            check(counter["counted"] < RUNS, "%s was always counted" % op["name"], counter)
            check(abs(counter["coverage"] - counter["counted"] / RUNS) < 1e-6, "coverage", counter)
            if not counter["counted"]:
                check_equal((counter["total"], counter["estimate"]), (None, None), "not counted")
            elif known and int(known[1]):
                truth = int(known[1]) * RUNS
                check(abs(counter["estimate"] - empty - truth) <= 0.01 * truth,
                      "%s of %s: %r, true is %d" % (name, op["name"], counter, empty + truth))
                compared += 1
    check(compared >= 4 * len(ALIASES), "only %d figures could be compared" % compared)

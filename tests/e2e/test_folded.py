# SPDX-License-Identifier: GPL-2.0-only
"""Folded stacks say what the table says."""

import collections

from harness import check, check_equal, test


def folded(t, *options):
    """Weights by stacks, a tuple of frames."""
    made = t.opprobe("export", t.path("capture.opp"), "--format", "folded", *options)
    check_equal(made.wait(), 0, "status of export")
    weights = collections.Counter()
    for line in made.stdout.splitlines():
        stack, weight = line.rsplit(" ", 1)
        check(" " not in stack, "a space in a stack", line)
        weights[tuple(stack.split(";"))] += int(weight)
    return weights


def by_operator(weights):
    """The sums by the last two frames, op type and name."""
    sums = collections.Counter()
    for stack, weight in weights.items():
        sums[stack[-2:]] += weight
    return sums


@test("stacks are folded: nodes below those around them, as much as the table says, in all the runs")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-O", "0")
    target.run(3)
    probe = t.attach(target, "-e", "page-faults,task-clock")
    target.run(20)
    probe.stop().nothing_lost()
    report = t.opprobe("report", t.path("capture.opp"), "--json").finish()
    weights = folded(t)
    check(all(len(stack) > 2 and stack[0].startswith("nested") for stack in weights
              if stack[-1] != "between_operators"), "roots", weights)
    inside = [stack for stack in weights if len(stack) >= 5 and stack[1] in ("If", "Loop")]
    check(inside, "nothing is inside of an If or a Loop", weights)
    check(any(len(stack) >= 7 for stack in weights), "nothing is nested twice", weights)
    for name in ("time", "page-faults", "task-clock"):
        expected = collections.Counter()
        for op in report.operators:
            known = op["self_ns"] if name == "time" else op["counters"][name]["self"]
            expected[(op["op_type"], op["name"].replace(" ", "_"))] += known
        sums = by_operator(folded(t, "--weight", name))
        for stack in [stack for stack in sums if stack[-1] == "between_operators"]:
            del sums[stack]
        check_equal(+sums, +expected, "self " + name)
    check_equal(sum(weights.values()), report.json["total"]["total_ns"], "time of the runs")

# SPDX-License-Identifier: GPL-2.0-only
"""What the probes add is measured at each attach, and subtracted: however the machine is
disturbed meanwhile, no number gets negative, no part larger than the whole."""

import statistics

from harness import Process, check, test

ATTACHES = 60
LOAD = 4  # busy loops beside
BUSY = ["sh", "-c", "while :; do :; done"]


def counters(row):
    return {name: counter["total"] for name, counter in row["counters"].items()}


def check_parts(report):
    """Sum and what is between operators are the Total, and no part is larger."""
    json = report.json
    total, sums, between = json["total"], json["sum"], json["between_operators"]
    check(between, "the time between operators is not known", json["runs"])
    outside = json["outside_of_runs"]["total_ns"]
    check(sums["total_ns"] + between["total_ns"] == total["total_ns"] + outside,
          "the Sum of %d and %d between operators are not the Total of %d with %d outside of runs" %
          (sums["total_ns"], between["total_ns"], total["total_ns"], outside))
    check(between["total_ns"] >= 0 and sums["self_ns"] == sums["total_ns"],
          "self times are not the Sum", sums)
    if not outside:
        for name, value in counters(total).items():
            parts = counters(sums)[name] + counters(between)[name]
            check(parts == value, "%s: %d in parts, %d in all" % (name, parts, value))
    for op in report.operators:
        check(0 <= op["self_ns"] <= op["total_ns"], "self is more than total", op)
        check(op["min_ns"] * op["count"] <= op["total_ns"] <= op["max_ns"] * op["count"],
              "min, average and max are out of order", op)
        for counter in op["counters"].values():
            check(0 <= counter["self"] <= counter["total"], "self is more than total", op)


def constants_of(t, target, *options):
    """Record some runs; what the probes add, if that could be measured."""
    probe = t.attach(target, "-e", "task-clock,page-faults", *options)
    target.run(20)
    report = probe.stop().nothing_lost()
    check_parts(report)
    recording = report.json["recording"]
    check(recording["compensated"] or "is not subtracted" in probe.stderr,
          "nothing was subtracted, and nothing says so", probe.stderr)
    return (recording["probe_own_ns"], recording["probe_nested_ns"]) if recording[
        "compensated"] else None


def check_spread(values, what):
    middle = statistics.median(values)
    far = [value for value in values if not middle / 1.5 <= value <= middle * 1.5]
    check(len(far) <= len(values) / 20, "%s of the probes: the median is %d ns, and there are" %
          (what, middle), *far)


@test("many attaches to a loaded machine: the parts are the whole, and the constants agree")
def _(t):
    attaches = t.times(ATTACHES)
    targets = [(t.ort_run("1.30.0", "nested", "-O", "0"), ()),
               (t.ort_run("1.30.0", "tiny", "-O", "0"), ()),
               (t.ort_run("1.30.0", "nested", "-O", "0"), ("--shapes",))]
    for _ in range(LOAD):
        t.start(Process, BUSY)
    known = []
    for i in range(attaches):
        target, options = targets[i % len(targets)]
        constants = constants_of(t, target, *options)
        if constants:
            known.append(constants)
    check(len(known) >= 0.9 * attaches, "of %d attaches, what the probes add was known of %d" %
          (attaches, len(known)))
    check_spread([own for own, _ in known], "own time")
    check_spread([nested for _, nested in known], "time")

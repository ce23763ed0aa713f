# SPDX-License-Identifier: GPL-2.0-only
"""What is recorded of memory, beside what the runtime itself says of it."""

import csv
import re

from harness import check, check_equal

COUNTED = ("allocs", "alloc-bytes", "freed-bytes", "temp-bytes")


def memory_of(row):
    """What was counted of memory in @row, by its event; None what is not known."""
    return {name: row["counters"][name]["total"] for name in COUNTED}


def statistics_of(path):
    """What each node was granted in a run, and how much of it for itself alone, in bytes."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))
    check_equal(rows[0][-2:], ["total_dynamic_sizes", "total_temp_allocations"], "its columns")
    return {re.sub(r"_\d+$", "", row[0]): (int(row[-2]) + int(row[-1]), int(row[-1]))
            for row in rows[1:]}


def check_node(row, granted, temporary):
    """The runtime counts what its arena grants: a multiple of 256 bytes for each block."""
    memory = memory_of(row)
    rest = row["count"] * granted - memory["alloc-bytes"]
    check(0 <= rest <= 255 * memory["allocs"], "bytes of %s" % row["name"], memory, granted)
    rest = row["count"] * temporary - memory["temp-bytes"]
    check(0 <= rest <= 255 * memory["allocs"], "temporary bytes", row["name"], memory, temporary)
    check_equal(memory["allocs"] > 0, granted > 0, "allocations of %s" % row["name"])
    check_equal(memory["allocs"] % row["count"], 0, "the same in each run")


def check_balance(found, output, runs):
    """What runs ask for is what they give back, but for @output bytes that each leaves."""
    total = memory_of(found.json["total"])
    check_equal(found.json["runs"], runs, "runs")
    check(total["allocs"] >= runs, "too few allocations", total)
    check_equal(total["alloc-bytes"] - total["freed-bytes"], runs * output, "bytes left")
    inside, between = memory_of(found.json["sum"]), memory_of(found.json["between_operators"])
    check_equal(inside["alloc-bytes"] + between["alloc-bytes"], total["alloc-bytes"], "the sum")
    check_equal(between["temp-bytes"], 0, "temporary, of no operator")
    return total


def run_until_peaks(t, target):
    """Run it until runs tell the most that their arena had given out."""
    def known(report):
        target.run(1)
        return (report["total"].get("peak_bytes") or 0) > 0
    t.recorded("no peak of a run", known)


def record_peaks(t, target, runs):
    """Record it until its runs have peaks, and for so many runs more."""
    probe = t.attach(target, "-e", "none", "--memory")
    run_until_peaks(t, target)
    target.run(runs)
    return probe.stop().nothing_lost()


def peaks_of_runs(t):
    """In their order; None of one whose peak is not known."""
    report = t.opprobe("report", t.path("capture.opp"), "--group-by", "run", "--sort", "run",
                       "--json").finish()
    return [row["peak_bytes"] for row in sorted(report.operators, key=lambda row: row["run"])]


def check_peaks(t, most):
    """Each is @most, but for those of before it was known where an arena counts."""
    peaks = peaks_of_runs(t)
    check_equal(set(peaks[-3:]), {most}, "peaks of the last runs")
    check(set(peaks) <= {None, most}, "peaks of runs", peaks, most)


def look_at_memory(t, version):
    """Of a model whose output has 40 bytes: nodes, runs, and the arena."""
    tells = int(version.split(".")[1]) >= 23
    own = t.path("nodes.csv")
    target = t.ort_run(version, "cnn", "-M", *(("-N", own) if tells else ()))
    target.run(3)
    found = record_peaks(t, target, 10)
    total = check_balance(found, 40, found.json["runs"])
    check(total["allocs"] >= 50, "allocations", total)
    session = found.json["session_models"][0]
    told = [session["arena_%s_bytes" % key] for key in ("in_use", "most", "total")]
    check_peaks(t, told[1])
    if not tells:
        check(None not in told and 0 < told[0] < told[1] <= told[2], "bytes of the arena", told)
        return
    truth = statistics_of(own)
    for row in found.operators:
        check_node(row, *truth[row["name"]])
    arena = target.ask("arena")
    check_equal(told, [arena["InUse"], arena["MaxInUse"], arena["TotalAllocated"]], "the arena")

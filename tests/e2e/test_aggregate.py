# SPDX-License-Identifier: GPL-2.0-only
"""--aggregate: executions and runs are added up in the kernel, and what comes of it is what single
records would have told."""

import collections
import json
import os
import signal
import struct
import subprocess
import time

from capture import Capture, bucket
from harness import (FRESH_MEMORY, Failure, OrtTarget, check, check_counts, check_equal,
                     described_counts, descriptors, read_profile, test)

RUNS = 20


def add_up(t, target, *arguments):
    """Attach, and wait until the probes are in place."""
    return t.opprobe("-p", target.pid, "--aggregate", "--json", "--no-cost", "-o",
                     t.path("capture.opp"), *arguments).attached()


def look_at_sums(capture):
    """What no sum may contradict, whatever ran; returns them by operator, added up."""
    whole = {}
    for one in capture.sums:
        count = sum(one.buckets.values())
        check(count > 0 and one.start < one.end, "a sum of nothing", one)
        for i, name in enumerate(("ns", "below_ns", "children", "inside", "nested")):
            whole.setdefault((one.op, one.parent), [0] * 6)[i] += getattr(one, name)
        whole[one.op, one.parent][5] += count
    for ns, below, children, inside, nested, count in whole.values():
        check(below <= ns and nested <= count and nested <= children <= inside,
              "what ran inside is more than there was", whole)
    return whole


def check_buckets(sums):
    """Durations are in the buckets that FORMAT.md tells."""
    least = sum(bucket(i)[0] * n for one in sums for i, n in one.buckets.items())
    most = sum((bucket(i)[1] - 1) * n for one in sums for i, n in one.buckets.items())
    ns = sum(one.ns for one in sums)
    check(least <= ns <= most, "durations are in other buckets than they are of: %d ns, from %d to "
          "%d by the buckets" % (ns, least, most))


def check_told(t, told=0):
    """All was added up, but for so many executions and runs; the operators' sums are sound."""
    capture = Capture(t.path("capture.opp"))
    check_equal((len(capture.execs), capture.runs), (told, told and capture.runs),
                "executions and runs in records of their own")
    by_op = collections.defaultdict(list)
    for one in capture.sums:
        by_op[one.op].append(one)
    for sums in by_op.values():
        check_buckets(sums)
    return look_at_sums(capture)


def through_c(version, model, runs, *options):
    @test("C API, %s: %s: what is added up is what the built-in profiler counted" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, "-P", "profile", *options)
        probe = add_up(t, target)
        target.run(RUNS)
        report = probe.stop().nothing_lost()
        target.ask("end-profiling")
        expected = read_profile(t.directory, "profile")
        check_counts(report.counts(provider=True), expected, "operators of the table")
        check_equal((report.json["runs"], report.json["aggregated"]), (runs, True), "runs")
        # What lies between operators that are on several threads is not known.
        check_equal(report.json["between_operators"] is None, "-p" in options, "no gap")
        check_told(t)
        # Before 1.14, what a pool's threads execute is of no run that is known.
        elsewhere = sum(one.elsewhere for one in Capture(t.path("capture.opp")).sums)
        check_equal(elsewhere > 0, "-p" in options and version != "1.10.0",
                    "operators on other threads than their runs")


for version in ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0"):
    through_c(version, "nested", 12 * RUNS, "-s", "3", "-c", "4", "-t", "2")
for version in ("1.10.0", "1.20.1", "1.30.0"):
    through_c(version, "cnn", RUNS)
    through_c(version, "branches", 4 * RUNS, "-p", "-i", "3", "-t", "2", "-c", "4")


def members(row):
    """Of a row, what single records and sums must tell alike, if the same is executed."""
    return {key: row[key] for key in ("count", "threw", "op_type", "provider", "session")}


def alike(version, model, *options):
    @test("%s: %s: rows, runs and page faults are those of a recording of every execution" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, "-O", "0", "-m", *options, **FRESH_MEMORY)
        target.run(3)
        reports = []
        for mode in ([], ["--aggregate"]):
            probe = t.opprobe("-p", target.pid, "--json", "--no-cost", "-e", "page-faults", "-o",
                              t.path("capture.opp"), *mode).attached()
            target.run(RUNS)
            reports.append(probe.stop().nothing_lost())
        one_by_one, added = reports
        rows = [{op["name"]: members(op) for op in report.operators} for report in reports]
        check_equal(rows[1], rows[0], "rows")
        check_equal(added.json["runs"], one_by_one.json["runs"], "runs")
        for op in one_by_one.operators:
            other = added.operator(op["name"])
            for part in ("total", "self"):
                counts = [row["counters"]["page-faults"][part] for row in (op, other)]
                check(abs(counts[0] - counts[1]) <= 2 + 0.02 * counts[0],
                      "page faults (%s) of %s: %d, added up %d" % (part, op["name"], *counts))
        check(one_by_one.counter("page-faults") > 100, "no page faults to compare")
        check_told(t)


alike("1.30.0", "pages")
alike("1.10.0", "pages")


@test("what operators inside of others took is in those, and in no self time but their own")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-c", "2")
    probe = add_up(t, target, "-e", "task-faults,on-cpu")
    target.run(200)
    probe.stop().nothing_lost()
    capture = Capture(t.path("capture.opp"))
    inside = collections.Counter()
    for one in capture.sums:
        inside[one.parent, "ns"] += one.ns
        inside[one.parent, "n"] += sum(one.buckets.values())
        for i, counts in enumerate(one.counts):
            inside[one.parent, i] += counts.value
    around = [one for one in capture.sums if one.children and not one.of_runs]
    check(around, "nothing ran inside of others")
    for op in {one.op for one in around}:
        sums = [one for one in around if one.op == op]
        check_equal(sum(one.below_ns for one in sums), inside[op, "ns"], "ns inside")
        check_equal(sum(one.children for one in sums), inside[op, "n"], "operators inside")
        for i in range(2):
            check_equal(sum(one.counts[i].below for one in sums), inside[op, i], "counts inside")
    runs = [one for one in capture.sums if one.of_runs]
    top = [one for one in capture.sums if not one.of_runs and one.parent is None]
    check_equal(sum(one.below_ns for one in runs), sum(one.ns for one in top), "ns in runs")
    check_equal(sum(one.inside for one in runs),
                sum(sum(one.buckets.values()) for one in capture.sums if not one.of_runs),
                "operators in runs")
    report = t.opprobe("report", t.path("capture.opp"), "--json", "--no-compensate").finish()
    check_equal(report.json["sum"]["total_ns"], sum(one.ns for one in top), "ns of the Sum")
    check_equal(report.json["total"]["total_ns"], sum(one.ns for one in runs), "ns of the Total")
    check_equal(report.json["between_operators"]["total_ns"],
                sum(one.ns for one in runs) - sum(one.ns for one in top), "ns between operators")
    loop = report.operator("outer/Loop")
    check(loop["self_ns"] < loop["total_ns"] / 2, "the Loop's self time is that of its body", loop)


def work(version, model, *options):
    @test("%s: %s: all that pool threads work is in the operators' sums" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, *options)
        target.run(5)
        probe = add_up(t, target, "-e", "page-faults")
        target.run(60)
        report = probe.stop().nothing_lost()
        pool = report.json["pool"]
        check(pool["work_ns"] > 0, "the pool did nothing", pool)
        check_equal(report.json["sum"]["other_threads_ns"], pool["work_ns"],
                    "work of other threads in all operators, ns")
        check_told(t)


work("1.10.0", "resnet", "-t", "2")
work("1.30.0", "resnet", "-t", "4", "-s", "3", "-c", "4")


def fail_between(t, model, behind):
    """5 good runs, 7 whose Reshape throws, and as many good ones behind, added up."""
    target = t.node("1.30.0")
    session = target.load_plain(t.model(model))
    probe = add_up(t, target)
    target.run(session, 5)
    bad = target.do("run", session=session, times=7, change={"shape": {"values": [5, 5]}})
    check_equal(bad["failed"], 7, "runs that fail")
    target.run(session, behind)
    return probe.stop().nothing_lost()


@test("what fails is told one by one, and so is what threw")
def _(t):
    report = fail_between(t, "reshape", 3)
    check_equal([report.json[key] for key in ("runs", "runs_failed")], [15, 7], "runs, failed ones")
    check_equal(report.json["total"]["count"], 8, "runs in the total")
    check_counts(report.counts(), collections.Counter({
        ("before/Relu", "Relu"): 15, ("Reshape", "Reshape"): 15, ("after/Neg", "Neg"): 8}))
    check_equal(report.operator("Reshape")["threw"], 7, "exceptions")
    check_equal(report.json["failed_in_rows"], True, "operators of failed runs are in the rows")
    capture = Capture(t.path("capture.opp"))
    check_equal((len(capture.execs), capture.runs), (7, 7), "executions and runs that are told")
    shown = t.opprobe("report", t.path("capture.opp"), "--failed")
    check_equal(shown.wait(), 1, "status of a report of failed runs")
    check("--aggregate" in shown.stderr, "why there is none", shown.stderr)


@test("what holds something that threw is told, and has no time of its own")
def _(t):
    report = fail_between(t, "reshape_inside", 0)
    thrown = [op for op in report.operators if op["threw"]]
    check_equal([op["threw"] for op in thrown], [7], "operators that threw")
    capture = Capture(t.path("capture.opp"))
    # It, and the two that it was inside of.
    check_equal(len(capture.execs), 3 * 7, "executions that are told")
    around = [op for op in report.operators if op["self_counted"] < op["count"] - op["threw"]]
    check_equal([(op["count"], op["self_counted"]) for op in around], [(12, 5)] * 2,
                "operators around it, and how many have a time of their own: of the others a part "
                "is added up")


@test("a node that is executed at two places is added up at one, and told at the others")
def _(t):
    program = t.objects + "/tests/vm/exact"
    model = program + ".onnx"
    target = t.start(OrtTarget, [program, t.library("1.30.0"), model, "again"]).ready()
    probe = add_up(t, target, "-e", "none")
    target.ask("run 5")
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 5, "runs")
    # Each of 9 operators runs all 9 of the other session, before it does its own work.
    check_equal({op["name"]: op["count"] for op in report.operators},
                {op["name"]: 5 * (1 + 9) for op in report.operators}, "executions")
    capture = Capture(t.path("capture.opp"))
    inside = [one for one in capture.execs if one.depth]
    check_equal(len(inside), 5 * 8 * 9, "executions that are told")
    check_equal(len(capture.execs) - len(inside), 5 * 8, "and of those around them")
    whole = look_at_sums(capture)
    check_equal(sum(one[5] for (_, parent), one in whole.items() if parent is not None), 5 * 9,
                "executions inside that are added up")


@test("what nests too deeply is not in the self time of what it is inside of")
def _(t):
    target = t.ort_run("1.30.0", "deep", "-O", "0")
    probe = add_up(t, target)
    target.run(7)
    report = probe.stop()
    lost = report.losses()
    check(set(lost) == {"too_deep"}, "losses", lost)
    check_equal((report.json["runs_partial"], report.json["between_operators"]), (7, None),
                "runs that lack operators, and what is between those that do not")
    check_equal(report.operator("level15/If")["self_ns"], None, "self time of the innermost If")
    check_equal(report.operator("level15/If")["count"], 7, "executions of it")


@test("work of pool threads for what runs inside of a node is in that node's sum, too")
def _(t):
    target = t.ort_run("1.30.0", "heavy_inside", "-t", "3")
    probe = add_up(t, target, "-e", "page-faults")
    target.run(10)
    report = probe.stop().nothing_lost()
    check_equal(report.json["sum"]["other_threads_ns"], report.json["pool"]["work_ns"],
                "work of other threads in all operators, ns")
    check_told(t)
    capture = Capture(t.path("capture.opp"))
    inner = sum(one.work_ns for one in capture.sums if one.parent is not None)
    outer = sum(one.work_below_ns for one in capture.sums if one.parent is None)
    runs = sum(one.work_ns for one in capture.sums if one.of_runs)
    check(inner > 0, "the pool did nothing inside")
    check_equal(outer, inner, "work for what runs inside, ns")
    check_equal(runs, report.json["pool"]["work_ns"], "work for what runs did, ns")


def map_of(probe, name):
    """The number of opprobe's own map of that name: others may have one, too."""
    for fields in descriptors(probe.pid):
        if "map_id" in fields:
            shown = subprocess.run(["bpftool", "map", "show", "id", fields["map_id"], "--json"],
                                   stdout=subprocess.PIPE, check=True).stdout
            if json.loads(shown).get("name") == name:
                return fields["map_id"]
    raise Failure("no map is called " + name)


def place_of(sums, number):
    """What the kernel has at that place: the operator's number and 1, or 0; and its ns."""
    found = subprocess.run(["bpftool", "map", "lookup", "id", sums, "key", "hex",
                            *("%02x" % byte for byte in struct.pack("<I", number)), "--json"],
                           stdout=subprocess.PIPE, check=True).stdout
    value = bytes(int(byte, 16) for byte in json.loads(found)["value"])
    return struct.unpack_from("<I", value, 0)[0], struct.unpack_from("<Q", value, 16)[0]


@test("sums of two intervals are all that ran, and places are given to others when a session ends")
def _(t):
    target = t.node("1.30.0")
    keep = target.load_plain(t.model("mlp"))
    gone = target.load_plain(t.model("cycle"))
    probe = add_up(t, target)
    target.run(keep, 4)
    target.run(gone, 3)
    nodes = sum(described_counts(t.model("mlp"), 1).values())
    others = sum(described_counts(t.model("cycle"), 1).values())
    t.recorded("not all of the first interval",
               lambda report: report["executions"] >= 4 * nodes + 3 * others)
    target.run(keep, 2)
    t.recorded("not all of the second interval",
               lambda report: report["executions"] >= 6 * nodes + 3 * others)
    sums = map_of(probe, "sums")
    places = [place_of(sums, i) for i in range(nodes + others)]
    check_equal([owner for owner, _ in places], list(range(1, nodes + others + 1)),
                "owners of places")
    told = collections.Counter()
    for one in Capture(t.path("capture.opp")).sums:
        told[one.op] += 0 if one.of_runs else one.ns
    check_equal(sorted(ns for ns in told.values() if ns), sorted(ns for _, ns in places),
                "what was told of operators, and what the kernel has")
    target.do("release", session=gone)
    target.run(keep, 5)
    patience = probe.patience()
    while any(place_of(sums, i)[0] for i in range(nodes + others)):
        check(not patience.over(), "places of before a session's end are not free")
        time.sleep(0.1)
    # The session that is still there has got others.
    check_equal([place_of(sums, nodes + others + i)[0] - 1 for i in range(nodes)],
                [nodes + others + i for i in range(nodes)], "owners of places after that")
    target.run(keep, 6)
    report = probe.stop().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("mlp"), 17) +
                 described_counts(t.model("cycle"), 3))
    check_equal(report.json["runs"], 20, "runs")
    check(len({one.end for one in Capture(t.path("capture.opp")).sums}) > 2, "intervals")


@test("sums without names are counted as lost")
def _(t):
    target = t.node("1.24.3")
    keep = target.load_plain(t.model("mlp"))
    probe = add_up(t, target)
    probe.signal(signal.SIGSTOP)
    gone = target.load_plain(t.model("cycle"))
    target.run(gone, 3)
    target.do("release", session=gone)
    probe.signal(signal.SIGCONT)
    target.run(keep, 5)
    report = probe.stop()
    check_counts(report.counts(), described_counts(t.model("mlp"), 5))
    check_equal(report.losses(), {"unnamed": sum(described_counts(t.model("cycle"), 3).values())},
                "losses")


@test("what adding up costs is measured as that of records is")
def _(t):
    target = t.ort_run("1.30.0", "tiny")
    probe = t.opprobe("-p", target.pid, "--aggregate", "--json", "-d", "1s", "-o",
                      t.path("capture.opp")).attached()
    while probe.child.poll() is None:
        target.run(50)
    cost = probe.finish().json["recording"]["cost"]
    check(cost and cost["slower"] > 1, "what recording costs", cost)


@test("sessions that come and go are never taken for one another")
def _(t):
    target = t.node("1.30.0")
    keep = target.load_plain(t.model("mlp"))
    target.run(keep, 1)
    probe = add_up(t, target)
    target.run(keep, 5)
    t.named()
    expected = described_counts(t.model("mlp"), 5)
    sessions = 5
    for i in range(60):
        label, session = target.load_cycle(t.model("cycle"), i)
        target.run(session, 2)
        target.do("release", session=session)
        target.run(keep, 1)
        sessions += 3
        expected += described_counts(t.model("mlp"), 1)
        for (name, op), count in described_counts(t.model("cycle"), 2).items():
            expected[name.replace("CYCLE000", label), op] += count
    report = probe.stop().nothing_lost()
    check_counts(report.counts(), expected)
    check_equal(report.json["runs"], sessions, "runs")
    by_session = t.opprobe("report", t.path("capture.opp"), "--group-by", "session",
                           "--json").finish()
    counts = collections.Counter(row["count"] for row in by_session.operators)
    once = sum(described_counts(t.model("cycle"), 2).values())
    check_equal(counts[once], 60, "sessions that ran twice")
    runs = collections.Counter()
    for one in Capture(t.path("capture.opp")).sums:
        runs[one.session] += sum(one.buckets.values()) if one.of_runs else 0
    check_equal(sorted(n for session, n in runs.items() if session is not None), [2] * 60 + [65],
                "runs of each session")


@test("a capture of sums does not grow with what is executed, and holds what came before a kill")
def _(t):
    target = t.ort_run("1.30.0", "tiny")
    probe = add_up(t, target)
    path = t.path("capture.opp")
    target.run(2000)
    t.recorded("no 100,000 operators", lambda report: report["executions"] >= 100000)
    size = os.stat(path).st_size
    check(size < 100000, "%d bytes for 200 operators, however often they run" % size)
    probe.signal(signal.SIGKILL)
    probe.wait()
    report = t.opprobe("report", path, "--json").finish()
    check(report.json["executions"] >= 100000, "less than before", report.json["executions"])
    check_equal(report.json["recording"]["complete"], False, "complete")
    target.run(3)


@test("two processes are added up apart")
def _(t):
    targets = [t.ort_run("1.30.0", "mlp"), t.ort_run("1.20.1", "cnn")]
    probe = t.opprobe("-p", ",".join(str(target.pid) for target in targets), "--aggregate",
                      "--json", "--no-cost", "-o", t.path("capture.opp")).attached()
    targets[0].run(4)
    targets[1].run(6)
    probe.stop().nothing_lost()
    for target, count in zip(targets, (4, 6)):
        report = t.opprobe("report", t.path("capture.opp"), "--process", target.pid,
                           "--json").finish()
        check_equal(report.json["total"]["count"], count, "runs")
    check_told(t)


@test("views of single executions say why there is none, and the others are whole")
def _(t):
    target = t.ort_run("1.30.0", "nested")
    probe = add_up(t, target)
    target.run(RUNS)
    whole = probe.stop().nothing_lost()
    path = t.path("capture.opp")
    once = sum(described_counts(t.model("nested"), RUNS).values())
    for view in (["report", "--group-by", "thread"], ["report", "--group-by", "shape"],
                 ["report", "--run", "1"], ["diff", path], ["export", "-f", "chrome", "-o",
                                                           t.path("out")],
                 ["export", "-f", "csv", "-o", t.path("out")]):
        shown = t.opprobe(*view, path)
        check_equal(shown.wait(), 1, "status of %s" % view)
        check("--aggregate" in shown.stderr, "why there is none", view, shown.stderr)
        check(not os.path.exists(t.path("out")), "half an export")
    for group in ("op", "session", "model", "process"):
        rows = t.opprobe("report", path, "--group-by", group, "--json").finish()
        check_equal(rows.json["sum"]["total_ns"], whole.json["sum"]["total_ns"], "the Sum")
    check_equal(sum(row["count"] for row in whole.operators), once, "executions")
    check_equal(whole.json["threads"], None, "threads")
    for row in whole.operators:
        check(row["min_ns"] is None and row["max_ns"] is None, "extremes that nobody kept", row)
    folded = t.opprobe("export", "-f", "folded", path)
    check_equal(folded.wait(), 0, "status of folded")
    check("outer/Loop" in folded.stdout, "stacks", folded.stdout[:500])
    table = t.opprobe("report", path, "--columns", "name,count,avg,min,p50,p99")
    check_equal(table.wait(), 0, "status of a table")
    check("(--aggregate)" in table.stdout, "that it is of sums", table.stdout)


@test("what tells executions apart cannot be recorded with --aggregate")
def _(t):
    for option in (["--shapes"], ["--memory"], ["--parts"], ["--min-duration", "1ms"],
                   ["--schedule", "active=1"], ["--runs", "1"]):
        refused = t.opprobe("record", "-p", "1", "--aggregate", *option)
        check_equal(refused.wait(), 2, "status with %s" % option[0])
        check(option[0] in refused.stderr, "why", refused.stderr)
    refused = t.opprobe("-p", "1", "--aggregate", "--trace")
    check_equal(refused.wait(), 2, "status with --trace")

# SPDX-License-Identifier: GPL-2.0-only
"""Perfetto's trace, read by protobuf's decoder and nested as its trace_processor does it, says
what the report says."""

import collections
import subprocess

from harness import check, check_equal, test
from perfetto import MONOTONIC, REALTIME, Trace


def totals(report, value):
    sums = collections.Counter()
    for op in report.operators:
        sums[(op["op_type"], op["name"])] += value(op)
    return sums


@test("Perfetto's trace has all runs and nodes, one in the other, on their threads, with their time")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-O", "0", "-c", "2")
    target.run(3)
    probe = t.attach(target, "-e", "page-faults,task-clock", "--shapes")
    target.run(20)
    probe.stop().nothing_lost()
    report = t.opprobe("report", t.path("capture.opp"), "--no-compensate", "--json").finish()
    trace = Trace(t)
    check_equal(trace.clocks[REALTIME] - trace.clocks[MONOTONIC] > 10 ** 18, True, "the time of day")
    nodes, runs = trace.of("Node"), [found for found in trace.of("Session")]
    check_equal({trace.thread(found).pid for found in nodes + runs}, {target.pid}, "processes")
    check_equal(len({trace.thread(found).tid for found in runs}), 2, "threads that run the model")
    check_equal({found.name for found in runs}, {"nested.onnx"}, "the name of runs")
    check_equal((len(runs), sum(found.ns() for found in runs)),
                (report.json["runs"], report.json["total"]["total_ns"]), "runs")
    count, time = collections.Counter(), collections.Counter()
    counted = {name: collections.Counter() for name in ("page-faults", "task-clock")}
    for found in nodes:
        key = (found.told["op_type"], found.name)
        count[key] += 1
        time[key] += found.ns()
        for name, sums in counted.items():
            sums[key] += found.told.get(name, 0)    # absent where it was not counted
    check_equal(count, totals(report, lambda op: op["count"]), "executions")
    check_equal(time, totals(report, lambda op: op["total_ns"]), "time")
    for name, sums in counted.items():
        check_equal(+sums, +totals(report, lambda op, n=name: op["counters"][n]["total"]), name)
    check(any("float" in found.told.get("inputs", "") for found in nodes), "no shapes")
    check_nesting(nodes, runs)
    check_counts(trace, nodes, counted)


def check_nesting(nodes, runs):
    """Each node is in its run, or in a node of that; and within its time."""
    depth = 0
    for found in nodes:
        check(found.around, "a node is in nothing", found.name)
        check(found.around.start <= found.start and found.end <= found.around.end,
              "a node is longer than what is around it", found.name)
        check_equal(found.told["run"], found.around.told["run"], "the run")
        check(found.around in runs or found.around.told["op_type"] in ("If", "Loop", "Scan"),
              "what is around", found.name, found.around.name)
        depth += found.around not in runs
    check(depth, "nothing is in an If or a Loop")
    check(not any(found.around for found in runs), "a run is in something")


def check_counts(trace, nodes, counted):
    """On each thread's track the sum of its outermost nodes, which grows inside of them alone."""
    for uuid, counts in trace.counts.items():
        track = trace.tracks[uuid]
        outer = [found for found in nodes if found.track == track.parent_uuid and
                 found.around.categories == ["Session"]]
        check(track.name in counted, "the name of a counter", track)
        check_equal(track.counter.unit, 1 if track.name == "task-clock" else 2, "unit")
        total, expected = 0, []
        for found in sorted(outer, key=lambda found: found.start):
            if track.name not in found.told:
                continue
            expected.append((found.start, total))
            total += found.told[track.name]
            expected.append((found.end, total))
        check_equal(counts, expected, "counts of " + track.name)
    check(trace.counts, "no track of a counter")
    check_equal({(trace.tracks[uuid].parent_uuid, trace.tracks[uuid].name)
                 for uuid in trace.counts},
                {(found.track, name) for found in nodes for name in counted if name in found.told},
                "tracks of counters")


@test("a trace for Perfetto is compressed by its name, is not put on a terminal, and tells of what it is")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.run(1)
    probe = t.attach(target, "-e", "none")
    target.run(3)
    probe.stop()
    plain = subprocess.run([t.program, "export", t.path("capture.opp"), "--format", "perfetto"],
                           stdout=subprocess.PIPE, check=True).stdout
    subprocess.run([t.program, "export", t.path("capture.opp"), "--format", "perfetto", "-o",
                    t.path("t.gz")], check=True)
    unpacked = subprocess.run(["gzip", "-dc", t.path("t.gz")], stdout=subprocess.PIPE, check=True)
    check_equal(unpacked.stdout, plain, "what is compressed")
    on_terminal = subprocess.run(
        ["script", "-qec", "%s export %s --format perfetto" % (t.program, t.path("capture.opp")),
         "/dev/null"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    check_equal((on_terminal.returncode, on_terminal.stdout.decode().strip()),
                (2, "opprobe: a trace is no text: name a file, with -o FILE"), "on a terminal")
    recording = [found for found in Trace(t).slices if found.name == "recording"]
    check_equal([(found.told["runtime"], found.told["version"], found.told["lost"],
                  found.told["complete"]) for found in recording],
                [("onnxruntime", "1.30.0", 0, True)], "the recording")


@test("what pool threads worked is on their tracks in Perfetto's trace, each reached from its node")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "3")
    target.run(5)
    probe = t.attach(target, "-e", "none", "--parts")
    target.run(20)
    probe.stop().nothing_lost()
    trace = Trace(t)
    nodes, parts = trace.of("Node"), trace.of("pool")
    launched = {flow: found for found in nodes for flow in found.starts}
    check(len(parts) > 20, "parts", len(parts))
    check_equal(sorted(launched), sorted(flow for part in parts for flow in part.ends), "flows")
    worked = collections.Counter()
    for part in parts:
        check_equal((len(part.ends), part.around), (1, None), "a part")
        node = launched[part.ends[0]]
        check_equal((part.name, part.told["run"]), (node.name, node.told["run"]), "of which node")
        check(node.start <= part.start <= part.end <= node.end, "when it was", part.name)
        check(part.track != node.track, "a part of its own thread", part.name)
        worked[id(node)] += part.ns()
    for node in nodes:
        check_equal(worked[id(node)], node.told.get("other_threads_ns", 0), "work of " + node.name)
    check_equal(len({trace.thread(part).tid for part in parts}), 2, "threads of the pool")

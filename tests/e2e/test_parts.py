# SPDX-License-Identifier: GPL-2.0-only
"""--parts: which pool thread worked on which operator, and when."""

import collections
import json
import os
import signal

from capture import Capture
from harness import (Skipped, check, check_equal, described_counts, machine_code,
                     programs_recording, succeeds, test)


def total(parts):
    return sum(part.end - part.start for part in parts)


def check_parts(capture, whole=True):
    """Each execution has the parts that its work is the sum of, or (not whole) less of them;
    returns the ns that each thread worked in them."""
    worked, spans = collections.Counter(), collections.defaultdict(list)
    for ran in capture.execs:
        check((ran.parts is not None) == (ran.work > 0), "work without parts, or the reverse", ran)
        parts = ran.parts or []
        check(total(parts) == ran.work or not whole and total(parts) < ran.work,
              "the parts of an execution are not its work", ran)
        check_equal([part.start for part in parts], sorted(part.start for part in parts),
                    "starts of parts")
        for part in parts:
            check(ran.start < part.start < part.end < ran.end, "a part beside its operator", part,
                  ran)
            check(part.thread != ran.thread, "a launcher's own part", part, ran)
            worked[part.thread] += part.end - part.start
            spans[part.thread].append((part.start, part.end))
    for thread, ends in spans.items():
        ends.sort()
        check(all(a[1] <= b[0] for a, b in zip(ends, ends[1:])), "parts of one thread overlap",
              capture.threads[thread])
    return dict(worked)


def check_all_parts(capture):
    """And the pool has no others."""
    check_equal(check_parts(capture), {number: ns for number, (ns, _) in capture.pool.items()},
                "ns that each thread of the pool worked")


def all_parts_are_told(version, model, *options, runs=60):
    @test("%s: %s: parts of operators are all that their pools worked" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, *options)
        target.run(20)
        probe = t.attach(target, "-e", "page-faults", "--parts")
        check_equal(target.run(runs)["failed"], 0, "failed runs")
        probe.stop().nothing_lost()
        capture = Capture(t.path("capture.opp"))
        check_all_parts(capture)
        # The sections of others are so short that their caller may be through before the pool wakes.
        check(model != "resnet" or capture.pool, "the pool did nothing")


for version in ("1.10.0", "1.16.3", "1.24.3", "1.30.0"):
    for threads in ("2", "4"):
        all_parts_are_told(version, "resnet", "-t", threads)
all_parts_are_told("1.16.3", "transformer", "-t", "2", runs=300)
all_parts_are_told("1.30.0", "resnet", "-t", "4", "-s", "3", "-c", "4", runs=20)
all_parts_are_told("1.24.3", "transformer", "-t", "3", "-s", "2", "-c", "2")
all_parts_are_told("1.24.3", "gru", "-t", "3", runs=300)
all_parts_are_told("1.30.0", "resnet", "-t", "2", "-p", "-i", "2")
all_parts_are_told("1.30.0", "heavy_inside", "-t", "3", runs=10)


@test("parts of operators inside of others are theirs, not those of what is around them")
def _(t):
    target = t.ort_run("1.24.3", "heavy_inside", "-t", "2")
    probe = t.attach(target, "-e", "none", "--parts")
    target.run(10)
    probe.stop().nothing_lost()
    capture = Capture(t.path("capture.opp"))
    check_all_parts(capture)
    inside = [ran for ran in capture.execs if ran.parts and ran.depth]
    check(inside, "nothing inside of the loop was worked on by others")
    around = [ran for ran in capture.execs if ran.op in {ran.parent for ran in inside}]
    check(around and not any(ran.parts for ran in around), "the loop has parts", around)


@test("without --parts there are none, and no instruction that tells them")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    sizes = []
    for arguments in ([], ["--parts"]):
        probe = t.attach(target, "-e", "none", *arguments)
        names = programs_recording(probe)
        sizes.append({names[program]: len(machine_code(program)) for program in names})
        target.run(20)
        probe.stop().nothing_lost()
        capture = Capture(t.path("capture.opp"))
        told = [ran.parts is not None for ran in capture.execs if ran.work]
        check(told and all(has == bool(arguments) for has in told), "parts", arguments, told)
    without, parts = sizes
    check_equal({name for name in parts if parts[name] > without[name]},
                {"ort_task_enter", "ort_task_exit", "ort_exit"}, "programs that are longer")


@test("the trace has each part on its thread's track, and an arrow to it from its operator")
def _(t):
    target = t.ort_run("1.30.0", "heavy_inside", "-t", "3")
    probe = t.attach(target, "-e", "none", "--parts")
    target.run(10)
    report = probe.stop().nothing_lost()
    ns = lambda us: round(1000 * us)
    pool, nodes, ends = {}, [], {"s": {}, "f": {}}
    for event in report.trace():
        if event["ph"] in ends:
            ends[event["ph"]][event["id"]] = (event["tid"], ns(event["ts"]))
        elif event["ph"] == "X" and event["cat"] == "pool":
            pool[event["tid"], ns(event["ts"])] = (event["name"], ns(event["dur"]))
        elif event["ph"] == "X" and event["cat"] == "Node":
            nodes.append((event["tid"], ns(event["ts"]), ns(event["dur"]), event["name"],
                          ns(event["args"].get("other_threads_us", 0))))
    capture = Capture(t.path("capture.opp"))
    check_equal(len(pool), sum(len(ran.parts or []) for ran in capture.execs), "parts in the trace")
    check(pool and sorted(ends["f"].values()) == sorted(pool), "arrows that end at no part")
    check_equal(set(ends["s"]), set(ends["f"]), "arrows")
    arrows = [(ends["s"][key], pool[ends["f"][key]]) for key in ends["s"]]
    for tid, start, took, name, others in nodes:
        # What began in its time on its thread: of itself, and of what ran inside.
        mine = [part for (launcher, at), part in arrows
                if launcher == tid and start < at < start + took]
        check_equal(sum(ns for _, ns in mine), others, "ns of the parts of " + name)
        check(name == "Loop" or {part for part, _ in mine} <= {name}, "names of parts", name, mine)


@test("some runs only: they have all of their parts, and the others' are not lost")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    target.run(5)
    probe = t.attach(target, "-e", "none", "--parts", "--runs", "3,7-9,11,20-29")
    target.run(60)
    report = probe.stop()
    check_equal(report.json["runs"], 15, "runs")
    # See test_threads.py: what was left by the runs before.
    check(set(report.losses()) <= {"work_lost"}, "losses", report.losses())
    capture = Capture(t.path("capture.opp"))
    worked, pool = check_parts(capture), {n: ns for n, (ns, _) in capture.pool.items()}
    check(worked and all(0 < worked[n] < pool[n] for n in worked), "worked", worked, pool)


@test("runs that take long enough only: they have all of their parts, and the others' are not lost")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    probe = t.attach(target, "-e", "none")
    target.run(40)
    total_of = probe.stop().json["total"]
    probe = t.attach(target, "-e", "none", "--parts", "--min-duration", "%dns" %
                     (total_of["total_ns"] // total_of["count"]))
    target.run(40)
    report = probe.stop().nothing_lost()
    capture = Capture(t.path("capture.opp"))
    check(0 < report.json["runs"] <= 40, "runs", report.json["runs"])
    check(check_parts(capture), "no parts")


@test("cycles of a schedule, a capture each: the parts in each are those of its operators")
def _(t):
    target = t.ort_run("1.24.3", "heavy", "-t", "2", "-c", "2")
    probe = t.opprobe("record", "-p", target.pid, "-e", "none", "--parts", "--per-cycle",
                      "--schedule", "skip_first=1,wait=3,warmup=1,active=4,repeat=8", "-o",
                      t.path("run.opp")).attached()
    while probe.alive():
        target.run(1)
    check_equal(probe.wait(), 0, "status of record")
    for cycle in range(1, 9):
        path = t.path("run.%d.opp" % cycle)
        check(check_parts(Capture(path)), "no parts in cycle %d" % cycle)
        told = json.loads(succeeds(t, "report", path, "--json"))
        check_equal(told["losses"]["parts_lost"], 0, "parts that were lost")
        check(0 < told["pool"]["work_ns"] <
              told["pool"]["threads"] * told["recording"]["duration_ns"],
              "the pool worked for longer than cycle %d took" % cycle, told["pool"])


@test("attached to two processes while they run: parts are of the threads of their own")
def _(t):
    targets = [t.ort_run("1.30.0", "resnet", "-t", "2", "-c", "2") for _ in range(2)]
    for target in targets:
        target.write("run 100\n")
    probe = t.opprobe("-p", ",".join(str(target.pid) for target in targets), "--json", "-e", "none",
                      "-o", t.path("capture.opp"), "--parts").attached()
    # The first runs may have been over when the probes came; of the last ones, it ends amid.
    for runs in 50, 1000:
        for target in targets:
            check_equal(json.loads(target.line())["failed"], 0, "failed runs")
            target.write("run %d\n" % runs)
    check_equal(probe.stop().losses().get("parts_lost", 0), 0, "parts that were lost")
    capture = Capture(t.path("capture.opp"))
    check_parts(capture)
    for ran in capture.execs:
        check(all(capture.processes[part.thread] == capture.processes[ran.thread]
                  for part in ran.parts or []), "a part of another process", ran)
    check_equal({capture.processes[ran.thread] for ran in capture.execs if ran.parts}, {0, 1},
                "processes that have parts")


@test("a full ring buffer: parts that found it full are no operators, and all that are there are true")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-O", "0", "-t", "2")
    probe = t.attach(target, "-e", "none", "--parts", "--buffer", "128k")
    target.run(20)
    t.named()  # and seen, all of its threads: from here on there are no other records
    for _ in range(3):
        probe.signal(signal.SIGSTOP)  # nobody empties it
        target.run(40)
        target.write("run 5\n")
        probe.signal(signal.SIGCONT)
        check_equal(json.loads(target.line())["failed"], 0, "failed runs")
    report = probe.stop()
    told = report.losses()
    check("ring_full" in told and set(told) <= {"ring_full", "parts_lost"}, "losses", told)
    once = sum(described_counts(t.model("resnet"), 1).values())
    capture = Capture(t.path("capture.opp"))
    check_equal(len(capture.execs) + report.json["runs"] + told["ring_full"], 155 * (once + 1),
                "operators, runs and losses")
    check_parts(capture, whole=False)
    lacking = [ran for ran in capture.execs if ran.parts is not None and total(ran.parts) < ran.work]
    check(bool(lacking) == ("parts_lost" in told) and told.get("parts_lost", 0) >= len(lacking),
          "executions that lack parts", len(lacking), told)


@test("a part that never moved has not migrated, and is on the CPU that it is on")
def _(t):
    target = t.ort_run("1.24.3", "heavy", "-t", "2")
    cpus = sorted(os.sched_getaffinity(0))
    for tid in os.listdir("/proc/%d/task" % target.pid):
        os.sched_setaffinity(int(tid), {cpus[0] if int(tid) == target.pid else cpus[-1]})
    probe = t.attach(target, "-e", "none", "--parts")
    target.run(10)
    probe.stop().nothing_lost()
    capture = Capture(t.path("capture.opp"))
    check_all_parts(capture)
    parts = [part for ran in capture.execs for part in ran.parts or []]
    check_equal({(part.cpu, part.migrated) for part in parts}, {(cpus[-1], 0)}, "where parts were")


def has_migrated(t):
    """Has any part, of what is in the capture by now?"""
    return any(part.migrated for ran in Capture(t.path("capture.opp")).execs
               for part in ran.parts or [])


@test("a part that was moved meanwhile has migrated")
def _(t):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skipped("there is no other CPU")
    target = t.ort_run("1.24.3", "heavy", "-t", "2")
    probe = t.attach(target, "-e", "none", "--parts")
    patience, turn = probe.patience(), 0
    # Where a launcher gets the CPU before its pool does, there may be hardly any parts.
    while not has_migrated(t) and not patience.over():
        target.write("run 60\n")
        while target.lines["out"].empty():
            turn += 1
            for tid in os.listdir("/proc/%d/task" % target.pid):
                os.sched_setaffinity(int(tid), {cpus[turn % len(cpus)]})
        check_equal(json.loads(target.line())["failed"], 0, "failed runs")
    probe.stop().nothing_lost()
    check_all_parts(Capture(t.path("capture.opp")))
    check(has_migrated(t), "none has")

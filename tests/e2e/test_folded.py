# SPDX-License-Identifier: GPL-2.0-only
"""What viewers of flame graphs read says what the table says."""

import collections
import json

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


def closed(profile, frames):
    """Times of the frames by name and file, their nesting checked."""
    times, opened, last = collections.Counter(), [], 0
    for event in profile["events"]:
        check(last <= event["at"] <= profile["endValue"], "time goes back", event)
        last = event["at"]
        if event["type"] == "O":
            opened.append(event)
            continue
        begun = opened.pop()
        check_equal(event["frame"], begun["frame"], "what closes")
        frame = frames[event["frame"]]
        times[(frame["name"], frame.get("file"))] += event["at"] - begun["at"]
    check(not opened, "something stays open", opened)
    return times


@test("speedscope has a profile per thread, and a frame per node and model, with all their time")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-O", "0", "-c", "2")
    target.run(3)
    probe = t.attach(target, "-e", "none")
    target.run(20)
    probe.stop().nothing_lost()
    report = t.opprobe("report", t.path("capture.opp"), "--no-compensate", "--json").finish()
    made = t.opprobe("export", t.path("capture.opp"), "--format", "speedscope")
    check_equal(made.wait(), 0, "status of export")
    file = json.loads(made.stdout)
    frames, times = file["shared"]["frames"], collections.Counter()
    check_equal(len(file["profiles"]), 2, "threads")
    for profile in file["profiles"]:
        times += closed(profile, frames)
    check_equal(len({(f["name"], f.get("file")) for f in frames}), len(frames), "frames")
    nodes = collections.Counter()
    for op in report.operators:
        nodes[op["op_type"] + " " + op["name"]] += op["total_ns"]
    check_equal(collections.Counter({name: ns for (name, file), ns in times.items() if file}),
                nodes, "time of the nodes")
    check_equal(sum(ns for (_, file), ns in times.items() if not file),
                report.json["total"]["total_ns"], "time of the runs")

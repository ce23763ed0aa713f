# SPDX-License-Identifier: GPL-2.0-only
"""What viewers of flame graphs read says what the table says."""

import collections
import json

from harness import check, check_equal, test
from protobuf import exported


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


@test("pprof's profile, read by protobuf's decoder, has what the table says of all that was counted")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-O", "0")
    target.run(3)
    probe = t.attach(target, "-e", "page-faults,task-clock", "--shapes")
    target.run(20)
    probe.stop().nothing_lost()
    report = t.opprobe("report", t.path("capture.opp"), "--json").finish()
    found = exported(t, "pprof", "Profile", "--weight", "task-clock")
    text = list(found.string_table)
    check_equal(text[0], "", "the first string")
    check_equal(len(text), len(set(text)), "strings")
    types = [(text[kind.type], text[kind.unit]) for kind in found.sample_type]
    check_equal(types, [("executions", "count"), ("time", "nanoseconds"), ("page-faults", "count"),
                        ("task-clock", "nanoseconds")], "types of samples")
    check_equal(text[found.default_sample_type], "task-clock", "what is shown first")
    functions = {function.id: function for function in found.function}
    places = {place.id: functions[place.line[0].function_id] for place in found.location}
    got, expected, total, nested = {}, {}, 0, 0
    for sample in found.sample:
        stack = [text[places[place].name] for place in sample.location_id]
        labels = {text[label.key]: text[label.str] or label.num for label in sample.label}
        total += sample.value[1]
        check(stack[-1].startswith("nested"), "the root", stack)
        if stack[0] == "between operators":
            continue
        check_equal(labels["model"], stack[-1], "model")
        check_equal(labels["pid"], target.pid, "pid")
        nested += len(stack) > 3
        key = (labels["op_type"], stack[0])
        got[key] = [a + b for a, b in zip(got.get(key, [0] * 4), sample.value)]
    for op in report.operators:
        counted = [op["counters"][name]["self"] for name in ("page-faults", "task-clock")]
        key = (op["op_type"], op["name"])
        expected[key] = [a + b for a, b in zip(expected.get(key, [0] * 4),
                                               [op["count"], op["self_ns"], *counted])]
    check_equal(got, expected, "values")
    check(nested, "nothing is inside of anything")
    check_equal(total, report.json["total"]["total_ns"], "time of the runs")
    check(any("float" in text[label.str] for sample in found.sample for label in sample.label
              if text[label.key] == "inputs"), "no shapes")


@test("pprof tells threads apart, whichever of them a node ran on")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-O", "0", "-c", "2")
    probe = t.attach(target, "-e", "none")
    target.run(20)
    probe.stop().nothing_lost()
    found = exported(t, "pprof", "Profile")
    text = list(found.string_table)
    names = {place.id: next(text[function.name] for function in found.function
                            if function.id == place.line[0].function_id)
             for place in found.location}
    threads, stacks = collections.Counter(), collections.defaultdict(set)
    for sample in found.sample:
        if names[sample.location_id[0]] == "between operators":
            continue
        labels = {text[label.key]: text[label.str] or label.num for label in sample.label}
        thread = (labels["thread"], labels["tid"])
        threads[thread] += sample.value[1]
        stacks[thread].add(tuple(names[place] for place in sample.location_id))
        check(names[sample.location_id[-1]].startswith("nested"), "the root")
    report = t.opprobe("report", t.path("capture.opp"), "--json", "--group-by", "thread").finish()
    check_equal(threads, {(row["name"], row["tid"]): row["total_ns"] for row in report.operators},
                "time of the threads")
    check_equal(len(threads), 2, "threads")
    one, other = stacks.values()
    check_equal(one, other, "what is around nodes")
    check(max(map(len, one)) > 3, "nothing is inside of anything")

# SPDX-License-Identifier: GPL-2.0-only
"""What opprobe diff says of two recordings of real processes."""

import json
import os
import re
import statistics
import subprocess

from harness import Failure, OrtTarget, check, check_equal, test

LONGEST = "exact_4000000"
SLOWER = "exact_1000000"


def record(t, target, name, runs, *arguments):
    probe = t.opprobe("record", "-p", target.pid, "-o", t.path(name), *arguments).attached()
    target.ask("run %d" % runs)
    probe.signal(2)
    check_equal(probe.wait(), 0, "exit status")
    return t.path(name)


def diff(t, *arguments, status=0):
    made = subprocess.run([t.program, "diff", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, text=True)
    check_equal(made.returncode, status, "exit status of diff " + " ".join(arguments))
    return made.stdout or made.stderr


def medians(t, capture, kind):
    """Of the runs or of nodes, from another view of the same capture: ns by name."""
    made = subprocess.run([t.program, "report", capture, "--json", "--group-by", kind],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(made.stdout)["operators"]


def exact(t, model):
    program = t.objects + "/tests/vm/exact"
    return t.start(OrtTarget, [program, t.library("1.30.0"),
                               os.path.join(t.objects, "tests/vm", model)]).ready()


def value(of, what):
    return next(found for found in of["values"] if found["what"] == what)


def recorded_alike(t):
    """Both models, in turns of a few runs: a machine that is shared with others is as slow for
    one as for the other. Nodes that both have tell whether it was, the longest more than
    others."""
    seen = []
    for _ in range(45):
        captures = [t.path("before.opp"), t.path("after.opp")]
        targets = [exact(t, model) for model in ("exact.onnx", "slower.onnx")]
        probes = [t.opprobe("record", "-p", target.pid, "-o", capture).attached()
                  for target, capture in zip(targets, captures)]
        for _ in range(150):
            for target in targets:
                target.ask("run 2")
        for probe in probes:
            probe.signal(2)
            check_equal(probe.wait(), 0, "exit status")
        found = json.loads(diff(t, *captures, "--json"))["models"]
        # Of nodes that are shorter than what is taken off for probes, none is known.
        times = {node["name"]: value(node, "time") for node in found[0]["nodes"]
                 if node["name"] != SLOWER and node["before"] and node["after"]}
        longest = times[LONGEST]
        seen.append((statistics.median(time["ratio"] or 0 for time in times.values()),
                     longest["ratio"] or 0, longest["ratio_low"] or 0, longest["ratio_high"] or 0))
        # And as fast all along.
        if 0.85 < seen[-1][0] < 1.18 and 0.93 < seen[-1][1] < 1.08 and \
           0.75 < seen[-1][2] and seen[-1][3] < 1.33:
            return *captures, found
        for capture in captures:
            os.unlink(capture)
    raise Failure("the machine was never as fast for both", *seen)


@test("diff: a node that takes twice as long is found, with the right amount")
def _(t):
    before, after, found = recorded_alike(t)
    check_equal([(model["before"], model["after"]) for model in found],
                [("exact.onnx", "slower.onnx")], "models")
    for side, capture in (("before", before), ("after", after)):
        truth = statistics.median(row["run_ns"] for row in medians(t, capture, "run"))
        check(abs(value(found[0]["runs"], "time")[side]["median"] - truth) <= 1,
              "%s: not the median of its runs, %f" % (side, truth), found[0]["runs"])
    node = next(node for node in found[0]["nodes"] if node["name"] == SLOWER)
    time = value(node, "time")
    check(time["significant"] and 1.6 < time["ratio"] < 2.5, "it is not twice as slow", time)
    # No other one has as much of it; nothing came, and nothing went.
    others = [other for other in found[0]["nodes"] if other["name"] != SLOWER]
    check(all(other["before"] and other["after"] for other in others), "new or gone", others)
    check(max(value(other, "time")["change"] for other in others) < time["change"] / 2,
          "another one changed more", others)
    text = diff(t, before, after)
    check(re.search(r"exact\.onnx and slower\.onnx: runs are [\d.]+ % slower", text) and
          re.search(r"\d+ %% of it is in %s\." % SLOWER, " ".join(text.split())),
          "no sentence of it", text)
    check(text.split("\n\n")[2].split("\n")[1].startswith(SLOWER), "it is not the first", text)
    diff(t, before, after, "--fail-above", "1%", status=3)
    diff(t, before, after, "--fail-above", "10000%")
    diff(t, after, before, "--fail-above", "0%")


@test("diff: nodes whose inputs grew are told with their shapes, and counters are compared")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("transformer"))
    captures = []
    for batch in (1, 6):
        captures.append(t.path("batch%d.opp" % batch))
        probe = t.opprobe("record", "-p", target.pid, "--shapes", "-e", "on-cpu,page-faults",
                          "-o", captures[-1]).attached()
        target.run(session, 60, change={"tokens": {"dims": [batch, 8, 64]}})
        probe.signal(2)
        check_equal(probe.wait(), 0, "exit status")
    check(", other inputs" in diff(t, *captures), "no word of the inputs")
    lines = [json.loads(line) for line in
             diff(t, captures[0], captures[1], captures[0], "--json").splitlines()]
    check_equal([(line["before"], line["after"]) for line in lines],
                [(captures[0], captures[1]), (captures[0], captures[0])], "of which captures")
    model = lines[0]["models"][0]
    check_equal([found["what"] for found in model["runs"]["values"]],
                ["time", "on-cpu", "page-faults"], "what is compared")
    node = max(model["nodes"], key=lambda node: value(node, "time")["change"])
    check_equal([node[side]["inputs"][0]["float"][0] for side in ("before", "after")], [1, 6],
                "inputs")
    check_equal([node[side]["executions_per_run"] for side in ("before", "after")], [1, 1],
                "executions per run")
    check("on-cpu" in diff(t, *captures, "--by", "on-cpu").split("\n\n")[2], "--by on-cpu")


@test("diff: what cannot be compared is refused in a sentence")
def _(t):
    target = t.ort_run("1.24.3", "tiny")
    some = record(t, target, "some.opp", 20)
    check("has no run that was seen whole of such a model: record" in
          diff(t, some, some, "--model", "other.onnx", status=1), "without runs")
    check("'cycles' was not recorded in both" in diff(t, some, some, "--by", "cycles", status=2),
          "an event that is not there")
    check("Name the one before" in diff(t, some, status=2), "one capture")
    check("runs take the same time" in diff(t, some, some), "of itself")
    with open(some, "rb") as whole, open(t.path("cut.opp"), "wb") as cut:
        cut.write(whole.read()[:-100])
    notes = subprocess.run([t.program, "diff", some, t.path("cut.opp")], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, check=False, text=True).stderr
    check("cut.opp is missing" in notes, "a recording without its end", notes)
    node = t.node("1.24.3")
    sessions = [node.load(t.model(name)) for name in ("mlp", "names")]
    probe = t.opprobe("record", "-p", node.pid, "-o", t.path("two.opp")).attached()
    for session in sessions:
        node.run(session, 10)
    probe.signal(2)
    check_equal(probe.wait(), 0, "exit status")
    check("no model of" in diff(t, some, t.path("two.opp"), status=1), "other models")
    few = record(t, target, "few.opp", 3)
    check("too few to tell" in diff(t, some, few), "three runs")

# SPDX-License-Identifier: GPL-2.0-only
"""Attributes of operators are those of the model, and what operators compute follows from them."""

import json
import subprocess

from attributes import OLDER, RUNS, check_attributes, described, look_at_attributes
from harness import check, check_equal, test

VERSIONS = OLDER + ("1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")


def of_release(version, how, *options):
    @test("%s: attributes, and FLOP, are those of the model%s" % (version, how))
    def _(t):
        look_at_attributes(t, version, *options)


for each in VERSIONS:
    of_release(each, "")
of_release("1.24.3", ", of three sessions on two threads", "-s", "3", "-t", "2")


@test("attributes of nodes in subgraphs, and in sessions that come and go")
def _(t):
    target = t.ort_run("1.24.3", "nested", "-O", "0")
    probe = t.attach(target, "--shapes", "-e", "none")
    target.run(2)
    t.named()
    for _ in range(4):
        target.ask("recreate")
        target.run(2)
    report = probe.stop().nothing_lost()
    nodes = described(t.model("nested"))
    check_equal(report.json["sessions"], 5, "sessions")
    for op in report.operators:
        # A session may be gone before they are asked for: then they are not known.
        if op["attributes"] is not None:
            check_attributes(op["attributes"], nodes[op["name"]])
    first = [op for op in report.operators if op["session"] == 0]
    check(all(op["attributes"] is not None for op in first), "none of the first session", first)


@test("optimised: what became of a ResNet's nodes keeps its attributes, in all views")
def _(t):
    target = t.ort_run("1.30.0", "cnn")
    probe = t.attach(target, "--shapes", "-e", "none")
    target.run(RUNS)
    report = probe.stop().nothing_lost()
    convs = [op for op in report.operators if op["op_type"] == "Conv"]
    windows = {tuple(op["attributes"]["kernel_shape"]) for op in convs}
    check_equal((len(convs) > 10, windows), (True, {(3, 3), (1, 1)}), "windows of convolutions")
    check(all(op["flops_missing"] is None for op in report.operators), "FLOP are missing")
    with open(t.path("trace.json"), encoding="utf-8") as file:
        trace = json.load(file)
    pools = [event["args"]["attributes"] for event in trace["traceEvents"]
             if event.get("args", {}).get("op_name") == "MaxPool"]
    check_equal([pool["kernel_shape"] for pool in pools], [[2, 2]] * RUNS, "in the trace")
    table = subprocess.run([t.program, "report", t.path("capture.opp"), "--columns",
                            "name,attributes,noflops"], stdout=subprocess.PIPE, check=True)
    table = table.stdout.decode()
    check('"kernel_shape":[3,3]' in table, "not in the table", table[:2000])


@test("each capture of a schedule has the attributes")
def _(t):
    target = t.ort_run("1.24.3", "attributed", "-O", "0")
    process = t.opprobe("record", "-p", target.pid, "--shapes", "--schedule",
                        "wait=2,active=2,repeat=3", "--per-cycle", "-o",
                        t.path("run.opp")).attached()
    while process.alive():
        target.run(1)
    check_equal(process.wait(), 0, "exit status (%s)" % process.stderr)
    nodes = described(t.model("attributed"))
    for cycle in (1, 2, 3):
        report = t.opprobe("report", t.path("run.%d.opp" % cycle), "--json").finish()
        check_equal(len(report.operators), len(nodes), "operators of cycle %d" % cycle)
        for op in report.operators:
            check(op["attributes"] is not None, "not known in cycle %d" % cycle, op)
            check_attributes(op["attributes"], nodes[op["name"]])

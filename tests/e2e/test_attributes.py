# SPDX-License-Identifier: GPL-2.0-only
"""Attributes of operators are those of the model, and what operators compute follows from them."""

import json
import re
import struct
import subprocess

import onnx

from harness import check, check_equal, test

# Up to 1.13 an operator is known by its kernel, and asked for by itself: where attributes lie is
# not known before one that has some.
OLDER = ("1.10.0", "1.12.1")
VERSIONS = OLDER + ("1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")
RUNS = 3


def described(path):
    with open(re.sub(r"\.onnx$", ".json", path), encoding="utf-8") as file:
        return {node["name"]: node for node in json.load(file)["nodes"]}


def single(value):
    """As the model holds it: in single precision."""
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) else value


def defaults(op):
    """What the specification gives to attributes that are left out, which the runtime adds."""
    known = onnx.defs.get_schema(op, 13).attributes
    return {name: onnx.helper.get_attribute_value(attribute.default_value)
            for name, attribute in known.items() if attribute.default_value.name}


def plain(value):
    return value.decode() if isinstance(value, bytes) else value


def check_attributes(told, node):
    given = {name: single(value) for name, value in node["attributes"].items()}
    others = {name: plain(value) for name, value in defaults(node["op"]).items()}
    told = {name: single(value) for name, value in told.items()}
    check_equal({name: told.get(name) for name in given}, given, "attributes of " + node["name"])
    more = {name: value for name, value in told.items() if name not in given}
    check_equal(more, {name: others.get(name) for name in more},
                "what is added to " + node["name"])


def of_release(version, how, *options):
    @test("%s: attributes, and FLOP, are those of the model%s" % (version, how))
    def _(t):
        target = t.ort_run(version, "attributed", "-O", "0", *options)
        probe = t.attach(target, "--shapes", "-e", "none")
        target.run(RUNS)
        report = probe.stop().nothing_lost()
        nodes = described(t.model("attributed"))
        check_equal({op["name"] for op in report.operators}, set(nodes), "operators")
        for op in report.operators:
            if op["attributes"] is None:
                check(version in OLDER and not nodes[op["name"]]["attributes"], "not known", op)
            else:
                check_attributes(op["attributes"], nodes[op["name"]])
            check_equal((op["name"], op["flops"], op["flops_missing"]),
                        (op["name"], nodes[op["name"]]["flops"] * op["count"], None), "FLOP")


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

# SPDX-License-Identifier: GPL-2.0-only
"""Attributes of operators against the model's own: also on emulated machines."""

import json
import re
import struct

from harness import check, check_equal

# Up to 1.13 an operator is known by its kernel, and asked for by itself: where attributes lie is
# not known before one that has some.
OLDER = ("1.10.0", "1.12.1")
RUNS = 3


def described(path):
    with open(re.sub(r"\.onnx$", ".json", path), encoding="utf-8") as file:
        return {node["name"]: node for node in json.load(file)["nodes"]}


def single(value):
    """As the model holds it: in single precision."""
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) else value


def check_attributes(told, node):
    given = {name: single(value) for name, value in node["attributes"].items()}
    told = {name: single(value) for name, value in told.items()}
    check_equal({name: told.get(name) for name in given}, given, "attributes of " + node["name"])
    more = {name: value for name, value in told.items() if name not in given}
    check_equal(more, {name: single(node["defaults"].get(name)) for name in more},
                "what is added to " + node["name"])


def look_at_attributes(t, version, *options):
    """What a recording tells of them, and of what operators compute with them."""
    target = t.ort_run(version, "attributed", "-O", "0", *options)
    look_at_attributes_of(t, target, lambda: target.run(RUNS), version in OLDER)


def look_at_attributes_of(t, target, run, is_older=False):
    """Likewise, of a target that has loaded the model and can run it."""
    probe = t.attach(target, "--shapes", "-e", "none")
    run()
    report = probe.stop().nothing_lost()
    nodes = described(t.model("attributed"))
    check_equal({op["name"] for op in report.operators}, set(nodes), "operators")
    for op in report.operators:
        node = nodes[op["name"]]
        if op["attributes"] is None:
            check(is_older and not node["attributes"], "not known", op)
        else:
            check_attributes(op["attributes"], node)
        check_equal((op["name"], op["flops"], op["flops_missing"]),
                    (op["name"], node["flops"] * op["count"], None), "FLOP")

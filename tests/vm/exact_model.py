#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a model whose operators take known numbers of instructions.

Usage: exact_model.py FILE.onnx [mixed]

A chain of operators of the type Exact, which exact.c brings along; the
attribute "instructions" says how many its loop takes, and so does the name.
With "mixed", they take "other" in each of "every" executions, as the names say
behind the first number.
"""

import sys

from onnx import TensorProto, helper

STEADY = [(f"exact_{count}", count, 1, count) for count in
          (0, 100, 10_000, 20_000, 100_000, 1_000_000, 4_000_000)]
MIXED = [("exact_0", 0, 1, 0), *((f"mixed_{count}_{other}_{every}", count, every, other)
                                 for count, other, every in
                                 ((50_000, 20_000_000, 2), (50_000, 10_000_000, 4),
                                  (1_000_000, 3_000_000, 2), (1_000_000, 1_000_000, 1)))]
END = ("", 0, 1, 0)  # the runtime handles the ends of a chain in another way than its middle
NODES = [END, *(MIXED if "mixed" in sys.argv else STEADY), END]


def main():
    values = ["input", *(f"value{at}" for at in range(1, len(NODES))), "output"]
    nodes = [helper.make_node("Exact", [values[at]], [values[at + 1]], name=name,
                              domain="opprobe.test", instructions=count, every=every, other=other)
             for at, (name, count, every, other) in enumerate(NODES)]
    graph = helper.make_graph(
        nodes, "exact",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1])])
    model = helper.make_model(graph, ir_version=7, opset_imports=[
        helper.make_opsetid("", 13), helper.make_opsetid("opprobe.test", 1)])
    with open(sys.argv[1], "wb") as file:
        file.write(model.SerializeToString())


main()

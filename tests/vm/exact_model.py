#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write the model whose operators take known numbers of instructions.

Usage: exact_model.py FILE.onnx

A chain of operators of the type Exact, which exact.c brings along; the
attribute "instructions" says how many its loop takes, and so does the name.
"""

import sys

from onnx import TensorProto, helper

# The runtime handles the ends of a chain in another way than its middle.
NODES = [("first", 0), *((f"exact_{count}", count) for count in
                         (0, 100, 10_000, 20_000, 100_000, 1_000_000, 4_000_000)), ("last", 0)]


def main():
    values = ["input", *(f"value{at}" for at in range(1, len(NODES))), "output"]
    nodes = [helper.make_node("Exact", [values[at]], [values[at + 1]], name=name,
                              domain="opprobe.test", instructions=count)
             for at, (name, count) in enumerate(NODES)]
    graph = helper.make_graph(
        nodes, "exact",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1])])
    model = helper.make_model(graph, ir_version=7, opset_imports=[
        helper.make_opsetid("", 13), helper.make_opsetid("opprobe.test", 1)])
    with open(sys.argv[1], "wb") as file:
        file.write(model.SerializeToString())


main()

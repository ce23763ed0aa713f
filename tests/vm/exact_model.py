#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a model whose operators take known numbers of instructions.

Usage: exact_model.py FILE.onnx [mixed|waits|slower]

A chain of operators of the type Exact, which exact.c brings along; the
attribute "instructions" says how many its loop takes, and so does the name.
With "mixed", they take "other" in each of "every" executions, as the names say
behind the first number. With "waits", two wait: for a lock, as many
microseconds as the name says, and for pages of a disk. With "slower", the one
called exact_1000000 takes twice as many as it says.
"""

import sys

from onnx import TensorProto, helper

STEADY = [(f"exact_{count}", count, 1, count) for count in
          (0, 100, 10_000, 20_000, 100_000, 1_000_000, 4_000_000)]
SLOWER = [(name, *((2_000_000, 1, 2_000_000) if counts[0] == 1_000_000 else counts))
          for name, *counts in STEADY]
MIXED = [("exact_0", 0, 1, 0), *((f"mixed_{count}_{other}_{every}", count, every, other)
                                 for count, other, every in
                                 ((50_000, 20_000_000, 2), (50_000, 10_000_000, 4),
                                  (1_000_000, 3_000_000, 2), (1_000_000, 1_000_000, 1)))]
WAITS = [("spin_100000000", 100_000_000, 1, 100_000_000), ("lock_10000", 10_000, 1, 0, 1),
         ("disk_16", 16, 1, 0, 2)]
END = ("", 0, 1, 0)  # the runtime handles the ends of a chain in another way than its middle
KIND = sys.argv[2] if len(sys.argv) > 2 else "steady"
NODES = [END, *{"steady": STEADY, "mixed": MIXED, "waits": WAITS, "slower": SLOWER}[KIND], END]


def main():
    values = ["input", *(f"value{at}" for at in range(1, len(NODES))), "output"]
    nodes = [helper.make_node("Exact", [values[at]], [values[at + 1]], name=name,
                              domain="opprobe.test", instructions=count, every=every, other=other,
                              waits=waits[0] if waits else 0)
             for at, (name, count, every, other, *waits) in enumerate(NODES)]
    graph = helper.make_graph(
        nodes, "exact",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1])])
    model = helper.make_model(graph, ir_version=7, opset_imports=[
        helper.make_opsetid("", 13), helper.make_opsetid("opprobe.test", 1)])
    with open(sys.argv[1], "wb") as file:
        file.write(model.SerializeToString())


main()

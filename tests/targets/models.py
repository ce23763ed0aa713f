#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write the ONNX models that the tests, the benchmarks and the demo run.

Usage: models.py DIRECTORY [MODEL...]

Each model becomes three files: NAME.onnx; NAME.inputs, one line per input,
"name type dims... [= values...]", for the programs that run it; and
NAME.json, which says what one run must execute: every node with its name (as
a profiler shows it), operator type and how many times, valid while the
runtime does not optimise the graph. Weights are random, from a fixed seed:
the same model is written every time. Operator set 13 and IR version 7 load
in ONNX Runtime 1.10 and in everything since.
"""

import json
import os
import sys

import numpy
from onnx import TensorProto, defs, helper, numpy_helper

OPSET = 13
IR_VERSION = 7
ONNX_TYPES = {
    "float": TensorProto.FLOAT,
    "double": TensorProto.DOUBLE,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
}


def default_attributes(op):
    """What the specification gives to attributes that are left out, which the runtime adds."""
    try:
        known = defs.get_schema(op, OPSET).attributes
    except defs.SchemaError: # of a later set of operators
        return {}
    values = {name: helper.get_attribute_value(attribute.default_value)
              for name, attribute in known.items() if attribute.default_value.name}
    return {name: value.decode() if isinstance(value, bytes) else value
            for name, value in values.items()}


class Graph:
    """A graph, or subgraph, under construction.

    `times` is how often a run of the model executes the nodes of this graph.
    """

    def __init__(self, name, parent=None, times=1):
        self.name = name
        self.parent = parent
        self.times = times
        self.nodes = []
        self.inputs = []
        self.outputs = []
        self.initializers = []
        self.described_inputs = []
        self.executed = [] if parent is None else parent.executed
        self.serial = [0] if parent is None else parent.serial
        self.random = numpy.random.default_rng(len(name)) if parent is None else parent.random
        self.opset, self.ir_version = OPSET, IR_VERSION
        self.domains = []  # beside the runtime's own

    def value_name(self, prefix):
        self.serial[0] += 1
        return "%s_%d" % (prefix, self.serial[0])

    def input(self, name, kind, shape, run_with=None, values=None):
        """Declare an input. `shape` may hold names for dynamic dimensions;
        `run_with` are then the dimensions to run it with by default."""
        self.inputs.append(helper.make_tensor_value_info(name, ONNX_TYPES[kind], shape))
        self.described_inputs.append(
            {"name": name, "type": kind, "dims": run_with if run_with is not None else shape,
             "values": values})
        return name

    def output(self, name, kind="float", shape=None):
        self.outputs.append(helper.make_tensor_value_info(name, ONNX_TYPES[kind], shape))

    def constant(self, array):
        name = self.value_name("weight")
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, *shape):
        scale = 1 / numpy.sqrt(numpy.prod(shape[1:]) if len(shape) > 1 else 4)
        return self.constant((self.random.standard_normal(shape) * scale).astype(numpy.float32))

    def ints(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def scalar(self, value, kind=numpy.float32):
        return self.constant(numpy.array(value, kind))

    def node(self, op, inputs, name="", outputs=1, flops=None, **attributes):
        """Add a node; returns the name of its output, or a list of them. `flops` is what one
        execution computes, where that is said of the model."""
        # Like exporters do; fused nodes are named after the values they make.
        results = [name + "_output_%d" % i if name.startswith("/") else
                   self.value_name(op.lower()) for i in range(outputs)]
        self.executed.append({"name": name or "%s_%d" % (op, len(self.nodes)), "op": op,
                              "times": self.times, "flops": flops,
                              "defaults": default_attributes(op),
                              "attributes": {key: value for key, value in attributes.items()
                                             if isinstance(value, (int, float, str, list))}})
        self.nodes.append(helper.make_node(op, inputs, results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def subgraph(self, name, times):
        return Graph(name, self, self.times * times)

    def proto(self):
        return helper.make_graph(self.nodes, self.name, self.inputs, self.outputs,
                                 self.initializers)


def cnn(name="cnn", widths=(16, 32, 64), blocks=2, size=32):
    """A ResNet: convolutions, batch normalisation, shortcuts."""
    g = Graph(name)

    def conv(x, inner, outer, kernel, stride, at):
        x = g.node("Conv", [x, g.weight(outer, inner, kernel, kernel)], at + "/conv/Conv",
                   kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4)
        ones = g.constant(numpy.full(outer, 1, numpy.float32))
        return g.node("BatchNormalization", [x, ones, g.weight(outer), g.weight(outer), ones],
                      at + "/bn/BatchNormalization")

    x = g.input("image", "float", [1, 3, size, size])
    x = conv(x, 3, widths[0], 3, 1, "/stem")
    x = g.node("Relu", [x], "/stem/act/Relu")
    x = g.node("MaxPool", [x], "/stem/pool/MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    inner = widths[0]
    for layer, outer in enumerate(widths):
        for block in range(blocks):
            at = "/layer%d/%d" % (layer + 1, block)
            stride = 2 if layer and not block else 1
            y = conv(x, inner, outer, 3, stride, at + "/1")
            y = g.node("Relu", [y], at + "/act/Relu")
            y = conv(y, outer, outer, 3, 1, at + "/2")
            if inner != outer:
                x = conv(x, inner, outer, 1, stride, at + "/downsample")
            x = g.node("Add", [y, x], at + "/Add")
            x = g.node("Relu", [x], at + "/act_1/Relu")
            inner = outer
    x = g.node("GlobalAveragePool", [x], "/pool/GlobalAveragePool")
    x = g.node("Flatten", [x], "/Flatten")
    x = g.node("Gemm", [x, g.weight(inner, 10), g.weight(10)], "/fc/Gemm")
    g.output(g.node("Softmax", [x], "/Softmax"))
    return g


def resnet():
    """The demo's model: a ResNet of realistic depth and cost."""
    return cnn("resnet", (32, 64, 128, 256), 2, 96)


def layer_norm(g, x, width, at):
    """Layer normalisation in pieces, as exporters wrote it for opset 13."""
    mean = g.node("ReduceMean", [x], at + "/ReduceMean", axes=[-1])
    centred = g.node("Sub", [x, mean], at + "/Sub")
    square = g.node("Pow", [centred, g.scalar(2)], at + "/Pow")
    variance = g.node("ReduceMean", [square], at + "/ReduceMean_1", axes=[-1])
    sum_ = g.node("Add", [variance, g.scalar(1e-5)], at + "/Add")
    root = g.node("Sqrt", [sum_], at + "/Sqrt")
    x = g.node("Div", [centred, root], at + "/Div")
    x = g.node("Mul", [x, g.constant(numpy.ones(width, numpy.float32))], at + "/Mul")
    return g.node("Add", [x, g.weight(width)], at + "/Add_1")


def transformer(width=64, heads=4):
    """An encoder block with self-attention; batch and length are dynamic."""
    g = Graph("transformer")

    def linear(x, inner, outer, at):
        x = g.node("MatMul", [x, g.weight(inner, outer)], at + "/MatMul")
        return g.node("Add", [g.weight(outer), x], at + "/Add")

    def split_heads(x, at, permutation):
        x = g.node("Reshape", [x, g.ints(0, 0, heads, width // heads)], at + "/Reshape")
        return g.node("Transpose", [x], at + "/Transpose", perm=permutation)

    x = g.input("tokens", "float", ["batch", "length", width], [2, 16, width])
    y = layer_norm(g, x, width, "/norm1")
    q = split_heads(linear(y, width, width, "/attn/q"), "/attn/q", [0, 2, 1, 3])
    k = split_heads(linear(y, width, width, "/attn/k"), "/attn/k", [0, 2, 3, 1])
    v = split_heads(linear(y, width, width, "/attn/v"), "/attn/v", [0, 2, 1, 3])
    scores = g.node("MatMul", [q, k], "/attn/MatMul")
    scores = g.node("Div", [scores, g.scalar((width // heads) ** 0.5)], "/attn/Div")
    weights = g.node("Softmax", [scores], "/attn/Softmax", axis=-1)
    y = g.node("MatMul", [weights, v], "/attn/MatMul_1")
    y = g.node("Transpose", [y], "/attn/Transpose", perm=[0, 2, 1, 3])
    y = g.node("Reshape", [y, g.ints(0, 0, width)], "/attn/Reshape")
    x = g.node("Add", [x, linear(y, width, width, "/attn/out")], "/Add")
    y = layer_norm(g, x, width, "/norm2")
    y = linear(y, width, 4 * width, "/mlp/fc1")
    erf = g.node("Erf", [g.node("Div", [y, g.scalar(2 ** 0.5)], "/mlp/act/Div")], "/mlp/act/Erf")
    gate = g.node("Add", [erf, g.scalar(1)], "/mlp/act/Add")
    y = g.node("Mul", [g.node("Mul", [y, gate], "/mlp/act/Mul"), g.scalar(0.5)], "/mlp/act/Mul_1")
    y = linear(y, 4 * width, width, "/mlp/fc2")
    g.output(g.node("Add", [x, y], "/Add_1"))
    return g


def loop(g, x, trips, name, fill):
    """A Loop over `x` whose body `fill(body, x, i)` makes; returns its result."""
    body = g.subgraph("body of " + (name or "a loop"), trips)
    i = body.value_name("i")
    go = body.value_name("go")
    carried = body.value_name("carried")
    body.inputs = [helper.make_tensor_value_info(i, TensorProto.INT64, []),
                   helper.make_tensor_value_info(go, TensorProto.BOOL, []),
                   helper.make_tensor_value_info(carried, TensorProto.FLOAT, None)]
    # The node itself stands before its body's in the list of what is executed.
    place = len(g.executed)
    result = fill(body, carried, i)
    body.output(body.node("Identity", [go]), "bool")
    body.output(result)
    made = g.node("Loop", [g.scalar(trips, numpy.int64), g.scalar(True, bool), x], name,
                  body=body.proto())
    g.executed.insert(place, g.executed.pop())
    return made


def branch(g, condition, name, then, then_times, otherwise, else_times):
    """An If; each side is `fill(graph)`, and how many of its executions take it
    is a fraction of those of `g`."""
    sides = []
    place = len(g.executed)
    for fill, times in ((then, then_times), (otherwise, else_times)):
        side = Graph(g.value_name("side"), g, times)
        side.output(fill(side))
        sides.append(side.proto())
    made = g.node("If", [condition], name, then_branch=sides[0], else_branch=sides[1])
    g.executed.insert(place, g.executed.pop())
    return made


def nested(names=True):
    """Loop { If { Loop } }, and If { If }: subgraphs nested twice."""
    g = Graph("nested" if names else "nested_unnamed")

    def label(text):
        return text if names else ""

    def inner_body(body, x, i):
        x = body.node("Mul", [x, body.scalar(0.5)], label("inner/Mul"))
        return body.node("Add", [x, body.scalar(1)], label("inner/Add"))

    def outer_body(body, x, i):
        y = body.node("Add", [x, body.scalar(0.25)], label("outer/Add"))
        small = body.node("Less", [i, body.scalar(2, numpy.int64)], label("outer/Less"))
        return branch(body, small, label("outer/If"),
                      lambda side: loop(side, y, 2, label("outer/then/Loop"), inner_body),
                      body.times * 2 // 3,
                      lambda side: side.node("Sub", [y, side.scalar(3)], label("outer/else/Sub")),
                      body.times // 3)

    x = g.input("x", "float", [4, 4])
    flag = g.input("flag", "bool", [1], values=[1])
    x = g.node("Relu", [x], label("first/Relu"))
    x = loop(g, x, 3, label("outer/Loop"), outer_body)

    def then(side):
        y = side.node("Tanh", [x], label("then/Tanh"))
        return branch(side, flag, label("then/If"),
                      lambda deep: deep.node("Sigmoid", [y], label("then/then/Sigmoid")),
                      side.times,
                      lambda deep: deep.node("Neg", [y], label("then/else/Neg")), 0)

    x = branch(g, flag, label("last/If"), then, 1,
               lambda side: side.node("Exp", [x], label("else/Exp")), 0)
    g.output(g.node("Abs", [x], label("last/Abs")))
    return g


def nested_unnamed():
    """The same, and no node has a name."""
    return nested(False)


# Loading takes twice as long with each level. The last two are deeper than is followed.
DEEPEST = 17


def deep():
    """If in If in If: deeper than opprobe follows."""
    g = Graph("deep")
    x = g.input("x", "float", [4])
    flag = g.input("flag", "bool", [1], values=[1])

    def fill(level):
        def side(inner):
            y = inner.node("Relu", [x], "level%02d/Relu" % level)
            return y if level == DEEPEST else branch(
                inner, flag, "level%02d/If" % level, fill(level + 1), inner.times,
                lambda other: other.node("Neg", [x], "level%02d/Neg" % level), 0)
        return side

    g.output(branch(g, flag, "level00/If", fill(1), 1,
                    lambda side: side.node("Exp", [x], "level00/Exp"), 0))
    return g


def scan():
    """A Scan: its body runs once per row."""
    g = Graph("scan")
    x = g.input("x", "float", [5, 8])
    body = g.subgraph("row", 5)
    body.inputs = [helper.make_tensor_value_info("state", TensorProto.FLOAT, [8]),
                   helper.make_tensor_value_info("row", TensorProto.FLOAT, [8])]
    total = body.node("Add", ["state", "row"], "row/Add")
    body.output(total, shape=[8])
    body.output(body.node("Identity", [total], "row/Identity"), shape=[8])
    start = g.constant(numpy.zeros(8, numpy.float32))
    results = g.node("Scan", [start, x], "Scan", outputs=2, body=body.proto(), num_scan_inputs=1)
    g.output(results[0])
    g.output(results[1])
    return g


def tiny():
    """200 nodes that do next to nothing: what is measured is the overhead."""
    g = Graph("tiny")
    x = g.input("x", "float", [1, 8])
    for i in range(200):
        op = ("Add", "Mul", "Relu", "Sub")[i % 4]
        x = g.node(op, [x] if op == "Relu" else [x, g.weight(8)], "n%03d/%s" % (i, op))
    g.output(x)
    return g


def unnamed():
    """No node has a name."""
    g = Graph("unnamed")
    x = g.input("x", "float", [2, 16])
    for _ in range(3):
        x = g.node("MatMul", [x, g.weight(16, 16)])
        x = g.node("Add", [x, g.weight(16)])
        x = g.node("Relu", [x])
    halves = g.node("Split", [x], outputs=2, axis=1)
    g.output(g.node("Concat", halves, axis=1))
    return g


# Names that break a formatter which does not escape, or escapes twice.
AWKWARD_NAMES = [
    '"', '\\', 'say "hello"', "it's", 'C:\\new\\table', 'ends with a backslash\\', '\\"', '\\u0041',
    '\\x', '%s%n%d', '","name":"forged","dur":1', '</script><b>', 'two\nlines', 'tab\there',
    'carriage\rreturn', 'bell\a', '\x1b[31mred', '\x01\x02\x1f\x7f', 'Größe', '演算子', '🦊 fox',
    'a\u0301 combining', '\u202eright to left', '\ufeffmark', ' space around ', ',;{}[]', '$(HOME)',
    'null', '-0', '\u2028line separator',
]
# Bytes that are no UTF-8 cannot be written with the library: this is replaced.
PLACEHOLDER = "#not-utf8#"
NOT_UTF8 = b"\xff\xfe\xc0\x80\xed\xa0\x80\xf5!\xe2"


def chain_of_names(model, names):
    g = Graph(model)
    x = g.input("x", "float", [1, 8])
    for name in names:
        x = g.node("Add", [x, g.weight(8)], name)
    g.output(x)
    return g


def names():
    """Names with quotes, backslashes, control characters and UTF-8."""
    return chain_of_names("names", AWKWARD_NAMES)


def not_utf8():
    """A name that is not valid UTF-8, between two that are."""
    return chain_of_names("not_utf8", ["before", PLACEHOLDER, "after"])


def long_names():
    """Names of 255 bytes and around 1 KiB, and one much longer."""
    return chain_of_names("long_names", [
        (("%d/" % n) + "layer/attention/" * 1000)[:n - 1] + "|"
        for n in (127, 128, 255, 256, 511, 1023, 1024, 1025, 5000)])


def reshape():
    """A Reshape that fails for a shape that does not fit, and throws."""
    g = Graph("reshape")
    x = g.input("x", "float", ["n"], [12])
    shape = g.input("shape", "int64", ["rank"], [2], [3, 4])
    x = g.node("Relu", [x], "before/Relu")
    x = g.node("Reshape", [x, shape], "Reshape")
    g.output(g.node("Neg", [x], "after/Neg"))
    return g


def unimplemented():
    """An Acos of numbers that no kernel is for: it loads, and cannot be initialized."""
    g = Graph("unimplemented")
    g.output(g.node("Acos", [g.input("x", "double", [4])], "Acos"), "double")
    return g


def reshape_inside():
    """The same Reshape, in an If in an If, of which the outer one executes another node before:
    what it throws passes two operators."""
    g = Graph("reshape_inside")
    x = g.input("x", "float", ["n"], [12])
    shape = g.input("shape", "int64", ["rank"], [2], [3, 4])
    yes = g.node("Less", [g.node("ReduceMin", [x], "least", keepdims=0), g.scalar(1e9)], "yes")

    def outer(side):
        before = side.node("Sqrt", [x], "outer/Sqrt")

        def inner(within):
            return within.node("Neg", [within.node("Reshape", [before, shape], "inner/Reshape")],
                               "inner/Neg")

        made = branch(side, yes, "inner/If", inner, 1, lambda other: other.node(
            "Identity", [x], "inner/else"), 0)
        return side.node("Abs", [made], "outer/Abs")

    made = branch(g, yes, "outer/If", outer, 1, lambda other: other.node(
        "Identity", [x], "outer/else"), 0)
    g.output(g.node("Neg", [made], "after/Neg"))
    return g


def gru():
    """A GRU: parallel sections rather than parallel loops."""
    g = Graph("gru")
    hidden, width = 64, 32
    x = g.input("x", "float", [12, "batch", width], [12, 4, width])
    y, last = g.node("GRU", [x, g.weight(1, 3 * hidden, width), g.weight(1, 3 * hidden, hidden)],
                     "rnn/GRU", outputs=2, hidden_size=hidden)
    y = g.node("Squeeze", [y, g.ints(1)], "rnn/Squeeze")
    g.output(g.node("Softmax", [y], "Softmax"))
    g.output(last)
    return g


def pages():
    """ConstantOfShape writes `count` floats into fresh memory: 1024 per page."""
    g = Graph("pages")
    shape = g.input("shape", "int64", [1], values=[1 << 20])
    value = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.5])
    x = g.node("ConstantOfShape", [shape], "touch", value=value)
    g.output(g.node("ReduceMax", [x], "reduce", keepdims=0))
    return g


def mlp():
    """A multi-layer perceptron with a dynamic batch."""
    g = Graph("mlp")
    x = g.input("x", "float", ["batch", 64], [4, 64])
    for i in range(4):
        x = g.node("Gemm", [x, g.weight(64, 64), g.weight(64)], "fc%d/Gemm" % i)
        x = g.node("Relu", [x], "fc%d/Relu" % i)
    g.output(g.node("Softmax", [x], "Softmax"))
    return g


def cycle():
    """The text CYCLE000 in its names is replaced by whoever loads it: sessions
    of the same shapes and other names."""
    g = Graph("cycle")
    x = g.input("x", "float", [4, 32])
    for i in range(4):
        x = g.node("Gemm", [x, g.weight(32, 32), g.weight(32)], "CYCLE000/fc%d" % i)
        x = g.node("Sigmoid", [x], "CYCLE000/act%d" % i)
    g.output(x)
    return g


def branches():
    """Four independent chains, for the parallel executor."""
    g = Graph("branches")
    x = g.input("x", "float", [8, 64])
    ends = []
    for lane in range(4):
        y = x
        for i in range(4):
            y = g.node("MatMul", [y, g.weight(64, 64)], "lane%d/MatMul_%d" % (lane, i))
            y = g.node("Tanh", [y], "lane%d/Tanh_%d" % (lane, i))
        ends.append(y)
    g.output(g.node("Concat", ends, "Concat", axis=1))
    return g


# Whose shape a profiler can get wrong: element types by name.
TYPES = ["DOUBLE", "FLOAT16", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64",
         "UINT64", "BOOL", "STRING"]
TOO_MANY = 33  # inputs


def values():
    """All element types, ranks from 0 to 9, values that are absent, empty or no tensors."""
    g = Graph("values")
    x = g.input("x", "float", [2, "n", 4], [2, 3, 4])
    ends = []
    for kind in TYPES:
        y = g.node("Cast", [x], "to/" + kind, to=TensorProto.DataType.Value(kind))
        ends.append(g.node("Cast", [y], "from/" + kind, to=TensorProto.FLOAT))
    g.output(g.node("Sum", ends, "Sum"))
    g.output(g.node("Clip", [x, "", g.scalar(0.5)], "absent/Clip"))
    _, last = g.node("GRU", [x, g.weight(1, 12, 4), g.weight(1, 12, 4)], "absent/GRU", outputs=2,
                     hidden_size=4)
    g.nodes[-1].output[0] = ""
    g.output(last)
    sequence = g.node("SplitToSequence", [x], "sequence/Split", axis=0)
    g.output(g.node("SequenceAt", [sequence, g.scalar(1, numpy.int64)], "sequence/At"))
    g.output(g.node("ConcatFromSequence", [sequence], "sequence/Concat", axis=1))
    g.output(g.node("SequenceLength", [sequence], "sequence/Length"), "int64")
    g.output(g.node("Slice", [x, g.ints(0), g.ints(0)], "empty/Slice"))
    ends = [g.node("ReduceSum", [x], "scalar/ReduceSum", keepdims=0),
            g.node("Concat", [x] * TOO_MANY, "many/Concat", axis=1)]
    for rank in range(4, 10):
        y = g.node("Reshape", [x, g.ints(*[1] * (rank - 3), 2, -1, 4)], "rank%d/Reshape" % rank)
        ends.append(g.node("Neg", [y], "rank%d/Neg" % rank))
    ends = [g.node("Flatten", [y], "Flatten_%d" % i, axis=0) for i, y in enumerate(ends)]
    g.output(g.node("Concat", ends, "Concat", axis=1))
    return g


def optionals():
    """Values that may hold a tensor."""
    g = Graph("optionals")
    g.opset, g.ir_version = 15, 8
    x = g.input("x", "float", ["n"], [5])
    some = g.node("Optional", [x], "Optional")
    g.output(g.node("OptionalHasElement", [some], "HasElement"), "bool")
    x = g.node("OptionalGetElement", [some], "GetElement")
    g.output(g.node("Relu", [x], "Relu"))
    return g


def quantised():
    """What quantisers make of matrix products and convolutions: 8 bits, and 32 for sums."""
    g = Graph("quantised")

    def bytes_(kind, *shape):
        return g.constant(g.random.integers(0, 100, shape).astype(kind))

    def quantise(x, kind, name):
        return g.node("QuantizeLinear", [x, scale, g.scalar(3, kind)], name)

    x = g.input("x", "float", [3, 5])
    scale = g.scalar(0.02)
    q, dynamic, zero = g.node("DynamicQuantizeLinear", [x], "dynamic/Quantize", outputs=3)
    y = g.node("MatMulInteger", [q, bytes_(numpy.uint8, 5, 7), zero], "dynamic/MatMulInteger")
    y = g.node("Cast", [y], "dynamic/Cast", to=TensorProto.FLOAT)
    g.output(g.node("Mul", [y, dynamic], "dynamic/Mul"))
    y = g.node("QLinearMatMul", [quantise(x, numpy.int8, "static/Quantize"), scale,
                                 g.scalar(3, numpy.int8), bytes_(numpy.int8, 5, 7), scale,
                                 g.scalar(0, numpy.int8), scale, g.scalar(0, numpy.int8)],
               "static/QLinearMatMul")
    g.output(g.node("DequantizeLinear", [y, scale, g.scalar(0, numpy.int8)], "static/Dequantize"))
    image = g.input("image", "float", [1, 3, 9, 9])
    q = quantise(image, numpy.uint8, "conv/Quantize")
    y = g.node("ConvInteger", [q, bytes_(numpy.uint8, 4, 3, 3, 3), g.scalar(3, numpy.uint8)],
               "conv/ConvInteger")
    g.output(g.node("Cast", [y], "conv/Cast", to=TensorProto.FLOAT))
    # A constant filter would be kept in a form of the kernel's own, and no longer be seen.
    filter_ = quantise(g.weight(4, 3, 3, 3), numpy.uint8, "conv/QuantizeFilter")
    y = g.node("QLinearConv", [q, scale, g.scalar(3, numpy.uint8), filter_, scale,
                               g.scalar(3, numpy.uint8), scale, g.scalar(0, numpy.uint8)],
               "conv/QLinearConv")
    g.output(g.node("DequantizeLinear", [y, scale, g.scalar(0, numpy.uint8)], "conv/Dequantize"))
    return g


def attributed():
    """Operators whose work their attributes tell, and what that is: each worked out from the
    operators' specification, elements of the output first."""
    g = Graph("attributed")

    def add(op, inputs, name, flops=None, **attributes):
        g.output(g.node(op, inputs, name, flops=flops, **attributes))

    x = g.input("x", "float", [1, 8, 16, 16])
    m = g.input("m", "float", [4, 6])
    add("MaxPool", [x], "pool/halves", 8 * 64 * 4, kernel_shape=[2, 2], strides=[2, 2])
    add("MaxPool", [x], "pool/dilated", 8 * 256 * 9, kernel_shape=[3, 3], dilations=[2, 2],
        pads=[2, 2, 2, 2], strides=[1, 1], storage_order=0)
    add("MaxPool", [x], "pool/ceil", 8 * 36 * 9, kernel_shape=[3, 3], strides=[3, 3], ceil_mode=1)
    add("AveragePool", [x], "pool/mean", 8 * 64 * (9 + 1), kernel_shape=[3, 3], strides=[2, 2],
        pads=[1, 1, 1, 1], count_include_pad=1)
    add("AveragePool", [x], "pool/same", 8 * 256 * (25 + 1), kernel_shape=[5, 5],
        auto_pad="SAME_UPPER")
    add("LpPool", [x], "pool/euclid", 8 * 64 * (2 * 4 + 1), kernel_shape=[2, 2], strides=[2, 2])
    add("LpPool", [x], "pool/manhattan", 8 * 64 * (2 * 4), kernel_shape=[2, 2], strides=[2, 2], p=1)
    add("GlobalLpPool", [x], "pool/all", 2 * 8 * 256 + 8, p=3 - 1)
    add("LRN", [x], "LRN", 8 * 256 * (2 * 5 + 3), size=5, alpha=0.0002, beta=0.5, bias=2.0)
    add("Conv", [x, g.weight(16, 2, 3, 3)], "conv/grouped", 2 * 16 * 256 * 2 * 9,
        kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=4)
    add("Conv", [x, g.weight(8, 1, 3, 3)], "conv/depthwise", 2 * 8 * 256 * 9,
        kernel_shape=[3, 3], pads=[2, 2, 2, 2], dilations=[2, 2], group=8)
    # Its kernel keeps the filter in a form of its own.
    add("ConvTranspose", [x, g.weight(8, 3, 2, 2)], "conv/transposed", 2 * 8 * 256 * 3 * 4,
        kernel_shape=[2, 2], strides=[2, 2], output_padding=[0, 0], group=2)
    scale, zero = g.scalar(0.02), g.scalar(3, numpy.uint8)
    q = g.node("QuantizeLinear", [x, scale, zero], "conv/Quantize", flops=2 * 8 * 256)
    weights = g.constant(g.random.integers(0, 100, (4, 4, 3, 3)).astype(numpy.uint8))
    add_q = g.node("QLinearConv", [q, scale, zero, weights, scale, zero, scale, zero],
                   "conv/QLinearConv", flops=2 * 4 * 256 * 4 * 9, kernel_shape=[3, 3],
                   pads=[1, 1, 1, 1], strides=[1, 1], group=2)
    add("DequantizeLinear", [add_q, scale, zero], "conv/Dequantize", 2 * 4 * 256)
    twice = g.constant(numpy.array([1, 1, 2, 2], numpy.float32))
    for mode, points, more in (("nearest", 0, {"nearest_mode": "floor"}), ("linear", 4, {}),
                               ("cubic", 16, {"cubic_coeff_a": -0.5, "exclude_outside": 1})):
        add("Resize", [x, "", twice], "resize/" + mode, 2 * 8 * 1024 * points, mode=mode,
            coordinate_transformation_mode="asymmetric", **more)
    add("RoiAlign", [x, g.constant(numpy.array([[0, 0, 8, 8], [2, 2, 9, 9]], numpy.float32)),
                     g.ints(0, 0)], "RoiAlign", 2 * 8 * 16 * 9 * 4, output_height=4,
        output_width=4, sampling_ratio=2, spatial_scale=0.5, mode="avg")
    add("Einsum", [x, x], "einsum/gram", 2 * 8 * 8 * 256, equation="bchw,bdhw->bcd")
    add("Einsum", [x], "einsum/transpose", 0, equation="bchw->bhwc")
    add("Einsum", [x], "einsum/sum", 8 * 256, equation="bchw -> bc")
    add("Einsum", [x, g.weight(16, 4)], "einsum/stretched", 2 * 8 * 16 * 16 * 4,
        equation="...hw,wk->...hk")
    add("Einsum", [m, g.weight(6, 5), g.weight(5, 3)], "einsum/chain",
        2 * 4 * 6 * 5 + 2 * 4 * 5 * 3, equation="ij,jk,kl->il")
    add("Einsum", [m, g.weight(4, 6)], "einsum/product", 4 * 6, equation="ij,ij->ij")
    add("Gemm", [m, g.weight(7, 6), g.weight(7)], "Gemm", 2 * 4 * 6 * 7, transB=1, alpha=0.5,
        beta=0.25)
    add("LeakyRelu", [m], "LeakyRelu", 2 * 24, alpha=0.125)
    add("Transpose", [x], "Transpose", 0, perm=[0, 2, 3, 1])
    add("ReduceMean", [x], "ReduceMean", 8 * 256 + 8, axes=[0, -2, -1], keepdims=0)
    add("DepthToSpace", [x], "DepthToSpace", 0, blocksize=2, mode="CRD")
    add("Softmax", [m], "Softmax", 5 * 24, axis=-1)
    add("Concat", [m, m], "Concat", 0, axis=1)
    add("Neg", [m], "Neg", 24)
    return g


# By their numbers in onnx.proto, which an older library does not name.
FLOAT8 = {"FLOAT8E4M3FN": 17, "FLOAT8E4M3FNUZ": 18, "FLOAT8E5M2": 19, "FLOAT8E5M2FNUZ": 20}
INT4 = {"UINT4": 21, "INT4": 22}


def narrow(name="narrow", opset=21, quantised={**FLOAT8, **INT4}, cast=FLOAT8):
    """Elements of 8 bits and fewer, an odd number of them."""
    g = Graph(name)
    g.opset, g.ir_version = opset, 10
    x = g.input("x", "float", [5, 3])
    scale, ends = g.scalar(0.1), []
    for kind, number in quantised.items():
        y = g.node("QuantizeLinear", [x, scale], "quantise/" + kind, output_dtype=number)
        ends.append(g.node("DequantizeLinear", [y, scale], "dequantise/" + kind))
        g.initializers.append(TensorProto(
            name="constant/" + kind, data_type=number, dims=[5, 3],
            raw_data=b"\x21" * (8 if kind in INT4 else 15)))
        ends.append(g.node("DequantizeLinear", ["constant/" + kind, scale], "weight/" + kind))
    for kind, number in cast.items():
        y = g.node("Cast", [x], "to/" + kind, to=number)
        ends.append(g.node("Cast", [y], "from/" + kind, to=TensorProto.FLOAT))
    g.output(g.node("Sum", ends, "Sum"))
    return g


def narrower():
    """Types, and conversions, that came later."""
    return narrow("narrower", 25, {}, {**INT4, "UINT2": 25, "INT2": 26})


def heavy():
    """Few nodes, each some milliseconds long."""
    g = Graph("heavy")
    x = g.input("x", "float", [384, 1024])
    for i in range(4):
        x = g.node("MatMul", [x, g.weight(1024, 1024)], "MatMul_%d" % i)
        x = g.node("Softmax", [x], "Softmax_%d" % i, axis=-1)
    g.output(x)
    return g


def heavy_inside():
    """The same as the body of a Loop."""
    g = Graph("heavy_inside")
    x = g.input("x", "float", [384, 1024])
    weight = g.weight(1024, 1024)

    def body(inner, y, i):
        y = inner.node("MatMul", [y, weight], "inside/MatMul")
        return inner.node("Softmax", [y], "inside/Softmax", axis=-1)

    g.output(g.node("MatMul", [loop(g, x, 3, "Loop", body), weight], "last/MatMul"))
    return g


# What nodes of operators.cu do, by the numbers that it gives to that.
GPU = ("scale", "fill", "hidden", "plain", "configured", "cooperative", "driver",
       "driver_configured", "graph", "copy", "copy_and_wait", "copy_area", "copy_unseen", "wait",
       "refused", "mixed", "loaded", "handled", "reloaded", "nothing", "batched", "pooled")


def gpu():
    """A node of everything that GPUs can be told, and one in a loop."""
    g = Graph("gpu")
    g.domains.append("test.gpu")
    x = g.input("x", "float", [1])

    def tell(graph, value, number, what):
        return graph.node("Gpu", [value], "gpu%d/%s" % (number, what), domain="test.gpu",
                          node=number, what=GPU.index(what), times=3)

    for number, what in enumerate(GPU):
        if what not in ("reloaded", "pooled"):
            x = tell(g, x, number, what)
    x = loop(g, x, 2, "Loop", lambda inner, y, i: tell(inner, y, len(GPU), "scale"))
    g.output(x)
    return g


# Of these HIP has nothing: they are CUDA's, or opprobe has no place in what is like them.
NOT_HIP = ("configured", "driver_configured", "copy_area", "copy_unseen", "refused", "handled",
           "batched")


def gpu_hip():
    """A node of everything that GPUs can be told by HIP."""
    g = Graph("gpu_hip")
    g.domains.append("test.gpu")
    x = g.input("x", "float", [1])
    for number, what in enumerate(GPU):
        if what not in NOT_HIP + ("reloaded", "pooled"):
            x = g.node("Gpu", [x], "gpu%d/%s" % (number, what), domain="test.gpu", node=number,
                       what=GPU.index(what), times=3)
    g.output(x)
    return g


def gpu_pooled():
    """Threads of the pool launch, too."""
    g = Graph("gpu_pooled")
    g.domains.append("test.gpu")
    x = g.input("x", "float", [1])
    for number, what in enumerate(("scale", "pooled", "scale")):
        x = g.node("Gpu", [x], "gpu%d/%s" % (number, what), domain="test.gpu", node=number,
                   what=GPU.index(what), times=64)
    g.output(x)
    return g


def gpu_calls():
    """Nodes that launch kernels and copy, and nothing else."""
    g = Graph("gpu_calls")
    g.domains.append("test.gpu")
    x = g.input("x", "float", [1])
    for number in range(20):
        x = g.node("Gpu", [x], "gpu%d" % number, domain="test.gpu", node=number,
                   what=GPU.index("copy" if number % 4 == 3 else "scale"), times=10)
    g.output(x)
    return g


def gpu_reloading():
    """Kernels go, and others come in their places: an odd number of times in a run."""
    g = Graph("gpu_reloading")
    g.domains.append("test.gpu")
    x = g.input("x", "float", [1])
    for number, what in enumerate(("loaded", "reloaded", "handled", "loaded")):
        x = g.node("Gpu", [x], "gpu%d/%s" % (number, what), domain="test.gpu", node=number,
                   what=GPU.index(what), times=3)
    g.output(x)
    return g


def growing():
    """A Loop that carries one row more each time: its body's values have other shapes then."""
    g = Graph("growing")
    x = g.input("x", "float", ["rows", 4], [2, 4])

    def body(inside, rows, i):
        y = inside.node("Neg", [rows], "body/Neg")
        return inside.node("Concat", [y, inside.weight(1, 4)], "body/Concat", axis=0)

    g.output(loop(g, x, 5, "Loop", body))
    return g


def many():
    """More values than the kernel has places for whose shapes stay, then as many whose do not."""
    g = Graph("many")
    x = g.input("x", "float", [4])
    for i in range(70):
        x = g.node("Neg", [x], "same/Neg_%d" % i)
        x = g.node("Sin", [x], "same/Sin_%d" % i)
    x = g.node("Add", [x, g.input("rows", "float", ["rows", 4], [2, 4])], "Add")
    for i in range(70):
        x = g.node("Neg", [x], "other/Neg_%d" % i)
        x = g.node("Sin", [x], "other/Sin_%d" % i)
    g.output(x)
    return g


MODELS = [cnn, resnet, transformer, nested, nested_unnamed, scan, tiny, unnamed, names,
          deep, not_utf8, long_names, reshape, reshape_inside, gru, pages, mlp, cycle,
          branches, values, optionals, quantised, attributed, narrow, narrower,
          growing, many, heavy, heavy_inside, unimplemented, gpu, gpu_hip, gpu_pooled, gpu_calls,
          gpu_reloading]


def write_atomically(path, data):
    temporary = "%s.%d" % (path, os.getpid())
    with open(temporary, "wb") as file:
        file.write(data)
    os.rename(temporary, path)


def describe_input(entry):
    line = " ".join([entry["name"], entry["type"]] + [str(d) for d in entry["dims"]])
    return line + (" = " + " ".join(map(str, entry["values"])) if entry["values"] else "")


def write_model(directory, graph):
    model = helper.make_model(graph.proto(), producer_name="opprobe",
                              opset_imports=[helper.make_opsetid("", graph.opset)] +
                              [helper.make_opsetid(domain, 1) for domain in graph.domains])
    model.ir_version = graph.ir_version
    path = os.path.join(directory, graph.name)
    data = model.SerializeToString().replace(PLACEHOLDER.encode(), NOT_UTF8)
    write_atomically(path + ".onnx", data)
    lines = [describe_input(entry) + "\n" for entry in graph.described_inputs]
    write_atomically(path + ".inputs", "".join(lines).encode())
    described = json.dumps({
        "inputs": graph.described_inputs,
        "nodes": [node for node in graph.executed if node["times"]],
    }, indent=1, ensure_ascii=False)
    write_atomically(path + ".json", described.replace(
        PLACEHOLDER, NOT_UTF8.decode(errors="replace")).encode())


def main():
    if len(sys.argv) < 2:
        sys.exit("Usage: models.py DIRECTORY [MODEL...]")
    wanted = sys.argv[2:]
    unknown = set(wanted) - {model.__name__ for model in MODELS}
    if unknown:
        sys.exit("models.py: no such model: %s" % ", ".join(sorted(unknown)))
    os.makedirs(sys.argv[1], exist_ok=True)
    for model in MODELS:
        if not wanted or model.__name__ in wanted:
            write_model(sys.argv[1], model())


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0-only
"""Shapes, element types and sizes of inputs and outputs are those that the
built-in profiler prints, of every execution from the first on."""

import json
import os
import shutil
import subprocess

from harness import (SHAPES, SIZES, check, check_counts, check_equal, read_shapes, recorded_shapes,
                     test)

RUNS = 20
ABSENT = {"many/Concat", "rank9/Reshape", "rank9/Neg", "Flatten_7"}  # of the model "values"
MODELS = [
    ("a CNN", "cnn", {}),
    ("a transformer block", "transformer", {}),
    ("If and Loop nested twice", "nested", {}),
    ("a Scan", "scan", {}),
    ("a Loop whose values grow", "growing", {}),
    ("values that may hold a tensor", "optionals", {}),
    ("2 intra-op threads", "transformer", {"intraOpNumThreads": 2}),
    ("a graph that is not optimised", "transformer", {"graphOptimizationLevel": "disabled"}),
    ("parallel mode", "branches", {"executionMode": "parallel", "interOpNumThreads": 3}),
    ("parallel mode with subgraphs", "nested",
     {"executionMode": "parallel", "interOpNumThreads": 2}),
]


def in_node(version, sentence, model, options):
    @test("node.js, %s: %s: shapes equal the built-in profiler's" % (version, sentence))
    def _(t):
        target = t.node(version)
        session = target.load(t.model(model), profile="profile", **options)
        probe = t.attach(target, "--shapes")
        target.run(session, RUNS)
        probe.stop().nothing_lost()
        target.do("end_profiling", session=session)
        check_counts(recorded_shapes(t), read_shapes(t))


for version in ("1.24.3", "1.27.0", "1.30.0"):
    for sentence, model, options in MODELS:
        in_node(version, sentence, model, options)


def through_c(version, sentence, model, *options, fields=SHAPES, plain=()):
    """`plain`: options with which the built-in profiler says more, of as many runs."""
    @test("C API, %s: %s: %s equal the built-in profiler's" % (
        version, sentence, "sizes" if fields == SIZES else "shapes"))
    def _(t):
        target = t.ort_run(version, model, "-P", "profile", *options)
        probe = t.attach(target, "--shapes")
        target.run(5)
        probe.stop().nothing_lost()
        if plain:
            target = t.ort_run(version, model, "-P", "plain", *plain)
            target.run(5)
        target.ask("end-profiling")
        check_counts(recorded_shapes(t, fields), read_shapes(t, "plain" if plain else "profile", fields))


for version in ("1.10.0", "1.12.0", "1.14.0", "1.16.3", "1.20.1", "1.30.0"):
    told = SIZES if version == "1.10.0" else SHAPES
    through_c(version, "a CNN", "cnn", fields=told)
    through_c(version, "a transformer block", "transformer", fields=told)
    through_c(version, "3 sessions, each run by 4 threads at once", "nested", "-s", "3", "-c", "4",
              "-t", "2", fields=told)
    # Before 1.14, it is silent about parallel mode.
    through_c(version, "parallel mode, 4 threads at once", "branches", "-p", "-i", "3", "-t", "2",
              "-c", "4", fields=told, plain=("-c", "4") if version < "1.14" else ())


@test("C API, 1.10.0: shapes are those of the same graph in a version that prints them")
def _(t):
    for model in ("cnn", "transformer", "nested"):
        known = t.ort_run("1.12.0", model, "-O", "0", "-P", model)
        known.run(1)
        known.ask("end-profiling")
        target = t.ort_run("1.10.0", model, "-O", "0")
        probe = t.attach(target, "--shapes")
        target.run(1)
        probe.stop().nothing_lost()
        check_counts(recorded_shapes(t), read_shapes(t, model), model)


def all_values(version):
    @test("C API, %s: every element type, ranks to 8, absent, empty and other values" % version)
    def _(t):
        target = t.ort_run(version, "values", "-O", "0", "-P", "profile")
        probe = t.attach(target, "--shapes")
        target.run(5)
        probe.stop().nothing_lost()
        target.ask("end-profiling")
        got, expected = recorded_shapes(t), read_shapes(t)
        for counts in (got, expected):
            for key in [key for key in counts if key[0] in ABSENT]:
                # More inputs or dimensions than are read: unknown, never wrong.
                check(counts is expected or key[4:] == ("null",) * 3, "not absent", key)
                del counts[key]
        check_counts(got, expected)


for version in ("1.12.0", "1.16.3", "1.24.3", "1.30.0"):
    all_values(version)


PACKED = {"dynamic/MatMulInteger": 5 * 7}


def quantised(version, model):
    @test("C API, %s: %s: sizes equal the built-in profiler's, and all bytes are known" % (
        version, model))
    def _(t):
        target = t.ort_run(version, model, "-O", "0", "-P", "profile")
        probe = t.attach(target, "--shapes")
        target.run(5)
        report = probe.stop().nothing_lost()
        target.ask("end-profiling")
        check_counts(recorded_shapes(t), read_shapes(t))
        sizes = {key[0]: sum(int(json.loads(text)) for text in key[4:]) for key in read_shapes(t)}
        for row in report.operators:
            # All tensors, each read or written once, and weights that only the kernel has.
            check_equal(row["bytes"], 5 * (sizes[row["name"]] + PACKED.get(row["name"], 0)),
                        "bytes of " + row["name"])
            check(row["flops"] is not None, "no FLOP are known", row["name"])


for version in ("1.12.0", "1.16.3", "1.24.3", "1.30.0"):
    quantised(version, "quantised")
for version in ("1.20.1", "1.24.3", "1.30.0"):
    quantised(version, "narrow")
for version in ("1.24.3", "1.30.0"):
    quantised(version, "narrower")


def dynamic_batch(version):
    @test("node.js, %s: each batch size has its own shapes" % version)
    def _(t):
        target = t.node(version)
        session = target.load(t.model("mlp"), profile="profile")
        probe = t.attach(target, "--shapes")
        for batch in (1, 3, 8, 3, 64, 1):
            target.run(session, RUNS, change={"x": {"dims": [batch, 64]}})
        probe.stop().nothing_lost()
        target.do("end_profiling", session=session)
        got = recorded_shapes(t)
        check_counts(got, read_shapes(t))
        shapes = {key[2] for key in got if key[1] == "Softmax"}
        check_equal(shapes, {'[{"float": [%d, 64]}]' % batch for batch in (1, 3, 8, 64)},
                    "inputs of the Softmax")


for version in ("1.24.3", "1.30.0"):
    dynamic_batch(version)


@test("new shapes of a session that is known are those of all of its values")
def _(t):
    target = t.node("1.30.0")
    session = target.load(t.model("transformer"), profile="profile")
    probe = t.attach(target, "--shapes")
    for batch, length in ((2, 16), (1, 16), (3, 5), (2, 16), (4, 9)):
        target.run(session, RUNS, change={"tokens": {"dims": [batch, length, 64]}})
    probe.stop().nothing_lost()
    target.do("end_profiling", session=session)
    check_counts(recorded_shapes(t), read_shapes(t))


@test("new shapes are seen also where a run has more values than there are places for")
def _(t):
    target = t.node("1.30.0")
    session = target.load(t.model("many"), profile="profile")
    probe = t.attach(target, "--shapes")
    for rows in (2, 3, 2, 5):
        target.run(session, RUNS, change={"rows": {"dims": [rows, 4]}})
    probe.stop().nothing_lost()
    target.do("end_profiling", session=session)
    check_counts(recorded_shapes(t), read_shapes(t))


@test("the report groups by shape, and one without --shapes knows none")
def _(t):
    target = t.ort_run("1.30.0", "transformer")
    for arguments, wanted in ((["--shapes"], True), ([], False)):
        probe = t.attach(target, *arguments)
        target.run(3)
        probe.stop().nothing_lost()
        texts = {key[2:4] for key in recorded_shapes(t)}
        check_equal(any("float" in text for pair in texts for text in pair), wanted,
                    "shapes with %s" % arguments)
        made = subprocess.run([t.program, "report", t.path("capture.opp"), "--group-by", "shape"],
                              stdout=subprocess.PIPE, check=True).stdout.decode()
        check_equal('[{"float":[2,16,64]}' in made, wanted, "shapes in the table")
        made = subprocess.run([t.program, "report", t.path("capture.opp"), "--group-by", "shape",
                               "--json"], stdout=subprocess.PIPE, check=True).stdout
        rows = json.loads(made)["operators"]
        check_equal(any((row.get("inputs") or [None])[0] == {"float": [2, 16, 64]}
                        for row in rows), wanted, "shapes as values in JSON")


@test("a schedule's captures hold shapes, each by itself")
def _(t):
    target = t.ort_run("1.30.0", "cnn")
    probe = t.opprobe("record", "-p", target.pid, "--shapes", "--per-cycle", "-o",
                      t.path("run.opp"), "--schedule", "wait=2,active=3,repeat=2").attached()
    while probe.alive():
        target.run(2)
    check_equal(probe.wait(), 0, "status")
    one, two = recorded_shapes(t, capture="run.1.opp"), recorded_shapes(t, capture="run.2.opp")
    check_counts(two, one, "the second capture")
    check(all("float" in key[2] for key in one), "executions without shapes", one)


@test("where the file does not tell its classes, all but the shapes is recorded")
def _(t):
    library = t.library("1.30.0")
    changed = t.path(os.path.basename(library))
    shutil.copy(library, changed)
    with open(changed, "r+b") as file:
        at = file.read().index(b"N11onnxruntime14TensorTypeBaseE\0")
        file.seek(at)
        file.write(b"N11onnxruntime14TensorTypeBoseE\0")
    t.library = lambda version: changed
    target = t.ort_run("1.30.0", "cnn")
    probe = t.attach(target, "--shapes")
    target.run(3)
    report = probe.stop().nothing_lost()
    check_equal(sum(op["count"] for op in report.operators), 63, "operators")
    check("shapes cannot be proven for this build" in probe.stderr, "nothing was said",
          probe.stderr)
    check(any("shapes cannot be proven" in note for note in report.json["notes"]),
          "no note in the capture", report.json["notes"])
    check(not any("float" in text for key in recorded_shapes(t) for text in key[2:4]), "shapes")

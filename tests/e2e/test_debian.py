# SPDX-License-Identifier: GPL-2.0-only
"""ONNX Runtime as Debian builds it, in Python: onnx is a library of its own there."""

from attributes import RUNS, look_at_attributes_of
from harness import check_counts, check_equal, read_profile, read_shapes, recorded_shapes, test
from setup import look_at_loads


def agree(model, **options):
    @test("Debian's Python, %s: names, counts and shapes equal the built-in profiler's" %
          " ".join([model] + list(options)))
    def _(t):
        target = t.debian_python()
        session = target.load(t.model(model), profile="profile", **options)
        probe = t.attach(target, "--shapes")
        answer = target.run(session, RUNS)
        check_equal(len(answer["sums"]), 1, "different results")
        report = probe.stop().nothing_lost()
        target.do("end_profiling", session=session)
        check_equal(report.json["runtime"]["version"], "1.21.0", "version of the runtime")
        check_equal(report.json["runs"], RUNS, "runs")
        expected = read_profile(t.directory, "profile")
        check_counts(report.counts(provider=True), expected, "operators of the table")
        check_counts(report.trace_counts(provider=True), expected, "operators of the trace")
        check_counts(recorded_shapes(t), read_shapes(t))


for each in ("cnn", "nested", "transformer", "quantised"):
    agree(each)
agree("transformer", intra_op_num_threads=2)


@test("Debian's Python: attributes, and FLOP, are those of the model")
def _(t):
    target = t.debian_python()
    session = target.load_plain(t.model("attributed"))
    look_at_attributes_of(t, target, lambda: target.run(session, RUNS))


for in_memory in (False, True):
    @test("Debian's Python: loading a model %s takes as long as the built-in profiler says" %
          ("from memory" if in_memory else "in a file"))
    def _(t, from_bytes=in_memory):
        look_at_loads(t, t.debian_python(), from_bytes, "cnn")


@test("Debian's Python: sessions are what their options say")
def _(t):
    target = t.debian_python()
    sessions = [target.load(t.model("cnn"), intra_op_num_threads=3, enable_mem_pattern=False),
                target.load(t.model("mlp"), from_bytes=True, enable_cpu_mem_arena=False)]
    probe = t.attach(target)
    for session in sessions:
        target.run(session)
    told = probe.stop().nothing_lost().json["session_models"]
    check_equal([(session["path"], session["graph"], session["intra_threads"],
                  session["memory_pattern"], session["arena"]) for session in told],
                [(t.model("cnn"), "cnn", 3, False, True), ("", "mlp", 1, True, False)],
                "what sessions are")

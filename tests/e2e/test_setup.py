# SPDX-License-Identifier: GPL-2.0-only
"""What sessions do before their runs: loading of models, initialization."""

import json

from harness import check, check_equal, test
from setup import KINDS, check_views, exported, look_at_loads, look_at_setup, traced

VERSIONS = ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")


def table_of(t, *arguments):
    process = t.opprobe("report", t.path("capture.opp"), *arguments)
    check_equal(process.wait(), 0, "status")
    return process.stdout


for each in VERSIONS:
    @test("C API, %s: loading and initialization take as long as the built-in profiler says" % each)
    def _(t, version=each):
        look_at_setup(t, version)


def in_node(version, from_bytes, model):
    @test("node.js, %s: a model %s: the profiler's names and durations" %
          (version, "from memory" if from_bytes else "in a file"))
    def _(t):
        look_at_loads(t, t.node(version), from_bytes, model)


for each in ("1.24.3", "1.27.0", "1.30.0"):
    in_node(each, True, "transformer")
    in_node(each, False, "cnn")


def load_in_vain(t, target, path):
    """What the runtime's user is told of a session that cannot be made."""
    answer = target.ask_any(json.dumps({"do": "load", "model": path,
                                        "options": {"logSeverityLevel": 4}}))
    check(not answer["ok"], "a session of %s" % path)
    return answer["error"]


def failures(version):
    @test("%s: models that cannot be loaded and sessions that cannot be initialized are told" %
          version)
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model("reshape"))
        with open(t.path("broken.onnx"), "wb") as file:
            file.write(b"\xff" * 100)
        with open(t.path("broken.inputs"), "wb"):
            pass
        probe = t.attach(target)
        said = [load_in_vain(t, target, t.path("broken.onnx")),
                load_in_vain(t, target, t.path("broken.onnx")),
                load_in_vain(t, target, t.model("unimplemented"))]
        target.run(session, 3)
        target.run(target.load_plain(t.model("mlp")))
        report = probe.stop().nothing_lost()
        check_equal(report.json["runs_failed"], 0, "runs that failed")
        told = report.json["failures"]
        check_equal([(way["name"], way["setups"], way["runs"]) for way in told],
                    [("INVALID_PROTOBUF", 1, 0), ("INVALID_PROTOBUF", 1, 0),
                     ("NOT_IMPLEMENTED", 1, 0)], "ways to fail")
        for way, text in zip(told, said):
            check(way["message"] and text.endswith(way["message"]), "the message is another one",
                  way, text)
        # One was loaded, and failed behind that; the others have nothing that was good.
        good = {session["session"]: [session[key] is not None for key in KINDS.values()]
                for session in report.json["session_models"]}
        check_equal([good[way["session"]] for way in told],
                    [[False, False], [False, False], [True, False]], "what was good of them")
        check_equal(sorted(good.values()).count([True, True]), 1, "sessions that were made")
        table = table_of(t)
        check("2 models could not be loaded, 1 session could not be initialized:\n" in table,
              "the table has another sentence", table)
        check_equal(len(traced(t)), 6, "slices of the trace")
        with open(t.path("trace.json"), encoding="utf-8") as file:
            failed = [event["args"].get("error") for event in json.load(file)["traceEvents"]
                      if event.get("cat") == "Session" and "step" not in event["args"]]
        check_equal(failed, 2 * ["INVALID_PROTOBUF"] + [None, "NOT_IMPLEMENTED", None, None],
                    "errors in the trace")


for each in ("1.10.0", "1.16.3", "1.24.3", "1.30.0"):
    failures(each)


@test("sessions that are made while recording and never run are told, with their models")
def _(t):
    target = t.node("1.24.3")
    target.load(t.model("tiny"))
    probe = t.attach(target)
    target.load(t.model("cnn"))
    target.load(t.model("mlp"), intraOpNumThreads=2)
    # Where names lie is not known, and never will be: no operator was recorded.
    probe.stop(130)
    report = t.opprobe("report", t.path("capture.opp"), "--json").finish()
    told = {session["title"]: session for session in report.json["session_models"]}
    check_equal(set(told), {"cnn.onnx", "mlp.onnx"}, "sessions")
    check_equal(told["mlp.onnx"]["intra_threads"], 2, "threads")
    check_views(t, report, exported(t))
    table = table_of(t)
    check("2 models were loaded in" in table and "mlp.onnx: graph mlp" in table, "the table",
          table)


@test("what is selected decides which sessions' loading and initialization is shown")
def _(t):
    target = t.node("1.27.0")
    target.load(t.model("tiny"))
    probe = t.attach(target, "--min-duration", "1h")
    cnn, mlp = target.load_plain(t.model("cnn")), target.load_plain(t.model("mlp"))
    target.run(cnn, 2)
    target.run(mlp, 2)
    probe.stop(130)
    for selected, shown in ((("--model", "mlp*"), ["mlp.onnx"]), (("--session", "0"), ["cnn.onnx"]),
                            (("--runs", "0"), []), (("--failed",), []),
                            ((), ["cnn.onnx", "mlp.onnx"])):
        text = table_of(t, *selected)
        check_equal([name for name in ("cnn.onnx", "mlp.onnx") if name + ": graph" in text],
                    shown, "sessions with %s" % " ".join(selected))
        check_equal(text.count(", initialized in"), len(shown), "initializations")

# SPDX-License-Identifier: GPL-2.0-only
"""What sessions are: their models, and how these are executed, as their options say."""

import os

from harness import OrtTarget, check, check_equal, described_counts, test
from models import look_at_models

VERSIONS = ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")

OLDER = ("1.10.0", "1.12.1")

# Options of onnxruntime-node, and what they mean. Of threads that are not counted
# on here, as they depend on the machine, nothing is said.
SETTINGS = [
    ({}, {"parallel": False, "intra_threads": 1, "memory_pattern": True, "arena": True,
          "intra_spins": None}),
    ({"intraOpNumThreads": 3, "enableMemPattern": False},
     {"parallel": False, "intra_threads": 3, "inter_threads": None, "intra_spins": True,
      "memory_pattern": False, "arena": True}),
    ({"executionMode": "parallel", "interOpNumThreads": 3, "intraOpNumThreads": 2,
      "logId": "a/name.with.dots"},
     {"parallel": True, "intra_threads": 2, "inter_threads": 3, "inter_spins": True}),
    ({"executionMode": "parallel", "interOpNumThreads": 2, "enableCpuMemArena": False},
     {"parallel": True, "intra_threads": 1, "inter_threads": 2, "arena": False}),
]


def models_of(report):
    return {model["session"]: model for model in report.json["session_models"]}


def check_model(got, path, graph, wanted):
    wanted = {"path": path, "graph": graph, "producer": "opprobe",
              "providers": ["CPUExecutionProvider"], **wanted}
    check_equal({key: got[key] for key in wanted}, wanted, "what a session is")


def options(version):
    @test("%s: sessions are what their options say" % version)
    def _(t):
        target = t.node(version)
        sessions = [target.load(t.model("cnn"), **given) for given, _ in SETTINGS]
        sessions.append(target.load(t.model("mlp")))
        probe = t.attach(target)
        for session in sessions:
            target.run(session, 2)
        report = probe.stop().nothing_lost()
        # Sessions are numbered as they are seen.
        models = models_of(report)
        check_equal(sorted(models), list(range(len(sessions))), "sessions")
        for number, (_, wanted) in enumerate(SETTINGS):
            check_model(models[number], t.model("cnn"), "cnn", wanted)
        check_model(models[len(SETTINGS)], t.model("mlp"), "mlp", SETTINGS[0][1])
        # Up to 1.13, an operator of a run in parallel mode does not tell its session.
        of_none = [op for op in report.operators if op["session"] is None]
        check(not of_none or version in OLDER, "operators of no session", of_none[:3])
        for op in report.operators:
            if op["session"] is None:
                continue
            check_equal(op["model"].split(" ")[0],
                        os.path.basename(models[op["session"]]["path"]), "model of an operator")
        rows = t.opprobe("report", t.path("capture.opp"), "--group-by", "model",
                         "--json").finish().operators
        check_equal(sorted(row["name"] for row in rows if row["name"].endswith(".onnx")),
                    ["cnn.onnx", "mlp.onnx"], "models")
        check_equal(len(rows), 3 if of_none else 2, "rows of models")
        chosen = t.opprobe("report", t.path("capture.opp"), "--model", "mlp.onnx",
                           "--json").finish()
        check_equal({op["session"] for op in chosen.operators}, {len(SETTINGS)}, "sessions of it")
        check_equal(chosen.json["runs"], 2, "runs of it")
        doctor = t.opprobe("doctor", "-p", target.pid, "--json")
        doctor.wait()
        for path in t.model("cnn"), t.model("mlp"):
            check('"text":\t"%s: graph' % path in doctor.stdout, "doctor does not tell of " + path,
                  doctor.stdout)


for version in VERSIONS:
    options(version)


def from_memory(version):
    @test("%s: models from memory are told apart by their operators" % version)
    def _(t):
        target = t.node(version)
        sessions = [target.load(t.model(name), from_bytes=True) for name in ("mlp", "mlp", "tiny")]
        probe = t.attach(target)
        for session in sessions:
            target.run(session, 3)
        models = models_of(probe.stop().nothing_lost())
        check_equal([models[i]["path"] for i in range(3)], ["", "", ""], "paths")
        hashes = [models[i]["graph_hash"] for i in range(3)]
        check(hashes[0] and hashes[0] == hashes[1] != hashes[2], "hashes of graphs", hashes)
        rows = t.opprobe("report", t.path("capture.opp"), "--group-by", "model",
                         "--json").finish().operators
        check_equal(len(rows), 2, "models")


for version in ("1.16.3", "1.20.1", "1.30.0"):
    from_memory(version)


@test("C API, 1.30.0: sessions are what their options say")
def _(t):
    look_at_models(t, "1.30.0")


@test("a model's path is as the user gave it")
def _(t):
    folder, name = os.path.split(t.model("mlp"))
    target = t.start(OrtTarget, [t.ort_program, t.library("1.24.3"), name], cwd=folder).ready()
    probe = t.attach(target)
    target.run(3)
    report = probe.stop().nothing_lost()
    check_equal(models_of(report)[0]["path"], name, "path")


@test("sessions that come and go while recording are never taken for one another")
def _(t):
    target = t.node("1.24.3")
    stays = target.load_plain(t.model("tiny"))
    probe = t.attach(target)
    target.run(stays, 2)
    names = ("mlp", "cnn", "branches")
    for i in range(30):
        # Optimised, nodes are fused, and have other names.
        session = target.load_plain(t.model(names[i % 3]))
        target.run(session, 2)
        target.do("release", session=session)
    target.run(stays, 2)
    report = probe.stop()
    models = models_of(report)
    known = 0
    for op in report.operators:
        model = models.get(op["session"])
        if not model or model["path"] is None:
            continue
        known += 1
        name = os.path.basename(model["path"])[:-len(".onnx")]
        check(any(op["name"] == wanted for wanted, _ in described_counts(t.model(name), 1)),
              "an operator of another model than " + name, op["name"])
    check(known, "no session's model is known")
    check_equal(os.path.basename(models[0]["path"]), "tiny.onnx", "the session that stays")

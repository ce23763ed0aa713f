# SPDX-License-Identifier: GPL-2.0-only
"""Usage: python3 run.py

A process with ONNX Runtime for Python that does what it is told, as run.cjs does: one
JSON object per line on stdin, one per line on stdout in reply. The requests:

  {"do":"load", "model":PATH, "options":{NAME:VALUE}, "bytes":B}
                   -> {"session":ID}; options are attributes of SessionOptions; with B
                      true the runtime gets the file's bytes, not its name
  {"do":"run", "session":ID, "times":N} -> {"done":N, "failed":0, "sums":[...]}
  {"do":"end_profiling", "session":ID}, {"do":"release", "session":ID}

A request that cannot be done is answered by {"ok":false, "error":TEXT}. What libraries
print to stdout goes to stderr.
"""

import gc
import json
import os
import sys

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import numpy                # pylint: disable=wrong-import-position
import onnxruntime          # pylint: disable=wrong-import-position

TYPES = {"float": numpy.float32, "int64": numpy.int64, "bool": numpy.bool_}
sessions = {}


def make_inputs(model):
    """The inputs that MODEL.inputs lists, the same ones each time."""
    feeds = {}
    random = numpy.random.default_rng(1)
    with open(model.removesuffix(".onnx") + ".inputs", encoding="utf-8") as file:
        for line in file:
            shape, _, values = line.partition(" = ")
            name, kind, *dims = shape.split()
            dims = [int(size) for size in dims]
            made = (numpy.array([float(value) for value in values.split()]) if values
                    else random.uniform(-1, 1, dims))
            feeds[name] = made.astype(TYPES[kind]).reshape(dims)
    return feeds


def load(request):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for name, value in request["options"].items():
        if name == "graph_optimization_level":
            value = onnxruntime.GraphOptimizationLevel(value)
        setattr(options, name, value)
    model = request["model"]
    if request.get("bytes"):
        with open(model, "rb") as file:
            model = file.read()
    number = len(sessions)
    sessions[number] = (onnxruntime.InferenceSession(model, options,
                                                     providers=["CPUExecutionProvider"]),
                        make_inputs(request["model"]))
    return {"session": number}


def run(request):
    session, feeds = sessions[request["session"]]
    sums = {str(sum(float(numpy.sum(value)) for value in session.run(None, feeds)))
            for _ in range(request.get("times", 1))}
    return {"done": request.get("times", 1), "failed": 0, "sums": sorted(sums)}


def end_profiling(request):
    sessions[request["session"]][0].end_profiling()
    return {}


def release(request):
    sessions[request["session"]] = None
    gc.collect()
    return {}


ACTIONS = {"load": load, "run": run, "end_profiling": end_profiling, "release": release}


def answer(line):
    try:
        request = json.loads(line)
        return {"ok": True, **ACTIONS[request["do"]](request)}
    except Exception as error:  # pylint: disable=broad-exception-caught
        return {"ok": False, "error": str(error)}


def say(reply):
    answers.write(json.dumps(reply) + "\n")
    answers.flush()


say({"ok": True, "ready": os.getpid()})
for request_line in sys.stdin:
    say(answer(request_line))

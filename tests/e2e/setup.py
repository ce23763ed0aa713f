# SPDX-License-Identifier: GPL-2.0-only
"""How sessions are made, beside what the built-in profiler says: also on emulated machines."""

import json
import os
import re
import subprocess
import time

from harness import check, check_equal

KINDS = {"model_loading": "loading_ns", "session_initialization": "initialization_ns"}
APART = 200     # us, or 1 %: what the two may differ by, where nothing came between
SESSIONS = 4


def events_of(text):
    """Name and duration, in us, of what was done for sessions before their runs, in its order."""
    return [(name, int(duration)) for duration, name in
            re.findall(r'"dur" :(\d+),"ts" :\d+,"ph" : "X","name" :"(model_loading\w*|'
                       r'session_initialization)"', text)]


def exported(t, *selected):
    """The same as opprobe exports it."""
    made = subprocess.run([t.program, "export", t.path("capture.opp"), "--format", "ort",
                           *selected], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return events_of(made.stdout.decode())


def traced(t):
    """Slices in the trace, with their session, by name; durations in us."""
    with open(t.path("trace.json"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return [(event["name"], event["args"]["session"], event["dur"]) for event in events
            if event.get("cat") == "Session" and "step" not in event["args"]]


def check_durations(got, expected):
    """The same were done. None took less than it says itself, and some hardly more: the others
    may have been held up, by the machine or by the probe, behind what the profiler measures."""
    check_equal([name for name, _ in got], [name for name, _ in expected], "what was done")
    for kind in KINDS:
        apart = [(ours - its, its) for (name, ours), (_, its) in zip(got, expected)
                 if name.startswith(kind)]
        check(apart and min(difference for difference, _ in apart) >= -1,
              "less time than the profiler has for %s" % kind, got, expected)
        check(any(difference <= max(APART, its / 100) for difference, its in apart),
              "all are further apart than %d us and 1 %% for %s" % (APART, kind), got, expected)


def check_views(t, report, events):
    """JSON and trace have, by their sessions, what the export has."""
    sessions = [session for session in report.json["session_models"]
                if session["loading_ns"] is not None]
    told = [session[KINDS[kind]] // 1000 for session in sessions for kind in KINDS]
    check_equal(told, [duration for _, duration in events], "durations of sessions")
    check_equal([(name, int(duration)) for name, _, duration in traced(t)], events, "the trace")
    numbers = [session["session"] for session in sessions for _ in KINDS]
    check_equal([number for _, number, _ in traced(t)], numbers, "sessions of the trace")
    return sessions


def profiled(t, prefix):
    """What the built-in profiler says of the sessions that were made last."""
    found = []
    for i in range(SESSIONS):
        name = max(name for name in os.listdir(t.directory)
                   if name.startswith("%s%d_" % (prefix, i)))
        with open(t.path(name), encoding="utf-8") as file:
            found += events_of(file.read())
    return found


def look_at_setup(t, version, model="cnn"):
    """Sessions that are made while recording, and older ones."""
    target = t.ort_run(version, model, "-P", "profile", "-s", str(SESSIONS))
    born = int(time.time())
    probe = t.attach(target)
    target.run(1)
    while int(time.time()) <= born:  # names of the profiler's files differ by the second
        time.sleep(0.05)
    target.ask("recreate")
    target.run(1)
    report = probe.stop()
    target.ask("end-profiling")
    check_durations(exported(t), profiled(t, "profile"))
    sessions = check_views(t, report, exported(t))
    check_equal(len(sessions), SESSIONS, "sessions that were made")
    old = [session for session in report.json["session_models"] if session not in sessions]
    check_equal([session[key] for session in old for key in KINDS.values()],
                2 * SESSIONS * [None], "of those that are older")


def look_at_loads(t, target, from_bytes, model):
    """Sessions that a program of requests makes while recording, of which one runs."""
    target.load(t.model("tiny"))
    probe = t.attach(target)
    sessions = [target.load(t.model(model), profile="profile-%d-" % i, from_bytes=from_bytes)
                for i in range(SESSIONS)]
    target.run(sessions[1])
    report = probe.stop()
    truth = []
    for i, session in enumerate(sessions):
        target.do("end_profiling", session=session)
        (path,) = (path for path in os.listdir(t.directory) if path.startswith("profile-%d-" % i))
        with open(t.path(path), encoding="utf-8") as file:
            truth += events_of(file.read())
    loading = "model_loading_array" if from_bytes else "model_loading_uri"
    check_equal({name for name, _ in truth}, {loading, "session_initialization"}, "names")
    check_durations(exported(t), truth)
    told = check_views(t, report, exported(t))
    check_equal([session["graph"] for session in told], SESSIONS * [model], "graphs")
    # The one that ran is one session with its operators.
    check_equal({op["session"] for op in report.operators}, {told[1]["session"]},
                "sessions that ran")

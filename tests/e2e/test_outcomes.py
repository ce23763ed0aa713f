# SPDX-License-Identifier: GPL-2.0-only
"""Runs that return an error: told apart from good ones, with what the runtime says of them."""

import json

from harness import check, check_counts, check_equal, test
from outcomes import look_at_outcomes

BAD_VALUES = {"shape": {"values": [5, 5]}}         # the kernel throws, the run returns that
BAD_INPUT = {"shape": {"dims": [1, 2], "values": [2, 3]}}  # refused before any operator
NODES = [("before/Relu", "Relu"), ("Reshape", "Reshape"), ("after/Neg", "Neg")]
VERSIONS = ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")


def fail(target, session, times, change):
    """The error that all of these runs return, as the runtime's user is told."""
    bad = target.do("run", session=session, times=times, change=change)
    check_equal((bad["done"], bad["failed"]), (times, times), "runs that fail")
    return bad["error"]


def kinds_of(report):
    return {(failure["session"], failure["name"]): failure for failure in report.json["failures"]}


def outcomes(version):
    @test("%s: runs that fail are told by code and message, and are not among the good ones" %
          version)
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model("reshape"))
        probe = t.attach(target)
        # The very first ones, when no name is known yet.
        refused = fail(target, session, 4, BAD_INPUT)
        target.run(session, 5)
        thrown = fail(target, session, 7, BAD_VALUES)
        target.run(session, 3)
        fail(target, session, 2, BAD_INPUT)
        report = probe.stop().nothing_lost()
        check_equal([report.json[key] for key in ("runs", "runs_failed", "runs_threw")], [21, 13, 0],
                    "runs, failed and thrown ones")
        check_equal(report.json["total"]["count"], 8, "runs in the total")
        check_counts(report.counts(), {node: 8 for node in NODES})
        kinds = kinds_of(report)
        argument = kinds.pop((0, "INVALID_ARGUMENT"))
        check_equal((argument["runs"], argument["code"]), (6, 2), "runs of bad arguments")
        (_, kernel), = kinds.items()
        check_equal(kernel["runs"], 7, "runs whose kernel threw")
        check(kernel["code"] in (1, 6), "the code of an exception", kernel)
        for failure, said in ((argument, refused), (kernel, thrown)):
            check(failure["message"] and said.endswith(failure["message"]),
                  "the message is another one", failure, said)

        failed = t.failed()
        check_counts(failed.counts(), {node: 7 for node in NODES[:2]})
        check_equal(failed.json["total"]["count"], 13, "failed runs")
        check_equal(failed.operator("Reshape")["threw"], 7, "exceptions")


for version in VERSIONS:
    outcomes(version)


@test("a C program's runs are told by their tags, and failed ones by what they return")
def _(t):
    look_at_outcomes(t, "1.20.1")


@test("failed runs are told per session")
def _(t):
    target = t.node("1.24.3")
    sessions = [target.load_plain(t.model("reshape")) for _ in range(2)]
    probe = t.attach(target)
    for i, session in enumerate(sessions):
        target.run(session)
        fail(target, session, 3 + i, BAD_VALUES)
    kinds = kinds_of(probe.stop().nothing_lost())
    check_equal({session: kind["runs"] for (session, _), kind in kinds.items()}, {0: 3, 1: 4},
                "failed runs of each session")
    check(all(kind["message"] for kind in kinds.values()), "a message is missing", kinds)


@test("the message of a failed run is in each capture of several")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("reshape"))
    process = t.opprobe("record", "-p", target.pid, "--schedule", "active=3,repeat=3", "--per-cycle",
                        "-o", t.path("run.opp")).attached()
    while process.alive():
        error = fail(target, session, 2, BAD_VALUES)
    process.wait()
    check_equal(process.child.returncode, 0, "exit status (%s)" % process.stderr)
    for cycle in (1, 2, 3):
        report = t.opprobe("report", t.path("run.%d.opp" % cycle), "--json").finish()
        check_equal(report.json["runs_failed"], 3, "failed runs of cycle %d" % cycle)
        (failure,) = report.json["failures"]
        check(failure["message"] and error.endswith(failure["message"]),
              "the message of cycle %d" % cycle, failure)


@test("with --min-duration, runs that fail are kept, however short")
def _(t):
    target = t.node("1.30.0")
    session = target.load_plain(t.model("reshape"))
    probe = t.attach(target, "--min-duration", "1000s")
    target.run(session, 5)
    fail(target, session, 6, BAD_VALUES)
    target.run(session, 5)
    report = probe.stop().nothing_lost()
    check_equal((report.json["runs"], report.json["runs_failed"]), (6, 6), "runs that were kept")
    check_counts(t.failed().counts(), {node: 6 for node in NODES[:2]})


@test("the trace tells why a run failed, the table names how many did")
def _(t):
    target = t.node("1.20.1")
    session = target.load_plain(t.model("reshape"))
    probe = t.attach(target)
    target.run(session, 2)
    error = fail(target, session, 3, BAD_INPUT)
    probe.stop()
    table = t.opprobe("report", t.path("capture.opp"))
    check_equal(table.wait(), 0, "status of report")
    check("Of 5 runs 3 returned an error. Nothing of them is in the table: --failed shows it.\n"
          "  3 × INVALID_ARGUMENT (2): " in table.stdout, "the foot", table.stdout)
    made = t.opprobe("export", t.path("capture.opp"), "--format", "chrome")
    check_equal(made.wait(), 0, "status of export")
    runs = [event["args"] for event in json.loads(made.stdout)["traceEvents"]
            if "step" in event.get("args", {})]
    check_equal([run.get("failed", False) for run in runs], [False] * 2 + [True] * 3, "runs")
    check(all(error.endswith(run["message"]) for run in runs[2:]), "another message", runs)

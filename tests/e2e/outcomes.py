# SPDX-License-Identifier: GPL-2.0-only
"""Runs with tags and runs that fail, in the C program: also on emulated machines."""

from harness import check, check_counts, check_equal

NODES = [("before/Relu", "Relu"), ("Reshape", "Reshape"), ("after/Neg", "Neg")]
TAG = "a request with more than sixteen letters"


def look_at_outcomes(t, version):
    """Of a recording: good runs with and without a tag, and runs whose kernel throws."""
    target = t.ort_run(version, "reshape", "-O", "0")
    probe = t.attach(target)
    target.ask("tag " + TAG)
    target.run(3)
    target.ask("set shape 5 5")
    bad = target.ask("run 4")
    check_equal(bad["failed"], 4, "runs that fail")
    target.ask("set shape 3 4")
    target.ask("tag ")
    target.run(5)
    report = probe.stop().nothing_lost()
    check_equal([report.json[key] for key in ("runs", "runs_failed", "runs_threw")], [12, 4, 0],
                "runs, failed and thrown ones")
    check_counts(report.counts(), {node: 8 for node in NODES})
    (failure,) = report.json["failures"]
    check(len(bad["error"]) > 60 and failure["message"].startswith(bad["error"]),
          "the message is another one, or does not begin as the program's", failure, bad)
    check_counts(t.failed().counts(), {node: 4 for node in NODES[:2]})
    for view, runs in (((), {TAG: 3, "no tag": 5}), (("--failed",), {TAG: 4})):
        tags = t.opprobe("report", t.path("capture.opp"), "--group-by", "tag", "--op", "Reshape",
                         "--json", *view).finish()
        check_equal({op["name"]: op["count"] for op in tags.operators}, runs, "tags of runs")

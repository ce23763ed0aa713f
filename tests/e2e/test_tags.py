# SPDX-License-Identifier: GPL-2.0-only
"""What the caller of a run says that it belongs to: the tag in its RunOptions."""

import json

from harness import check, check_equal, described_counts, test

VERSIONS = ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")
# In its place; on the heap; not ASCII; at the edge of both strings; cut; no tag.
TAGS = ["a", "request 4711 of the user with the long name", "größe ☃", "x" * 15, "y" * 16, "z" * 127,
        "w" * 300, ""]


def shown_as(tag):
    return tag[:127] if tag else "no tag"


def tagged(version):
    @test("%s: operators are of the tag that their run was given" % version)
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model("mlp"))
        probe = t.attach(target)
        # The very first one has a tag when no name is known yet.
        for i, tag in enumerate(TAGS):
            target.run(session, i + 1, tag=tag)
        target.run(session, 3)
        probe.stop().nothing_lost()
        report = t.opprobe("report", t.path("capture.opp"), "--group-by", "tag", "--json").finish()
        nodes = sum(described_counts(t.model("mlp"), 1).values())
        wanted = {shown_as(tag): (i + 1) * nodes for i, tag in enumerate(TAGS)}
        wanted["no tag"] += 3 * nodes
        check_equal({op["name"]: op["count"] for op in report.operators}, wanted,
                    "operators of each tag")
        chosen = t.opprobe("report", t.path("capture.opp"), "--tag", "re*user*", "--json").finish()
        check_equal((chosen.json["runs"], chosen.json["total"]["count"]), (2, 2), "runs of a tag")
        check_equal(chosen.counts(), described_counts(t.model("mlp"), 2), "their operators")


for version in VERSIONS:
    tagged(version)


@test("the trace has the tags of runs, and slow runs keep theirs")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    probe = t.attach(target, "--min-duration", "1us")
    target.run(session, 2, tag="mine")
    target.run(session, 1)
    probe.stop().nothing_lost()
    made = t.opprobe("export", t.path("capture.opp"), "--format", "chrome")
    check_equal(made.wait(), 0, "status of export")
    runs = [event["args"] for event in json.loads(made.stdout)["traceEvents"]
            if "step" in event.get("args", {})]
    check_equal([run.get("tag") for run in runs], ["mine", "mine", None], "tags")


@test("runs that are compared when the recording is over leave no tags")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.ask("tag one of a kind")
    target.write("run 100000000\n")
    probe = t.attach(target)
    t.recorded("no 100 runs", lambda report: report["runs"] >= 100)
    report = probe.stop().nothing_lost()
    check(report.json["recording"]["cost"]["runs_probed"] > 5, "nothing was compared")
    with open(t.path("capture.opp"), "rb") as capture:
        tags = capture.read().count(b"one of a kind")
    # And of one that was open when it ended, or began in that instant.
    check(report.json["runs"] <= tags <= report.json["runs"] + 2, "%d tags" % tags,
          report.json["runs"])


@test("runs that are dropped leave no tags")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    probe = t.attach(target, "--min-duration", "1000s")
    target.run(session, 20, tag="short")
    # That nothing was recorded is its status.
    probe.stop(130)
    with open(t.path("capture.opp"), "rb") as capture:
        check(b"short" not in capture.read(), "a tag of a run that was not kept")

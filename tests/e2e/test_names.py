# SPDX-License-Identifier: GPL-2.0-only
"""Names reach the user as they are, whatever bytes they hold."""

import collections
import csv
import io
import json
import os
import re

from harness import LIMIT, check, check_counts, check_equal, described_counts, test
from patience import Patience

VERSIONS = ("1.10.0", "1.16.3", "1.20.1", "1.24.3", "1.30.0")


def whole_names(version):
    @test("%s: names are whole up to 1 KiB, and longer ones keep their first 1 KiB" % version)
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model("long_names"))
        probe = t.attach(target)
        target.run(session, 1)
        # Once their places are known, names are read in the kernel.
        t.named()
        target.run(target.load_plain(t.model("long_names")), 2)
        got = probe.stop().nothing_lost().counts()
        expected = collections.Counter()
        for (name, op), count in described_counts(t.model("long_names"), 3).items():
            expected[name[:1024], op] += count
        check_counts(collections.Counter({(name[:1024], op): count
                                          for (name, op), count in got.items()}), expected)


def not_utf8(version):
    @test("%s: a name that is not UTF-8 leaves the JSON and the trace valid" % version)
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model("not_utf8"))
        probe = t.attach(target)
        target.run(session, 3)
        report = probe.stop().nothing_lost()

        # How many marks stand for the bytes is a matter of taste.
        def plain(counts):
            return collections.Counter({(re.sub("\ufffd+", "\ufffd", name), op): count
                                        for (name, op), count in counts.items()})

        expected = plain(described_counts(t.model("not_utf8"), 3))
        check_counts(plain(report.counts()), expected, "operators of the table")
        check_counts(plain(report.trace_counts()), expected, "operators of the trace")


for version in VERSIONS:
    whole_names(version)
for version in ("1.16.3", "1.30.0"):
    not_utf8(version)


@test("the table shows awkward names without control characters")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("names"))
    probe = t.opprobe("-p", target.pid).attached()
    target.run(session, 3)
    probe.signal(2)
    check_equal(probe.wait(), 0, "exit status")
    text = probe.stdout
    check("Größe" in text and "演算子" in text, "UTF-8 names are not in the table", text)
    bad = [c for c in text if c != "\n" and (c < " " or "\x7f" <= c < "\xa0")]
    check(not bad, "control characters %r are in the table" % bad[:5])
    rows = text[text.index("\n\u2500"):text.index("\nSum")]
    lines = [line for line in rows.split("\n") if "Add" in line]
    check_equal(len(lines), len(described_counts(t.model("names"), 1)), "lines of operators")


def printed(t, *arguments):
    """What opprobe prints into a pipe, byte by byte."""
    process = t.opprobe(*arguments)
    check_equal(process.wait(), 0, "exit status")
    return b"".join(process.out).decode()


def shown(t, *arguments):
    """What opprobe prints on a terminal."""
    ours, terminal = os.openpty()
    process = t.opprobe(*arguments, stdout=terminal)
    os.close(terminal)
    text, patience = b"", Patience(LIMIT, process.pid)
    while not patience.over():
        try:
            text += os.read(ours, 65536)
        except OSError:  # whoever wrote has gone
            break
    os.close(ours)
    check_equal(process.wait(), 0, "exit status")
    return text.decode()


def joined(model, version):
    @test("%s: Python's csv and json read the same names from all that opprobe writes" % model)
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model(model))
        probe = t.attach(target)
        target.run(session, 3)
        report = probe.stop().nothing_lost()
        capture, expected = t.path("capture.opp"), collections.Counter()
        for op in report.operators:
            expected[op["name"]] += op["count"]
        if model == "names":
            described = collections.Counter()
            for (name, _), count in described_counts(t.model(model), 3).items():
                described[name] += count
            check_counts(expected, described, "names in JSON")

        def read(text):
            return csv.DictReader(io.StringIO(text, newline=""), strict=True)

        table = collections.Counter()
        for row in read(printed(t, "report", capture, "--csv")):
            table[row["name"]] += int(row["count"])
        check_counts(table, expected, "names in the table's CSV")
        lines = list(read(printed(t, "export", capture, "--format", "csv")))
        check_counts(collections.Counter(row["name"] for row in lines), expected,
                     "names of the executions in CSV")
        # Runs are not in it: --help says so.
        check_equal(len(lines), report.json["executions"], "lines of CSV")
        trace = json.loads(printed(t, "export", capture, "--format", "chrome"))
        trace = trace["traceEvents"] if isinstance(trace, dict) else trace
        check_counts(collections.Counter(
            event["name"] for event in trace if event.get("cat") == "Node"), expected, "names in the trace")
        for arguments in (("report", capture, "--csv"), ("report", capture, "--json"),
                          ("export", capture, "--format", "csv")):
            text = shown(t, *arguments)
            bad = [c for c in text.replace("\r\n", "") if c < " " or "\x7f" <= c < "\xa0"
                   or c in "\u2028\u202e"]
            check(not bad, "control characters %r are let through to a terminal" % bad[:5],
                  arguments)


for model in ("names", "not_utf8"):
    joined(model, "1.30.0")


@test("export --help says what CSV holds and what it does not")
def _(t):
    text = " ".join(printed(t, "export", "--help").split())
    check("csv: every execution of an operator as a line" in text and "not the runs" in text,
          "it does not", text)


@test("the trace has the built-in profiler's args, and the counters as numbers")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("cnn"))
    probe = t.attach(target, "-e", "page-faults,task-clock")
    target.run(session, 3)
    report = probe.stop()
    events = [event for event in report.trace() if event.get("cat") == "Node"]
    check(events, "no operators in the trace")
    for event in events:
        check(isinstance(event["ts"], (int, float)) and isinstance(event["dur"], (int, float)),
              "ts and dur are not numbers", event)
        check(isinstance(event["pid"], int) and isinstance(event["tid"], int),
              "pid and tid are not numbers", event)
        check_equal(event["pid"], target.pid, "pid")
        args = event["args"]
        for name in ("op_name", "provider", "node_index"):
            check(name in args, "the arg %s is missing" % name, event)
        for name in ("page-faults", "task-clock"):
            check(isinstance(args[name], (int, float)), "the counter %s is no number" % name, event)
    indexes = sorted(int(event["args"]["node_index"]) for event in events)
    check_equal(indexes, sorted(list(range(len(events) // 3)) * 3), "node_index")

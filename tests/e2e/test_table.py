# SPDX-License-Identifier: GPL-2.0-only
"""The table that a person reads, and the JSON that a program reads."""

import collections
import csv
import glob
import io
import json
import os
import re
import statistics

from harness import check, check_equal, described_counts, succeeds, test

COLUMNS = ("Name", "Op", "Count", "Total", "Avg", "Min", "Max", "Percent", "Self", "page-faults")


def printed(t, *arguments, model="nested", runs=20):
    """What opprobe prints on stdout after some runs of a model."""
    target = t.node("1.24.3")
    session = target.load_plain(t.model(model))
    probe = t.opprobe("-p", target.pid, "-e", "page-faults", *arguments).attached()
    target.run(session, runs)
    probe.signal(2)
    check_equal(probe.wait(), 0, "exit status")
    return probe.stdout


def rows(text):
    """The lines between the table's rule and its Sum, as lists of columns."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(("──", "--")))
    end = next(i for i, line in enumerate(lines) if line.startswith("Sum "))
    return [re.split(r"\s{2,}", line.strip()) for line in lines[start + 1:end]]


@test("the table has a row per operator, and Sum and Total")
def _(t):
    text = printed(t)
    header = next(line for line in text.split("\n") if line.startswith("Name"))
    for column in COLUMNS:
        check(re.search(r"\b%s\b" % re.escape(column), header), "no column " + column, header)
    expected = {name: count for (name, op), count in
                described_counts(t.model("nested"), 20).items()}
    got = {row[0]: int(row[2]) for row in rows(text)}
    check_equal(got, expected, "counts")
    total = next((line for line in text.split("\n") if line.startswith("Total of")), "")
    check("20 runs" in total, "the Total is not of 20 runs", text)
    sums = next(line for line in text.split("\n") if line.startswith("Sum "))
    check_equal(re.split(r"\s{2,}", sums)[1], str(sum(expected.values())), "count of the Sum")


def percents(text, pattern):
    """The numbers in front of " %" in the sentence of `text` that matches."""
    sentence = re.search(pattern, text)
    check(sentence, "no sentence of " + pattern, text)
    return [float(number) for number in re.findall(r"(\d+) %", sentence[0])]


@test("the sentences above the table are what the numbers say")
def _(t):
    target = t.ort_run("1.24.3", "cnn", "-t", "2")
    probe = t.attach(target, "-e", "on-cpu,ready,blocked")
    check(target.run(50), "runs")
    probe.stop()
    found = json.loads(succeeds(t, "report", t.path("capture.opp"), "--group-by", "op", "--json"))
    text = succeeds(t, "report", t.path("capture.opp"), "--width", "0").split("\n")[0]
    check(text.startswith("50 runs of cnn.onnx in ort_run (pid %d), " % target.pid), "who", text)
    check(text.endswith(" Nothing was lost."), "losses", text)
    operators = sorted(found["operators"], key=lambda row: -row["self_ns"])
    ours = found["sum"]["total_ns"] + found["between_operators"]["total_ns"]
    check("%s takes " % operators[0]["op_type"] in text, "the operator that takes most", text)
    check(abs(percents(text, r"takes .*?\. ")[0] - 100 * operators[0]["self_ns"] / ours) <= 0.6,
          "its share", text, operators[0], ours)
    own = [counter["total"] - counter["other_threads"] for counter in
           (found["sum"]["counters"][event] for event in ("on-cpu", "ready", "blocked"))]
    told = dict(zip(("on a CPU", "waiting for one", "blocked"), own))
    sentence = re.search(r"Of operators' time (.*?)\. ", text)
    check(sentence, "whether it computes", text)
    for part in sentence[1].split(", "):
        share, what = re.fullmatch(r"(\d+) % (?:is )?(.*)", part).groups()
        check(abs(int(share) - 100 * told[what] / sum(own)) <= 0.6, what, text, told)


@test("all that shapes the table of a capture shapes the one behind a recording")
def _(t):
    views = (["--group-by", "op", "--percentiles", "--width", "60", "--color", "always"],
             ["--op", "If", "--tree", "--columns", "name,count,min"],
             ["--csv", "--name", "*", "--self-counters", "--metric", "faults=page-faults/count"],
             ["--no-header", "--no-compensate", "--limit", "2"])
    for view in views:
        text = printed(t, *view)
        capture = max(glob.glob(t.path("opprobe-*.opp")), key=os.path.getmtime)
        report = t.opprobe("report", capture, *view)
        check_equal(report.wait(), 0, "status of report")
        check_equal(text, report.stdout, "what is printed with " + " ".join(view))


def percentages(t, *arguments):
    """{label of a line below the rows: its percentage}, of the capture"""
    process = t.opprobe("report", t.path("capture.opp"), "--columns", "name,percent", *arguments)
    check_equal(process.wait(), 0, "exit status")
    text = process.stdout
    return {re.sub(" of [0-9,]+ runs?$", "", found[1]): float(found[2]) for found in
            re.finditer(r"^(Sum|other operators|between operators|Total of [0-9,]+ runs?|"
                        r"outside of whole runs) +([0-9.]+)%$", text, re.MULTILINE)}


@test("the percentages below the rows add up, whatever runs were cut and whatever is chosen")
def _(t):
    target = t.ort_run("1.30.0", "heavy", "-O", "0")
    target.run(1)
    target.write("run 100000\n")
    # It begins and ends amid a run.
    probe = t.attach(target, "-d", "1s")
    probe.finish()
    for chosen, arguments in ((False, ()), (True, ("--name", "*a*")), (True, ("--op", "MatMul")),
                              (False, ("--no-compensate",))):
        got = percentages(t, *arguments)
        wanted = {"Sum", "between operators", "Total", "outside of whole runs"}
        check_equal(set(got), wanted | ({"other operators"} if chosen else set()),
                    "lines below the rows with %r" % (arguments,))
        # Each is rounded to two digits.
        check(abs(got["Sum"] + got.get("other operators", 0) + got["between operators"] - 100)
              < 0.025, "operators and what is between them", arguments, got)
        check(abs(got["Total"] + got["outside of whole runs"] - 100) < 0.025,
              "whole runs and what is outside of them", arguments, got)
        check(got["outside of whole runs"] > 0, "no run was cut", got)


@test("--limit shortens the table, says so, and leaves the sum as it is")
def _(t):
    text = printed(t, "--limit", "3")
    operators = len(described_counts(t.model("nested"), 1))
    check_equal(len([row for row in rows(text) if len(row) > 3]), 3, "rows")
    check("%d more" % (operators - 3) in text, "it does not say how many are left out", text)


def sorted_by(column, key, reverse):
    @test("--sort %s puts the rows in order" % column)
    def _(t):
        keys = [key(row) for row in rows(printed(t, "--sort", column))]
        check_equal(keys, sorted(keys, reverse=reverse), "order")


sorted_by("count", lambda row: int(row[2]), True)
sorted_by("name", lambda row: row[0], False)


@test("stdout has the table alone, progress is on stderr, and no colour in a pipe")
def _(t):
    text = printed(t)
    check("\033" not in text, "escape sequences in a pipe")
    check("attached" not in text and "detached" not in text, "progress on stdout", text)


@test("the capture is left in the current directory, and a trace where one is asked for")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))

    def left(*arguments):
        """The files that one more recording leaves; its last line has each of them."""
        before = set(os.listdir(t.directory))
        probe = t.opprobe("-p", target.pid, *arguments).attached()
        target.run(session, 5)
        probe.signal(2)
        check_equal(probe.wait(), 0, "exit status")
        new = sorted(set(os.listdir(t.directory)) - before)
        for name in new:
            check(os.path.getsize(t.path(name)) > 100, "%s is empty" % name)
            check(name in probe.stderr.strip().split("\n")[-1], name, probe.stderr)
        return new

    stem = "opprobe-%d" % target.pid
    check_equal(left(), [stem + ".opp"], "files")
    # What is there stays.
    check_equal(left("--trace"), [stem + ".2.opp", stem + ".2.trace.json"], "files")
    check_equal(left("-o", "mine.opp", "--trace"), ["mine.opp", "mine.trace.json"], "files")
    check_equal(left("-o", "mine.opp", "--trace=t.json.gz"), ["t.json.gz"], "files")


@test("the JSON has the documented fields")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("nested"))
    probe = t.attach(target, "-e", "page-faults")
    target.run(session, 5)
    report = probe.stop()
    for field in ("runtime", "operators", "sum", "total", "runs", "lost"):
        check(field in report.json, "no field " + field)
    for op in report.operators:
        for field in ("name", "op_type", "provider", "session", "count", "total_ns", "self_ns",
                      "min_ns", "max_ns", "counters"):
            check(field in op, "no field " + field, op)
        for field in ("total", "counted"):
            check(field in op["counters"]["page-faults"], "no field " + field, op)
    check_equal(report.json["sum"]["self_ns"], sum(op["self_ns"] for op in report.operators),
                "the sum of self times")
    check(report.json["total"]["total_ns"] >= report.json["sum"]["self_ns"],
          "the runs took less than their operators")


@test("--per-run tells the median of what each node took in the runs of its session")
def _(t):
    target = t.node("1.30.0")
    sessions = [target.load_plain(t.model(name)) for name in ("nested", "mlp")]
    probe = t.attach(target)
    for times in 15, 8:
        for session in sessions:
            target.run(session, times)
    probe.stop().nothing_lost()
    exported = t.opprobe("export", t.path("capture.opp"), "--format", "csv")
    check_equal(exported.wait(), 0, "status of export")
    lines = list(csv.DictReader(io.StringIO(exported.stdout)))
    took, inside = collections.defaultdict(collections.Counter), collections.Counter()
    for line in lines:
        took[line["session"], line["name"]][line["run"]] += int(line["duration_ns"])
        if line["parent"]:
            took[line["session"], line["parent"]][line["run"]] -= int(line["duration_ns"])
    report = t.opprobe("report", t.path("capture.opp"), "--per-run", "--json",
                       "--no-compensate").finish()
    compared = 0
    for op in report.operators:
        runs = took[str(op["session"]), op["name"]]
        check_equal(len(runs), 23, "runs of " + op["name"])
        check_equal(op["run_median_ns"], statistics.median(runs.values()),
                    "the median of " + op["name"])
        check(op["run_low_ns"] <= op["run_median_ns"] <= op["run_high_ns"], "the interval", op)
        ordered = sorted(runs.values())
        check(ordered[0] <= op["run_high_ns"] and op["run_low_ns"] <= ordered[-1], "it", op)
        compared += 1
    check(compared > 10, "nothing was compared")
    check_equal(report.json["total"]["run_median_ns"], None, "a run of two models")
    shown = t.opprobe("report", t.path("capture.opp"), "--sort", "perrun", "--session", "0",
                      "--no-header", "--columns", "name,perrun,perrunlow,perrunhigh")
    check_equal(shown.wait(), 0, "status of report")
    head = shown.stdout.split("\n")[0].split()
    check_equal(head, ["Name", "Per", "run", "From", "To"], "columns")
    check(re.search(r"^Total of 23 runs +[0-9.]+ .s +[0-9.]+ .s +[0-9.]+ .s$", shown.stdout, re.M),
          "what runs take", shown.stdout)
    narrow = t.opprobe("report", t.path("capture.opp"), "--per-run", "--width", "80")
    check_equal(narrow.wait(), 0, "status of report")
    check(re.search(r"^Name +Model .* Per run +From +To\b.*$", narrow.stdout, re.M),
          "what was asked for is not in 80 columns", narrow.stdout)
    for arguments, text in ((["--group-by", "run"], "--per-run"), (["--html"], "--per-run")):
        refused = t.opprobe("report", t.path("capture.opp"), "--per-run", *arguments)
        check_equal(refused.wait(), 2, "status with %s" % arguments)
        check(text in refused.stderr, "why", refused.stderr)

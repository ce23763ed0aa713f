# SPDX-License-Identifier: GPL-2.0-only
"""Some runs only: the schedule, chosen runs, slow runs; captures per cycle; streams."""

import json
import os
import subprocess

from harness import Report, check, check_counts, check_equal, described_counts, test


def report_of(t, capture):
    process = t.opprobe("report", capture, "--json")
    check_equal(process.wait(), 0, "exit status of report")
    return Report(process.stdout, t.directory)


def record(t, target, *arguments):
    return t.opprobe("record", "-p", target.pid, *arguments).attached()


@test("a schedule records its cycles exactly, one capture each, and calls back with their names")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    target.run(session, 2)
    process = record(t, target, "--schedule", "skip_first=5,wait=4,warmup=2,active=3,repeat=3",
                     "--per-cycle", "-o", t.path("run.opp"), "--on-capture",
                     "echo complete >>%s" % t.path("told"))
    while process.alive():
        target.run(session, 3)
    process.wait()
    check_equal(process.child.returncode, 0, "exit status (%s)" % process.stderr)
    for cycle in (1, 2, 3):
        report = report_of(t, t.path("run.%d.opp" % cycle)).nothing_lost()
        check_equal(report.json["runs"], 3, "runs of cycle %d" % cycle)
        check_counts(report.counts(), described_counts(t.model("mlp"), 3))
    with open(t.path("told"), encoding="utf-8") as told:
        names = sorted(line.split()[-1] for line in told)
    check_equal(names, [t.path("run.%d.opp" % cycle) for cycle in (1, 2, 3)], "names told")


@test("a schedule into one capture has the runs of all cycles")
def _(t):
    target = t.node("1.30.0")
    session = target.load_plain(t.model("nested"))
    process = record(t, target, "--schedule", "wait=3,active=2,repeat=4", "-o", t.path("all.opp"))
    while process.alive():
        target.run(session, 2)
    report = report_of(t, t.path("all.opp")).nothing_lost()
    check_equal(report.json["runs"], 8, "runs")
    check_counts(report.counts(), described_counts(t.model("nested"), 8))


@test("while a schedule waits, no operator hits a probe")
def _(t):
    target = t.ort_run("1.24.3", "tiny", "-O", "0")
    process = record(t, target, "--schedule", "wait=1000000,active=1", "-o", t.path("none.opp"))
    target.run(50)
    programs = json.loads(subprocess.run(["bpftool", "prog", "-j"], stdout=subprocess.PIPE,
                                         env={**os.environ, "PATH": os.environ["PATH"] +
                                              ":/usr/sbin"}, check=True).stdout)
    check(any(program.get("name", "").startswith("run_enter") for program in programs),
          "the probes of runs are not there", programs)
    process.signal(2)
    check_equal(process.wait(), 130, "exit status")
    report = report_of(t, t.path("none.opp"))
    check_equal(report.operators, [], "operators")


@test("--runs records the runs that it names, numbered from 0")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    process = record(t, target, "--runs", "1,3-5,9-", "-o", t.path("some.opp"))
    target.run(session, 12)
    process.signal(2)
    process.wait()
    process = t.opprobe("report", t.path("some.opp"), "--group-by", "run", "--json")
    process.wait()
    runs = sorted(row["run"] for row in json.loads(process.stdout)["operators"])
    check_equal(runs, [1, 3, 4, 5, 9, 10, 11], "runs recorded")


@test("--min-duration keeps the slow runs, whole")
def _(t):
    target = t.node("1.24.3")
    small, large = (target.load_plain(t.model(name)) for name in ("mlp", "heavy"))
    target.run(large, 2)
    process = t.opprobe("record", "-p", target.pid, "-o", t.path("warm.opp")).attached()
    target.run(small, 20)
    target.run(large, 5)
    process.signal(2)
    process.wait()
    spans = json.loads(report_by_run(t, t.path("warm.opp")))["operators"]
    fast = max(row["total_ns"] for row in spans if row["run"] < 20)
    slow = min(row["total_ns"] for row in spans if row["run"] >= 20)
    check(fast < slow, "the models do not differ enough", fast, slow)
    process = record(t, target, "--min-duration", "%dns" % ((fast + slow) // 2), "-o",
                     t.path("slow.opp"))
    target.run(small, 20)
    target.run(large, 5)
    process.signal(2)
    process.wait()
    report = report_of(t, t.path("slow.opp")).nothing_lost()
    names = {op["name"] for op in report.operators}
    kept = described_counts(t.model("heavy"), 1)
    check(names <= {name for name, _ in kept}, "operators of fast runs were kept", names)
    check(3 <= report.json["runs"] <= 5, "slow runs kept: %d" % report.json["runs"])
    for op in report.operators:
        check_equal(op["count"], kept[op["name"], op["op_type"]] * report.json["runs"], op["name"])


def report_by_run(t, capture):
    process = t.opprobe("report", capture, "--group-by", "run", "--json")
    check_equal(process.wait(), 0, "exit status of report")
    return process.stdout


@test("a capture streams through a pipe into a report")
def _(t):
    target = t.ort_run("1.24.3", "cnn", "-O", "0")
    recorder = subprocess.Popen([t.program, "record", "-p", str(target.pid), "-d", "1s", "-o",
                                 "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reporter = subprocess.Popen([t.program, "report", "-", "--json"], stdin=recorder.stdout,
                                stdout=subprocess.PIPE)
    recorder.stdout.close()
    for line in recorder.stderr:
        if b"attached" in line:
            break
    target.run(10)
    recorder.wait(30)
    text = reporter.communicate()[0].decode()
    check_equal(reporter.returncode, 0, "exit status of report")
    recorder.stderr.close()
    report = Report(text, t.directory).nothing_lost()
    check_counts(report.counts(), described_counts(t.model("cnn"), 10))


@test("a schedule that records nothing, or cannot be read, is wrong usage")
def _(t):
    for text in ("wait=5", "active=x", "active=-1", "nonsense", "active=0", "active=1;wait=2"):
        process = t.opprobe("record", "-p", "1", "--schedule", text)
        check_equal(process.wait(), 2, "exit status of --schedule " + text)
        check("schedule" in process.stderr, "it does not say what is wrong", process.stderr)

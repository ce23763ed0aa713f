# SPDX-License-Identifier: GPL-2.0-only
"""What is lost is counted: what was recorded and what was lost add up to what ran."""

import collections
import csv
import io
import os
import re
import signal
import time

from harness import ProbeHits, check, check_counts, check_equal, described_counts, test
from patience import cpu_seconds

DEPTH = 16  # operators open at once on a thread, that opprobe follows


def fill_the_ring(t, *options):
    """A report of 306 runs of 200 operators, most of which find the ring full, and its losses."""
    target = t.ort_run("1.24.3", "tiny", "-O", "0")
    probe = t.attach(target, "-e", "none", "--buffer", "512k", *options)
    target.run(3)
    probe.signal(signal.SIGSTOP)  # nobody empties it
    target.run(300)
    probe.signal(signal.SIGCONT)
    target.run(3)
    report = probe.stop()
    return report, report.losses()


@test("a full ring buffer: what was recorded and what found it full is all that ran")
def _(t):
    report, told = fill_the_ring(t)
    check_equal(list(told), ["ring_full"], "kinds of loss")
    recorded = sum(op["count"] for op in report.operators)
    check(0 < recorded < 306 * 200 and 6 <= report.json["runs"] <= 306, "nothing was lost")
    # A run is a record as well.
    check_equal(recorded + report.json["runs"] + told["ring_full"], 306 * 201,
                "operators, runs and losses")
    for report_as in ([], ["--csv"], ["--tree"]):
        shown = t.opprobe("report", t.path("capture.opp"), *report_as)
        check_equal(shown.wait(), 0, "status of report")
        check(report_as == ["--csv"] or "lost: {:,} ".format(told["ring_full"]) in shown.stdout,
              "the table does not tell", shown.stdout[-1000:])


@test("a full ring buffer with --min-duration: operators whose run's end was lost are counted")
def _(t):
    report, told = fill_the_ring(t, "--min-duration", "1ns")
    check(set(told) <= {"ring_full", "unfinished"}, "kinds of loss", told)
    recorded = sum(op["count"] for op in report.operators)
    check_equal(recorded + report.json["runs"] + sum(told.values()), 306 * 201,
                "operators, runs and losses")
    if "unfinished" not in told:
        return  # the ring was full just when a run ended, one time in 200
    shown = t.opprobe("report", t.path("capture.opp"))
    check_equal(shown.wait(), 0, "status of report")
    check("lost: {:,} operators were of runs whose end was lost".format(told["unfinished"])
          in shown.stdout, "the table does not tell", shown.stdout[-1000:])


def flooded(t, model, runs, events="none"):
    """A report of runs of a model whose records do not fit in the ring, which is emptied often."""
    target = t.ort_run("1.24.3", model, "-O", "0")
    probe = t.attach(target, "-e", events, "--buffer", "16k")
    target.run(runs)
    report = probe.stop()
    check_equal(list(report.losses()), ["ring_full"], "kinds of loss")
    return report


@test("a run whose operators did not all arrive is in no Total and no time between operators")
def _(t):
    ran = 3000 * 200
    report = flooded(t, "tiny", 3000)
    for compensate in ([], ["--no-compensate"]):
        by_run = t.opprobe("report", t.path("capture.opp"), "--json", "--group-by", "run",
                           *compensate).finish()
        # Of others there is no record, but operators may be.
        ended = [run for run in by_run.operators if run["step"] is not None]
        whole = [run for run in ended if run["count"] == 200]
        partial = [run for run in ended if run["count"] < 200]
        check(whole and partial, "runs that are whole, and that are not", len(whole), len(partial))
        check_equal([run["whole"] for run in whole + partial],
                    [1] * len(whole) + [0] * len(partial), "which runs are said to be whole")
        check_equal((by_run.json["total"]["count"], by_run.json["runs_partial"]),
                    (len(whole), len(partial)), "runs in the Total, and others")
        gap = by_run.json["between_operators"]
        check_equal((gap["count"], gap["total_ns"]),
                    (len(whole), sum(run["run_ns"] - run["total_ns"] for run in whole)),
                    "what is between operators")
        # On a machine too disturbed to measure what the probes add, nothing is subtracted.
        compensated = by_run.json["recording"]["compensated"]
        check(not compensated or not compensate, "compensated in spite of the option")
        check_equal({run["run_ns"] is None for run in partial}, {compensated},
                    "whether durations are unknown that cannot be compensated")
    # What is lost stands where the numbers stand.
    recorded = sum(op["count"] for op in report.operators)
    check(abs(report.json["lost_share"] - (1 - recorded / ran)) < 0.01, "the share that was lost",
          report.json["lost_share"], recorded)
    check({"count", "total_ns", "self_ns", "max_ns"} <= set(report.json["at_least"]) and
          "min_ns" in report.json["at_most"] and
          {"avg_ns", "percent"} <= set(report.json["estimates"]), "what is marked", report.json)
    shown = t.opprobe("report", t.path("capture.opp"))
    check_equal(shown.wait(), 0, "status of report")
    share = "%.1f %% of what ran is missing" % (100 * report.json["lost_share"])
    check(share in shown.stdout, "the table does not tell the share", shown.stdout[-1000:])
    for label in ("n000/Add ", "Sum "):
        line = next(line for line in shown.stdout.split("\n") if line.startswith(label))
        check(re.search(" \u2265[0-9,]+  +\u2265[0-9.]+ ", line), "count and total without a mark", line)
    for report_as in ("between operators", "Sum"):
        line = next(line for line in shown.stdout.split("\n") if line.startswith(report_as))
        check(re.search(" ~[0-9.]+% ", line), "a percentage without a mark", line)


@test("what lacks one that ran inside it has no time of its own")
def _(t):
    # Few records of these fit in what is sent at once, so that the ring may have room for some only.
    report = flooded(t, "nested", 20000, 
                     "on-cpu,ready,blocked,task-faults,context-switches,task-migrations")
    exported = t.opprobe("export", t.path("capture.opp"), "--format", "csv")
    check_equal(exported.wait(), 0, "status of export")
    inside, whole, lacking = [], 0, 0
    for line in csv.DictReader(io.StringIO(exported.stdout)):
        start, end = int(line["start_ns"]), int(line["start_ns"]) + int(line["duration_ns"])
        if line["name"] == "outer/then/Loop":
            # Two rounds of Mul, Add and Identity. What is left of the run's other Loop, whose own
            # record was lost, cannot be told from what is of this one.
            complete = (len([at for _, at in inside if start <= at < end]) == 6 and
                        not [at for run, at in inside if run == line["run"] and at < start])
            whole, lacking = whole + complete, lacking + (not complete)
            inside = []
        elif line["parent"] == "outer/then/Loop":
            inside.append((line["run"], start))
    check(whole and lacking, "Loops that have all, and that lack some", whole, lacking)
    loop = report.operator("outer/then/Loop")
    check_equal((loop["count"], loop["self_counted"]), (whole + lacking, whole),
                "Loops, and those whose own time is known")


@test("operators whose session is gone before their names could be read are counted as unnamed")
def _(t):
    target = t.node("1.24.3")
    keeps = target.load_plain(t.model("mlp"))
    probe = t.attach(target)
    probe.signal(signal.SIGSTOP)
    gone = target.load_plain(t.model("cycle"))
    target.run(gone, 3)
    target.do("release", session=gone)
    probe.signal(signal.SIGCONT)
    target.run(keeps, 5)
    report = probe.stop()
    told = report.losses()
    expected = described_counts(t.model("mlp"), 5)
    check_counts(report.counts(), expected, "operators of the session that stayed")
    check_equal(told, {"unnamed": sum(described_counts(t.model("cycle"), 3).values())},
                "losses")
    check_equal((report.json["runs"], report.json["runs_partial"]), (8, 3), "runs")


@test("operators nested deeper than is followed are counted as too deep")
def _(t):
    target = t.ort_run("1.30.0", "deep", "-O", "0")
    probe = t.attach(target, "--shapes")
    target.run(7)
    report = probe.stop()
    told = report.losses()
    truth = described_counts(t.model("deep"), 7)
    expected = collections.Counter({
        (name, op): count for (name, op), count in truth.items()
        if int(name[5:7]) < DEPTH})
    check_counts(report.counts(), expected, "operators up to that depth")
    check_equal(told, {"too_deep": sum((truth - expected).values())}, "losses")
    check_equal((report.json["runs_partial"], report.json["between_operators"]), (7, None),
                "runs that lack operators, and what is between those that do not")
    outer = report.operator("level00/If")
    inner = report.operator("level%02d/If" % (DEPTH - 1))
    check(outer["total_ns"] > inner["total_ns"], "an If takes less than what is inside it",
          outer, inner)
    # What ran inside the innermost one is not known, so what is its own is not either.
    check_equal(inner["self_ns"], None, "self time of the innermost If that was recorded")
    exported = t.opprobe("export", t.path("capture.opp"), "--format", "csv")
    check_equal(exported.wait(), 0, "status of export")
    around = {line["name"]: line["parent"] for line in csv.DictReader(io.StringIO(exported.stdout))}
    check_equal(around, {name: "level%02d/If" % (int(name[5:7]) - 1) if name != "level00/If" else ""
                         for name, _ in expected}, "what each is inside of")
    shown = t.opprobe("report", t.path("capture.opp"), "--sort", "self", "--json").finish()
    check_equal(shown.operators[-1]["name"], inner["name"], "what is not known comes last")


@test("cycles of a schedule, a capture each: what one lost is not lost in the next one as well")
def _(t):
    target = t.node("1.24.3")
    deep, flat = (target.load_plain(t.model(name)) for name in ("deep", "mlp"))
    probe = t.opprobe("record", "-p", target.pid, "--schedule", "active=3,repeat=3", "--per-cycle",
                      "-o", t.path("run.opp")).attached()
    while not os.path.exists(t.path("run.2.opp")):
        target.run(deep, 1)
    while probe.alive():
        target.run(flat, 1)
    check_equal(probe.wait(), 0, "status of record (%s)" % probe.stderr)
    first, third = (t.opprobe("report", t.path("run.%d.opp" % cycle), "--json").finish()
                    for cycle in (1, 3))
    check_equal(first.losses().keys(), {"too_deep"}, "what the first lost")
    check_counts(third.nothing_lost().counts(), described_counts(t.model("mlp"), 3))


def stopped(pid):
    """Is no thread of the process on its way any more, in the kernel either?"""
    states = []
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, tid), encoding="utf-8") as file:
            states.append(file.read().rpartition(") ")[2][0])
    return set(states) == {"T"}


@test("of a run that goes on, all operators that ended before the recording did are told")
def _(t):
    for events in ("none", "task-clock,page-faults"):
        target = t.ort_run("1.30.0", "tiny", "-O", "0")
        probe = t.opprobe("record", "-p", target.pid, "-e", events, "-o", t.path("run.opp"))
        probe.attached()
        with ProbeHits(probe.pid) as hits:
            target.keep_running()
            while hits.count()["ort_exit"] < 2000:
                time.sleep(0.01)
            target.signal(signal.SIGSTOP)
            while not stopped(target.pid):
                time.sleep(0.01)
            ended = hits.count()["ort_exit"]
            probe.signal(signal.SIGINT)
            check_equal(probe.wait(), 0, "status of record")
        target.signal(signal.SIGCONT)
        report = t.opprobe("report", t.path("run.opp"), "--json").finish().nothing_lost()
        check_equal(sum(op["count"] for op in report.operators), ended,
                    "executions, and hits where operators end, with " + events)


def waits(pid):
    """How often the process has waited for something so far."""
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])


@test("what runs while probes go in is not told: a run at each end is not whole, and no others")
def _(t):
    idle = [t.ort_run("1.30.0", "mlp") for _ in range(8)]
    target = t.ort_run("1.30.0", "tiny", "-O", "0")
    target.keep_running()
    probe = t.opprobe("record", "-p", ",".join(str(one.pid) for one in (target, *idle)), "-e",
                      "none", "--no-cost", "-o", t.path("capture.opp")).attached()
    t.recorded("no 100 runs", lambda report: report["runs"] >= 100)
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "status (%s)" % probe.stderr[-1000:])
    report = t.opprobe("report", t.path("capture.opp"), "--json").finish().nothing_lost()
    check(report.json["outside_of_runs"]["count"] < 2 * 200, "executions of no run",
          report.json["outside_of_runs"])


@test("a recording ends when it is to, though more comes all the time than is taken")
def _(t):
    target = t.ort_run("1.30.0", "tiny", "-O", "0")
    target.keep_running()
    reader, writer = os.pipe()
    probe = t.opprobe("record", "-p", target.pid, "-e", "none", "--buffer", "512k", "--no-cost",
                      "-d", "500ms", "-o", "-", stdout=writer)
    os.close(writer)
    patience, size = probe.patience(), 0
    # For each piece that is taken the ring has some twenty more.
    while piece := os.read(reader, 8192):
        size += len(piece)
        check(size < 4 << 20, "it goes on and on")
        used = cpu_seconds(target.pid)
        while cpu_seconds(target.pid) == used and probe.child.poll() is None:
            check(not patience.over(), "the target does nothing")
            time.sleep(0.001)
    os.close(reader)
    check_equal(probe.wait(), 0, "status (%s)" % probe.stderr[-1000:])
    check(size > 65536, "too little for the ring to be full", size)


@test("where nothing runs little is looked for, and what comes at once then is not lost")
def _(t):
    target = t.ort_run("1.30.0", "tiny", "-O", "0")
    probe = t.attach(target, "-e", "none", "--buffer", "2M")
    for _ in range(3):
        patience, rate = probe.patience(), None
        while rate is None or rate > 10:
            check(not patience.over(), "it looks %s times a second for what does not come" % rate)
            before, begun = waits(probe.pid), time.monotonic()
            time.sleep(1)
            rate = (waits(probe.pid) - before) / (time.monotonic() - begun)
        # It has just looked, and would not for a fifth of a second: half of these records would
        # find no room by then.
        before = waits(probe.pid)
        while waits(probe.pid) == before:
            check(not patience.over(), "it does not look into the ring any more")
        target.run(320)
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 960, "runs")


@test("an exception is counted with the operator that it left, and with no other")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("reshape"))
    probe = t.attach(target)
    bad = target.do("run", session=session, times=50,
                    change={"shape": {"values": [5, 5]}})
    check_equal((bad["done"], bad["failed"]), (50, 50), "runs that fail")
    target.run(session, 2)
    good, report = probe.stop().nothing_lost(), t.failed()
    thrown = report.operator("Reshape")
    check_equal((thrown["count"], thrown["threw"]), (50, 50), "executions and exceptions")
    check_equal(report.operator("before/Relu")["threw"], 0, "exceptions of another operator")
    check_equal([(op["count"], op["threw"]) for op in good.operators], [(2, 0)] * 3,
                "executions and exceptions of runs that ended well")

# SPDX-License-Identifier: GPL-2.0-only
"""Sessions come and go while opprobe is attached; addresses are used again."""

import collections
import csv
import io
import signal

from harness import OrtTarget, check, check_counts, check_equal, described_counts, test

CYCLES = 100
SETTLED = 20  # sessions after which nothing may be missing


def cycles(version):
    @test("%s: over 100 cycles of create, run and release no name is ever wrong" % version)
    def _(t):
        target = t.node(version)
        probe = None
        expected = collections.Counter()
        for i in range(CYCLES):
            label, session = target.load_cycle(t.model("cycle"), i)
            probe = probe or t.attach(target)
            target.run(session, 2)
            target.do("release", session=session)
            for (name, op), count in described_counts(t.model("cycle"), 2).items():
                expected[name.replace("CYCLE000", label), op] += count
        report = probe.stop()
        got = report.counts()
        # Until the places of names have been proven on a live session, one that is
        # released at once takes its names with it: said to be lost, never wrong.
        wrong = {key: count for key, count in got.items() if count > expected[key]}
        check(not wrong, "operators that never ran", wrong)
        missing = expected - got
        check_equal(sum(missing.values()), report.json["lost"], "lost operators")
        late = [name for name, _ in missing if name >= "CYCLE%03d" % SETTLED]
        check(not late, "operators of later sessions are missing", late[:10])
        check_counts(report.trace_counts(), got, "operators of the trace")
        check_equal(report.json["runs"], 2 * CYCLES, "runs")


for version in ("1.10.0", "1.14.0", "1.20.1", "1.24.3", "1.30.0"):
    cycles(version)


@test("a session that is created after opprobe was attached is recorded from its first run on")
def _(t):
    target = t.node("1.24.3")
    first = target.load_plain(t.model("mlp"))
    probe = t.attach(target)
    target.run(first, 5)
    second = target.load_plain(t.model("nested"))
    target.run(second, 5)
    report = probe.stop().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("mlp"), 5) +
                 described_counts(t.model("nested"), 5))


@test("a run inside a run is no run of its own, and its operators are inside another's")
def _(t):
    program = t.objects + "/tests/vm/exact"
    model = program + ".onnx"
    target = t.start(OrtTarget, [program, t.library("1.30.0"), model, "again"]).ready()
    probe = t.attach(target, "-e", "none")
    target.ask("run 5")
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 5, "runs")
    # Each of 9 operators runs all 9 of the other session, before it does its own work.
    check_equal({op["name"]: op["count"] for op in report.operators},
                {op["name"]: 5 * (1 + 9) for op in report.operators}, "executions")
    check_equal(len(report.operators), 9, "names")
    exported = t.opprobe("export", t.path("capture.opp"), "--format", "csv")
    check_equal(exported.wait(), 0, "status of export")
    lines = list(csv.DictReader(io.StringIO(exported.stdout)))
    check_counts(collections.Counter((line["run"], line["depth"]) for line in lines),
                 collections.Counter({(str(run), depth): count for run in range(5)
                                      for depth, count in (("0", 9), ("1", 81))}),
                 "executions by run and depth")


@test("two sessions of one model are told apart")
def _(t):
    target = t.node("1.24.3")
    sessions = [target.load_plain(t.model("mlp")) for _ in range(2)]
    probe = t.attach(target)
    target.run(sessions[0], 3)
    target.run(sessions[1], 7)
    report = probe.stop().nothing_lost()
    by_session = collections.defaultdict(set)
    for op in report.operators:
        by_session[op["session"]].add(op["count"])
    check_equal(sorted(map(sorted, by_session.values())), [[3], [7]], "counts by session")


@test("a session made where another one was released is another session")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-O", "0", "-t", "1")
    probe = t.attach(target, "-e", "none")
    target.run(2)
    t.named()
    for _ in range(200):
        target.ask("recreate")
        target.run(1)
    report = probe.stop().nothing_lost()
    check_equal(report.json["sessions"], 201, "sessions, most of them at a few addresses")
    check_counts(report.counts(), described_counts(t.model("mlp"), 202))


@test("80,000 operators that nobody has seen before, thirteen sessions at once: all are told")
def _(t):
    target = t.ort_run("1.24.3", "tiny", "-t", "1", "-s", "13")
    probe = t.attach(target, "-e", "none", "--buffer", "64M")
    target.run(2)
    first = described_counts(t.model("tiny"), 13 * 2)
    # Until they are described from outside, the names of these lie in the sessions alone.
    t.recorded("not all operators of the first runs", lambda report:
               sum(op["count"] for op in report["operators"]) == sum(first.values()))
    for _ in range(30):
        target.ask("recreate")
        target.run(1)
    report = probe.stop().nothing_lost()
    check_equal(report.json["sessions"], 13 * 31, "sessions")
    check_counts(report.counts(), described_counts(t.model("tiny"), 13 * 32))


@test("sessions that are gone before their names can be read: lost, and not the build's fault")
def _(t):
    target = t.ort_run("1.24.3", "tiny", "-t", "1")
    probe = t.attach(target, "-e", "none")
    probe.signal(signal.SIGSTOP)
    for _ in range(60):
        target.run(1)
        target.ask("recreate")
    probe.signal(signal.SIGCONT)
    target.run(1)
    t.named()
    target.run(2)
    report = probe.stop()
    everything = described_counts(t.model("tiny"), 1)
    check_equal(report.losses(), {"unnamed": 60 * sum(everything.values())}, "losses")
    check_counts(report.counts(), described_counts(t.model("tiny"), 3))


@test("what has no names when the recording ends is counted as lost")
def _(t):
    target = t.ort_run("1.24.3", "tiny", "-t", "1")
    probe = t.attach(target, "-e", "none")
    probe.signal(signal.SIGSTOP)
    target.run(3)
    target.ask("recreate")
    probe.signal(signal.SIGINT)
    probe.signal(signal.SIGCONT)
    probe.finish(130)
    report = t.opprobe("report", t.path("capture.opp"), "--json").finish()
    check_equal(report.losses(), {"unnamed": 3 * sum(described_counts(t.model("tiny"), 1).values())}, "losses")


@test("runs of changing batch sizes are recorded")
def _(t):
    target = t.node("1.30.0")
    session = target.load_plain(t.model("transformer"))
    probe = t.attach(target)
    for batch in range(1, 6):
        target.run(session, 2, change={"tokens": {"dims": [batch, 8, 64]}})
    report = probe.stop().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("transformer"), 10))

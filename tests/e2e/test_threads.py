# SPDX-License-Identifier: GPL-2.0-only
"""Work of other threads belongs to the operator that launched it."""

import collections
import csv
import io
import json
import os
import threading

from capture import Capture
from harness import (Process, check, check_equal, check_counts, described_counts, machine_code,
                     programs_recording, test)

# What the pool may be asked to do: the rest of the operators run on their caller alone.
PARALLEL = {"Conv", "FusedConv", "MatMul", "Gemm", "FusedMatMul", "FusedGemm", "GRU", "Softmax",
            "LayerNormalization", "MaxPool", "AveragePool", "GlobalAveragePool", "Add", "Mul",
            "Relu", "Sigmoid", "Tanh", "Erf", "Sub", "Div", "Pow", "Sqrt", "ReduceMean",
            "BatchNormalization", "Transpose", "ReorderInput", "ReorderOutput", "Concat",
            "SkipLayerNormalization", "Gelu", "BiasGelu", "FastGelu", "Flatten"}


RUNS_AT_ONCE = 4096  # for which there is room, if they were spread evenly


def cpu_of_others(target):
    """CPU time so far, in ns, of each thread but the first, by the kernel's account."""
    used = {}
    for tid in os.listdir("/proc/%d/task" % target.pid):
        if int(tid) != target.pid:
            with open("/proc/%d/task/%s/schedstat" % (target.pid, tid), encoding="ascii") as file:
                used[tid] = int(file.read().split()[0])
    return used


def spent(before, after):
    return sum(after[tid] - before[tid] for tid in before if tid in after)


def all_work_is_taken(version, model, *options):
    """Every nanosecond that the probes saw a pool thread work is in some operator."""
    @test("%s: %s: what pool threads work is drained by operators, all of it" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, *options)
        target.run(60)  # what the pool did before is not in its account
        before = cpu_of_others(target)
        probe = t.attach(target, "-e", "page-faults")
        attached = cpu_of_others(target)
        answer = target.run(60 if model != "gru" else 600)
        check_equal(answer["failed"], 0, "failed runs")
        stopping = cpu_of_others(target)
        report = probe.stop().nothing_lost()
        after = cpu_of_others(target)
        taken = report.json["sum"]["other_threads_ns"]
        pool = report.json["pool"]
        # A GRU's sections are so short that its caller may be through before the pool wakes.
        check(model == "gru" or pool["work_ns"] > 0, "the pool did nothing", pool)
        check_equal(taken or 0, pool["work_ns"], "work of other threads in all operators, ns")
        check((pool["cpu_ns"] or 0) <= spent(before, after),
              "the pool has more CPU time than its threads took", pool, spent(before, after))
        if pool["threads"] == len(after):
            check(pool["cpu_ns"] >= spent(attached, stopping),
                  "the pool has less CPU time than its threads took", pool,
                  spent(attached, stopping))
        for op in report.operators:
            check(not op["other_threads_ns"] or op["op_type"] in PARALLEL,
                  "%s has work of other threads" % op["op_type"], op)


for version in ("1.10.0", "1.12.0", "1.14.0", "1.20.1", "1.24.3", "1.30.0"):
    all_work_is_taken(version, "resnet", "-t", "2")
all_work_is_taken("1.30.0", "resnet", "-t", "4", "-s", "3", "-c", "4")
all_work_is_taken("1.24.3", "transformer", "-t", "3", "-s", "2", "-c", "2")
all_work_is_taken("1.24.3", "gru", "-t", "3")
all_work_is_taken("1.30.0", "resnet", "-t", "2", "-p", "-i", "2")


@test("a pool that never rests used no more CPU time than the recording took")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    target.keep_running()
    for _ in range(2):
        told = t.opprobe("-p", target.pid, "--json", "-e", "none", "-d", "0.5").finish().json
        pool, took = told["pool"], told["recording"]["duration_ns"]
        check_equal(pool["threads"], 1, "threads of the pool")
        check(pool["work_ns"] <= pool["cpu_ns"] <= took, "CPU time of the pool, and time recorded",
              pool, took)


@test("what a thread did is told in the order in which it ended: operators, those inside, and runs")
def _(t):
    for model, options in ("resnet", ["-t", "2"]), ("nested", ["-O", "0"]), ("tiny", ["-O", "0"]):
        target = t.ort_run("1.30.0", model, *options)
        probe = t.attach(target, "-e", "none")
        target.run(30)
        probe.stop().nothing_lost()
        capture = Capture(t.path("capture.opp"))
        check_equal(capture.runs, 30, "runs")
        check(len(capture.execs) < sum(map(len, capture.over.values())), "executions, and runs")
        capture.check_order()


@test("an operator that an exception left is told in the order in which operators ended")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("reshape"))
    probe = t.attach(target, "-e", "none")
    for _ in range(3):
        target.run(session, 2)
        target.do("run", session=session, times=2, change={"shape": {"values": [5, 5]}})
    probe.stop().nothing_lost()
    capture = Capture(t.path("capture.opp"))
    check_equal(sum(ran.flags & 1 for ran in capture.execs), 6, "operators that threw")
    capture.check_order()


@test("some runs only: what the pool worked for the others is nobody's, and hardly any is unclear")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    target.run(5)
    runs = list(range(3, 60, 4))
    probe = t.attach(target, "-e", "none", "--runs", ",".join(map(str, runs[:16])))
    target.run(60)
    report = probe.stop()
    check_equal(report.json["runs"], len(runs), "runs")
    # Where the pool is through with its part before the launcher gets the CPU for its own, what
    # was left by the runs before cannot be told from it: a few, on a machine that is busy.
    unclear = report.json["losses"].pop("work_lost", 0)
    check(100 * unclear < report.json["executions"], "operators whose share is not known", unclear)
    check_equal(report.json["lost"], unclear, "lost (%s)" % report.json["losses"])
    taken = report.json["sum"]["other_threads_ns"]
    check(0 < taken < report.json["pool"]["work_ns"], "work of other threads", taken,
          report.json["pool"])


@test("which thread ran what is told, and a thread that never moves has not migrated")
def _(t):
    target = t.ort_run("1.30.0", "mlp", "-O", "0", "-c", "4")
    cpu = min(os.sched_getaffinity(0))
    for tid in os.listdir("/proc/%d/task" % target.pid):
        os.sched_setaffinity(int(tid), {cpu})
    probe = t.attach(target, "-e", "none")
    target.run(7)
    probe.stop().nothing_lost()
    shown = t.opprobe("report", t.path("capture.opp"), "--group-by", "thread", "--json")
    rows = shown.finish().operators
    once = sum(described_counts(t.model("mlp"), 1).values())
    check_equal([row["count"] for row in rows], [7 * once] * 4, "operators of each thread")
    exported = t.opprobe("export", t.path("capture.opp"), "--format", "chrome")
    check_equal(exported.wait(), 0, "status of export")
    check('"migrated"' not in exported.stdout, "an operator migrated on one CPU")
    events = json.loads(exported.stdout)["traceEvents"]
    check_equal(len({event["tid"] for event in events if event["ph"] == "X"}), 4, "threads")


def operators_of_runs(t, capture="capture.opp"):
    """Operators by the number of their run, "" for none."""
    exported = t.opprobe("export", t.path(capture), "--format", "csv")
    check_equal(exported.wait(), 0, "status of export")
    return collections.Counter(line["run"] for line in csv.DictReader(io.StringIO(exported.stdout)))


def check_runs(t, runs, capture="capture.opp"):
    """Each of @runs, of the model with branches, is whole, and there are no others."""
    once = sum(described_counts(t.model("branches"), 1).values())
    check_counts(operators_of_runs(t, capture),
                 collections.Counter({str(run): once for run in runs}), "operators of each run")


def parallel(t, *options):
    """Runs whose operators are executed by the threads of a pool."""
    return t.ort_run("1.30.0", "branches", "-O", "0", "-p", "-i", "2", *options)


def run_on_new_threads(target, batches=10):
    """16 runs a batch, each on a thread of its own, with -c 16."""
    for _ in range(batches):
        target.run(1)


@test("operators of four parallel runs at once, on the threads of pools, belong each to its own run")
def _(t):
    target = parallel(t, "-t", "2", "-c", "4")
    probe = t.attach(target, "-e", "none")
    target.run(10)
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 40, "runs")
    check_runs(t, range(40))


@test("160 parallel runs, each on a new thread: every operator belongs to its run")
def _(t):
    target = parallel(t, "-c", "16")
    probe = t.attach(target, "-e", "none")
    run_on_new_threads(target)
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 160, "runs")
    check_runs(t, range(160))


def attached_in_a_run(version):
    @test("%s: operators first seen in a parallel run that was on already are of its session" %
          version)
    def _(t):
        target = t.ort_run(version, "branches", "-p", "-i", "3", "-H")
        target.ask("hold 1")
        probe = t.attach(target, "-e", "none")
        target.ask("let-go")
        target.run(30)
        report = probe.stop().nothing_lost()
        check_equal(report.json["runs"], 30, "runs")
        rows = report.json["operators"]
        once = sum(described_counts(t.model("branches"), 1).values())
        check_equal(sum(row["count"] for row in rows), 31 * once, "executions")
        check_equal({row["model"] for row in rows}, {"branches.onnx"}, "models")
        check_equal(report.json["sessions"], 1, "sessions")
        check_equal(report.json["outside_of_runs"]["count"], once, "outside of runs")


for version in ("1.16.3", "1.24.3", "1.30.0"):
    attached_in_a_run(version)


@test("--runs of 160 parallel runs, each on a new thread: those it names, whole")
def _(t):
    target = parallel(t, "-c", "16")
    probe = t.attach(target, "-e", "none", "--runs", "70-89")
    run_on_new_threads(target)
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 20, "runs")
    check_runs(t, range(70, 90))


@test("a schedule over parallel runs, each on a new thread: its cycles are whole")
def _(t):
    target = parallel(t, "-c", "16")
    probe = t.opprobe("record", "-p", target.pid, "-e", "none", "--schedule",
                      "skip_first=80,wait=5,warmup=3,active=20,repeat=3", "-o",
                      t.path("capture.opp")).attached()
    while probe.alive():
        target.run(1)
    check_equal(probe.wait(), 0, "status of record")
    runs = sorted(int(run) for run in operators_of_runs(t))
    check(len(runs) == 60 and runs[0] >= 88, "not three times 20 runs", runs)
    cycles = [runs[i:i + 20] for i in (0, 20, 40)]
    check(all(cycle[-1] - cycle[0] == 19 for cycle in cycles), "cycles with gaps", cycles)
    check_runs(t, runs)


@test("more runs open at once than there is room for: some are lost for their operators, and counted")
def _(t):
    target = parallel(t, "-H", "-c", "16")
    probe = t.attach(target, "-e", "none")
    target.ask("hold %d" % RUNS_AT_ONCE)
    target.ask("let-go")
    run_on_new_threads(target)
    report = probe.stop()
    runs, once = operators_of_runs(t), sum(described_counts(t.model("branches"), 1).values())
    lost = report.losses().get("runs_full", 0)
    check_equal(report.losses(), {"runs_full": lost}, "losses")
    check(0 < lost < RUNS_AT_ONCE // 2, "there was room for all but %d runs" % lost)
    check_equal(report.json["runs"], RUNS_AT_ONCE + 160, "runs")
    check_equal(runs.pop(""), lost * once, "operators of no run")
    check_equal(len(runs), RUNS_AT_ONCE + 160 - lost, "runs with operators")
    check_equal(set(runs.values()), {once}, "operators of a run")
    later = {str(run) for run in range(RUNS_AT_ONCE, RUNS_AT_ONCE + 160)}
    check(later < set(runs), "later ones are lost as well")


def room_after(how, end):
    @test("runs in which %s hold no place for long: there is room for all that come" % how)
    def _(t):
        target = parallel(t, "-H", "-c", "16")
        others = [parallel(t, "-H") for _ in range(8)]
        pids = ",".join(str(process.pid) for process in [target] + others)
        probe = t.opprobe("-p", pids, "--follow", "--json", "-e", "none", "-o",
                          t.path("capture.opp"), "--trace", t.path("trace.json")).attached()
        for other in others:
            other.ask("hold 450")
            end(other)
        run_on_new_threads(target)
        report = probe.stop().nothing_lost()
        check_equal(report.json["runs"], 160, "runs")
        check_runs(t, range(8 * 450, 8 * 450 + 160))


def kill(target):
    target.child.kill()
    target.wait()


def execute(target):
    target.ask("exec")


room_after("threads die", lambda target: target.ask("let-die"))
room_after("processes are killed", kill)
room_after("another program is executed", execute)


@test("context switches, wanted or not, are those of the kernel's account")
def _(t):
    target = t.ort_run("1.30.0", "heavy", "-O", "0")
    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(target.pid, {cpu})
    other = t.start(Process, ["sh", "-c", "while :; do :; done"])
    os.sched_setaffinity(other.pid, {cpu})

    def switches():
        with open("/proc/%d/status" % target.pid, encoding="utf-8") as file:
            return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)

    probe = t.attach(target, "-e", "context-switches")
    target.run(1)
    before = switches()
    target.run(20)
    truth = switches() - before
    report = probe.stop().nothing_lost()
    counted = report.json["total"]["counters"]["context-switches"]["total"]
    check(truth > 20, "there was no other that wanted the CPU", truth)
    check(0.5 * truth <= counted <= truth + 20, "the kernel says %d context switches, the runs "
          "have %d" % (truth, counted))


@test("with one thread there is no work of others, and none is shown")
def _(t):
    target = t.ort_run("1.24.3", "resnet", "-t", "1")
    probe = t.attach(target, "-e", "none")
    target.run(5)
    report = probe.stop().nothing_lost()
    check_equal(report.json["pool"]["threads"], 0, "pool threads")
    check(all(not op.get("other_threads_ns") for op in report.operators), "work of nobody",
          report.operators[:3])


@test("pools that are destroyed and made anew while opprobe is attached")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "3")
    target.run(2)
    probe = t.attach(target, "-e", "page-faults")
    # Until it is known where names lie, a session may be gone before its own are read.
    target.run(3)
    t.named()
    for _ in range(10):
        target.ask("recreate")
        target.run(3)
    report = probe.stop().nothing_lost()
    check(report.json["runs"] == 33, "33 runs, recorded: %d" % report.json["runs"])
    check_equal(report.json["sessions"], 11, "sessions, of one model and often at one address")
    check_equal(report.json["sum"]["other_threads_ns"], report.json["pool"]["work_ns"],
                "work of other threads")


@test("a program on a probe has the stack of its thread, whoever takes the CPU from it")
def _(t):
    # x86-64: add %gs:offset,%r9, where the stack of a CPU is (emit_priv_frame_ptr() in
    # arch/x86/net/bpf_jit_comp.c). This kernel may not be one that would do it.
    one_per_cpu = b"\x65\x4c\x03\x0c\x25"
    target = t.ort_run("1.24.3", "tiny")
    probe = t.attach(target, "--shapes")
    programs = programs_recording(probe)
    names = {name for name in programs.values() if name.startswith("ort_")}
    check({"ort_enter_index", "ort_exit", "ort_run_enter", "ort_task_enter"} <= names, programs)
    for program, name in programs.items():
        if name in names:
            code = machine_code(program)
            check(len(code) > 100, "no machine code of %s" % name)
            check(os.uname().machine != "x86_64" or one_per_cpu not in code,
                  "%s has a stack per CPU" % name)
    probe.signal(2)
    probe.wait()


@test("208 threads that run 13 sessions at once, born and dying while opprobe is attached")
def _(t):
    target = t.ort_run("1.24.3", "tiny", "-O", "0", "-s", "13", "-c", "16")
    # A quarter of a million operators within a second, on two CPUs: what --buffer is for.
    probe = t.attach(target, "-e", "task-clock,task-faults", "--buffer", "64M")
    for _ in range(3):
        check_equal(target.run(2)["failed"], 0, "failed runs")
    report = probe.stop().nothing_lost()
    check_counts(report.counts(), described_counts(t.model("tiny"), 3 * 2 * 208))
    check_equal(report.json["runs"], 3 * 2 * 208, "runs")
    for op in report.operators:
        faults, clock = op["counters"]["task-faults"], op["counters"]["task-clock"]
        check_equal(faults["counted"], op["count"], "executions counted for task-faults")
        # An event on a thread just born may come late: then it is not counted, and said so.
        check(clock["counted"] <= op["count"], "more counted than executed", op)
        check(clock["total"] is None or clock["total"] > 0 or clock["counted"] == 0,
              "a false zero", op)
    exported = t.opprobe("export", t.path("capture.opp"), "--format", "csv")
    check_equal(exported.wait(), 0, "status of export")
    clocks = [row["task-clock"] for row in csv.DictReader(io.StringIO(exported.stdout))]
    check_equal(len(clocks), 3 * 2 * 208 * 200, "lines of the export")
    check("0" not in clocks, "an execution that took no time of a CPU")


@test("a target that is moved between CPUs all the time has the same counts")
def _(t):
    target = t.ort_run("1.30.0", "pages", "-O", "0", "-m",
                       GLIBC_TUNABLES="glibc.malloc.mmap_threshold=65536")
    target.ask("set shape %d" % (1024 * 1000))
    target.run(3)
    probe = t.attach(target, "-e", "page-faults,task-clock,cpu-migrations")
    done = threading.Event()

    def move():
        cpus = sorted(os.sched_getaffinity(0))
        turn = 0
        while not done.is_set():
            turn += 1
            for tid in os.listdir("/proc/%d/task" % target.pid):
                os.sched_setaffinity(int(tid), {cpus[turn % len(cpus)]})
            done.wait(0.0005)

    mover = threading.Thread(target=move)
    mover.start()
    truth = target.run(30)
    done.set()
    mover.join()
    report = probe.stop().nothing_lost()
    touch = report.operator("touch")
    check(30 * 1000 <= touch["counters"]["page-faults"]["total"] <= 30 * 1003,
          "30 runs touch 1000 pages each", touch)
    if len(os.sched_getaffinity(0)) > 1:
        check(report.json["total"]["counters"]["cpu-migrations"]["total"] > 0,
              "it was never moved", report.json["total"])
    clock = report.counter("task-clock")
    check(0 < clock <= 1.1 * truth["wall_ns"], "task-clock %d ns in %d ns of runs" %
          (clock, truth["wall_ns"]))

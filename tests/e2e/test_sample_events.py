# SPDX-License-Identifier: GPL-2.0-only
"""--sample-event and --sample off-cpu: events, and times off the CPUs, by the operators that had
them, with no probe in an operator; against what probes count there."""

import collections
import os
import re
import signal
import threading
import time

from capture import OWN, WORKS_FOR, Capture
from harness import FRESH_MEMORY, check, check_equal, test
from sampling import busy_machine, end, names_known, record_all, sample, sampling_of
from test_folded import folded
from truth import Truth, compare

RUNS = 40


def beside_probes(t, target, how, events, run):
    """Samples of a target, and what probes counted of the same runs: the first and last moment."""
    probe = names_known(t, target, how)
    every = t.opprobe("record", "-p", target.pid, "-e", events, "--no-cost", "-o",
                      t.path("every.opp")).attached()
    run()
    every.signal(signal.SIGINT)
    check_equal(every.wait(), 0, "exit status (%s)" % every.stderr[-2000:])
    run()
    report = end(t, probe)
    counted = t.opprobe("report", t.path("every.opp"), "--json",
                        "--no-compensate").finish().nothing_lost()
    execs = Capture(t.path("every.opp")).execs
    return report, counted, min(one.start for one in execs), max(one.end for one in execs)


def by_operator(capture, first, last, what):
    """Samples between two moments, by operator: the sum of @what."""
    sums = collections.Counter()
    for one in capture.samples:
        if first <= one.time <= last and one.op is not None:
            op = capture.operators[one.op]
            sums[op.name, op.op_type] += what(one)
    return sums


# -- events -----------------------------------------------------------------------------

def sees_each_fault(version, model):
    @test("%s: %s: each page fault is seen in the operator that had it" % (version, model))
    def _(t):
        target = t.ort_run(version, model, "-O", "0", "-m", **FRESH_MEMORY)
        report, counted, first, last = beside_probes(
            t, target, ["--sample-event", "page-faults", "--sample-period", "1"], "page-faults",
            lambda: target.run(RUNS))
        seen = by_operator(Capture(t.path("capture.opp")), first, last, lambda one: one.amount)
        probes = {(row["name"], row["op_type"]): row["counters"]["page-faults"]["self"]
                  for row in counted.operators}
        check(sum(probes.values()) > 10 * RUNS, "there were few page faults", probes)
        check_equal(dict(seen), {key: n for key, n in probes.items() if n}, "page faults")
        sampling = sampling_of(report)
        check_equal((sampling["event"], sampling["rate"], sampling["period"]),
                    ("page-faults", None, 1), "what was sampled")
        check_equal(sampling["amount"], sampling["samples"], "page faults that samples stand for")
        for row in report.operators:
            check_equal((row["events"], row["share_low_percent"]), (row["samples"], None),
                        "page faults of a row")


for each in ("1.10.0", "1.14.0", "1.20.1", "1.30.0"):
    sees_each_fault(each, "pages")
sees_each_fault("1.30.0", "resnet")


@test("of an event by rate, each sample stands for those since the one before it")
def _(t):
    target = t.ort_run("1.30.0", "pages", "-O", "0", "-m", **FRESH_MEMORY)
    # Each CPU's event has samples of its own: only on one are they one after the other.
    cpu = min(os.sched_getaffinity(0))
    for task in os.listdir("/proc/%d/task" % target.pid):
        os.sched_setaffinity(int(task), {cpu})
    how = ["--sample", "200", "--sample-event", "page-faults"]
    report, counted, first, last = beside_probes(t, target, how, "page-faults",
                                                 lambda: target.run(20 * RUNS))
    probes = {(row["name"], row["op_type"]): row["counters"]["page-faults"]["self"]
              for row in counted.operators}
    whole, samples = sum(probes.values()), sampling_of(report)["samples"]
    # The first one may stand for what was before, and what is behind the last is in the next.
    amounts = [one.amount for one in Capture(t.path("capture.opp")).samples
               if first <= one.time <= last]
    following = next((one.amount for one in Capture(t.path("capture.opp")).samples
                      if one.time > last), whole)
    check(sum(amounts[1:]) <= whole <= sum(amounts) + following, "%d to %d page faults are told, "
          "%d were counted" % (sum(amounts[1:]), sum(amounts) + following, whole))
    check(samples < 0.5 * sampling_of(report)["amount"], "each was sampled", sampling_of(report))
    seconds = report.json["recording"]["duration_ns"] / 1e9
    check(samples < 200 + 2 * 200 * seconds, "%d samples in %.1f s are more often than asked for" %
          (samples, seconds))
    for row in report.operators:
        share = probes[row["name"], row["op_type"]] / whole
        check(abs(row["share_percent"] / 100 - share) < 0.15, "the share of a row", row, share)
        check(row["share_low_percent"] <= row["share_percent"] <= row["share_high_percent"],
              "intervals", row)
    shown = t.opprobe("report", t.path("capture.opp"), "--width", "200")
    check_equal(shown.wait(), 0, "status of report")
    title = next(line for line in shown.stdout.split("\n") if line.startswith("Name"))
    check_equal(title.split(), "Name Op Samples Share Low High page-faults Pool Kernel".split(),
                "columns")
    check("which stand for" in shown.stdout and "page-faults." in shown.stdout, "the verdict",
          shown.stdout)
    check_equal(sum(folded(t).values()), sampling_of(report)["amount"], "page faults in stacks")


@test("what no event of perf counts, or this machine does not, is refused before anything is attached")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    for event, why in (("blocked", "no event of perf"), ("cycles,instructions", "of one event"),
                       ("nonsense", "nonsense"), ("cpu-clock", "--sample RATE")):
        refused = t.opprobe("record", "-p", target.pid, "--sample-event", event,
                            "--sample-period", "100", "-o", t.path("capture.opp"))
        check_equal(refused.wait(), 1, "status with %s" % event)
        check(why in refused.stderr, "why", refused.stderr)
    for event in "cpu-clock", "task-clock":
        taken = t.opprobe("record", "-p", target.pid, "--sample-event", event, "--sample", "99",
                          "-d", "100ms", "-o", t.path(event + ".opp"))
        check_equal(taken.wait(), 0, "status with %s: %s" % (event, taken.stderr))


@test("at each so many events, a sample stands for so many, whatever the kernel leaves out")
def _(t):
    target = t.ort_run("1.30.0", "heavy")
    how = ["--sample-event", "context-switches", "--sample-period", "3"]
    with busy_machine(2):
        probe = names_known(t, target, how, runs=50)
        target.run(t.times(500))
        report = end(t, probe)
    amounts = collections.Counter(one.amount for one in Capture(t.path("capture.opp")).samples)
    check_equal(list(amounts), [3], "what samples stand for")
    sampling = sampling_of(report)
    check_equal(sampling["amount"], 3 * sampling["samples"], "all of them")
    # Threads whose events the kernel counts and does not tell of: some virtual machines have such.
    for note in report.json["notes"]:
        check(re.search(r"left samples out, for \d+ context-switches", note), "a note", note)


# -- off the CPUs ---------------------------------------------------------------------------

def agree(t, target, run, much):
    """Each wait that --sample off-cpu tells is in the operator that probes see there; and together
    they last as long as probes count: @much, blocked or ready, is to be more than 0.1 s."""
    _, counted, first, last = beside_probes(t, target, ["--sample", "off-cpu"], "ready,blocked",
                                            run)
    samples = Capture(t.path("capture.opp"))
    right = compare(samples, Truth(Capture(t.path("every.opp"))), False)
    check(right[OWN] > 10, "few waits were in operators", right)
    for name, what in (("blocked", lambda one: one.amount - one.ready),
                       ("ready", lambda one: one.ready)):
        probes = sum(row["counters"][name]["self"] for row in counted.operators)
        within = [one for one in samples.samples if first <= one.time <= last]
        seen = sum(what(one) for one in within if one.op is not None)
        # Where a thread waits in a probe, the stack is not yet, or not any more, an operator's.
        beside = sum(what(one) for one in within if one.op is None)
        # Probes have what the kernel counts, see below.
        slack = 0.02 * probes + 2_000_000
        more = slack if name == "blocked" else 0.2 * probes + 2_000_000
        check(seen - slack <= probes <= seen + beside + more, "%s: %.1f ms by probes, %.1f ms by "
              "samples, and %.1f ms beside operators" %
              (name, probes / 1e6, seen / 1e6, beside / 1e6))
        check(name != much or probes > 100_000_000, "it hardly was %s: %.1f ms" %
              (name, probes / 1e6))
    return t.opprobe("report", t.path("capture.opp"), "--json").finish()


def stops_now_and_then(target, run):
    """Run while the whole process is stopped for a while, again and again: what does not run then
    waits for somebody else."""
    over = threading.Event()

    def stop():
        while not over.wait(0.005):
            target.signal(signal.SIGSTOP)
            time.sleep(0.02)
            target.signal(signal.SIGCONT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        run()
    finally:
        over.set()
        stopper.join()


def tells_waits(version):
    @test("%s: what an operator waits for somebody else is seen in it, as long as probes say" %
          version)
    def _(t):
        target = t.ort_run(version, "heavy")
        agree(t, target, lambda: stops_now_and_then(target, lambda: target.run(t.times(150))),
              "blocked")


for each in ("1.10.0", "1.30.0"):
    tells_waits(each)


def sees_waits_of_pools(version):
    @test("%s: what pool threads wait in is the operator that they work for" % version)
    def _(t):
        target = t.ort_run(version, "resnet", "-t", "3", "-w", "5")
        target.run(3)
        target.keep_running()
        # Where CPUs are fast, operators wait for nothing but them; where others want them all, pool
        # threads hardly wait for work: now the one, now the other.
        right, patience = collections.Counter(), target.patience()
        while not (right[OWN] > 20 and right[WORKS_FOR] > 10) and not patience.over():
            for busy in 0, os.cpu_count():
                probe = sample(t, target, how=["--sample", "off-cpu"])
                with busy_machine(busy):
                    record_all(t, target)
                end(t, probe)
                right.update(compare(Capture(t.path("capture.opp")),
                                     Truth(Capture(t.path("every.opp"))), False))
        check(right[OWN] > 20 and right[WORKS_FOR] > 10, "few waits were in operators", right)


for each in ("1.16.3", "1.30.0"):
    sees_waits_of_pools(each)


@test("a thread is ready for as long as the kernel says")
def _(t):
    target = t.ort_run("1.20.1", "mlp")

    def of_task(name):
        with open("/proc/%d/task/%d/%s" % (target.pid, target.pid, name)) as file:
            return file.read().split()

    def ready():
        """What the kernel has counted, while the thread sleeps all the time; and when that was."""
        while True:
            before, now = of_task("schedstat"), time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            if of_task("stat")[2] == "S" and of_task("schedstat") == before:
                return now, int(before[1])

    with busy_machine(2):
        probe = names_known(t, target, ["--sample", "off-cpu"], runs=2000)
        since, before = ready()
        for _ in range(100):
            target.run(2000)
        until, after = ready()
    end(t, probe)
    capture = Capture(t.path("capture.opp"))
    seen = sum(one.ready for one in capture.samples
               if since <= one.time <= until and capture.threads[one.thread] == target.pid)
    check(after - before > 10_000_000, "it was hardly kept from its CPU")
    # It is the same to the nanosecond, unless a thread that was about to sleep is woken before its
    # CPU has found another one: then the kernel goes on to count while it runs.
    check(0.995 * (after - before) <= seen <= after - before,
          "%d ns by samples, %d by the kernel" % (seen, after - before))


@test("an operator that is kept from its CPU is ready, for as long as probes say")
def _(t):
    target = t.ort_run("1.30.0", "heavy")
    with busy_machine(4):
        report = agree(t, target, lambda: target.run(150), "ready")
    for row in report.operators:
        check_equal(row["off_blocked_ns"] + row["off_ready_ns"], row["events"], "parts of a row")
    shown = t.opprobe("report", t.path("capture.opp"), "--width", "200")
    check_equal(shown.wait(), 0, "status of report")
    title = next(line for line in shown.stdout.split("\n") if line.startswith("Name"))
    check_equal(title.split(), "Name Op Samples off-cpu Share Blocked Ready Pool".split(),
                "columns")
    check("off the CPUs" in shown.stdout, "the verdict", shown.stdout)

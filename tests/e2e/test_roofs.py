# SPDX-License-Identifier: GPL-2.0-only
"""opprobe doctor --roofs: what the machine can do at most. What anybody would write does not do
more, and the matrix products of a real runtime come near it.

On a machine that is busy there is no such thing to be known: measurements and what is measured
against them run in real time here, beside whatever else there is."""

import json
import os
import signal
import subprocess

from harness import TARGETS, Failure, Process, check, check_equal, succeeds, test

IN_REAL_TIME = ("chrt", "-f", "1")
TRIES = 5  # where a hypervisor takes the CPUs away, nothing helps
NOISE = 1.1


def doctor(t, *arguments, state="state", before=IN_REAL_TIME):
    """Measure; returns the process, ended."""
    process = t.start(Process, [*before, t.program, "doctor", "--roofs", *arguments],
                      {"OPPROBE_STATE": t.path(state)})
    process.wait()
    return process


def measured(t, *arguments, **options):
    """The document of a measurement that knew all that a roofline needs."""
    for _ in range(TRIES):
        process = doctor(t, "--json", *arguments, **options)
        if not process.wait():
            return json.loads(process.stdout)
        check("not kept" in process.stderr, "it failed otherwise", process.stderr)
        found = json.loads(process.stdout)
        check(found["notes"] and "kept" not in found, "it is not said why", found)
    process.fail("%d times, not all could be measured" % TRIES)


def reference(t):
    """The same on one CPU, as anybody would write it."""
    source = os.path.join(TARGETS, "roof_reference.c")
    subprocess.run(["cc", "-O3", "-march=native", "-std=gnu11", "-o", t.path("reference"), source],
                   check=True)
    process = t.start(Process, [*IN_REAL_TIME, t.path("reference")])
    check_equal(process.wait(), 0, "exit status of the reference")
    return json.loads(process.stdout)


def rounded(thing):
    """Of two printers, the same numbers."""
    if isinstance(thing, dict):
        return {key: rounded(value) for key, value in thing.items()}
    return float("%.7g" % thing) if isinstance(thing, float) else thing


def compare_with_plain_loops(t):
    roofs = measured(t)["machine"]["roofs"]
    got = reference(t)
    one, together = roofs["one_cpu"], roofs["all_cpus"]
    check_equal(roofs["cpus"], len(os.sched_getaffinity(0)), "CPUs")
    for name, roof, least in (("gflops", "gflops", 0.1), ("triad", "memory_gb_per_s", 0.3),
                              ("read", "memory_gb_per_s", 0.3)):
        check(got[name] <= NOISE * one[roof], "a plain loop beats the roof", name, got, one)
        check(got[name] >= least * one[roof], "the roof is out of reach", name, got, one)
    # Those of the L1 cache vary by a fifth with where a buffer lies.
    for name in ("gflops", "memory_gb_per_s"):
        check(one[name] / NOISE <= together[name] <= NOISE * roofs["cpus"] * one[name],
              "CPUs together are not as many as they are", name, roofs)


@test("doctor --roofs: plain loops stay below the roofs, and not far below")
def _(t):
    # Other machines take from the memory that is shared with them, now more and now less.
    for _ in range(TRIES - 1):
        try:
            return compare_with_plain_loops(t)
        except Failure:
            pass
    return compare_with_plain_loops(t)


def comes_near(t):
    document = measured(t)
    target = t.ort_run("1.24.3", "heavy", "-t", "1")
    os.sched_setscheduler(target.pid, os.SCHED_FIFO, os.sched_param(1))
    capture = t.path("run.opp")
    probe = t.opprobe("-p", target.pid, "--shapes", "--no-cost", "-o", capture,
                      environment={"OPPROBE_STATE": t.path("state")}).attached()
    target.run(10)
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status")
    check("\nroofs      one CPU " in probe.stdout, "the header is silent", probe.stdout)
    report = json.loads(succeeds(t, "report", capture, "--json"))
    check_equal(rounded(report["machine"]["roofs"]), rounded(document["machine"]["roofs"]),
                "roofs of the capture")
    one = report["machine"]["roofs"]["one_cpu"]
    products = [row for row in report["operators"] if row["op_type"] == "MatMul"]
    check_equal(len(products), 4, "matrix products")
    for row in products:
        check(50 <= row["roof_percent"] <= 105, "a matrix product is not near its roof", row)
        check(abs(row["roof_percent"] - 100 * row["gflops"] / one["gflops"]) < 0.01,
              "it computes, and is held against the roof of that", row)


@test("doctor --roofs: captures have what was measured, and a runtime's MatMul comes near it")
def _(t):
    for _ in range(TRIES - 1):
        try:
            return comes_near(t)
        except Failure:
            pass
    return comes_near(t)


@test("doctor --roofs: on the CPUs that it may use, for the machine that it is")
def _(t):
    cpu = min(os.sched_getaffinity(0))
    document = measured(t, before=("taskset", "-c", str(cpu), *IN_REAL_TIME))
    check_equal(document["machine"]["roofs"]["cpus"], 1, "CPUs")
    with open(document["kept"], encoding="utf-8") as file:
        kept = json.load(file)
    check_equal(kept["machine"], document["machine"], "what is kept")
    kept["machine"]["host"] = "another"
    with open(document["kept"], "w", encoding="utf-8") as file:
        json.dump(kept, file)
    environment = {"OPPROBE_STATE": t.path("state")}
    target = t.ort_run("1.24.3", "mlp")
    capture = t.path("run.opp")
    probe = t.opprobe("-p", target.pid, "--no-cost", "-o", capture,
                      environment=environment).attached()
    target.run(3)
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status")
    report = json.loads(succeeds(t, "report", capture, "--json"))
    check_equal(report["machine"]["roofs"], None, "roofs of another machine")


@test("doctor --roofs: what cannot be kept is printed, and said to be lost")
def _(t):
    for _ in range(TRIES):
        process = doctor(t, state="/proc/nowhere")
        check_equal(process.wait(), 1, "exit status")
        if "not kept" not in process.stderr:
            break
    last = process.stderr.strip().split("\n")[-1]
    check("/proc/nowhere/roofs.json" in last, "it is not said where", process.stderr)
    check("memory" in process.stdout and "GB/s" in process.stdout, "no table", process.stdout)
    process = t.opprobe("doctor", "--roofs", "-p", os.getpid())
    check_equal(process.wait(), 2, "exit status")
    check("leave out the process" in process.stderr, "of a process", process.stderr)

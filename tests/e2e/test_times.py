# SPDX-License-Identifier: GPL-2.0-only
"""Where the time of operators goes: on a CPU, ready for one, blocked. The truth
is what the kernel's account of the thread and its clocks say around all runs."""

import contextlib
import os
import subprocess
import tempfile

from harness import OrtTarget, check, check_equal, test

RUNS = 20
LOCK_MS = 10  # in each run


class Quota:
    """A group of processes that has a fifth of a CPU."""

    def __init__(self):
        self.second = not os.path.isdir("/sys/fs/cgroup/cpu")
        root = "/sys/fs/cgroup" if self.second else "/sys/fs/cgroup/cpu"
        if self.second:
            self.write(root + "/cgroup.subtree_control", "+cpu")
        self.folder = tempfile.mkdtemp(prefix="opprobe-test.", dir=root)
        if self.second:
            self.write(self.folder + "/cpu.max", "20000 100000")
        else:
            self.write(self.folder + "/cpu.cfs_period_us", "100000")
            self.write(self.folder + "/cpu.cfs_quota_us", "20000")

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    def take(self, pid):
        self.write(self.folder + "/cgroup.procs", str(pid))

    def close(self):
        os.rmdir(self.folder)


@contextlib.contextmanager
def busy_loops(cpu, n):
    loops = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"])
             for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def start(t):
    program = t.objects + "/tests/vm/exact"
    model = t.objects + "/tests/vm/waits.onnx"
    return t.start(OrtTarget, [program, t.library("1.30.0"), model]).ready()


def record(t, target):
    """Returns the report, what the kernel says of all runs, and operators by name."""
    target.ask("run 1")
    probe = t.attach(target, "-e", "on-cpu,ready,blocked")
    truth = target.ask("run %d" % RUNS)
    probe.stop().nothing_lost()
    report = t.opprobe("report", t.path("capture.opp"), "--no-compensate", "--json").finish()
    truth["blocked_ns"] = truth["wall_ns"] - truth["on_cpu_ns"] - truth["ready_ns"]
    for op in report.operators:
        parts = [op["counters"][name]["total"] for name in ("on-cpu", "ready", "blocked")]
        check_equal(sum(parts), op["total_ns"], "the parts of %s" % op["name"])
    return report, truth, {op["name"].rsplit("_", 1)[0]: op for op in report.operators}


def spent(report, name):
    """In all operators and between them."""
    return report.json["total"]["counters"][name]["total"]


def near(got, truth, what):
    check(abs(got - truth) <= 0.1 * truth + 10e6,
          "%s: %.1f ms, true is %.1f ms" % (what, got / 1e6, truth / 1e6))


def all_near(report, truth):
    for name in ("on-cpu", "ready", "blocked"):
        near(spent(report, name), truth[name.replace("-", "_") + "_ns"], name)


@test("a lock that another thread holds, and a page of a disk, are what operators are blocked for")
def _(t):
    report, truth, ops = record(t, start(t))
    all_near(report, truth)
    blocked = {name: op["counters"]["blocked"]["total"] for name, op in ops.items()}
    check(blocked["lock"] >= 0.9 * RUNS * LOCK_MS * 1e6, "the lock took %(lock)d" % blocked)
    check(blocked["disk"] > 0, "the disk took nothing", ops["disk"])
    near(blocked["lock"] + blocked["disk"], truth["blocked_ns"], "what was blocked")
    check(blocked["spin"] <= 0.05 * ops["spin"]["total_ns"], "a loop waits", ops["spin"])


@test("with a busy loop on the same CPU, operators are ready for as long as that has it")
def _(t):
    target = start(t)
    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(target.pid, {cpu})
    with busy_loops(cpu, 3):
        report, truth, ops = record(t, target)
    all_near(report, truth)
    ready = ops["spin"]["counters"]["ready"]["total"]
    check(ready >= 0.3 * ops["spin"]["total_ns"], "beside three loops it waits", ops["spin"])


@test("what a group's quota of the CPU takes, operators are ready for")
def _(t):
    target = start(t)
    quota = Quota()
    try:
        quota.take(target.pid)
        report, truth, ops = record(t, target)
        all_near(report, truth)
        ready = ops["spin"]["counters"]["ready"]["total"]
        check(ready >= 0.3 * ops["spin"]["total_ns"], "a fifth of a CPU is no limit", ops["spin"])
    finally:
        target.close()
        quota.close()


@test("by default a table tells where the time of operators went")
def _(t):
    target = start(t)
    probe = t.attach(target)
    target.ask("run 3")
    report = probe.stop()
    names = [event["name"] for event in report.json["events"]]
    check_equal(names[:3], ["on-cpu", "ready", "blocked"], "the first events")
    for op in report.operators:
        for name in names[:3]:
            check_equal(op["counters"][name]["counted"], op["count"], name + " of " + op["name"])


@test("what pool threads do is on a CPU, ready or blocked as well, and all of it is busy time")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    target.run(2)
    probe = t.attach(target)
    target.run(30)
    probe.stop().nothing_lost()
    report = t.opprobe("report", t.path("capture.opp"), "--no-compensate", "--json").finish()
    check(any(op["other_threads_ns"] for op in report.operators), "no thread of the pool worked")
    for op in report.operators:
        parts = [op["counters"][name]["total"] for name in ("on-cpu", "ready", "blocked")]
        check_equal(sum(parts), op["busy_ns"], "the parts of %s" % op["name"])


@test("what the probes added is time on a CPU: without it, the parts are all of the time, too")
def _(t):
    target = start(t)
    target.ask("run 1")
    probe = t.attach(target, "-e", "on-cpu,ready,blocked")
    target.ask("run 5")
    report = probe.stop()
    check(report.json["recording"]["compensated"], "nothing is taken off")
    for op in report.operators:
        parts = [op["counters"][name]["total"] for name in ("on-cpu", "ready", "blocked")]
        check_equal(sum(parts), op["total_ns"], "the parts of %s" % op["name"])

# SPDX-License-Identifier: GPL-2.0-only
"""Recordings with --sample, for tests of what they tell."""

import contextlib
import json
import signal
import subprocess

from harness import check, check_equal

OFTEN = "2000"  # as often as a virtual machine's timer allows, so that few seconds tell much
SAMPLES = 3000


def sample(t, target, *arguments, how=("--sample", OFTEN)):
    pids = ",".join(str(one.pid) for one in (target if isinstance(target, list) else [target]))
    return t.opprobe("record", "-p", pids, *how, "-o", t.path("capture.opp"),
                     *arguments).attached()


def some_samples(t, n=SAMPLES, what="samples"):
    """Wait until so many are in the capture."""
    t.recorded("no %d %s" % (n, what), lambda report: (report["recording"]["sampling"] or
                                                        {what: 0})[what] >= n)


def end(t, probe, *arguments):
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
    return t.opprobe("report", t.path("capture.opp"), "--json", *arguments).finish().nothing_lost()


def sampled(t, version, model, *options):
    """A target that runs on, and the report of some samples of it."""
    target = t.ort_run(version, model, *options)
    target.keep_running()
    probe = sample(t, target)
    some_samples(t)
    return target, end(t, probe)


def sampling_of(report):
    return report.json["recording"]["sampling"]


def names_known(t, target, how, runs=5):
    """Sample, and have each operator named: those of before are of nothing that is known. So many
    @runs, again and again, until one is met."""
    probe = sample(t, target, how=how)
    patience = target.patience()
    while True:
        target.run(runs)
        shown = t.opprobe("report", t.path("capture.opp"), "--json")
        if not shown.wait() and json.loads(shown.stdout)["recording"]["sampling"]["own"] > 0:
            return probe
        check(not patience.over(), "no operator was named", shown.stderr)


def record_all(t, target):
    """Every execution and every part of it, with probes. What is lost says nothing: once more."""
    patience = target.patience()
    while True:
        every = t.opprobe("record", "-p", target.pid, "-e", "none", "--no-cost", "--parts",
                          "--buffer", "256M", "-d", "1500ms", "-o", t.path("every.opp"))
        check_equal(every.wait(), 0, "exit status (%s)" % every.stderr[-2000:])
        lost = t.opprobe("report", t.path("every.opp"), "--json").finish().json["losses"]
        if not any(lost.values()):
            return
        check(not patience.over(), "something was lost again and again", lost)


@contextlib.contextmanager
def busy_machine(n):
    """So many more processes want a CPU meanwhile."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(n)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()

# SPDX-License-Identifier: GPL-2.0-only
"""--sample where CPUs go, and come into operation again: nobody else's are turned off for it."""

import signal
import time

from capture import Capture
from harness import check, check_equal, test

VERSIONS = ("1.30.0",)
WINDOW = 3e9  # ns


def turn(on):
    with open("/sys/devices/system/cpu/cpu1/online", "w", encoding="utf-8") as file:
        file.write(str(int(on)))


def busy(t):
    """How many CPUs were busy of late, by what samples stand for."""
    samples = Capture(t.path("capture.opp")).samples
    last = samples[-1].time if samples else 0
    if not samples or last - samples[0].time < WINDOW:
        return None
    return sum(one.amount for one in samples if one.time > last - WINDOW) / WINDOW


def wait_until(t, target, what, holds):
    patience = target.patience()
    while True:
        time.sleep(1)
        seen = busy(t)
        if seen is not None and holds(seen):
            return
        check(not patience.over(), what, seen)


@test("a CPU that comes into operation again is sampled again")
def _(t):
    target = t.ort_run("1.30.0", "cnn", "-t", "2")
    target.run(1)
    target.keep_running()
    probe = t.opprobe("record", "-p", target.pid, "--sample", "50", "-o",
                      t.path("capture.opp")).attached()
    try:
        wait_until(t, target, "both CPUs are busy", lambda seen: seen > 1.4)
        turn(False)
        wait_until(t, target, "one CPU is busy", lambda seen: seen < 1.2)
        turn(True)
        wait_until(t, target, "both CPUs are busy again", lambda seen: seen > 1.4)
    finally:
        turn(True)
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])

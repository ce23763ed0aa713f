# SPDX-License-Identifier: GPL-2.0-only
"""opprobe serve on this kernel: it is told who comes, and what ran."""

import collections
import os
import time

from harness import check, check_equal, test
from metrics import Serve

VERSIONS = ("1.30.0",)
DURATION = "opprobe_run_duration_seconds"


def executions_of(metrics):
    """Of each operator. What ran before a session's model was known is in a series without it."""
    found = collections.Counter()
    for labels, value in metrics.all("opprobe_operator_executions_total"):
        found[labels.get("node"), labels["op_type"]] += value
    return found


@test("metrics have all that processes ran that came later, one after the other")
def _(t):
    serving = Serve(t, "-a", "--comm", "ort_run", "--listen", "127.0.0.1:0", "--max-overhead",
                    "100%").waits()
    runs = 0
    for _ in range(2):
        target = t.ort_run("1.30.0", "tiny")
        serving.recorded(target)
        runs += target.run(20)["runs"]
        # What is told of runs and of operators is not of the same moment.
        metrics = serving.wait_until("runs are missing", lambda metrics: metrics.sum(
            DURATION + "_count") == runs and set(executions_of(metrics).values()) == {runs})
        target.close()
        serving.waits()
    executions = executions_of(metrics)
    check_equal(set(executions.values()), {runs}, "executions of each operator")
    check(len(executions) > 10, "operators", executions)
    check_equal(metrics.sum("opprobe_lost_total"), 0, "losses")
    serving.stop()


CPU1 = "/sys/devices/system/cpu/cpu1/online"


def set_online(on):
    with open(CPU1, "w", encoding="ascii") as file:
        file.write("1" if on else "0")


# Not in a machine of one CPU.
if os.path.exists(CPU1):
    @test("who comes on a CPU that was not there before is told of, too")
    def _(t):
        set_online(False)
        try:
            serving = Serve(t, "-a", "--comm", "ort_run", "--listen", "127.0.0.1:0", "--max-overhead",
                            "100%").waits()
        finally:
            set_online(True)
        # Once that was looked at, nobody looks through /proc for minutes.
        time.sleep(15)
        was = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {1})
        try:
            target = t.ort_run("1.30.0", "tiny")
        finally:
            os.sched_setaffinity(0, was)
        begun = time.monotonic()
        serving.recorded(target)
        check(time.monotonic() - begun < 120, "it was found by looking through /proc")
        serving.stop()

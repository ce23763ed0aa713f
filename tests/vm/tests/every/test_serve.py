# SPDX-License-Identifier: GPL-2.0-only
"""opprobe serve on this kernel: it is told who comes, and what ran."""

import collections

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

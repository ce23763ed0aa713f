# SPDX-License-Identifier: GPL-2.0-only
"""What recording costs the target is measured on the target, when the recording is over."""

import signal
import time

from harness import PERIOD, check, check_equal, test

RUNS = 300
THREADS = "4"


def cost(report):
    return report.json["recording"]["cost"]


def some_recorded(t, runs):
    """Wait until so many runs are in the capture."""
    t.recorded("no %d runs" % runs, lambda report: report["runs"] >= runs)


@test("recording makes runs slower by what the target itself finds")
def _(t):
    target = t.ort_run("1.30.0", "tiny", "-O", "0")
    target.run(RUNS)
    probe = t.attach(target)
    target.run(RUNS)
    probed = min(target.run(RUNS)["ns_per_run"] for _ in range(5))
    check_equal(cost(probe.stop())["pairs"], 0, "pairs although no runs came")
    bare = min(target.run(RUNS)["ns_per_run"] for _ in range(5))
    target.keep_running()
    probe = t.attach(target)
    some_recorded(t, 100)
    found = cost(probe.stop())
    truth = probed / bare - 1
    check(truth > 1, "tiny operators are hardly slower with probes: %.2f" % truth)
    check(found["slower"] is not None, "the cost is not known", found)
    # On a busy machine neither is exact, which the interval tells.
    check(truth / 2 < found["slower_high"] and found["slower_low"] < 2 * truth,
          "the target finds %.2f" % truth, found)
    check(found["slower_low"] <= found["slower"] <= found["slower_high"], "interval", found)
    check(found["pairs"] >= 6 and min(found["runs_probed"], found["runs_bare"]) >= 6,
          "few runs were compared", found)


@test("runs that are compared are not in the recording, and those in it are whole")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-c", THREADS)
    target.keep_running()
    for _ in range(3):
        probe = t.attach(target)
        some_recorded(t, 100)
        report = probe.stop().nothing_lost()
        check(cost(report)["pairs"] > 0, "nothing was compared", cost(report))
        runs = report.json["runs"]
        check_equal(report.json["runs_partial"], 0, "runs that lack operators")
        # One that was open when its probe went has not thrown.
        check_equal(sum(op["threw"] for op in report.operators), 0, "operators that threw")
        outside = report.json["outside_of_runs"]["count"]
        whole = sum(op["count"] for op in report.operators) - outside
        check_equal(whole, runs * len(report.operators), "executions in %d runs" % runs)
        # Those of the first and the last moment, not of what was compared, which on a busy machine
        # may be fewer runs than there are threads.
        runs = max(cost(report)["runs_probed"], 2 * int(THREADS))
        check(outside < runs * len(report.operators), "%d executions are of no run" % outside,
              cost(report))


@test("with --no-cost nothing is compared")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.keep_running()
    probe = t.attach(target, "--no-cost")
    some_recorded(t, 100)
    check_equal(cost(probe.stop())["pairs"], 0, "pairs")


@test("after a schedule, too, runs are compared, and those recorded are as many as it says")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.keep_running()
    probe = t.attach(target, "--schedule", "wait=10,active=20,repeat=2")
    report = probe.finish()
    check_equal(report.json["runs"], 40, "runs recorded")
    check(cost(report)["pairs"] > 0, "nothing was compared", cost(report))


@test("a second Ctrl-C ends the comparison, and nothing of the recording is lost")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.keep_running()
    probe = t.attach(target)
    some_recorded(t, 100)
    probe.signal(signal.SIGINT)
    time.sleep(PERIOD)
    probe.signal(signal.SIGINT)
    report = probe.finish()
    check(report.json["recording"]["complete"], "the end is missing", report.json["recording"])
    check(report.json["runs"] >= 100, "runs are missing", report.json["runs"])

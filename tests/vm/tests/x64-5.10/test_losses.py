# SPDX-License-Identifier: GPL-2.0-only
"""What is lost on a kernel that keeps the state of threads in a table of fixed size."""

from harness import check, check_counts, check_equal, described_counts, test

VERSIONS = ("1.30.0",)
THREADS = 1024  # that the table has room for
HELD = THREADS + 200
BATCH = 16 * 16  # new ones each time


@test("threads that have died leave room in the table for others")
def _(t):
    target = t.ort_run("1.30.0", "mlp", "-O", "0", "-s", "16", "-c", "16")
    probe = t.attach(target, "-e", "none", "--buffer", "64M")
    for _ in range(5):
        target.run(1)
    report = probe.stop().nothing_lost()
    check_equal(report.json["runs"], 5 * BATCH, "runs")
    check_counts(report.counts(), described_counts(t.model("mlp"), 5 * BATCH))


@test("threads beyond the table: their hits are counted, until others have left them room")
def _(t):
    target = t.ort_run("1.30.0", "mlp", "-O", "0", "-H")
    probe = t.attach(target, "-e", "none", "--buffer", "64M")
    target.ask("hold %d" % HELD)
    target.ask("let-go")
    report = probe.stop()
    told = {name: count for name, count in report.json["losses"].items() if count}
    threads = report.json["runs"]
    check(THREADS - 8 <= threads <= THREADS, "%d threads found room" % threads)
    # The others' runs began unseen; by the time they go on, the first have died.
    check_equal(told, {"threads_full": HELD - threads}, "losses")
    check_counts(report.counts(), described_counts(t.model("mlp"), HELD))
    once = sum(described_counts(t.model("mlp"), 1).values())
    check_equal(report.json["outside_of_runs"]["count"], (HELD - threads) * once,
                "operators of runs that were not seen to begin")

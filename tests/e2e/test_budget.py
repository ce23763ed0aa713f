# SPDX-License-Identifier: GPL-2.0-only
"""--max-overhead: probes take no more than they may, and what is recorded in their windows is whole."""

import collections
import json
import os
import signal
import time

from harness import (ProbeHits, changed_code, check, check_counts, check_equal, described_counts,
                     test)
from shares import BY_WINDOWS, on_this_machine

WINDOWS = 12
WINDOW_NS = 4e6  # that each is charged with beside hits


def record(t, target, share, *arguments):
    return t.opprobe("record", "-p", target.pid, "--max-overhead", share, "-o",
                     t.path("capture.opp"), *arguments).attached()


def windows_of(report):
    """The budget may not be in a capture yet."""
    return (report["recording"]["budget"] or {"windows": 0})["windows"]


def some_windows(t, windows=WINDOWS, target=None):
    """Wait until so many are in the capture; for as long as `target` works, if it is given."""
    t.recorded("no %d windows" % windows, lambda report: windows_of(report) >= windows, target)


def windows_so_far(t):
    """In the capture, in which there may be nothing yet."""
    report = t.opprobe("report", t.path("capture.opp"), "--json")
    return 0 if report.wait() else windows_of(json.loads(report.stdout))


def end(t, probe):
    """Ctrl-C; what was recorded."""
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
    return t.opprobe("report", t.path("capture.opp"), "--json").finish().nothing_lost()


def budget_of(report):
    return report.json["recording"]["budget"]


def whole(version, model, *options, share=None):
    @test("%s: %s: runs of windows have all of their operators, and no others" %
          (version, " ".join((model,) + options)))
    def _(t):
        per_cent = on_this_machine(t, share, BY_WINDOWS) if share else "20%"
        target = t.ort_run(version, model, *options)
        target.run(5)
        described = target_counts(t, target)
        target.keep_running()
        probe = record(t, target, per_cent, "-e", "none")
        some_windows(t)
        report = end(t, probe)
        check(report.json["runs"] >= WINDOWS, "%d runs" % report.json["runs"])
        check_counts(report.counts(), {key: count * report.json["runs"]
                                       for key, count in described.items()})
        # A task that was open when the probes went did not last until they came again.
        pool, took = report.json["pool"], report.json["recording"]["duration_ns"]
        check(pool["work_ns"] <= 0.15 * took * max(pool["threads"], 1), "the pool worked %.1f s of "
              "%.1f, although the probes were out" % (pool["work_ns"] / 1e9, took / 1e9))
        check_equal(pool.get("cpu_ns"), None, "CPU time of a pool that was seen in windows only")
        # The last window may have cost more than the ones before it: nothing comes behind it
        # for which it is saved again.
        budget = budget_of(report)
        before = budget["charged_ns"] * (1 - 2 / budget["windows"])
        check(before <= float(per_cent[:-1]) / 100 * budget["cpu_ns"],
              "more was charged than there was", budget)


def target_counts(t, target):
    """What one run executes, as a recording of every execution tells it."""
    probe = t.attach(target, "--no-cost")
    target.run(2)
    report = probe.stop().nothing_lost()
    os.unlink(t.path("capture.opp"))
    return {key: count // report.json["runs"] for key, count in report.counts().items()}


# Short runs, whose own probes go as well; nested ones; with pools; on pools; from changing depths.
for version in ("1.10.0", "1.14.0", "1.20.1", "1.30.0"):
    whole(version, "mlp", "-d")
    whole(version, "nested", "-d", "-c", "2")
    whole(version, "transformer", "-t", "2", "-s", "2")
whole("1.30.0", "branches", "-p", "-i", "3", "-t", "2", share=0.5)
whole("1.24.3", "branches", "-p", "-i", "3", "-c", "2", share=0.5)
whole("1.16.3", "resnet", "-t", "2", share=0.5)
# Operators alone would be within it, for good: what threads of the pool hit is not.
whole("1.30.0", "resnet", "-t", "2", share=2)


@test("what is charged is what the kernel says that probes were hit, and more")
def _(t):
    for model in "tiny", "mlp":
        target = t.ort_run("1.30.0", model, "-O", "0")
        target.keep_running()
        with ProbeHits(os.getpid()):  # from the first hit on
            probe = record(t, target, "10%", "-e", "none", "--no-cost")
            with ProbeHits(probe.pid) as hits:
                some_windows(t)
                counted = hits.count()
                report = end(t, probe)
        pairs = sum(counted[name] for name in ("ort_enter_index", "ort_exit", "ort_run_enter",
                                               "ort_run_exit")) / 2
        # On a machine that is too busy it is not known, and 5 us are taken for it.
        least = pairs * (report.json["recording"]["probe_nested_ns"] or 5000)
        budget = budget_of(report)
        charged = budget["charged_ns"] - WINDOW_NS * budget["windows"]
        check(least < charged, "%s: %d ns are charged for %d pairs of hits, which take %d at least"
              % (model, charged, pairs, least), counted)
        check(report.json["recording"]["cost"]["pairs"] >= 6, "nothing was compared")
        target.close()
        os.unlink(t.path("capture.opp"))


@test("a budget of some per cent is not used up by slowing many runs")
def _(t):
    target = t.ort_run("1.30.0", "transformer")
    target.run(5)
    target.keep_running()
    charged = {}
    # Runs with probes take several times as long: one of 400 is worth one per cent or so.
    # A window that is held up is paid for by as long a wait as it was longer.
    for share, windows in ("5%", 2), ("20%", 4):
        probe = record(t, target, share, "-e", "none")
        some_windows(t, windows, target)
        budget = budget_of(end(t, probe))
        check(not budget["all_runs_seen"] or budget["windows"] >= windows,
              "everything was recorded")
        charged[share] = budget["charged"]
        os.unlink(t.path("capture.opp"))
    check(charged["5%"] < 0.025, "within 5 %% were %.2f %% charged" % (100 * charged["5%"]))
    check(charged["20%"] > 0.05, "within 20 %% were %.2f %% charged" % (100 * charged["20%"]))


@test("where all of it is below the budget, everything is recorded")
def _(t):
    target = t.ort_run("1.30.0", "heavy")
    probe = record(t, target, "50%")
    while "everything is recorded" not in probe.stderr:
        target.run(3)
    target.run(20)
    report = end(t, probe)
    check(report.json["runs"] >= 20, "%d runs" % report.json["runs"])
    check_counts(report.counts(), {key: count * report.json["runs"] for key, count in
                                   described_counts(t.model("heavy"), 1).items()})
    check(budget_of(report)["all_runs_seen"], "runs were not seen")


@test("runs that are not recorded are counted, where their probes are within the budget")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-s", "2")
    probe = record(t, target, on_this_machine(t, 0.5, BY_WINDOWS), "--no-cost")
    done = 0
    while not done or windows_so_far(t) < 2:
        check(done < 20000, "no windows")
        target.run(50)
        done += 100
    report = end(t, probe)
    sessions = report.json["session_models"]
    seen = report.json["runs"] + sum(one["other_runs"] for one in sessions)
    check_equal(seen, done, "runs recorded and others")
    check(budget_of(report)["all_runs_seen"], "runs were not seen")
    took = sum(one["other_runs_ns"] for one in sessions)
    check(took > 500000 * done, "they took %d ns" % took)


@test("top within a budget tells of how many runs its rows are, and what is charged")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-s", "2", "-O", "0")
    share = on_this_machine(t, 0.5, BY_WINDOWS)
    watch = t.opprobe("top", "-p", target.pid, "--max-overhead", share, "--json", "-i",
                      "100ms").attached()
    done, windows, patience = 0, 0, target.patience()
    while not windows:
        check(not patience.over(), "no window")
        target.run(20)
        done += 40
        windows = windows_of(json.loads(watch.line())["report"])
    # Frames of a while ago come first.
    seen = 0
    while seen < done:
        check(not patience.over(), "%d of %d runs are told of" % (seen, done))
        frame = json.loads(watch.line())
        report = frame["report"]
        seen = report["runs"] + sum(one["other_runs"] for one in report["session_models"])
    check_equal(seen, done, "runs recorded and others")
    counts = collections.Counter()
    for row in report["operators"]:
        counts[row["name"]] += row["count"]
    check_counts(counts,
                 {key[0]: count * report["runs"] for key, count in
                  described_counts(t.model("resnet"), 1).items()})
    check_equal([frame["runs_per_second"], frame["probes_add"]], [None] * 2, "rates of all runs")
    budget = report["recording"]["budget"]
    share = float(share[:-1]) / 100
    check(abs(budget["share"] - share) < 1e-5 and 0 < budget["charged"] < 4 * share,
          "what is charged", budget)
    watch.signal(signal.SIGINT)
    check_equal(watch.wait(), 0, "exit status")


@test("of runs that are too short even for their own probes, none is seen between windows")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.keep_running()
    probe = record(t, target, "1%")
    probe.wait_for("runs are so short")
    some_windows(t, 3)
    report = end(t, probe)
    check(not budget_of(report)["all_runs_seen"], "all runs were seen")
    check_equal(budget_of(report)["unnamed_runs"], None, "others")
    check(all(one["other_runs"] is None for one in report.json["session_models"]), "others")
    shown = t.opprobe("report", t.path("capture.opp"), "--width", "200")
    check_equal(shown.wait(), 0, "status of report")
    check("Within the budget of 1 %," in " ".join(shown.stdout.split()), "the verdict",
          shown.stdout)
    check("Per run" in shown.stdout, "what a typical run took", shown.stdout)


@test("sessions that come and go between windows are never taken for one another")
def _(t):
    target = t.node("1.30.0")
    keep = target.load_plain(t.model("mlp"))
    target.run(keep, 5)
    probe = record(t, target, "10%", "-e", "none")
    # How names are read is found out while a session lives.
    while not windows_so_far(t):
        target.run(keep, 200)
    for i in range(1000):
        _, session = target.load_cycle(t.model("cycle"), i)
        target.run(session, 200)
        target.do("release", session=session)
        target.run(keep, 20)
        if i % 20 == 0 and windows_so_far(t) > 8:
            break
    report = end(t, probe)
    check(budget_of(report)["windows"] > 8, "few windows", budget_of(report))
    by_label, once = {}, described_counts(t.model("cycle"), 1)
    for op in report.operators:
        if "CYCLE" in op["name"]:
            label = op["name"][op["name"].index("CYCLE"):][:8]
            by_label.setdefault((op["session"], label), {})[
                op["name"].replace(label, "CYCLE000"), op["op_type"]] = op["count"]
    check(len(by_label) > 2, "few sessions had a window", list(by_label))
    check_equal(len({session for session, _ in by_label}), len(by_label),
                "a session had two names")
    for label, counts in by_label.items():
        runs = {count / once[key] for key, count in counts.items()}
        check_equal((len(counts), len(runs)), (len(once), 1), "operators of %s" % (label,))


@test("kill -9 amid windows leaves no breakpoint, and what was recorded")
def _(t):
    target = t.ort_run("1.30.0", "mlp", "-w", "10")
    target.keep_running()
    for _ in range(5):
        probe = record(t, target, "20%", "-e", "none")
        some_windows(t, 3)
        probe.signal(signal.SIGKILL)
        probe.wait()
        # What it had begun to put in or to take out is brought to its end without it.
        patience = target.patience()
        while changed_code(target.pid):
            check(not patience.over(), "breakpoints are left", changed_code(target.pid))
        report = t.opprobe("report", t.path("capture.opp"), "--json").finish()
        check(budget_of(report)["windows"] >= 3 and report.json["runs"] > 0, "nothing is left",
              budget_of(report))
        os.unlink(t.path("capture.opp"))
    check(target.alive(), "the target died", target.stderr)


@test("a target that ends while probes come and go ends the recording, and is no failure")
def _(t):
    for i in range(8):
        target = t.ort_run("1.30.0", "mlp")
        target.keep_running()
        probe = record(t, target, "50%", "-e", "none")
        some_windows(t, 2 + i % 3)
        target.signal(signal.SIGKILL)
        check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
        report = t.opprobe("report", t.path("capture.opp"), "--json").finish().nothing_lost()
        check_equal(report.json["recording"]["reason"], "target exited", "reason")
        check(report.json["runs"] > 0, "no runs")
        os.unlink(t.path("capture.opp"))


def counts_of(report, pid):
    """Of the operators of that process."""
    found = collections.Counter()
    for row in report["operators"]:
        if row["pid"] == pid:
            found[row["name"], row["op_type"]] += row["count"]
    return found


@test("runs that take long are in windows as well, beside those of others that do not")
def _(t):
    slow, quick = t.ort_run("1.30.0", "resnet"), t.ort_run("1.30.0", "transformer")
    described = target_counts(t, slow)
    for target in (slow, quick):
        target.keep_running()
    probe = t.opprobe("record", "-p", "%d,%d" % (slow.pid, quick.pid), "--max-overhead", "20%",
                      "-e", "none", "-o", t.path("capture.opp")).attached()
    seen = []

    def see(report):
        counts = counts_of(report, slow.pid)
        seen.append((windows_of(report), max(counts.values(), default=0) // max(described.values())))
        return True

    # The first one may be longer, as names become known in it.
    for more in (3, WINDOWS):
        before = seen[-1][0] if seen else 0
        t.recorded("no more windows are", lambda report, most=before + more:
                   windows_of(report) >= most and see(report))
    report = end(t, probe)
    (first, few), (last, many) = seen
    check(many - few >= (last - first) / 2, "long runs, of windows", seen)
    check_counts(counts_of(report.json, slow.pid), {
        key: number * (sum(counts_of(report.json, slow.pid).values()) // sum(described.values()))
        for key, number in described.items()})
    check(report.json["runs"] >= many + 4, "short runs", report.json["runs"], seen)


def places_of_probes(t, targets):
    """{address: byte of the file} by pid: of all that a recording of everything has."""
    probe = t.opprobe("record", "-p", ",".join(str(target.pid) for target in targets),
                      "-e", "none", "-o", t.path("capture.opp")).attached()
    places = {target.pid: changed_code(target.pid) for target in targets}
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status")
    os.unlink(t.path("capture.opp"))
    return places


def all_in_place(pid, places):
    with open("/proc/%d/mem" % pid, "rb", 0) as memory:
        return all(os.pread(memory.fileno(), 1, address)[0] != byte
                   for address, byte in places[pid].items())


@test("a window is of one process, of those that cannot have their probes for good")
def _(t):
    targets = [t.ort_run("1.24.3", "transformer") for _ in range(2)]
    for target in targets:
        target.run(5)
        target.keep_running()
    first, second = (target.pid for target in targets)
    places = places_of_probes(t, targets)
    probe = t.opprobe("record", "-p", "%d,%d" % (first, second), "--max-overhead", "20%",
                      "-e", "none", "-o", t.path("capture.opp")).attached()
    seen, both, patience = collections.Counter(), 0, targets[0].patience()
    while min(seen[first], seen[second]) < 20 or windows_so_far(t) < WINDOWS:
        check(not patience.over(), "all probes were in place so often", seen, both)
        for _ in range(200):
            found = [pid for pid in (first, second, first) if all_in_place(pid, places)]
            seen.update(found)
            both += len(found) == 3
    windows = budget_of(end(t, probe))["windows"]
    # One window may end, and others begin and end, between two looks.
    check(both <= min(seen[first], seen[second]) / 10, "in both at once", both, seen)
    view = t.opprobe("report", t.path("capture.opp"), "--json", "--group-by", "run")
    check_equal(view.wait(), 0, view.stderr)
    runs = sorted(json.loads(view.stdout)["operators"], key=lambda row: row["run"])
    pids = [row["pid"] for row in runs]
    check_equal(set(pids), {first, second}, "who has runs")
    changes = sum(a != b for a, b in zip(pids, pids[1:]))
    check(changes < windows, "in %d windows are runs of one behind those of another %d times" %
          (windows, changes), pids)


@test("who runs nothing in a window gives way to others")
def _(t):
    busy, other = (t.ort_run("1.24.3", "transformer") for _ in range(2))
    busy.keep_running()
    probe = t.opprobe("record", "-p", "%d,%d" % (busy.pid, other.pid), "--max-overhead", "20%",
                      "-e", "none", "-o", t.path("capture.opp")).attached()
    for _ in range(6):
        # It can pay for one, and is idle when it has it, if not amid what it runs.
        other.run(3000)
        some_windows(t, windows_so_far(t) + 2)
    end(t, probe)


@test("a model that had runs of which none was recorded is told")
def _(t):
    busy, once = t.ort_run("1.30.0", "resnet"), t.ort_run("1.30.0", "mlp")
    busy.keep_running()
    # Of so much the probes of its runs take little, so that they stay.
    probe = t.opprobe("record", "-p", "%d,%d" % (busy.pid, once.pid), "--max-overhead",
                      on_this_machine(t, 0.5, BY_WINDOWS), "-e", "none", "-o",
                      t.path("capture.opp")).attached()
    # In a window it is the first of its process, and left out as such.
    once.run(1)
    some_windows(t, 1, busy)
    report = end(t, probe)
    check_equal({row["pid"] for row in report.json["operators"]}, {busy.pid}, "of whom")
    (seen,) = {row["session"] for row in report.json["operators"]}
    view = t.opprobe("report", t.path("capture.opp"))
    check_equal(view.wait(), 0, view.stderr)
    text = " ".join(view.stdout.split())
    # None of its operators was seen, and none of their names.
    said = " session %d (pid %d) has no rows: none of its runs (1, " % (1 - seen, once.pid)
    check(said in text, text[-2000:])
    check_equal(text.count("has no rows"), 1, "sentences")


@test("of a process that is killed amid a run of a window nothing is lost, and others go on")
def _(t):
    one, other = (t.ort_run("1.30.0", "resnet") for _ in range(2))
    for target in (one, other):
        target.keep_running()
    probe = t.opprobe("record", "-p", "%d,%d" % (one.pid, other.pid), "--max-overhead", "50%",
                      "-e", "none", "-o", t.path("capture.opp"))
    probe.wait_for("everything is recorded")
    one.signal(signal.SIGKILL)
    one.wait()
    # What is open is looked at once a second, and is forgotten at the second time.
    killed = time.monotonic_ns()
    t.recorded("nothing is behind it", lambda report: time.monotonic_ns() - killed > 4e9 and
               report["recording"]["duration_ns"] > 4e9)
    report = end(t, probe)
    check_equal({row["pid"] for row in report.json["operators"]}, {one.pid, other.pid}, "of whom")


@test("a budget and what it cannot be had with is wrong usage")
def _(t):
    for text in ("0", "0%", "x", "-1%", "101%", "1%%", ""):
        process = t.opprobe("record", "-p", "1", "--max-overhead", text)
        check_equal(process.wait(), 2, "exit status of --max-overhead " + text)
        check("such as 1% or 0.5%" in process.stderr, "it does not say how", process.stderr)
    for other in (["--schedule", "active=1"], ["--runs", "1"], ["--min-duration", "1ms"],
                  ["--aggregate"], ["--memory"], ["--parts"]):
        process = t.opprobe("record", "-p", "1", "--max-overhead", "1%", *other)
        check_equal(process.wait(), 2, "exit status with %s" % other)
        check(other[0] in process.stderr, "it does not say with what", process.stderr)

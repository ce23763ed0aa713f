# SPDX-License-Identifier: GPL-2.0-only
"""What operators get from the runtime's allocators, and give back (--memory)."""

from harness import check, check_equal, programs_of, test
from memory import (COUNTED, check_balance, check_node, check_peaks, memory_of, peaks_of_runs,
                    record_peaks, run_until_peaks, statistics_of)
from symbols import finish, program, record

MODELS = ("resnet", "cnn", "transformer", "mlp", "gru", "branches")


def equals_the_runtimes_own(version, model, *options):
    @test("%s: %s: bytes of each node are those of the runtime's own statistics" %
          (version, " ".join((model,) + options)))
    def _(t):
        own = t.path("nodes.csv")
        target = t.ort_run(version, model, "-M", "-N", own, *options)
        target.run(3)
        probe = t.attach(target, "-e", "none", "--memory")
        target.run(10)
        found = probe.stop().nothing_lost()
        truth = statistics_of(own)
        check_equal({row["name"] for row in found.operators}, set(truth), "nodes")
        for row in found.operators:
            check_node(row, *truth[row["name"]])


for version in ("1.23.2", "1.24.3", "1.27.0", "1.30.0"):
    for model in MODELS:
        equals_the_runtimes_own(version, model)
equals_the_runtimes_own("1.24.3", "branches", "-p", "-i", "2")


def balances(version, *options):
    @test("%s: %s: all that runs get they give back, but for their outputs" %
          (version, " ".join(options) or "memory patterns"))
    def _(t):
        target = t.ort_run(version, "resnet", *options)
        target.run(3)
        probe = t.attach(target, "-e", "none", "--memory")
        target.run(20)
        total = check_balance(probe.stop().nothing_lost(), 10 * 4, 20)
        check_equal(total["allocs"] % 20, 0, "each run the same")


for version in ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0"):
    balances(version)
    balances(version, "-M")
# Since 1.24, or a little earlier, what an allocator without an arena returns is not seen.
for version in ("1.10.0", "1.14.0", "1.20.1"):
    balances(version, "-m")


@test("what an arena asks for when it grows is not what operators ask for")
def _(t):
    target = t.ort_run("1.24.3", "resnet", "-M")
    probe = t.attach(target, "-e", "none", "--memory")
    target.run(1)
    growing = {row["name"]: memory_of(row) for row in probe.stop().nothing_lost().operators}
    probe = t.attach(target, "-e", "none", "--memory")
    target.run(1)
    grown = {row["name"]: memory_of(row) for row in probe.stop().nothing_lost().operators}
    check_equal(growing, grown, "memory of operators in the first run and in a later one")


@test("every free finds its allocation: 100,000 blocks of 6 threads and 2 sessions")
def _(t):
    target = t.ort_run("1.30.0", "mlp", "-M", "-c", "3", "-s", "2")
    target.run(10)
    probe = t.attach(target, "-e", "none", "--memory")
    target.run(6000)
    total = check_balance(probe.stop().nothing_lost(), 1024, 6 * 6000)
    check(total["allocs"] >= 100000, "allocations", total)


@test("sessions that are released in between leave nothing that others seem to give back")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-M", "-s", "2")
    target.run(5)
    probe = t.attach(target, "-e", "none", "--memory")
    for released in range(5):
        target.run(20)
        t.named(2 * (released + 1))
        target.ask("recreate")
    target.run(20)
    check_balance(probe.stop().nothing_lost(), 1024, 6 * 2 * 20)


@test("runs that a schedule records give back what they get")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-M")
    target.run(5)
    probe = t.attach(target, "-e", "none", "--memory", "--schedule",
                     "wait=3,warmup=1,active=2,repeat=5")
    found = None
    while found is None:
        target.run(1)
        if not probe.alive():
            found = probe.stop()
    check_balance(found.nothing_lost(), 1024, 10)


def without_arena(version):
    @test("%s: without an arena, what operators ask for is told, and what is freed is absent" %
          version)
    def _(t):
        target = t.ort_run(version, "resnet", "-m")
        target.run(3)
        probe = t.attach(target, "-e", "none", "--memory")
        target.run(10)
        found = probe.stop().nothing_lost()
        check(any("without a memory arena" in note for note in found.json["notes"]), "notes",
              found.json["notes"])
        target = t.ort_run(version, "resnet", "-M")
        target.run(3)
        probe = t.attach(target, "-e", "none", "--memory")
        target.run(10)
        arena = {row["name"]: memory_of(row) for row in probe.stop().operators}
        for row in found.operators:
            memory = memory_of(row)
            same = arena[row["name"]]
            check_equal((memory["allocs"], memory["alloc-bytes"]),
                        (same["allocs"], same["alloc-bytes"]), row["name"])
            check_equal((memory["freed-bytes"], memory["temp-bytes"]), (None, None),
                        "what is freed by %s" % row["name"])


for version in ("1.24.3", "1.27.0", "1.30.0"):
    without_arena(version)


@test("memory patterns: a hint tells the run that shows what operators need, and --runs shows it")
def _(t):
    target = t.ort_run("1.24.3", "resnet")
    probe = t.attach(target, "-e", "none", "--memory")
    target.run(20)
    found = probe.stop().nothing_lost()
    hints = [hint for hint in found.json["hints"] if "memory patterns: " in hint]
    check_equal(len(hints), 1, "hints")
    check("19 runs of resnet.onnx got one block" in hints[0] and "--runs 0" in hints[0], "hint",
          hints)
    first = t.opprobe("report", t.path("capture.opp"), "--runs", "0", "--json").finish()
    later = t.opprobe("report", t.path("capture.opp"), "--runs", "1-", "--json").finish()
    asked = {row["name"]: memory_of(row)["alloc-bytes"] for row in first.operators}
    check(sum(asked.values()) > 2 << 20, "bytes of the first run", asked)
    check_equal(memory_of(first.json["between_operators"])["allocs"], 0, "blocks of it")
    check_equal(memory_of(later.json["between_operators"])["allocs"], 19, "blocks of the others")
    check_equal({memory_of(row)["alloc-bytes"] for row in later.operators}, {0, 19 * 40},
                "bytes of operators then: of the output alone")


def text_of(size):
    """As people read it."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1023.5:
            break
        size /= 1024
    return "%.*f %s" % (unit != "B", size, unit)


def check_doctor(t, target, own):
    found = t.opprobe("doctor", "-p", target.pid)
    check_equal(found.wait(), 0, "status of doctor")
    for arena in own:
        text = "arena of %s with %s in use, at most %s" % tuple(
            text_of(arena[key]) for key in ("TotalAllocated", "InUse", "MaxInUse"))
        check(text in found.stdout, "doctor lacks '%s'" % text, found.stdout)


def holds(version, model, *options):
    @test("%s: %s: what the arena holds is what the runtime itself says" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, *options)
        target.run(5)
        check_doctor(t, target, [target.ask("arena")])
        probe = t.attach(target, "-e", "none", "--memory")
        target.run(20)
        own = target.ask("arena")
        told = probe.stop().nothing_lost().json["session_models"][0]
        check_equal((told["arena_in_use_bytes"], told["arena_most_bytes"],
                     told["arena_total_bytes"]),
                    (own["InUse"], own["MaxInUse"], own["TotalAllocated"]), "bytes of the arena")
        check_doctor(t, target, [own])


for version in ("1.24.3", "1.27.0", "1.30.0"):
    holds(version, "resnet")
    holds(version, "transformer", "-M", "-t", "2")
    holds(version, "branches", "-p", "-i", "2")


def peaks(version, model, *options):
    @test("%s: %s: the peak of each run is the most that the runtime says its arena had given out" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, *options)
        target.run(3)
        found = record_peaks(t, target, 10)
        most = target.ask("arena")["MaxInUse"]
        check_peaks(t, most)
        check_equal((found.json["total"]["peak_bytes"], found.json["sum"]["peak_bytes"]),
                    (most, most), "peaks of all runs, and of all operators")


for version in ("1.23.2", "1.24.3", "1.27.0", "1.30.0"):
    for model in ("resnet", "transformer", "branches", "gru"):
        peaks(version, model, "-M")


def peaks_in_parallel(version):
    @test("%s: in parallel mode the peak of a run is of what its operators got on other threads" %
          version)
    def _(t):
        target = t.ort_run(version, "resnet", "-p", "-i", "2", "-M")
        target.run(3)
        rest = target.ask("arena")["InUse"]
        found = record_peaks(t, target, 10)
        most = target.ask("arena")["MaxInUse"]
        known = [peak for peak in peaks_of_runs(t) if peak is not None]
        check(len(known) >= 10, "peaks", known)
        # Which operators are on at once is not the same in each run.
        for peak in known:
            check(rest + (1 << 20) < peak <= most, "peak", peak, rest, most)
        check_equal(found.json["total"]["peak_bytes"], max(known), "peak of all runs")


for version in ("1.24.3", "1.30.0"):
    peaks_in_parallel(version)


def peaks_plausibly(version):
    @test("%s: the peak of each run is the most that its arena tells" % version)
    def _(t):
        target = t.ort_run(version, "resnet", "-M")
        target.run(3)
        found = record_peaks(t, target, 3)
        check_peaks(t, found.json["session_models"][0]["arena_most_bytes"])


for version in ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1"):
    peaks_plausibly(version)


@test("an operator's peak has what lies in the arena at rest and what it got itself")
def _(t):
    own = t.path("nodes.csv")
    target = t.ort_run("1.24.3", "gru", "-M", "-N", own)
    target.run(3)
    rest = target.ask("arena")["InUse"]
    found = record_peaks(t, target, 3)
    truth = statistics_of(own)
    known = [row for row in found.operators if row["peak_bytes"] is not None]
    check_equal(len(known), len(found.operators), "operators whose peak is known")
    for row in known:
        check(row["peak_bytes"] >= rest + truth[row["name"]][0], "peak of %s" % row["name"],
              row["peak_bytes"], rest, truth[row["name"]])
    check(len({row["peak_bytes"] for row in known}) > 1, "peaks of operators", known)
    last = t.opprobe("report", t.path("capture.opp"), "--runs",
                     str(found.json["runs"] - 1), "--json").finish()
    check_equal({row["name"]: row["peak_bytes"] for row in last.operators},
                {row["name"]: row["peak_bytes"] for row in known}, "peaks in the last run")


@test("what operators inside of others got of the arena is in the peak of these")
def _(t):
    target = t.ort_run("1.24.3", "nested", "-M")
    target.run(3)
    last = record_peaks(t, target, 3).json["runs"] - 1
    report = t.opprobe("report", t.path("capture.opp"), "--tree", "--runs", str(last),
                       "--json").finish()
    rows = {(row["name"], row["depth"]): row["peak_bytes"] for row in report.operators}
    inside = [(row, rows[row["parent"], row["depth"] - 1])
              for row in report.operators if row["depth"]]
    check(len(inside) > 3, "operators inside of others", report.operators)
    for row, around in inside:
        check(row["peak_bytes"] <= around, "peak around %s" % row["name"], row, around)
    check(any(row["peak_bytes"] == around for row, around in inside), "peaks", inside)


@test("a block that memory patterns get is in the peak of its run and of all that ran in it")
def _(t):
    target = t.ort_run("1.24.3", "resnet")
    target.run(3)
    rest = target.ask("arena")["InUse"]
    found = record_peaks(t, target, 3)
    check(memory_of(found.json["between_operators"])["allocs"] >= 4, "blocks", found.json["total"])
    # It is less than what the first run got, each operator for itself.
    check(rest + (1 << 20) < found.json["total"]["peak_bytes"] < target.ask("arena")["MaxInUse"],
          "peak of runs", rest, found.json["total"]["peak_bytes"])
    peaks = {row["peak_bytes"] for row in found.operators}
    check(None not in peaks and max(peaks) == found.json["total"]["peak_bytes"],
          "peaks of operators", peaks)


@test("the first run of a session, which gets no block, has the peak of its operators")
def _(t):
    target = t.ort_run("1.24.3", "resnet")
    probe = t.attach(target, "-e", "none", "--memory")
    run_until_peaks(t, target)
    target.ask("recreate")
    target.run(4)
    probe.stop().nothing_lost()
    first, *later = peaks_of_runs(t)[-4:]
    check_equal(first, target.ask("arena")["MaxInUse"], "peak of the first run")
    check_equal(len(set(later)), 1, "peaks of later ones")
    check(later[0] < first, "peaks", first, later)


@test("runs of two sessions at once have the peaks of their own arenas")
def _(t):
    target = t.ort_run("1.24.3", "resnet", "-M", "-s", "2")
    target.run(3)
    check_equal(len(record_peaks(t, target, 30).json["session_models"]), 2, "sessions")
    check_peaks(t, target.ask("arena")["MaxInUse"])


@test("a run of before it was known where its arena counts has no peak, nor without an arena")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-M")
    target.run(3)
    probe = t.attach(target, "-e", "none", "--memory")
    run_until_peaks(t, target)
    probe.stop().nothing_lost()
    check_equal(peaks_of_runs(t)[0], None, "peak of the first run")
    target = t.ort_run("1.20.1", "mlp", "-m")
    target.run(3)
    probe = t.attach(target, "-e", "none", "--memory")
    target.run(50)
    report = probe.stop().nothing_lost()
    check("peak_bytes" not in report.json["total"], "peak without an arena", report.json["total"])


def arenas_told(t, target):
    """In use, at most and in all, of each session's arena; None of one that is not known."""
    probe = t.attach(target, "-e", "none", "--memory")
    target.run(5)
    told = probe.stop().nothing_lost().json["session_models"]
    check_equal(len(told), 2, "sessions")
    return [tuple(session["arena_%s_bytes" % key] for key in ("in_use", "most", "total"))
            if session["arena_in_use_bytes"] is not None else None for session in told]


def holds_plausibly(version):
    @test("%s: each of two sessions has an arena of its own, which the table and doctor tell of" %
          version)
    def _(t):
        target = t.ort_run(version, "resnet", "-s", "2")
        target.run(5)
        sizes = arenas_told(t, target)
        # What is left in memory may lead from one to the other: then neither is believed.
        for _ in range(6):
            if None in sizes:
                target.ask("recreate")
                target.run(5)
                sizes = arenas_told(t, target)
        check(None not in sizes, "arenas", sizes)
        # A block of 1.4 MiB is given out in each run, and back.
        for in_use, most, total in sizes:
            check(0 < in_use < in_use + (1 << 20) < most <= total < 1 << 26, "bytes", sizes)
        check_doctor(t, target, [{"InUse": in_use, "MaxInUse": most, "TotalAllocated": total}
                                 for in_use, most, total in sizes])


for version in ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1"):
    holds_plausibly(version)


@test("without an arena, and without --memory, a recording says nothing of arenas")
def _(t):
    target = t.ort_run("1.24.3", "resnet", "-m")
    target.run(3)
    probe = t.attach(target, "-e", "none", "--memory")
    target.run(3)
    session = probe.stop().json["session_models"][0]
    check_equal((session["arena"], session["arena_most_bytes"]), (False, None), "arena")
    target = t.ort_run("1.24.3", "resnet")
    target.run(3)
    probe = t.attach(target, "-e", "none")
    target.run(3)
    session = probe.stop().json["session_models"][0]
    check_equal((session["arena"], session["arena_most_bytes"]), (True, None), "arena")


@test("a table has what operators get as sizes, and --memory is beside the events")
def _(t):
    target = t.ort_run("1.24.3", "gru")
    target.run(3)
    probe = t.attach(target, "--memory", "-e", "allocs=blocks,page-faults")
    target.run(10)
    found = probe.stop().nothing_lost()
    check_equal(set(found.operators[0]["counters"]),
                {"blocks", "page-faults", "alloc-bytes", "freed-bytes", "temp-bytes"}, "events")
    report = t.opprobe("report", t.path("capture.opp"), "--columns", "name,avg:temp-bytes")
    check_equal(report.wait(), 0, "status")
    check("38.0 KiB" in report.stdout, "temporary bytes of GRU", report.stdout)


@test("events of memory take no modifiers")
def _(t):
    target = t.ort_run("1.24.3", "mlp")
    failed = t.fails("record", "-p", target.pid, "-e", "alloc-bytes:u")
    check("without a modifier" in failed, "sentence", failed)


@test("without --memory, no allocator is probed")
def _(t):
    target = t.ort_run("1.24.3", "mlp")
    target.run(3)
    ours = {"ort_alloc_enter", "ort_alloc_chunk", "ort_free"}
    probe = t.attach(target)
    check(not ours & set(programs_of(probe.child.pid).values()), "programs of memory",
          programs_of(probe.child.pid))
    target.run(2)
    probe.stop()
    probe = t.attach(target, "--memory")
    check(ours <= set(programs_of(probe.child.pid).values()), "programs of memory",
          programs_of(probe.child.pid))
    target.run(2)
    probe.stop()


@test("memory of a runtime whose allocators are not known is absent")
def _(t):
    target = program(t)
    probe = record(t, target, "-e", "task-faults", "--memory")
    target.do("all 2")
    found = finish(t, probe).nothing_lost()
    check_equal(memory_of(found.json["sum"]), dict.fromkeys(COUNTED), "memory")
    check(found.json["sum"]["counters"]["task-faults"]["total"] is not None, "other counters")
    check(any("memory that operators get is not told" in note for note in found.json["notes"]),
          "notes", found.json["notes"])


def arena_in_balance(t, target, **options):
    """A session of it gives back all but its outputs; what is told of its arena."""
    session = target.load(t.model("cnn"), **options)
    target.run(session, 5)
    probe = t.attach(target, "-e", "none", "--memory")
    target.run(session, 30)
    found = probe.stop().nothing_lost()
    check_balance(found, 40, 30)
    told = found.json["session_models"][0]
    check(0 < told["arena_in_use_bytes"] < told["arena_most_bytes"] <= told["arena_total_bytes"],
          "arena", told)
    return told


@test("node.js: all that runs get they give back, but for their outputs, and there is an arena")
def _(t):
    arena_in_balance(t, t.node("1.27.0"), enableMemPattern=False)


@test("Debian's Python: all that runs get they give back, and the table and doctor tell of the arena")
def _(t):
    target = t.debian_python()
    told = arena_in_balance(t, target, enable_mem_pattern=False)
    check_doctor(t, target, [{"InUse": told["arena_in_use_bytes"],
                              "MaxInUse": told["arena_most_bytes"],
                              "TotalAllocated": told["arena_total_bytes"]}])

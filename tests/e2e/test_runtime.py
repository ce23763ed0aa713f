# SPDX-License-Identifier: GPL-2.0-only
"""A runtime that no release has (tests/runtime): thousands of functions of a program, known by
their symbols, which nest and throw; no runs, no sessions, no shapes. What opprobe records of it
is what the program itself counted, and no view speaks of what there is not."""

import collections
import csv
import io
import json
import os
import re
import shutil
import signal
import time

from harness import PERIOD, check, check_counts, check_equal, descriptors, program_names, test
from symbols import (DEPTH, OPERATORS, THROWN, built, by, executions, finish, program, record,
                     report, shown)

INSTANCES = 64  # files of runtimes in processes, that one recording takes
SITES = {"symbols_enter", "symbols_exit", "exception_caught"}


@test("runtime of symbols: what nests on three threads is recorded as the program counted it")
def _(t):
    target = program(t, 3)
    probe = record(t, target)
    truth = target.do("all 2") + target.do("deep 3 %d" % DEPTH)
    found = finish(t, probe).nothing_lost()
    check_counts(executions(t), truth, "executions by thread, name, depth, parent")
    check_equal(len(by(truth, lambda tid, *_: tid)), 6, "threads")
    check_counts(found.counts(), by(truth, lambda tid, name, *_: (name, name.split("_")[1])))
    check(sum(op["op_type"] == "leaf" for op in found.operators) == 2000 and
          sum(op["op_type"] == "nest" for op in found.operators) == 1000, "not all were seen")


@test("runtime of symbols: operators that an exception leaves are told, and nobody is inside them")
def _(t):
    target = program(t, 2)
    probe = record(t, target)
    truth = collections.Counter()
    for levels in range(1, THROWN + 1):
        truth += target.do("throw 5 %d" % levels)
    truth += target.do("all 1")
    found = finish(t, probe).nothing_lost()
    check_counts(executions(t), truth, "executions by thread, name, depth, parent, threw")
    check_equal(found.json["sum"]["threw"], 2 * 5 * sum(range(1, THROWN + 1)), "left by exceptions")
    check_equal({op["op_type"] for op in found.operators if op["threw"]}, {"fall"}, "who threw")


@test("runtime of symbols: of many that one exception leaves, those not told are counted as lost")
def _(t):
    target = program(t)
    probe = record(t, target)
    truth = target.do("throw 7 9") + target.do("deep 2 3")
    found = finish(t, probe)
    told = executions(t)
    check_equal(found.losses(), {"too_deep": 7 * (9 - THROWN)}, "losses")
    check_equal(sum(told.values()) + found.json["lost"], sum(truth.values()), "recorded and lost")
    check_counts(told, collections.Counter({
        key: count for key, count in truth.items()
        if not key[4] or key[2] > 9 - THROWN}), "executions that are told")


def told_of_part(t):
    """Executions of the operator in symbols_part.cc, per thread, and all the others."""
    told = executions(t)
    parts = {key: count for key, count in told.items() if key[1] == "op_part_0000"}
    return sorted(parts.values()), told - collections.Counter(parts)


@test("runtime of symbols: two of its files in a process, and what they share has one probe")
def _(t):
    target = program(t, 2, "symbols_few", LD_PRELOAD=built(t, "symbols_part.so"))
    probe = record(t, target)
    check_equal(links(probe.pid), sorted(name[:15] for name in
                                         2 * ["symbols_enter", "symbols_exit"] +
                                         ["exception_caught"]), "links")
    truth = target.do("throw 5 3") + target.do("all 1")
    target.do("part 7")
    truth += target.do("throw 5 3")
    finish(t, probe).nothing_lost()
    parts, others = told_of_part(t)
    check_equal(parts, [7, 7], "executions in the other file")
    check_counts(others, truth)


@test("runtime of symbols: a file whose operators cannot be told apart, or ended, gets no probe")
def _(t):
    for name, why in (("symbols_bare.so", "there is no place for probes in op_bare_0000"),
                      ("symbols_twin.so", "two probes would share the instruction at offset 0x")):
        target = program(t, 1, "symbols_few", LD_PRELOAD=built(t, name))
        made = t.opprobe("doctor", "--file", built(t, name))
        check_equal(made.wait(), 1, "status of doctor")
        check("%s: %s" % (name, why) in made.stderr, "not refused", made.stderr)
        probe = record(t, target)
        truth = target.do("all 1")
        target.do("part 3")
        finish(t, probe).nothing_lost()
        check_counts(executions(t), truth)
        os.unlink(t.path("capture.opp"))


@test("runtime of symbols: files loaded later are recorded, and too many leave the others recorded")
def _(t):
    target = program(t, 1, "symbols_few")
    probe = record(t, target)
    truth = target.do("all 1")
    check(target.ask("load " + built(t, "symbols_part.so"))["ok"], "not loaded")
    probe.wait_for("process %d has loaded the operators of a test" % target.pid)
    target.do("part 5")
    for numbers in range(INSTANCES), [INSTANCES]:
        for number in numbers:
            path = t.path("symbols_%d.so" % number)
            shutil.copy(built(t, "symbols_part.so"), path)
            check(target.ask("load " + path)["ok"], "not loaded")
        probe.wait_for("which is not recorded: ")
    check("as many as one recording takes" in probe.stderr, "why not", probe.stderr)
    target.do("part 3")
    truth += target.do("throw 4 2")
    finish(t, probe).nothing_lost()
    parts, others = told_of_part(t)
    check_equal(parts, [3, 5], "executions in the file that was loaded")
    check_counts(others, truth)


@test("runtime of symbols: of more sections than are told apart, the work of the rest is lost")
def _(t):
    target = program(t, 2, "symbols_few", LD_PRELOAD=built(t, "symbols_wide.so"))
    probe = record(t, target)
    target.do("wide 5")
    found = finish(t, probe)
    check_equal(found.losses(), {"work_lost": 2 * 5}, "losses")
    check_equal(sorted((key[1], count) for key, count in executions(t).items()),
                2 * [("op_wide_0000", 5)], "executions")


@test("runtime of symbols: a file loaded later that needs other programs is told of, with the remedy")
def _(t):
    target = program(t, 1, "symbols_few")
    probe = record(t, target)
    check(target.ask("load " + built(t, "symbols_wide.so"))["ok"], "not loaded")
    said = probe.wait_for("which is not recorded: ")
    check("start another recording" in said, "no remedy", said)
    truth = target.do("all 1")
    target.do("wide 1")
    finish(t, probe).nothing_lost()
    check_counts(executions(t), truth)


@test("runtime of symbols: recursion deeper than is followed: recorded and lost are all there were")
def _(t):
    target = program(t, 2)
    probe = record(t, target)
    truth = target.do("deep 11 40") + target.do("all 1")
    found = finish(t, probe)
    check_equal(found.losses(), {"too_deep": sum(count for key, count in truth.items()
                                              if key[2] >= DEPTH)}, "losses")
    check_counts(executions(t), collections.Counter({
        key: count for key, count in truth.items() if key[2] < DEPTH}))


@test("runtime of symbols: self time is what an operator spent in itself")
def _(t):
    target = program(t, 2)
    probe = record(t, target)
    spent = collections.Counter()
    for entry in target.ask("spin 4 3000")["executions"]:
        spent[entry[1]] += entry[6]
    finish(t, probe).nothing_lost()
    found = report(t, "--no-compensate")
    outer, inner = (found.operator("op_spin_000%d" % n) for n in (0, 1))
    check(spent["op_spin_0001"] <= inner["total_ns"] == inner["self_ns"], "time of the inner one",
          spent, inner)
    check_equal(outer["self_ns"], outer["total_ns"] - inner["total_ns"], "self time")
    check(spent["op_spin_0000"] <= outer["self_ns"] <= outer["total_ns"] - spent["op_spin_0001"],
          "time of the outer one", spent, outer)


@test("runtime of symbols: table, JSON, CSV, tree and groups agree, and speak of no runs")
def _(t):
    target = program(t, 2)
    probe = record(t, target)
    truth = target.do("all 1") + target.do("spin 2 100")
    finish(t, probe).nothing_lost()
    capture, total = t.path("capture.opp"), sum(truth.values())
    names = by(truth, lambda tid, name, *_: name)

    def counts(*options):
        rows = csv.DictReader(io.StringIO(shown(t, "report", capture, "--csv", *options)))
        return collections.Counter({row["name"]: int(row["count"]) for row in rows})

    check_counts(counts(), names, "rows of CSV")
    check_counts(counts("--group-by", "op"), by(truth, lambda tid, name, *_: name.split("_")[1]))
    threads = report(t, "--group-by", "thread")
    check_counts(collections.Counter({row["tid"]: row["count"] for row in threads.operators}),
                 by(+collections.Counter({key: count for key, count in truth.items()
                                          if key[2] == 0}), lambda tid, *_: tid), "threads")
    paths = report(t, "--tree").operators
    check_equal(sum(row["count"] for row in paths), total, "executions of the tree")
    check_counts(collections.Counter({(row["name"], row["depth"]): 0 for row in paths}),
                 collections.Counter({key: 0 for key in by(truth, lambda _, name, depth, *__:
                                                           (name, depth))}), "nodes of the tree")
    for options in ([], ["--tree"], ["--group-by", "op"], ["--group-by", "thread"]):
        text = shown(t, "report", capture, *options)
        rows = text.split("\n\n", 1)[1]
        check(re.search(r"^Sum +{:,} ".format(total if "thread" not in options else
                                              sum(c for k, c in truth.items() if not k[2])),
                        rows, re.M), "the sum is another one", rows[-800:])
        check(not re.search(r"\b(run|runs|session|sessions|model|Total)\b",
                            rows.replace("Total ", "", 1)),
              "it speaks of what there is not", options, rows[-800:])


@test("runtime of symbols: the trace has every execution, on its thread and inside its parent")
def _(t):
    target = program(t, 2)
    probe = record(t, target)
    truth = target.do("all 1") + target.do("throw 3 2")
    finish(t, probe).nothing_lost()
    trace = json.loads(shown(t, "export", t.path("capture.opp"), "--format", "chrome"))
    found, opened = collections.Counter(), collections.defaultdict(list)
    for event in sorted((event for event in trace["traceEvents"] if event["ph"] in "Xi"),
                        key=lambda event: (event["ts"], -event.get("dur", 0))):
        name = event["name"]
        check_equal(event["args"]["op_name"], name.split("_")[1], "type of %s" % name)
        check("run" not in event["args"] and "session" not in event["args"], "a run", event)
        around = opened[event["tid"]]
        while around and around[-1][1] < event["ts"]:
            around.pop()
        if event["ph"] == "i":
            # Of one that an exception left, no end is known: a point in time.
            check_equal(event["args"]["threw"], True, "what is said of a point in time")
            found[event["tid"], name, None, True] += 1
            continue
        found[event["tid"], name, around[-1][0] if around else None, False] += 1
        check(not around or event["ts"] + event["dur"] <= around[-1][1] + 0.002,
              "it lasts longer than what it is inside of", event, around)
        around.append((name, event["ts"] + event["dur"]))
    check_counts(found, by(truth, lambda tid, name, depth, around, threw:
                           (tid, name, None if threw else around, threw)), "slices")


@test("runtime of symbols: what needs runs or shapes is refused, or said to be absent")
def _(t):
    target = program(t)
    capture = t.path("capture.opp")
    for option, value in (("--schedule", "wait=1,active=1"), ("--runs", "0-3"),
                          ("--min-duration", "1ms"), ("--max-overhead", "1%")):
        sentence = t.fails("record", "-p", target.pid, "-o", capture, option, value)
        check("runs" in sentence and "record all of it" in sentence, "the sentence is another one",
              sentence)
        check(not os.path.exists(capture), "a capture of nothing was left")
    probe = record(t, target, "--shapes")
    truth = target.do("deep 3 3")
    found = finish(t, probe).nothing_lost()
    check_counts(executions(t), truth)
    check("shapes are not read from" in probe.stderr, "nothing is said of shapes", probe.stderr)
    check_equal((found.json["runs"], found.json["sessions"]), (0, 0), "runs and sessions")


@test("runtime of symbols: what is not to be had is said of each process, and kept")
def _(t):
    targets = [program(t, 1, "symbols_few") for _ in range(2)]
    probe = t.opprobe("record", "-p", ",".join(str(target.pid) for target in targets), "--shapes",
                      "-e", "none", "-o", t.path("capture.opp")).attached()
    for target in targets:
        target.do("all 1")
    found = finish(t, probe)
    wanted = ["process %d: shapes are not read from the operators of a test" % target.pid
              for target in targets]
    check_equal([note for note in found.json["notes"] if "shapes" in note], wanted, "notes kept")
    check_equal([line.partition("opprobe: ")[2] for line in probe.stderr.splitlines()
                 if "shapes" in line], wanted, "notes said")


@test("runtime of symbols: a recording of nothing says so, and does not speak of a model's run")
def _(t):
    target = program(t)
    probe = record(t, target, "-d", "100ms")
    check_equal(probe.wait(), 0, "status of record")
    check("waiting" not in probe.stderr, "it waits for something", probe.stderr)
    text = shown(t, "report", t.path("capture.opp"))
    check("none ran in this time" in text and "runs" not in text, "the sentence is another one",
          text)


# -- links and breakpoints -----------------------------------------------------------

def links(pid):
    """The links of a process that belong to the runtime of symbols: the names of their programs."""
    programs = program_names()
    names = [programs.get(int(fields["prog_id"]), "")[:15] for fields in descriptors(pid)
             if "link_type" in fields]
    return sorted(name for name in names if name in {site[:15] for site in SITES})


def places(t, target):
    """{address of a place for a probe in the process: its first byte in the file}"""
    path = target.arguments[0]
    made = t.opprobe("doctor", "--file", path, "--json")
    check_equal(made.wait(), 0, "status of doctor")
    offsets = [site["offset"] for site in json.loads(made.stdout)["sites"]]
    with open(path, "rb") as file:
        content = file.read()
    with open("/proc/%d/maps" % target.pid, encoding="utf-8") as maps:
        mapped = [line.split() for line in maps if " r-xp " in line and line.rstrip().endswith(path)]
    start = int(mapped[0][0].split("-")[0], 16) - int(mapped[0][2], 16)
    return {start + offset: content[offset] for offset in offsets}


def is_original(target, expected):
    """Of each of such places, whether it is as in the file."""
    with open("/proc/%d/mem" % target.pid, "rb", 0) as memory:
        return [os.pread(memory.fileno(), 1, address)[0] == byte
                for address, byte in expected.items()]


def fastest(target):
    return min(target.ask("all 1")["ns"] for _ in range(5))


@test("runtime of symbols: thousands of sites are one link per program, and leave nothing behind")
def _(t):
    target = program(t)
    expected = places(t, target)
    check(len(expected) >= 2 * OPERATORS, "so few sites: %d" % len(expected))
    check(all(is_original(target, expected)), "the code before is not its file's")
    before = fastest(target)
    probe = record(t, target)
    check_equal(links(probe.pid), sorted(name[:15] for name in SITES), "links")
    check(not any(is_original(target, expected)), "a site has no probe")
    truth = target.do("all 1")
    finish(t, probe).nothing_lost()
    target.do("all 1")
    check_counts(executions(t), truth)
    check(all(is_original(target, expected)), "the code after is not its file's")
    after = fastest(target)
    check(after < 4 * before, "it is slower than before: %d and %d ns" % (after, before))


def kill_in_the_middle(target, probe, expected, change):
    """Kill opprobe once the first of some places is, or is not any more, as it is in the file."""
    some = dict(list(expected.items())[::100])
    patience = target.patience()
    while not any(is_original(target, some)) if change == "detach" else \
            all(is_original(target, some)):
        check(not patience.over(), "breakpoints do not %s" % change)
    probe.signal(signal.SIGKILL)
    check_equal(probe.wait(), -signal.SIGKILL, "status")
    # What takes them out goes on.
    while not all(is_original(target, expected)):
        check(not patience.over(), "breakpoints stay")
        time.sleep(PERIOD / 50)
    target.do("all 1")


@test("runtime of symbols: kill -9 in the middle of attaching or detaching leaves no breakpoint")
def _(t):
    target = program(t)
    expected = places(t, target)
    for turn in range(3):
        probe = t.opprobe("record", "-p", target.pid, "--no-cost", "-o", t.path("%d.opp" % turn))
        kill_in_the_middle(target, probe, expected, "attach")
        probe = record(t, target, "--no-cost")
        check(not any(is_original(target, expected)), "a site has no probe")
        probe.signal(signal.SIGINT)
        kill_in_the_middle(target, probe, expected, "detach")

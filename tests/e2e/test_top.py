# SPDX-License-Identifier: GPL-2.0-only
"""opprobe top: what is on a real terminal is what ran, and keys do what they say."""

import collections
import glob
import json
import os
import re
import signal
import subprocess

from harness import LIMIT, check, check_equal, one_sentence, programs_of, succeeds, test
from patience import Patience
from shares import BY_WINDOWS, on_this_machine
from terminal import Terminal


def top(t, terminal, *arguments):
    """Watch: returns when the screen is there."""
    terminal.run("%s top %s; echo status=$?" % (t.program, " ".join(map(str, arguments))))
    terminal.wait_for("[q]uit")


def pid_of_top(t):
    made = subprocess.run(["pgrep", "-x", "-f", "%s top .*" % t.program], stdout=subprocess.PIPE,
                          check=True)
    return int(made.stdout.split()[0])


def rows(screen):
    """The table: {name: {heading: cell}}. Cells are apart by two spaces or more."""
    (at,) = [i for i, line in enumerate(screen) if line.startswith("Name ")]
    headings = [(m.group(), m.end()) for m in re.finditer(r"\S+(?: \S+)*", screen[at])]
    table = {}
    for line in screen[at + 2:]:
        cells = re.split(r" {2,}", line.strip())
        if len(cells) == len(headings):
            table[cells[0]] = dict(zip([title for title, _ in headings], cells))
    return table


def ended(terminal, status=0):
    """It has ended, and left the terminal as it was."""
    terminal.wait_for("status=%d" % status)
    check(not terminal.alternate(), "the screen is still the other one")


def check_histogram(screen, executions):
    """An operator that is looked into has so many, in its summary and in its histogram."""
    check(re.match(r"%d times in .* s, .* in all, p50 .*, p99 " % executions, screen[1]),
          "the summary", *screen)
    counted = sum(int(line.split()[-1].replace(",", "")) for line in screen
                  if re.match(r" *\d+ \S*s to ", line))
    check_equal(counted, executions, "executions in the histogram")


@test("top in 80 x 24 shows what runs, and q gives the terminal back")
def _(t):
    target = t.ort_run("1.24.3", "mlp")
    terminal = Terminal(t)
    before = terminal.settings()
    top(t, terminal, "-p", target.pid)
    check(terminal.alternate(), "it is not on a screen of its own")
    check(not terminal.reads_lines(), "keys are read as they were")
    terminal.wait_for("waiting for the first operator")
    target.run(20)
    screen = terminal.wait_for("between operators")
    check(len(screen) == 24 and max(map(len, screen)) <= 80, "the size", *screen)
    check(screen[0].startswith("opprobe top  ort_run (%d), onnxruntime 1.24.3" % target.pid),
          "the title", *screen)
    check(re.match(r"runs [\d.,]+/s  p50 .*s  p99 .*p99 by the second", screen[1]), "runs",
          *screen)
    check(re.match(r"on CPU \d+ %  waiting .*lost 0$", screen[2]), "shares", *screen)
    for name, row in rows(screen).items():
        if name != "between operators":
            check(re.search("[\u2588-\u258f]", row["Bar"]), "a bar", row)
    terminal.press("q")
    ended(terminal)
    check_equal(terminal.settings(), before, "the terminal's settings")
    check(not programs_of(target.pid), "programs are left", programs_of(target.pid))
    target.run(3)


@test("rows of top are those of a report of the capture that it writes, and of all groups")
def _(t):
    target = t.ort_run("1.24.3", "transformer", "-O", "0")
    terminal = Terminal(t, 200, 70)
    top(t, terminal, "-p", target.pid, "--shapes")
    target.run(12)
    terminal.wait_for("between operators")
    for key, group in ("n", "node"), ("o", "op"), ("e", "session"), ("t", "thread"), \
            ("x", "process"):
        terminal.press(key)
        terminal.wait_for("by %s, the last" % group)
        terminal.press("w")
        screen = terminal.wait_for("written: opprobe report ")
        path = re.search(r"opprobe report (\S+)", screen[-1]).group(1)
        report = json.loads(succeeds(t, "report", path, "--json", "--group-by", group))
        check_equal(report["runs"], 12, "runs that were written")
        check(report["recording"]["complete"], "the capture has no end", report["recording"])
        check_equal(report["recording"]["reason"], "written by opprobe top", "its end")
        expected = subprocess.run(
            [t.program, "report", path, "--no-header", "--group-by", group, "--columns",
             "name,op,percent,avg,p99,count" if group == "node" else "name,percent,avg,p99,count"],
            stdout=subprocess.PIPE, cwd=t.directory, check=True).stdout.decode().split("\n")
        shown, right = rows(screen), rows(expected)
        names = [row["name"] for row in report["operators"]]
        check(len(set(names)) == len(names) or group == "node", "names", names)
        compared = 0
        for name, row in shown.items():
            if name in right and names.count(name) == 1:
                for heading in "Percent", "Avg", "P99":
                    check_equal(row.get(heading), right[name].get(heading),
                                "%s of %s by %s" % (heading, name, group))
                compared += 1
        check(compared >= min(len(names), 1), "nothing was compared", *screen)
    terminal.press("q")
    ended(terminal)


def runs_recorded(terminal):
    told = re.match(r"([\d,]+) of ", terminal.screen()[1])
    return int(told.group(1).replace(",", "")) if told else 0


@test("top within a budget shows what a typical run took, as a report of its capture does")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-O", "0")
    terminal = Terminal(t, 200, 90)
    top(t, terminal, "-p", target.pid, "--max-overhead", on_this_machine(t, 2, BY_WINDOWS))
    done, patience = 0, target.patience()
    # It is that of all of them, not of those that were there first.
    for more in 8, 8:
        wanted = runs_recorded(terminal) + more
        while runs_recorded(terminal) < wanted:
            check(not patience.over(), "no eight runs are recorded", *terminal.screen())
            target.run(20)
            done += 20
    # Frames of a while ago come first.
    screen = terminal.wait_for("of %s runs recorded" % format(done, ","))
    terminal.press("w")
    terminal.wait_for("written: opprobe report ")
    screen = terminal.screen()
    path = re.search(r"opprobe report (\S+)", screen[-1]).group(1)
    columns = {"Per run": "perrun", "From": "perrunlow", "To": "perrunhigh"}
    report = subprocess.run([t.program, "report", path, "--no-header", "--columns",
                             ",".join(["name", *columns.values()])],
                            stdout=subprocess.PIPE, cwd=t.directory, check=True)
    shown, right = rows(screen), rows(report.stdout.decode().split("\n"))
    check(len(shown) >= 40 and set(shown) <= set(right), "rows", *screen)
    for name, row in shown.items():
        check_equal({heading: row[heading] for heading in columns},
                    {heading: right[name][heading] for heading in columns}, name)
    terminal.press("q")
    ended(terminal)


@test("keys of top sort, filter, look into an operator, and reset")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-O", "0")
    terminal = Terminal(t, 100, 30)
    top(t, terminal, "-p", target.pid)
    target.run(30)
    screen = terminal.wait_for("between operators")
    names = [name for name in rows(screen) if name != "between operators"]
    by_percent = [float(rows(screen)[name]["Percent"].rstrip("%")) for name in names]
    check_equal(by_percent, sorted(by_percent, reverse=True), "the order")

    terminal.press("<")
    terminal.wait_for("sorted by op")
    screen = terminal.wait("rows by their op", lambda screen: [
        row["Op"] for name, row in rows(screen).items() if name != "between operators"
    ] == sorted(row["Op"] for name, row in rows(screen).items() if name != "between operators"))
    terminal.press(">")
    terminal.wait_for("sorted by percent")

    terminal.press("/")
    op = rows(screen)[names[0]]["Op"]
    terminal.type("op=" + op)
    terminal.wait_for("op=%s_" % op)
    terminal.press("Enter")
    screen = terminal.wait_for("only op *%s*" % op)
    check_equal({row.get("Op") for name, row in rows(screen).items()
                 if name != "between operators"}, {op}, "ops that are shown")
    terminal.press("/")
    terminal.press("Enter")
    terminal.wait("all again", lambda screen: set(names) <= set(rows(screen)))

    terminal.press("Home")
    terminal.press("Enter")
    screen = terminal.wait_for("[Esc] back")
    check_histogram(screen, 30)
    check(any(line.startswith("Run ") for line in screen), "slow runs", *screen)
    terminal.press("Escape")
    terminal.wait_for("between operators")

    terminal.press("h")
    terminal.wait_for("opprobe top: keys")
    terminal.press("h")
    terminal.wait_for("between operators")

    terminal.press("r")
    screen = terminal.wait("no rows", lambda screen: "begun anew" in screen[-1] and
                           not set(names) & set(rows(screen)))
    target.run(5)
    terminal.wait_for(names[0])
    terminal.press("w")
    screen = terminal.wait_for("written: ")
    path = re.search(r"opprobe report (\S+)", screen[-1]).group(1)
    report = json.loads(succeeds(t, "report", path, "--json"))
    check_equal(report["runs"], 5, "runs since the reset")
    check("it holds the last" in json.dumps(report), "from when on is not said", report)
    terminal.press("q")
    ended(terminal)


@test("top --aggregate shows what is added up, and what sums cannot tell it says")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-O", "0")
    terminal = Terminal(t, 120, 40)
    top(t, terminal, "-p", target.pid, "--aggregate")
    target.run(30)
    screen = terminal.wait("all runs", lambda screen: any(
        "Total of 30 runs" in line for line in screen) or any(
            row.get("Count") == "30" for row in rows(screen).values())
        if any(line.startswith("Name ") for line in screen) else False)
    check(re.match(r"runs [\d.,]+/s  p50 .*s  p99 .*p99 by the second", screen[1]), "runs", *screen)
    for wanted in "by op, ", "by session, ", "by process, ", "by node, ":
        terminal.press("g")
        terminal.wait_for(wanted)
    terminal.press("t")
    terminal.wait_for("--aggregate")
    terminal.press("Home")
    terminal.press("Enter")
    screen = terminal.wait_for("[Esc] back")
    check_histogram(screen, 30)
    check(not any(line.startswith("Run ") for line in screen), "runs that nobody told", *screen)
    terminal.press("Escape")
    terminal.wait_for("between operators")
    terminal.press("w")
    screen = terminal.wait_for("written: ")
    path = re.search(r"opprobe report (\S+)", screen[-1]).group(1)
    report = json.loads(succeeds(t, "report", path, "--json"))
    check_equal((report["runs"], report["aggregated"]), (30, True), "runs that were written")
    terminal.press("q")
    ended(terminal)


@test("top that is paused shows what it showed, and goes on recording")
def _(t):
    target = t.ort_run("1.24.3", "mlp")
    terminal = Terminal(t)
    top(t, terminal, "-p", target.pid)
    target.run(10)
    terminal.wait_for("between operators")
    terminal.press("p")
    screen = terminal.wait_for("PAUSED")
    target.run(7)
    terminal.press("w")
    later = terminal.wait_for("written: ")
    path = re.search(r"opprobe report (\S+)", later[-1]).group(1)
    check_equal(later[:-1], screen[:-1], "what is shown")
    patience = Patience(LIMIT)
    # What ran just now may lie in the ring yet.
    while json.loads(succeeds(t, "report", path, "--json"))["runs"] < 17:
        check(not patience.over(), "17 runs in what is written")
        terminal.press("w")
        later = terminal.wait("another file", lambda screen: "written: " in screen[-1] and
                              path not in screen[-1])
        path = re.search(r"opprobe report (\S+)", later[-1]).group(1)
    check_equal(later[:-1], screen[:-1], "what is shown")
    terminal.press("p")
    terminal.wait("that it goes on", lambda screen: "PAUSED" not in screen[0])
    terminal.press("q")
    ended(terminal)


@test("top fits a terminal that changes its size")
def _(t):
    target = t.ort_run("1.24.3", "tiny", "-O", "0")
    terminal = Terminal(t)
    # What a shell exports of a size is that of its start.
    terminal.run("export COLUMNS=60 LINES=40")
    top(t, terminal, "-p", target.pid)
    target.run(5)
    terminal.wait_for("between operators")
    check_equal(len(terminal.wait_for("[g]roup")), 24, "lines")
    for width, height in (120, 40), (40, 12), (100, 30), (24, 8), (80, 24):
        terminal.resize(width, height)
        screen = terminal.wait("%d x %d" % (width, height), lambda screen, height=height:
                               len(screen) == height and screen[0].startswith("opprobe top") and
                               screen[-1].startswith("[g]roup"))
        check(max(map(len, screen)) <= width, "the width", *screen)
        check_equal([line for line in screen if line.startswith("Name")].__len__(), 1, "tables")
    terminal.press("End")
    terminal.press("q")
    ended(terminal)


@test("top of several processes has a row for each, and shows the nodes of one")
def _(t):
    targets = [t.ort_run("1.24.3", "mlp"), t.ort_run("1.30.0", "tiny", "-O", "0")]
    terminal = Terminal(t, 120, 40)
    top(t, terminal, "-p", ",".join(str(target.pid) for target in targets), "--group-by",
        "process")
    for target in targets:
        target.run(10)
    labels = ["ort_run (%d)" % target.pid for target in targets]
    screen = terminal.wait("both", lambda screen: all(
        any(line.startswith(label) for line in screen) for label in labels))
    check(screen[0].startswith("opprobe top  2 processes"), "the title", *screen)
    terminal.press("Home")
    first = next(line for line in screen if line.startswith("ort_run ("))
    pid = re.search(r"\((\d+)\)", first).group(1)
    terminal.press("Enter")
    terminal.wait_for("only process %s" % pid)
    terminal.press("q")
    ended(terminal)


@test("top gives the terminal back when it is told to end, and when its target exits")
def _(t):
    terminal = Terminal(t)
    before = terminal.settings()
    target = t.ort_run("1.24.3", "mlp")
    top(t, terminal, "-p", target.pid)
    os.kill(pid_of_top(t), signal.SIGTERM)
    ended(terminal)
    check_equal(terminal.settings(), before, "the settings, after SIGTERM")
    terminal.run("clear")
    top(t, terminal, "-p", target.pid)
    os.kill(pid_of_top(t), signal.SIGSEGV)
    ended(terminal, 139)
    check_equal(terminal.settings(), before, "the settings, after a crash")
    terminal.run("clear")
    top(t, terminal, "-p", target.pid)
    target.run(10)
    terminal.wait_for("between operators")
    target.child.stdin.close()
    target.wait()
    ended(terminal)
    check_equal(terminal.settings(), before, "the settings, after the exit")
    screen = terminal.wait_for("the last")
    check(any(", ended" in line for line in screen), "the last state", *screen)
    check(any("process %d exited" % target.pid in line for line in screen), "why", *screen)


@test("top stops at Ctrl-Z with the terminal as it was, and goes on")
def _(t):
    target = t.ort_run("1.24.3", "mlp")
    terminal = Terminal(t)
    before = terminal.settings()
    terminal.run("set -m; clear")
    top(t, terminal, "-p", target.pid)
    terminal.press("C-z")
    terminal.wait_for("Stopped")
    check(not terminal.alternate(), "the screen is still the other one")
    check_equal(terminal.settings(), before, "the settings, while it is stopped")
    terminal.run("clear; fg")
    terminal.wait_for("[q]uit")
    target.run(5)
    terminal.wait_for("between operators")
    terminal.press("q")
    terminal.wait("that it has ended", lambda screen: not terminal.alternate())
    check_equal(terminal.settings(), before, "the settings")


@test("kill -9 of top harms nobody, and leaves no probe")
def _(t):
    server = t.server("1.24.3", ["mlp"])
    load = t.load(server, ["mlp"])
    terminal = Terminal(t)
    top(t, terminal, "-p", server.pid)
    terminal.wait_for("between operators")
    os.kill(pid_of_top(t), signal.SIGKILL)
    terminal.wait_for("status=137")
    patience = Patience(LIMIT)
    while programs_of(server.pid):
        check(not patience.over(), "programs are left")
    load.child.stdin.close()
    check_equal(load.wait(), 0, "answers")


@test("top -b prints a frame after the other, --once one, and --json a line each")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-O", "0")
    watch = t.opprobe("top", "-p", target.pid, "--json", "-i", "100ms").attached()
    target.run(25)
    patience = Patience(LIMIT)
    while True:
        frame = json.loads(watch.line())
        if frame["report"]["runs"] == 25:
            break
        check(not patience.over(), "25 runs in a frame")
    counts = collections.Counter({op["name"]: op["count"] for op in frame["report"]["operators"]})
    check(counts and set(counts.values()) == {25}, "counts", counts)
    check_equal(sum(second["runs"] for second in frame["seconds"]), 25, "runs of the last minute")
    check(frame["run_p99_ns"] >= frame["run_p50_ns"] > 0, "percentiles", frame["run_p50_ns"])
    check(not frame["ended"], "it has ended", frame)
    target.child.stdin.close()
    check_equal(watch.wait(), 0, "status")
    check(json.loads(watch.stdout.strip().split("\n")[-1])["ended"], "the last one has no end")

    target = t.ort_run("1.24.3", "mlp", "-O", "0")
    text = succeeds(t, "top", "-p", target.pid, "--once", "-i", "100ms")
    check("waiting for the first operator" in text, "a frame", text)
    check_equal(text.count("opprobe top"), 1, "frames")
    text = succeeds(t, "top", "-p", target.pid, "-b", "--frames", "3", "-i", "100ms")
    check_equal(text.count("opprobe top"), 3, "frames")
    text = succeeds(t, "top", "-p", target.pid, "-b", "-d", "500ms", "-i", "100s")
    check_equal(text.count(", ended"), 1, "the last state")
    check(not glob.glob(t.path("*.opp")), "files were left", os.listdir(t.directory))


@test("top of samples shows shares, what CPUs do, and groups them by keys")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    target.run(3)
    target.keep_running()
    terminal = Terminal(t)
    top(t, terminal, "-p", target.pid, "--sample", "999")
    screen = terminal.wait_for("Conv ")
    check(len(screen) == 24 and max(map(len, screen)) <= 80, "the size", *screen)
    check(re.match(r"samples [\d.,]+/s  CPUs in use \d\.\d\d  in operators \d+ %  in the runtime ",
                   screen[1]), "the head", *screen)
    patience = Patience(LIMIT)
    while not any("/layer" in name for name in rows(terminal.wait_for("Conv "))):
        check(not patience.over(), "no node is named", *terminal.screen())
    for row in rows(terminal.wait_for("Conv ")).values():
        check(re.search("[\u2588-\u258f]", row["Bar"]) and row["Share"].endswith("%"), "a row", row)
    terminal.press("o")
    screen = terminal.wait_for("by op, the last")
    check(any(line.startswith("Conv ") for line in screen), "rows by type", *screen)
    terminal.press("t")
    terminal.wait_for("by thread, the last")
    terminal.press("s")
    screen = terminal.wait_for("--sample, which sees what runs now and then")
    check(any("by thread" in line for line in screen), "it is grouped otherwise", *screen)
    terminal.press("n", "Enter")
    terminal.wait_for("samples know of no single executions")
    terminal.press("r")
    terminal.wait_for("the last 0.")
    terminal.wait_for("CPUs in use")
    terminal.press("w")
    screen = terminal.wait_for("written: opprobe report ")
    path = re.search(r"opprobe report (\S+)", screen[-1]).group(1)
    report = json.loads(succeeds(t, "report", path, "--json"))
    check_equal(report["recording"]["reason"], "written by opprobe top", "its end")
    check(report["recording"]["sampling"]["samples"] > 0 and report["executions"] is None,
          "what was written", report["recording"])
    terminal.press("q")
    ended(terminal)
    check(not programs_of(target.pid), "programs are left", programs_of(target.pid))


@test("frames of samples as text and JSON, of time, events and waits")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    target.run(3)
    target.keep_running()
    for how, head in ((["--sample", "999"], "CPUs in use"),
                      (["--sample-event", "page-faults", "--sample-period", "1"], "page-faults "),
                      (["--sample", "off-cpu"], "threads that wait")):
        text = succeeds(t, "top", "-p", target.pid, *how, "-b", "--frames", "2", "-i", "1s")
        check(head in text or "no samples yet" in text, "the head", how, text)
    watch = t.opprobe("top", "-p", target.pid, "--sample", "999", "--json", "--frames", "3", "-i",
                      "500ms")
    check_equal(watch.wait(), 0, "status")
    last = json.loads(watch.stdout.strip().split("\n")[-1])
    check_equal((last["runs_per_second"], last["run_p99_ns"]), (None, None), "of runs")
    check(last["report"]["recording"]["sampling"]["samples"] > 100, "samples", last)
    refused = t.opprobe("top", "-p", target.pid, "--sample", "99", "--group-by", "shape")
    check_equal(refused.wait(), 2, "status by shapes")


@test("what top cannot do it says in a sentence, before anything is attached")
def _(t):
    target = t.ort_run("1.24.3", "mlp")
    here = ("top", "-p", target.pid)
    check("use -b" in t.fails(*here), "no terminal")
    for arguments, text in ((("--group-by", "run"), "opprobe report"), (("--csv",), "--csv"),
                            (("--failed",), "--failed"), (("--frames", "2"), "-b"),
                            (("-b", "--frames", "0"), "frames"), (("-i", "1ms"), "50ms"),
                            (("--keep", "3"), "64M"), (("--bach",), "batch"),
                            (("--per-run",), "--max-overhead"),
                            (("--aggregate", "--group-by", "thread"), "--aggregate")):
        process = t.opprobe(*here, *arguments)
        check_equal(process.wait(), 2, "status of %s" % (arguments,))
        check(text in process.stderr, "the sentence for %s" % (arguments,), process.stderr)
    check("no column" in one_sentence(t.fails(*here, "-b", "--sort", "nothing")), "a column")
    terminal = Terminal(t)
    terminal.run("TERM=dumb %s top -p %d; echo status=$?" % (t.program, target.pid))
    screen = terminal.wait_for("status=1")
    check(any("use -b" in line for line in screen), "of a terminal without a screen", *screen)


@test("top on a terminal without colours, and with names that would steer it")
def _(t):
    target = t.ort_run("1.24.3", "names", "-O", "0")
    terminal = Terminal(t, 120, 40, TERM="vt100")
    top(t, terminal, "-p", target.pid)
    target.run(3)
    screen = terminal.wait_for("between operators")
    check(len(screen) == 40 and screen[0].startswith("opprobe top"), "the screen", *screen)
    check(screen[-1].startswith("[g]roup"), "the keys", *screen)
    drawn = terminal.tmux("capture-pane", "-p", "-e")
    check(not re.search("\x1b\\[(3[0-7]|4[0-7])", drawn), "colours", repr(drawn))
    terminal.press("q")
    ended(terminal)

# SPDX-License-Identifier: GPL-2.0-only
"""The manual, the completion of shells, and what make install puts in place: an option
that a command has is in all of them."""

import glob
import json
import os
import re
import signal
import subprocess

from harness import TESTS, OrtTarget, Process, check, check_equal, succeeds, test
from shell import Shell

ROOT = os.path.dirname(TESTS)


def commands(t):
    """All commands, and "" for opprobe itself."""
    lines = succeeds(t, "help", "--commands").splitlines()
    return [""] + [line.split("\t")[0] for line in lines]


def page_of(command):
    return "opprobe-%s.1" % command if command else "opprobe.1"


def help_of(t, command):
    return succeeds(t, *filter(None, [command]), *([] if command else ["-p", "1"]), "--help")


def helped(t, command):
    """What --help lists: {option: its argument or None}, and all letters."""
    options, letters = {}, set()
    for line in help_of(t, command).splitlines():
        # Its text begins far behind it, or on the next line.
        match = re.match(r" {2,6}(-\S.*?)( {2,}|$)", line)
        if not match:
            continue
        letters |= set(re.findall(r"(?:^|, )-(\w)", match[1]))
        for one in match[1].split(", "):
            parts = re.fullmatch(r"--([\w-]+)(?:\[=(.+)\]|=(.+))?", one)
            if parts:
                options[parts[1]] = parts[2] or parts[3]
    return options, letters


def rendered(path):
    made = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=180", path],
                          stdout=subprocess.PIPE, check=True)
    return re.sub(".\b", "", made.stdout.decode())


def section(page, title):
    """The lines of one of a page's sections."""
    found = re.search(r"^%s\n(.*?)(?=^\S)" % title, page, re.M | re.S)
    check(found, "the page has no %s" % title, page[:300])
    return found[1]


def completes(t, *words):
    """{word: what is told of it} that may stand in the place of the last of `words`."""
    lines = succeeds(t, "complete", "--", *words).splitlines()
    found = {}
    for line in lines:
        word, _, about = line.partition("\t")
        found[word] = about
    return found


# -- one source: the tables of the commands ----------------------------------------------

@test("every option of --help is in its command's page, with its letter and argument")
def _(t):
    for command in commands(t):
        if command == "help":
            continue
        options, letters = helped(t, command)
        check(len(options) > 3, "the help of '%s' was not understood" % command, options)
        text = section(rendered(os.path.join(t.objects, "man", page_of(command))), "OPTIONS")
        # What a short one is, stands in its line.
        items = [re.split(r" {2,}", line.strip())[0] for line in text.splitlines()
                 if re.match(r" {5}-", line)]
        listed = {name: argument for line in items
                  for name, argument in re.findall(r"--([\w-]+)()", line)}
        check_equal(set(options) - set(listed), set(), "options that %s lacks" % page_of(command))
        check_equal(set(listed) - set(options), set(), "options that %s has no more" % command)
        for name, argument in options.items():
            (line,) = [line for line in items if re.search(r"--%s(?![\w-])" % name, line)]
            check(not argument or argument in line, "the page lacks %s of --%s" % (argument, name),
                  line)
        for letter in letters:
            check(any(re.search(r"(^|, )-%s(,| |$)" % letter, line) for line in items),
                  "the page of '%s' lacks -%s" % (command, letter))


@test("every option of --help can be completed, with its text, and nothing else")
def _(t):
    for command in commands(t):
        if command == "help":
            continue
        options, letters = helped(t, command)
        found = completes(t, *filter(None, [command]), "-")
        expected = {"--" + name for name in options} | {"-" + letter for letter in letters}
        check_equal(set(found), expected, "completed options of '%s'" % command)
        words = " ".join(help_of(t, command).split())
        for option, about in found.items():
            check(about, "nothing is said of %s" % option)
            if option not in ("--help", "--usage", "--version", "-V"):
                check(" ".join(about.replace(" ...", "").split()[:4]) in words,
                      "another text of %s" % option, about)


# What completes the argument of an option: something that must be offered; the shell's own
# names of files; or nothing, as only its user knows it.
FILES = ":files"
ARGUMENTS = {
    "FILE": FILES, "LIBRARY": FILES, "EVENTS": "page-faults", "EVENT": "page-faults",
    "COLUMN": "total", "FORMAT": "chrome", "WHEN": "never", "PID": None, "PID[,PID...]": None,
    "ID|NAME": None, "POD": None, "PATH": None, "WHAT": None,
    "time|EVENT": "time", "LIST": None,
    "GLOB": None, "N": None, "TIME": None, "SIZE": None, "STEPS": None, "RUNS": None, "CMD": None,
    "COLUMNS": None, "PERCENT": None, "SHARE": None, "RATE": None, "NAME=EXPR": None, "NAME": None,
    "PORT": None, "ADDRESS": None, "SECONDS": None, "WHERE": "addresses",
}
BEHIND_EQUALS = {"hot"}  # with an argument that may be left out: the next word is another one
OPTIONS = {"group-by": "session", "columns": "percent", "by": "time", "user": "nobody"}


@test("every argument of an option is completed, or it is said that there is nothing to")
def _(t):
    for command in commands(t):
        if command == "help":
            continue
        for name, argument in helped(t, command)[0].items():
            if not argument:
                continue
            check(argument in ARGUMENTS, "what does %s of opprobe %s --%s complete to? Say it in "
                  "user/complete_words.c and here" % (argument, command, name))
            wanted = OPTIONS.get(name) or ARGUMENTS[argument]
            words = list(filter(None, [command]))
            forms = [{word.replace("--%s=" % name, ""): about for word, about in
                      completes(t, *words, "--%s=" % name).items()}]
            after = completes(t, *words, "--" + name, "")
            if name not in BEHIND_EQUALS:
                forms.append(after)
            else:
                check(wanted not in after, "what may not follow --%s is offered" % name, after)
            for found in forms:
                check(not wanted or any(word.split(" ")[0] == wanted for word in found),
                      "opprobe %s --%s completes to" % (command, name), sorted(found)[:20])


# -- words ---------------------------------------------------------------------------------

@test("completion: commands, and help's, by what there is of them")
def _(t):
    check_equal(set(completes(t, "")), set(commands(t)) - {""}, "commands")
    check_equal(set(completes(t, "re")), {"record", "report"}, "commands with re")
    check_equal(set(completes(t, "help", "rec")), {"record"}, "help's")
    check_equal(completes(t, "nonsense", ""), {}, "what there is not")


@test("completion: the events of opprobe list, in lists and groups, and no others")
def _(t):
    there = {one["name"] for one in json.loads(succeeds(t, "list", "--json"))}
    check_equal(set(completes(t, "-e", "")), there | {"none", ":nospace"}, "events")
    check_equal(set(completes(t, "record", "-p", "1", "-e", "{task-clock,page-f")),
                {"{task-clock,page-faults", ":nospace"}, "of a group")
    check("sched:sched_switch" in completes(t, "-e", "sched:sched_sw"), "tracepoints")
    check_equal(set(completes(t, "list", "minor-f")), {"minor-faults"}, "the list's pattern")


@test("completion: columns that a report takes, and the events of the capture that is named")
def _(t):
    target = t.ort_run("1.24.3", "tiny")
    probe = t.opprobe("record", "-p", target.pid, "-o", t.path("run.opp"), "-e", "page-faults=pf",
                      "--no-cost").attached()
    target.run(3)
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "the recording")
    found = completes(t, "report", t.path("run.opp"), "--sort", "")
    check({"total", "name", "pf", "avg:pf"} <= set(found), "columns", sorted(found))
    for column in found:
        succeeds(t, "report", t.path("run.opp"), "--sort", column)
    check_equal(set(completes(t, "report", t.path("run.opp"), "--columns", "name,tot")),
                {"name,total", ":nospace"}, "of a list")
    check_equal(set(completes(t, "export", t.path("run.opp"), "--weight", "")), {"time", "pf"},
                "weights")
    check_equal(set(completes(t, "report", t.path("run.opp"), "--process", "")),
                {str(target.pid)}, "its process")
    check("pf" not in completes(t, "report", "--sort", ""), "the event of no capture is known")


@test("completion: pids with a runtime, of which nothing reaches a shell as it is")
def _(t):
    program = os.path.join(t.directory, "evil'$(touch x)\033[2J\nname")
    os.symlink(t.ort_program, program)
    target = t.start(OrtTarget, [program, t.library("1.24.3"), t.model("tiny")]).ready()
    other = t.start(Process, ["sleep", "1000"])
    for words in (["-p"], ["record", "-p"], ["doctor", "-p"]):
        found = completes(t, *words, "")
        check(str(target.pid) in found and str(other.pid) not in found, "pids", found)
        about = found[str(target.pid)]
        check("evil" in about and re.fullmatch(r"[\w ._+/@=,?-]*", about), "its text", about)
    check_equal(set(completes(t, "-p", "1,%d" % target.pid)),
                {"1,%d" % target.pid, ":nospace"}, "of a list")
    check("ort_run" in completes(t, "--comm", ""), "its name")


@test("completion is quiet where nothing can be known")
def _(t):
    for words in (["report", "/nonexistent.opp", "--sort", "xyz"], ["-p", "x"], ["record", "--", ""],
                  ["report", "/etc/passwd", "--weight", ""], ["--nonsense", ""], ["-e", "nonsense"]):
        process = t.opprobe("complete", "--", *words)
        check_equal((process.wait(), process.stderr), (0, ""), "status and errors of %r" % words)
    # Nobody writes to it: it is not waited for.
    os.mkfifo(t.path("pipe"))
    succeeds(t, "complete", "--", "report", t.path("pipe"), "--sort", "")


# -- what is installed ------------------------------------------------------------------------

def make(t, target):
    """make install or uninstall; returns the folder, and what is in it."""
    root = t.path("root")
    flags = re.sub(r"(^| )(--?j\S*|--jobserver\S*)", "", os.environ.get("MAKEFLAGS", ""))
    subprocess.run(["make", "-C", ROOT, "O=" + os.path.relpath(t.objects, ROOT), target,
                    "DESTDIR=" + root, "prefix=/usr", "NEEDS_CHECKED=1"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "MAKEFLAGS": flags})
    return root, {os.path.relpath(os.path.join(folder, name), root)
                  for folder, _, names in os.walk(root) for name in names}


@test("make install puts the program, its pages, completion and units in place; uninstall leaves "
      "nothing")
def _(t):
    root, there = make(t, "install")
    expected = {"usr/bin/opprobe", "usr/share/bash-completion/completions/opprobe",
                "usr/share/zsh/site-functions/_opprobe",
                "usr/share/fish/vendor_completions.d/opprobe.fish",
                "usr/share/man/man5/opprobe-capture.5",
                "usr/lib/systemd/system/opprobe.service",
                "usr/lib/systemd/system/opprobe.socket"}
    expected |= {"usr/share/man/man1/" + page_of(command) for command in commands(t)
                 if command != "help"}
    check_equal(there, expected, "files")
    check_equal({name for name in there if os.stat(os.path.join(root, name)).st_mode & 0o111},
                {"usr/bin/opprobe"}, "what can be executed")
    check_equal(make(t, "uninstall")[1], set(), "what is left")


def helped_with(t, environment, *arguments):
    process = t.opprobe("help", *arguments, environment=environment)
    return process.wait(), process.stdout, process.stderr


@test("opprobe help COMMAND shows its page, else its help; of a slip, what is like it")
def _(t):
    root, _ = make(t, "install")
    status, text, _ = helped_with(t, {"MANPATH": root + "/usr/share/man"}, "record")
    check(status == 0 and "OPPROBE-RECORD(1)" in text and "EXAMPLES" in text, "the page", text[:500])
    status, text, _ = helped_with(t, {"MANPATH": root + "/usr/share/man"}, "opprobe")
    check(status == 0 and "OPPROBE(1)" in text, "opprobe's own page", text[:500])
    for environment in ({"MANPATH": t.directory}, {"PATH": t.directory}):
        status, text, errors = helped_with(t, environment, "record")
        check_equal((status, text, errors), (0, help_of(t, "record"), ""), "without pages")
    check_equal(succeeds(t, "help"), succeeds(t, "--help"), "help of nothing")
    status, text, errors = helped_with(t, {}, "recrod")
    check_equal((status, text), (2, ""), "of a slip")
    check("'record'" in errors, "what is like it", errors)


@test("the pages have all sections, no fault that mandoc finds, and examples with real options")
def _(t):
    pages = sorted(glob.glob(os.path.join(t.objects, "man", "*.[15]")))
    made = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages],
                          stdout=subprocess.PIPE, check=False)
    check_equal(made.stdout.decode(), "", "faults")
    for command in commands(t):
        if command == "help":
            continue
        text = rendered(os.path.join(t.objects, "man", page_of(command)))
        for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "NOTES", "SEE ALSO"):
            section(text, title)
        found = 0
        for line in section(text, "EXAMPLES").splitlines():
            for name, rest in re.findall(r"opprobe(?: (\w+))?((?: [^|#\\]+)?)", line):
                if not line.strip().startswith(("$", "--")):
                    continue
                check(name in commands(t), "there is no such command", line)
                options, letters = helped(t, name)
                unknown = set(re.findall(r" --([\w-]+)", rest)) - set(options)
                unknown |= set(re.findall(r" -(\w)\b", rest)) - letters
                check(not unknown, "an example with options that there are not", line, unknown)
                found += 1
        check(found, "no example in the page of '%s'" % command)


@test("opprobe-capture(5) tells all that FORMAT.md does")
def _(t):
    text = rendered(os.path.join(t.objects, "man", "opprobe-capture.5"))
    with open(os.path.join(ROOT, "user/capture/FORMAT.md"), encoding="utf-8") as file:
        wanted = re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1 (\2)", file.read().split("\n", 1)[1])
    words = [re.findall(r"[^\W_]+", part) for part in (wanted, text)]
    left = set(words[0]) - set(words[1]) - {"offset", "field", "payload"}
    # A word that is broken at the end of a line.
    left = {word for word in left if word not in re.sub(r"[-\u2010]\n *", "", text)}
    check_equal(left, set(), "words that are missing")


@test("opprobe version: which one it is, of which commit, and of which libraries")
def _(t):
    lines = succeeds(t, "version").splitlines()
    known = json.loads(succeeds(t, "version", "--json"))
    check_equal(succeeds(t, "--version").splitlines(), lines[:1], "--version")
    check_equal(lines[0], "opprobe " + known["version"], "the first line")
    check_equal(known["runtimes"], ["onnxruntime"], "runtimes")
    for name, version in known["libraries"].items():
        check(re.fullmatch(r"\d+(\.\d+)+", version), "the version of " + name, version)
        check("%s %s" % (name, version) in lines[-1], "it is in the text, too", lines)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=False).stdout.decode().strip()
    if os.path.exists(os.path.join(ROOT, ".git")):
        check(len(known["commit"]) >= 12 and commit.startswith(known["commit"].split("-")[0]),
              "the commit", known, commit)
    else:
        check("commit" not in known, "the commit of no checkout", known)


# -- shells ----------------------------------------------------------------------------------

# In the place of opprobe: it completes, but tells what it was called with.
STUB = """#!/bin/sh
[ "$1" = complete ] && exec %s "$@"
printf 'ran:'
printf ' [%%s]' "$@"
echo
"""

TYPED = (
    ("rep", "[report]"),
    ("report --perc", "[report] [--percentiles]"),
    ("report --sort=tot", "[report] [--sort=total]"),
    ("report -s tot", "[report] [-s] [total]"),
    ("-e cpu-clock,page-f", "[-e] [cpu-clock,page-faults]"),
    ("-e perf::PERF_COUNT_SW_TASK", "[-e] [perf::PERF_COUNT_SW_TASK_CLOCK]"),
    ("report on", "[report] [one.opp]"),
    ("export 'with sp", "[export] [with space.opp]"),
    ("doctor --file tw", "[doctor] [--file] [two.txt]"),
    ("help dif", "[help] [diff]"),
    ("record --buffer=8M -- frobni", "[record] [--buffer=8M] [--] [frobnicate]"),
    ("-- frobnicate tw", "[--] [frobnicate] [two.txt]"),
)

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             ". /usr/share/bash-completion/bash_completion; . %s/bash-completion/completions/opprobe"),
    "zsh": (["zsh", "-f", "-i"],
            "fpath=(%s/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D"),
    "fish": (["fish", "--no-config", "-i"], "source %s/fish/vendor_completions.d/opprobe.fish"),
}


def completes_at_terminal(shell):
    @test("completion in %s, typed at a terminal" % shell)
    def _(t):
        share = make(t, "install")[0] + "/usr/share"
        os.mkdir(t.path("work"))
        for name in ("one.opp", "two.txt", "with space.opp"):
            with open(t.path("work/" + name), "w", encoding="utf-8"):
                pass
        os.mkdir(t.path("bin"))
        for name in ("opprobe", "frobnicate"):
            with open(t.path("bin/" + name), "w", encoding="utf-8") as file:
                file.write(STUB % t.program)
            os.chmod(t.path("bin/" + name), 0o755)
        target = t.ort_run("1.24.3", "tiny")
        process = (("-p %s" % str(target.pid)[:-1], "[-p] [%d]" % target.pid),)
        arguments, first = SHELLS[shell]
        environment = {"PATH": t.path("bin") + ":" + os.environ["PATH"], "HOME": t.directory,
                       "XDG_CONFIG_HOME": t.directory, "XDG_DATA_HOME": t.directory}
        with Shell(arguments, environment, t.path("work")) as terminal:
            terminal.type(first % share + "; echo rea''dy\n")
            terminal.wait_for("ready")
            for typed, got in TYPED + process:
                # Behind the completion: a quote that is open, and the end of the line.
                terminal.type("opprobe " + typed + "\t\n")
                terminal.wait_for("ran: " + got + "\n")


for one in SHELLS:
    completes_at_terminal(one)

# SPDX-License-Identifier: GPL-2.0-only
"""opprobe ps: the processes that can be recorded, whatever else runs here."""

import json
import os
import shutil

from harness import Process, Target, check, check_equal, one_sentence, status_of, succeeds, test


def listed(t, *arguments):
    """What is listed: {pid: what is told of it}"""
    return {one["pid"]: one for one in json.loads(succeeds(t, "ps", "--json", *arguments))}


def named(t, name, version="1.24.3", model="tiny"):
    """A process with a runtime whose program has a name of its own."""
    program = shutil.copy(t.ort_program, t.path(name))
    return t.start(Target, [program, "-O", "0", t.library(version), t.model(model)]).ready()


@test("ps lists processes on three releases, with their versions and threads, and no others")
def _(t):
    versions = ("1.12.0", "1.24.3", "1.30.0")
    targets = [t.ort_run(version, "tiny", "-t", "3") for version in versions]
    other = t.start(Target, ["sleep", "1000"])
    found = listed(t)
    for target, version in zip(targets, versions):
        one = found[target.pid]
        check_equal((one["runtime"], one["version"]), ("onnxruntime", version), "runtime")
        check_equal(one["threads"], int(status_of(target.pid)["Threads"]), "threads")
        check_equal(one["path"], os.path.realpath(t.library(version)), "file")
        check(t.ort_program in one["command"], "the command", one)
        check("sessions" not in one, "sessions are told, which were not looked for", one)
    check(other.pid not in found, "sleep has a runtime", found)
    text = succeeds(t, "ps")
    for target, version in zip(targets, versions):
        (line,) = [line for line in text.split("\n") if line.split()[:1] == [str(target.pid)]]
        check_equal(line.split()[:4], [str(target.pid), "ONNX", "Runtime", version], "its line")


@test("ps: two processes of one file, and none that has exited")
def _(t):
    targets = [t.ort_run("1.24.3", "tiny") for _ in range(2)]
    found = listed(t)
    check_equal([found[target.pid]["version"] for target in targets], ["1.24.3"] * 2, "versions")
    targets[0].child.stdin.close()
    targets[0].wait()
    found = listed(t)
    check(targets[0].pid not in found and targets[1].pid in found, "who is there", found)


@test("ps lists a server from when it has the runtime on, and with --sessions counts those")
def _(t):
    target = t.node("1.24.3")
    check(target.pid not in listed(t), "it has no runtime yet")
    for number in range(1, 4):
        target.load(t.model("tiny"))
        check_equal(listed(t, "--sessions")[target.pid]["sessions"], number, "sessions")


@test("ps: a name that would steer the terminal does not")
def _(t):
    target = named(t, "evil\033[2J\nname")
    text = succeeds(t, "ps")
    check("\033" not in text, "an escape", repr(text))
    (line,) = [line for line in text.split("\n") if line.split()[:1] == [str(target.pid)]]
    check("evil\\x1b[2J\\x0aname" in line, "its line", line)
    check("evil\033[2J\nname" in listed(t)[target.pid]["command"], "the JSON")


@test("ps without rights tells how many processes it could not look into")
def _(t):
    target = t.ort_run("1.24.3", "tiny")
    process = t.start(Process, ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                t.program, "ps", "--json"])
    check_equal(process.wait(), 0, "exit status")
    check(target.pid not in [one["pid"] for one in json.loads(process.stdout)], "it is listed")
    check("could not be looked into" in process.stderr and "sudo" in process.stderr,
          "it is not said", process.stderr)
    for line in process.stderr.strip().split("\n"):
        one_sentence(line)

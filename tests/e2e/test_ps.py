# SPDX-License-Identifier: GPL-2.0-only
"""opprobe ps: the processes that can be recorded, whatever else runs here."""

import json
import os
import re
import shutil

from harness import (OrtTarget, Process, Skipped, check, check_equal, one_sentence, status_of,
                     succeeds, test)
from pods import join


def listed(t, *arguments):
    """What is listed: {pid: what is told of it}"""
    return {one["pid"]: one for one in json.loads(succeeds(t, "ps", "--json", *arguments))}


def named(t, name, version="1.24.3", model="tiny"):
    """A process with a runtime whose program has a name of its own."""
    program = shutil.copy(t.ort_program, t.path(name))
    return t.start(OrtTarget, [program, "-O", "0", t.library(version), t.model(model)]).ready()


@test("ps lists processes on three releases, with their versions and threads, and no others")
def _(t):
    versions = ("1.12.0", "1.24.3", "1.30.0")
    targets = [t.ort_run(version, "tiny", "-t", "3") for version in versions]
    other = t.start(Process, ["sleep", "1000"])
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


def chosen(t, *arguments):
    """Record what `arguments` choose until it has exited; the numbers of what was attached to."""
    probe = t.opprobe("record", "-o", t.path("capture.opp"), *arguments)
    return probe, [int(pid) for pid in re.findall(r"(\d+) \(ONNX", probe.wait_for("attached to"))]


@test("--comm records the processes of a name that have a runtime, and no other of that name")
def _(t):
    shutil.copy("/bin/sleep", t.path("other-served"))
    targets = [named(t, name) for name in ("model-served", "model-served-2", "model-serve")]
    other = t.start(Process, [t.path("other-served"), "1000"])
    probe, pids = chosen(t, "--comm", "*-served*")
    check_equal(pids, sorted(target.pid for target in targets[:2]), "who is recorded")
    check(other.pid not in pids, "one without a runtime is recorded")
    for target in targets:
        target.run(3)
    # What is gone before its names were read is lost.
    t.recorded("not all runs are", lambda report: report["runs"] == 6)
    for target in targets:
        target.child.stdin.close()
    check_equal(probe.wait(), 0, "exit status")
    report = json.loads(succeeds(t, "report", t.path("capture.opp"), "--json"))
    check_equal(report["runs"], 6, "runs")


@test("--comm knows the name of a program whose thread has another, and of the first argument")
def _(t):
    # The kernel takes the name by which it was started, and knows which file that is.
    os.symlink(shutil.copy(t.ort_program, t.path("program-name")), t.path("kernel-name"))
    target = t.start(OrtTarget, ["/some/where/argument-name", "-O", "0", t.library("1.24.3"),
                                 t.model("tiny")], executable=t.path("kernel-name")).ready()
    for name in ("program-name", "argument-name", "kernel-name"):
        probe, pids = chosen(t, "-a", "--comm", name)
        check_equal(pids, [target.pid], "who is recorded as " + name)
        probe.child.send_signal(2)
        probe.wait()


@test("--comm of no process says which there are, and --container, --pod, --cgroup what was asked")
def _(t):
    target = named(t, "served-model")
    sentence = t.fails("--comm", "no-such-name")
    check("named 'no-such-name'" in sentence and "opprobe ps" in sentence, "the sentence", sentence)
    # Others of the machine come first, or behind six.
    check("(served-model)" in sentence or " more" in sentence, "who there is", sentence)
    sentence = t.fails("--comm", "served-model", "--container", "12345678")
    check("named 'served-model' in container 12345678" in sentence, "the sentence", sentence)
    sentence = t.fails("--pod", "no-such/pod-*", "--cgroup", "/system.slice")
    check("in pod no-such/pod-* in the control group /system.slice has" in sentence,
          "the sentence", sentence)
    sentence = t.fails("record", "--cgroup", "/no/such/group", "-o", t.path("x.opp"))
    check("control group /no/such/group" in sentence, "the sentence", sentence)
    check(not os.path.exists(t.path("x.opp")), "a capture is left")
    check(target.alive(), "the target is gone")


@test("--container and --cgroup choose by the control group, and ps shows the container")
def _(t):
    name = os.urandom(32).hex()
    path = t.group(name)
    inside, outside = named(t, "same-name"), named(t, "same-name-too")
    join(path, inside.pid)
    found = listed(t)
    check_equal(found[inside.pid]["container"], name, "its container")
    check(found[outside.pid].get("container") != name, "another is in the container")
    check(name[:12] in succeeds(t, "ps"), "the short id")
    for arguments in (["--container", name[:12]], ["--cgroup", path],
                      ["--cgroup", "/" + name, "--comm", "same*", "-a"]):
        probe, pids = chosen(t, *arguments)
        check_equal(pids, [inside.pid], "who is recorded with %r" % arguments)
        probe.child.send_signal(2)
        probe.wait()
    inside.close()


@test("doctor looks into each process that is chosen, as record would, and says if there is none")
def _(t):
    targets = [named(t, name) for name in ("doctored-1", "doctored-2", "other-name")]
    pids = [target.pid for target in targets]
    for arguments, expected in ((["--comm", "doctored-*"], pids[:2]),
                                (["-p", "%d,%d" % (pids[2], pids[0])], [pids[2], pids[0]])):
        found = json.loads(succeeds(t, "doctor", "--json", *arguments))["checks"]
        check_equal([int(one["text"].split(",")[0]) for one in found if one["name"] == "process"],
                    expected, "processes of %r" % arguments)
        check_equal(len([one for one in found if one["name"] == "runtime" and
                         one["verdict"] == "ok"]), len(expected), "runtimes")
        check_equal([one["text"] for one in found if one["name"] == "target's threads"],
                    ["of %d: they may be counted" % pid for pid in expected], "threads")
    process = t.opprobe("doctor", "--comm", "no-such-name")
    check_equal(process.wait(), 1, "exit status")
    check("named 'no-such-name'" in process.stdout.split("\n")[-2], "the sentence", process.stdout)
    for target in targets:
        target.run(1)

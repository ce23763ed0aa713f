# SPDX-License-Identifier: GPL-2.0-only
"""A target that wants to hold, crash or fool opprobe: what it gets is a
sentence, in bounded time; Ctrl-C works all along; nothing stays behind."""

import json
import os
import re
import subprocess
import sys
import time

from harness import (TARGETS, Target, check, check_equal, helpers_of, one_sentence, status_of,
                     test)
from metrics import Serve

LIMIT = 10  # s, as the sentence says
SLACK = 5   # s, for the start of programs on a busy machine


def hostile(t, mode, *arguments):
    folder = t.path("hostile")
    os.mkdir(folder)
    if mode == "withheld":
        t.disks.append(os.path.join(folder, "mount"))
    target = t.start(Target, [sys.executable, os.path.join(TARGETS, "hostile.py"), folder, mode,
                              *map(str, arguments)])
    check_equal(target.line().strip(), "ready", "what the target says")
    return target


def timed(t, *arguments):
    """Run opprobe, which must fail; returns its sentence, in time."""
    started = time.monotonic()
    process = t.opprobe(*arguments)
    check_equal(process.wait(), 1, "exit status (%s)" % process.stderr.strip())
    took = time.monotonic() - started
    check(took < (LIMIT + SLACK) * t.slower, "it took %.1f s" % took, process.stderr)
    return one_sentence(process.stderr)


def interrupted(t, target, after):
    """Ctrl-C while the target is looked into."""
    process = t.opprobe("-p", target.pid, "-o", t.path("capture.opp"))
    time.sleep(after)
    check(process.alive(), "it ended before it was interrupted", process.stderr)
    process.signal(2)
    started = time.monotonic()
    check_equal(process.wait(), 130, "exit status (%s)" % process.stderr.strip())
    took = time.monotonic() - started
    check(took < 1 + t.slower, "it took %.1f s to end" % took)
    check("interrupted" in one_sentence(process.stderr), "the sentence", process.stderr)
    check(not os.path.exists(t.path("capture.opp")), "a capture of nothing was left")


def helpers(t):
    """Those of this very program, whoever started them."""
    program = os.path.realpath(t.program)
    return [pid for pid in helpers_of(None) if os.path.realpath("/proc/%d/exe" % pid) == program]


def check_given_up(sentence):
    """After ten seconds, of which what came before has some."""
    found = re.search(r"longer than (\d+\.\d) s", sentence)
    check(found and 9 <= float(found[1]) <= 10, "the sentence", sentence)


@test("a library whose names make every look-up long is given up in time, and Ctrl-C works")
def _(t):
    target = hostile(t, "strings", t.library("1.30.0"))
    sentence = timed(t, "-p", target.pid, "-o", t.path("capture.opp"))
    check_given_up(sentence)
    interrupted(t, target, 1)
    check(target.alive(), "the target ended")


@test("a file system that answers no more holds neither opprobe nor Ctrl-C")
def _(t):
    target = hostile(t, "withheld")
    sentence = timed(t, "-p", target.pid, "-o", t.path("capture.opp"))
    check_given_up(sentence)
    interrupted(t, target, 1)
    # What the file system holds ends with it.
    target.child.stdin.close()
    target.wait()
    for _ in range(100):
        if not helpers(t):
            break
        time.sleep(0.1)
    check_equal(helpers(t), [], "processes that were left behind")


def listed_beside(t, target):
    """ps, with a hostile target here: another is listed all the same, and soon; what it says."""
    other = t.ort_run("1.24.3", "tiny")
    started = time.monotonic()
    process = t.opprobe("ps", "--json")
    check_equal(process.wait(), 0, "exit status (%s)" % process.stderr.strip())
    took = time.monotonic() - started
    check(took < LIMIT * t.slower, "it took %.1f s" % took, process.stderr)
    found = {one["pid"]: one.get("version") for one in json.loads(process.stdout)}
    check_equal(found.get(other.pid), "1.24.3", "the version of another")
    check(target.pid not in found and target.alive(), "the hostile one", found)
    return process.stderr


@test("ps: a process whose file system answers no more is told of, and hides no other")
def _(t):
    target = hostile(t, "withheld")
    said = re.search(r"could not be looked into \((.*)\)", listed_beside(t, target))
    check(said and str(target.pid) in said[1].split(", "), "it is not told of", said)
    target.child.stdin.close()
    target.wait()


@test("serve: a process whose file system answers no more hinders no other from being recorded")
def _(t):
    serving = Serve(t, "-a", "--listen", "127.0.0.1:0", "--max-overhead", "100%")
    target = hostile(t, "withheld")
    other = t.ort_run("1.24.3", "tiny")
    serving.recorded(other)
    other.run(10)
    serving.wait_until("not all runs are told", lambda metrics: metrics.sum(
        "opprobe_run_duration_seconds_count", comm="ort_run") >= 10)
    serving.stop()
    check(target.alive(), "the hostile one has ended")
    target.child.stdin.close()
    target.wait()


@test("ps: one that maps sixty thousand files hides no other")
def _(t):
    listed_beside(t, hostile(t, "files", 60000))


@test("sixty thousand mapped files are looked into in time")
def _(t):
    target = hostile(t, "files", 60000)
    sentence = timed(t, "-p", target.pid, "-o", t.path("capture.opp"))
    check("no ONNX Runtime" in sentence and "4096" in sentence, "the sentence", sentence)


@test("a library of holes takes neither time nor memory")
def _(t):
    target = hostile(t, "holes", t.library("1.30.0"))
    timed(t, "-p", target.pid, "-o", t.path("capture.opp"))
    # 10 GB, of which 40 MB are there.
    blocks = os.stat(os.path.join(t.path("hostile"), "holes.so")).st_blocks
    check(blocks * 512 < 200 << 20, "the holes were filled: %d blocks" % blocks)


@test("a library that is cut short while it is read is a sentence, not a crash")
def _(t):
    target = hostile(t, "shrinking", t.library("1.30.0"))
    sentences = set()
    for _ in range(30):
        process = t.opprobe("doctor", "-p", target.pid, "--json")
        check(process.wait() in (0, 1), "exit status", process.stderr)
        for finding in json.loads(process.stdout)["checks"]:
            if finding["name"] == "runtime" and finding["verdict"] == "fail":
                sentences.add(finding["text"])
    check(sentences, "the library was never cut short")
    for sentence in sentences:
        check("signal" not in sentence and "Bad message" not in sentence, "a sentence", sentence)


@test("names of files reach neither the terminal nor JSON as they are")
def _(t):
    target = hostile(t, "name", t.library("1.30.0"))
    for arguments in (("-p", target.pid), ("doctor", "-p", target.pid),
                      ("doctor", "-p", target.pid, "--json")):
        process = subprocess.run([t.program, *map(str, arguments)], cwd=t.directory,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        check_equal(process.returncode, 1, "exit status")
        said = process.stdout + process.stderr
        check(b"lib.so" in said, "the file is not named", said)
        text = said.decode("utf-8")  # raises where it is not
        check(all(c in "\n\t" or c.isprintable() for c in text), "control characters", repr(text))
    check(any("lib.so" in finding["text"] for finding in json.loads(process.stdout)["checks"]),
          "JSON", process.stdout)


@test("what looks into a target has no rights, and ends with the recording")
def _(t):
    target = t.ort_run("1.30.0", "resnet")
    opprobe = t.attach(target)
    target.run()
    t.named()
    inspectors = helpers_of(opprobe.pid, "inspector")
    check_equal(len(inspectors), 1, "inspectors")
    status = status_of(inspectors[0])
    check_equal(status["Uid"].split(), ["65534"] * 4, "its users")
    for which in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
        check_equal(int(status[which], 16), 0, which)
    check_equal(status["NoNewPrivs"], "1", "no new privileges")
    if "debug" not in t.program:  # the sanitizers need more calls
        check_equal(status["Seccomp"], "2", "its filter of system calls")
    files = {os.readlink("/proc/%d/fd/%s" % (inspectors[0], name))
             for name in os.listdir("/proc/%d/fd" % inspectors[0])}
    others = {name for name in files if not name.startswith("socket:")}
    if "debug" in t.program:
        others = {name for name in others if "libonnxruntime" in name}
    check_equal(others, {os.path.realpath(t.library("1.30.0"))}, "what it has open")
    # Whoever kills it ends names, and neither opprobe nor the target.
    os.kill(inspectors[0], 9)
    target.run()
    opprobe.stop()
    check(target.alive(), "the target ended")
    check_equal(helpers(t), [], "processes that were left behind")


@test("once it is attached, opprobe itself has no more rights than it needs")
def _(t):
    target = t.ort_run("1.30.0", "resnet")
    opprobe = t.attach(target)
    status = status_of(opprobe.pid)
    effective = int(status["CapEff"], 16)
    # Of include/uapi/linux/capability.h.
    for name, bit in (("BPF", 39), ("PERFMON", 38), ("SYS_PTRACE", 19)):
        check(effective >> bit & 1, "it lacks CAP_" + name, status["CapEff"])
    for name, bit in (("SYS_ADMIN", 21), ("SYS_MODULE", 16), ("SYS_RAWIO", 17), ("SYS_BOOT", 22),
                      ("MKNOD", 27), ("NET_ADMIN", 12), ("NET_RAW", 13), ("SYS_TIME", 25),
                      ("SETPCAP", 8), ("SYS_CHROOT", 18)):
        check(not effective >> bit & 1, "it still has CAP_" + name, status["CapEff"])
    check_equal(status["CapPrm"], status["CapEff"], "those it may take up")
    check_equal(status["NoNewPrivs"], "1", "no new privileges")
    check_equal(status["Seccomp"], "2", "its filter of system calls")
    target.run(3)
    t.named()
    report = opprobe.stop()
    report.nothing_lost()
    check_equal(set(report.counts().values()), {3}, "how often each operator was recorded")

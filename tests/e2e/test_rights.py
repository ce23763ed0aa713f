# SPDX-License-Identifier: GPL-2.0-only
"""With fewer rights than root has: what still works, and what the sentence names
where it does not."""

import os
import shutil
import subprocess
import sys

from harness import (HERE, Opprobe, OrtTarget, Process, check, check_equal, helpers_of,
                     one_sentence, status_of, test)

CAPABILITIES = ("bpf", "perfmon", "sys_ptrace")


def make_root(t, root):
    """A tree in which ort_run finds all that it needs."""
    library = t.library("1.30.0")
    program = t.ort_program
    needed = set()
    for path in (library, program):
        said = subprocess.run(["ldd", path], stdout=subprocess.PIPE, check=True).stdout.decode()
        needed |= {word for word in said.split() if word.startswith("/") and word != library}
    for path in needed:
        place = root + path
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy(path, place)
    os.makedirs(root + "/lib", exist_ok=True)
    shutil.copy(library, root + "/lib/libonnxruntime.so.1")
    shutil.copy(program, root)
    for kind in ("onnx", "inputs"):
        shutil.copy(t.model("tiny")[:-len("onnx")] + kind, root)


def with_capabilities(t, *arguments):
    """opprobe of an ordinary user who was given three capabilities."""
    folder = t.path("work")
    os.mkdir(folder)
    os.chmod(folder, 0o777)
    program = shutil.copy(t.program, t.path("opprobe"))
    given = ",".join("+" + name for name in CAPABILITIES)
    return t.start(Opprobe, ["setpriv", "--reuid", "nobody", "--regid", "nogroup",
                             "--clear-groups", "--inh-caps", given, "--ambient-caps", given,
                             program, *map(str, arguments)], cwd=folder)


def records(t, target):
    opprobe = with_capabilities(t, "-p", target.pid, "--json", "-o", t.path("work/capture.opp"))
    opprobe.attached()
    children = helpers_of(opprobe.pid, "inspector")
    check_equal(len(children), 1, "inspectors")
    status = status_of(children[0])
    for which in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
        check_equal(int(status[which], 16), 0, "the inspector's " + which)
    target.run(5)
    report = opprobe.stop()
    check(report.counts() and set(report.counts().values()) == {5}, "what was recorded",
          report.counts())


@test("three capabilities are enough for a target in a chroot")
def _(t):
    root = t.path("root")
    make_root(t, root)
    records(t, t.start(OrtTarget, ["chroot", root, "/ort_run", "/lib/libonnxruntime.so.1",
                                   "/tiny.onnx"]).ready())


@test("three capabilities are enough for a target whose files are in mounts of its own")
def _(t):
    root = t.path("root")
    make_root(t, root)
    os.mkdir(t.path("private"))
    # As in a container: what it maps has no name outside.
    target = t.start(OrtTarget, [
        "unshare", "--mount", "sh", "-ec",
        'mount -t tmpfs none "$1"; cp -a "$2/." "$1"; '
        'exec chroot "$1" /ort_run /lib/libonnxruntime.so.1 /tiny.onnx',
        "-", t.path("private"), root]).ready()
    check(not os.listdir(t.path("private")), "the mount is seen outside")
    records(t, target)


@test("root without the right over a process is told which one is missing")
def _(t):
    # A process that may not be dumped is looked into with that right only.
    target = t.start(Process, [sys.executable, "-c", "import ctypes, time\n"
                               "ctypes.CDLL(None).prctl(4, 0)\nprint('ready', flush=True)\n"
                               "time.sleep(1000)"])
    target.line()
    process = t.start(Opprobe, ["setpriv", "--bounding-set", "-sys_ptrace", t.program, "-p",
                                str(target.pid), "-o", t.path("capture.opp")])
    check_equal(process.wait(), 1, "exit status (%s)" % process.stderr.strip())
    sentence = one_sentence(process.stderr)
    check("CAP_SYS_PTRACE" in sentence and "run opprobe as root" not in sentence, "the sentence",
          sentence)


@test("too few open files are told as that")
def _(t):
    target = t.ort_run("1.30.0", "tiny")
    for files in range(8, 300, 6):
        process = t.start(Opprobe, [sys.executable, os.path.join(HERE, "confine"),
                                    "files=%d" % files, "--", t.program, "-p", str(target.pid),
                                    "-d", "100ms", "-o", t.path("capture.opp")])
        status = process.wait()
        if status == 0:
            break
        check_equal(status, 1, "exit status (%s)" % process.stderr.strip())
        sentence = one_sentence(process.stderr)
        check("ulimit -n" in sentence, "with %d: the remedy" % files, sentence)
    check(files > 8 and status == 0, "it never worked, or always", files)

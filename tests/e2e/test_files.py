# SPDX-License-Identifier: GPL-2.0-only
"""What opprobe writes: whatever happens to its files, it ends with one sentence, and what was
recorded before can be read."""

import os
import resource
import select
import signal
import subprocess
import time

from harness import PERIOD, Report, check, check_equal, one_sentence, test

DISK = 256 << 10


def running(t):
    """A target that runs until it is ended."""
    target = t.ort_run("1.30.0", "resnet")
    target.keep_running()
    return target


def readable(t, capture):
    """The report of a capture; its last chunk may have been cut."""
    made = subprocess.run([t.program, "report", capture, "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    check_equal(made.returncode, 0, "status of the report: %s" % made.stderr)
    return Report(made.stdout, t.directory)


def full_disk(*options):
    @test("a disk that fills up ends the recording with one sentence, and its capture is read%s"
          % (", with " + options[0] if options else ""))
    def _(t):
        target = running(t)
        capture = os.path.join(t.disk(DISK), "full.opp")
        sentence = one_sentence(t.fails("record", "-p", target.pid, "-q", "-o", capture, *options))
        check(capture in sentence and "No space left" in sentence, "sentence", sentence)
        check(os.path.getsize(capture) > DISK // 2, "little was written")
        report = readable(t, capture)
        check(not report.json["recording"]["complete"], "it seems complete")
        check(report.json["runs"] >= 10, "few runs are in it", report.json["runs"])
        check(target.alive(), "the target is gone")


for chosen in ((), ("--min-duration", "1us")):
    full_disk(*chosen)


@test("a file that may not grow ends the recording with one sentence")
def _(t):
    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, DISK))

    target = running(t)
    sentence = one_sentence(t.fails("record", "-p", target.pid, "-q", "-o", t.path("limited.opp"),
                                    preexec_fn=limit_files))
    check("limited.opp" in sentence and "File too large" in sentence, "sentence", sentence)
    check(readable(t, t.path("limited.opp")).json["runs"] >= 10, "few runs are in it")


@test("a reader that has gone ends the recording with one sentence")
def _(t):
    target = running(t)
    reader, writer = os.pipe()
    probe = t.opprobe("record", "-p", target.pid, "-q", "-o", "-", stdout=writer)
    os.close(writer)
    check(os.read(reader, 1), "nothing was written")
    os.close(reader)
    check_equal(probe.wait(), 1, "status")
    check("standard output" in one_sentence(probe.stderr), "sentence", probe.stderr)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def traps(t):
    """What may wait for root at the names that it takes: functions that put it there."""
    write(t.path("precious"), "precious")
    return (lambda path: os.symlink(t.path("precious"), path),
            lambda path: os.link(t.path("precious"), path),
            os.mkfifo,
            lambda path: write(path, "old"))


@test("what is planted at the default names is not touched, and not waited for")
def _(t):
    target = running(t)
    names = ["opprobe-%d.opp" % target.pid]
    for number, plant in enumerate(traps(t), 2):
        plant(t.path(names[-1]))
        names.append("opprobe-%d.%d.opp" % (target.pid, number))
    before = {name: os.lstat(t.path(name)) for name in names[:-1]}
    probe = t.opprobe("-p", target.pid, "-d", "1s", "--no-cost")
    check_equal(probe.wait(), 0, "status: %s" % probe.stderr)
    check(names[-1] in probe.stderr, "another name", probe.stderr)
    check(readable(t, t.path(names[-1])).json["runs"], "nothing was recorded")
    for name, was in before.items():
        now = os.lstat(t.path(name))
        check((now.st_ino, now.st_size, now.st_mtime) == (was.st_ino, was.st_size, was.st_mtime),
              "%s was touched" % name)
    check_equal(os.stat(t.path(names[-1])).st_mode & 0o777, 0o600, "mode")


@test("a link of another user is refused, before anything is attached")
def _(t):
    os.symlink(t.path("precious"), t.path("named.opp"))
    os.chown(t.path("named.opp"), 12345, 12345, follow_symlinks=False)
    sentence = one_sentence(t.fails("record", "-p", os.getpid(), "-o", t.path("named.opp")))
    check("of another user" in sentence, "sentence", sentence)


@test("a start that fails leaves what is there as it was, and makes nothing")
def _(t):
    for name in ("there.opp", "absent.opp"):
        if name == "there.opp":
            write(t.path(name), "precious")
        before = sorted(os.listdir(t.directory))
        t.fails("record", "-p", os.getpid(), "-o", t.path(name))
        check_equal(sorted(os.listdir(t.directory)), before, "files")
    with open(t.path("there.opp"), encoding="utf-8") as file:
        check_equal(file.read(), "precious", "what was there")
    t.fails("record", "-p", os.getpid(), "-q", "-o", "/dev/null")
    check(os.path.exists("/dev/null"), "a device is gone")


@test("two recordings of one process at once have a capture each, and none takes another's")
def _(t):
    target = running(t)
    probes = [t.opprobe("record", "-p", target.pid, "--no-cost").attached() for _ in range(2)]
    named = t.opprobe("record", "-p", target.pid, "-o", "opprobe-%d.opp" % target.pid)
    check_equal(named.wait(), 1, "status of one that would take another's file")
    check("another opprobe" in named.stderr, "sentence", named.stderr)
    for probe in probes:
        probe.signal(2)
        check_equal(probe.wait(), 0, "status: %s" % probe.stderr)
    for name in ("opprobe-%d.opp", "opprobe-%d.2.opp"):
        report = readable(t, t.path(name % target.pid))
        check(report.json["recording"]["complete"], "%s is cut" % name)


@test("an export over the capture that it is made from is refused")
def _(t):
    target = running(t)
    t.opprobe("record", "-p", target.pid, "-d", "200ms", "-o", t.path("x.opp"), "--no-cost").wait()
    os.link(t.path("x.opp"), t.path("same.opp"))
    for name in ("x.opp", "same.opp"):
        sentence = one_sentence(t.fails("export", t.path("x.opp"), "--format", "csv", "-o",
                                        t.path(name), status=2))
        check("capture itself" in sentence, "sentence", sentence)
    check(readable(t, t.path("x.opp")).operators, "the capture is gone")


@test("with its standard streams closed, what it says does not go into its capture")
def _(t):
    target = running(t)
    made = subprocess.run(["sh", "-c", 'exec "$0" record -p "$1" -d 300ms -o "$2" <&- >&- 2>&-',
                           t.program, str(target.pid), t.path("closed.opp")], check=False)
    check_equal(made.returncode, 0, "status")
    report = readable(t, t.path("closed.opp"))
    check(report.json["recording"]["complete"] and report.json["runs"], "the capture is not whole")


def fill(probe, pipe):
    """Wait until it takes no more, which on a busy machine is at few bytes: each write has pages
    of its own."""
    patience = probe.patience()
    while select.select([], [pipe], [], 0)[1]:
        check(not patience.over(), "the pipe does not fill")
        time.sleep(PERIOD)


def stalled_reader(what, *options, interrupt=False):
    @test("a reader that stops reading ends the recording, probes gone: " + what)
    def _(t):
        target = running(t)
        reader, writer = os.pipe()
        probe = t.opprobe("record", "-p", target.pid, "-o", "-", *options, stdout=writer)
        probe.attached()
        if interrupt:
            fill(probe, writer)
            probe.signal(2)
        os.close(writer)
        check_equal(probe.wait(), 1, "status: %s" % probe.stderr)
        check("nobody reads it" in probe.stderr, "sentence", probe.stderr)
        os.close(reader)


stalled_reader("by itself", "--no-cost")
stalled_reader("told to stop, at once", interrupt=True)


@test("kill -9 loses less than a second of the recording")
def _(t):
    target = running(t)
    probe = t.opprobe("record", "-p", target.pid, "-q", "-o", t.path("capture.opp"))
    t.recorded("no 100 runs", lambda report: report["runs"] >= 100)
    probe.signal(signal.SIGKILL)
    killed = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    probe.wait()
    recording = readable(t, t.path("capture.opp")).json["recording"]
    lost = killed - recording["start_ns"] - recording["duration_ns"]
    check(lost < t.slower * 10**9, "%.2f s were lost" % (lost / 1e9), recording)
    check(target.alive(), "the target is gone")

# SPDX-License-Identifier: GPL-2.0-only
"""What opprobe writes: whatever happens to its files, it ends with one sentence, and what was
recorded before can be read."""

import os
import resource
import subprocess

from harness import Report, check, check_equal, one_sentence, test

DISK = 256 << 10
ENDLESS = 100_000_000


def running(t):
    """A target that runs until it is ended."""
    target = t.ort_run("1.30.0", "resnet")
    target.write("run %d\n" % ENDLESS)
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

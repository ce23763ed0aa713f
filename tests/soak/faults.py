# SPDX-License-Identifier: GPL-2.0-only
"""What can happen to opprobe, to its target and to the machine while it records: one function
each, of the soak and of a context of its own. Each picks its moments by chance, ends with opprobe
ended, and says what is wrong by failing."""

import collections
import contextlib
import os
import shutil
import signal
import subprocess
import time

from harness import Failure, Opprobe, OrtTarget, check, check_equal, helpers_of, one_sentence

FAULTS = []
STATUSES = collections.Counter()  # with which opprobe ended in the fault at hand
VERSION = "1.30.0"
SOON = 1.5  # s: what is recorded is written within one, on a CPU that others want as well


def fault(function):
    FAULTS.append(function)
    return function


def record(s, t, target, *options):
    """A recording of target, as a capture only; it may not be attached yet."""
    return t.opprobe("record", "-p", target.pid, "-o", t.path("capture.opp"), "--no-cost",
                     *(s.chance.choice([(), ("-e", "none"), ("--shapes",)])), *options)


def report_of(t):
    """The report of the capture, which must be there and readable."""
    return t.opprobe("report", t.path("capture.opp"), "--json").finish().json


def ended(probe, *allowed):
    """Wait for opprobe: with such a status, and one sentence if it failed."""
    status = probe.wait()
    STATUSES[status] += 1
    check(status in allowed, "status %d" % status, probe.stderr)
    if status == 1:
        one_sentence(probe.stderr.strip().split("\n")[-1] + "\n")
    return status


def interrupted_with(t, probe, runs):
    """Ctrl-C: the capture has so many runs at least."""
    probe.signal(signal.SIGINT)
    ended(probe, 0)
    got = report_of(t)["runs"]
    check(got >= runs, "of %d runs, %d are recorded" % (runs, got))


def expendable(t):
    """A target that may be harmed; it answers one run, so that all is loaded."""
    target = t.ort_run(VERSION, "tiny", "-O", "0")
    target.run(1)
    return target


def keep_running(target):
    """Many runs, which nobody waits for."""
    target.write("run 1000000\n")


# -- opprobe ------------------------------------------------------------------------


@fault
def opprobe_is_killed_while_it_attaches(s, t):
    probe = record(s, t, s.server)
    s.wait_at_most(1.2 * s.attaching)
    probe.signal(signal.SIGKILL)
    ended(probe, -signal.SIGKILL)


@fault
def opprobe_is_killed_while_it_records(s, t):
    probe = record(s, t, s.server).attached()
    attached = time.monotonic()
    s.wait_at_most(3)
    probe.signal(signal.SIGKILL)
    killed = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    ended(probe, -signal.SIGKILL)
    if killed / 1e9 - attached < SOON:
        return  # perhaps before anything was written
    recording = report_of(t)["recording"]
    lost = (killed - recording["start_ns"] - recording["duration_ns"]) / 1e9
    check(lost < SOON, "%.2f s of the recording are lost" % lost)


@fault
def opprobe_is_killed_while_it_detaches(s, t):
    probe = record(s, t, s.server).attached()
    s.wait_at_most(0.3)
    probe.signal(signal.SIGINT)
    s.wait_at_most(1.2 * s.detaching)
    probe.signal(signal.SIGKILL)
    # It may have been faster.
    ended(probe, -signal.SIGKILL, 0, 130)


@fault
def opprobe_is_stopped_and_goes_on(s, t):
    probe = record(s, t, s.server)
    attaches = s.chance.random() < 0.3
    if attaches:
        s.wait_at_most(s.attaching)
    else:
        probe.attached()
    probe.signal(signal.SIGSTOP)
    time.sleep(10 if s.turn % 5 == 0 else s.chance.uniform(0.1, 1.5))
    probe.signal(signal.SIGCONT)
    if attaches:
        probe.attached()
    s.wait_at_most(0.3)
    probe.signal(signal.SIGINT)
    ended(probe, 0, 130)


@fault
def a_helper_of_opprobe_is_killed(s, t):
    probe = record(s, t, s.server)
    s.wait_at_most(1.5 * s.attaching)
    helpers = helpers_of(probe.pid)
    if helpers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(s.chance.choice(helpers), signal.SIGKILL)
    s.wait_at_most(0.5)
    probe.signal(signal.SIGINT)
    ended(probe, 0, 1, 130)


@fault
def two_record_and_one_is_killed(s, t):
    other = t.opprobe("record", "-p", s.server.pid, "-o", t.path("other.opp"), "-q")
    probe = record(s, t, s.server)
    s.wait_at_most(1.5 * s.attaching)
    other.signal(signal.SIGKILL)
    ended(other, -signal.SIGKILL)
    probe.attached()
    s.more_answers(4)
    interrupted_with(t, probe, 1)


@fault
def the_disk_is_full(s, t):
    disk = t.disk(s.chance.randrange(1, 40) * 4096)
    probe = t.opprobe("record", "-p", s.server.pid, "-o", os.path.join(disk, "capture.opp"))
    ended(probe, 1)
    check("No space left" in probe.stderr, "it is not said that the disk is full", probe.stderr)
    if os.path.exists(os.path.join(disk, "capture.opp")):
        shutil.copy(os.path.join(disk, "capture.opp"), t.path("capture.opp"))


@fault
def there_is_little_memory(s, t):
    with s.memory_group(s.chance.randrange(2, 48) << 20) as join:
        probe = t.start(Opprobe, ["sh", "-c", join + 'exec "$@"', "sh", t.program, "record",
                                  "-p", str(s.server.pid), "-o", t.path("capture.opp"),
                                  "--no-cost"])
        s.wait_at_most(2 * s.attaching)
        if probe.alive():
            with contextlib.suppress(Failure):
                probe.attached()
        probe.signal(signal.SIGINT)
        ended(probe, -signal.SIGKILL, 128 + signal.SIGKILL, 0, 1, 130)


# -- its target ------------------------------------------------------------------------


def target_ends_by(number):
    def happens(s, t):
        target = expendable(t)
        probe = record(s, t, target).attached()
        done = s.chance.randrange(1, 20)
        target.run(done)
        keep_running(target)
        s.wait_at_most(0.3)
        target.signal(number)
        ended(probe, 0)
        report = report_of(t)
        check(report["runs"] >= done, "of %d runs, %d are recorded" % (done, report["runs"]))
        check_equal(report["recording"]["complete"], True, "the capture is whole")
    happens.__name__ = "the_target_ends_by_" + signal.Signals(number).name
    fault(happens)


target_ends_by(signal.SIGKILL)
target_ends_by(signal.SIGSEGV)


def kill_target_while_it_attaches(s, t):
    target = expendable(t)
    probe = record(s, t, target)
    s.wait_at_most(1.2 * s.attaching)
    target.signal(signal.SIGKILL)
    return target, probe


@fault
def the_target_is_killed_while_opprobe_attaches(s, t):
    _, probe = kill_target_while_it_attaches(s, t)
    ended(probe, 0, 1, 130)


@fault
def the_target_executes_another_program(s, t):
    target = expendable(t)
    follows = s.chance.random() < 0.5
    probe = record(s, t, target, *(["--follow"] if follows else [])).attached()
    done = s.chance.randrange(1, 10)
    target.run(done)
    target.ask("exec")
    target.run(5)
    if follows:
        target.signal(signal.SIGKILL)
    ended(probe, 0)
    check(report_of(t)["runs"] >= done, "runs from before are missing")


@fault
def the_target_forks_and_its_child_is_killed(s, t):
    target = expendable(t)
    probe = record(s, t, target, "--follow").attached()
    target.run(2)
    child = target.ask("fork")["child"]
    target.ask("child run 3")
    s.wait_at_most(0.2)
    os.kill(child, signal.SIGKILL)
    target.run(2)
    interrupted_with(t, probe, 4)


@fault
def the_library_is_replaced_and_loaded_again(s, t):
    library, other = t.path("lib.so"), t.path("lib.new")

    def replace():
        shutil.copy(t.library(VERSION), other)
        os.replace(other, library)

    replace()
    target = t.start(OrtTarget, [t.ort_program, "-O", "0", library, t.model("tiny")]).ready()
    target.run(1)
    if s.chance.random() < 0.3:
        replace()
    probe = record(s, t, target).attached()
    target.run(3)
    for _ in range(s.chance.randrange(4)):
        replace()
        target.ask(s.chance.choice(["recreate", "reload " + library]))
        target.run(2)
    interrupted_with(t, probe, 3)


@fault
def its_number_is_given_to_another_process(s, t):
    """Whoever was named, what is recorded is of one process, and of the one that is told."""
    target, probe = kill_target_while_it_attaches(s, t)
    target.wait()
    another = s.start_as(target.pid, t, [t.ort_program, t.library(VERSION), t.model("mlp")])
    if another:
        another.ready()
        another.run(3)
    s.wait_at_most(0.3)
    probe.signal(signal.SIGINT)
    ended(probe, 0, 1, 130)
    if another:
        another.run(3)
    if not os.path.exists(t.path("capture.opp")):
        return
    report = report_of(t)
    model = "mlp" if "mlp.onnx" in report["processes"][0]["command"] else "tiny"
    nodes = {op["name"] for op in report["operators"]}
    check(not nodes or (model == "tiny") == any(name.startswith("n00") for name in nodes),
          "operators of another process than the one that is told", model, sorted(nodes)[:5])


def readable(t, path):
    """A capture that was left can be read, and says whether it is whole."""
    shown = subprocess.run([t.program, "report", path, "--json"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    text = shown.stderr.decode(errors="replace")
    check(not shown.returncode or "nothing was recorded" in text or
          "cut short before anything was recorded" in text, "the capture cannot be read", text)

# SPDX-License-Identifier: GPL-2.0-only
"""The target is never harmed: not by attaching, not by exceptions, not by the
way in which opprobe ends; and what was recorded survives the target."""

import contextlib
import csv
import ctypes
import http.client
import io
import json
import os
import signal
import struct
import subprocess
import sys
import time
import urllib.request

from harness import (PERIOD, Process, Report, check, check_counts, check_equal, described_counts,
                     finish_load, programs_recording, test)

BAD_SHAPE = {"shape": {"values": [5, 5]}}


def helpers(probe):
    with open("/proc/%d/task/%d/children" % (probe.pid, probe.pid), encoding="ascii") as children:
        return [int(pid) for pid in children.read().split()]


def cpus_of(probe):
    """On which each of opprobe's processes may run. Some of them end while it attaches."""
    found = []
    for pid in [probe.pid] + helpers(probe):
        with contextlib.suppress(ProcessLookupError):
            found.append(os.sched_getaffinity(pid))
    return found


def answered(server, more):
    """Wait until the server has answered that many more requests than it has now."""
    def answers():
        with urllib.request.urlopen(server.url + "/stats") as reply:
            stats = json.load(reply)
        return stats["requests"] - stats["busy"]

    patience, before = server.patience(), answers()
    while answers() < before + more:
        check(server.alive() and not patience.over(), "the server does not answer any more")
        time.sleep(PERIOD / 50)


@test("the server answers every request equally while opprobe comes and goes, often")
def _(t):
    server = t.server("1.24.3", ["cnn", "nested"], "--sessions", "2", "--intra-op-threads", "2")
    load = t.load(server, ["cnn", "nested"])
    times = t.times(50)
    for i in range(times):
        probe = t.attach(server)
        # Requests go round the models: these are more than one round.
        answered(server, 20)
        report = probe.stop()
        for model in ("cnn", "nested"):
            ran = {name for name, _ in described_counts(t.model(model), 1)}
            check(ran & {op["name"] for op in report.operators},
                  "nothing of %s was recorded in capture %d" % (model, i), report.operators[:3])
    check(server.alive(), "the server is gone")
    counts = finish_load(load)
    check(counts["sent"] > 20 * times, "there was no load: %r" % counts)


@test("a server with worker threads answers equally while opprobe is attached")
def _(t):
    server = t.server("1.30.0", ["cnn", "transformer"], "--workers", "2")
    load = t.load(server, ["cnn", "transformer"])
    probe = t.attach(server)
    answered(server, 60)
    report = probe.stop().nothing_lost()
    check(len({op["session"] for op in report.operators}) == 4, "not all sessions were seen")
    finish_load(load)
    server.signal(signal.SIGTERM)
    check_equal(server.wait(), 0, "the server's exit status")


def throwing(version):
    @test("%s: 1,000 operators that throw get their error, and the rest stays right" % version)
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model("reshape"))
        good = target.run(session, 1)["sums"]
        probe = t.attach(target)
        check_equal(target.run(session, 10)["sums"], good, "results before")
        for _ in range(10):
            bad = target.do("run", session=session, times=100, change=BAD_SHAPE)
            check_equal((bad["done"], bad["failed"]), (100, 100), "runs that fail")
            check("cannot be reshaped" in bad["error"], "the error is another one", bad["error"])
            check_equal(target.run(session, 1)["sums"], good, "results between")
        check_equal(target.run(session, 10)["sums"], good, "results after")
        nodes = [("before/Relu", "Relu"), ("Reshape", "Reshape"), ("after/Neg", "Neg")]
        check_counts(probe.stop().nothing_lost().counts(), {node: 30 for node in nodes})
        check_counts(t.failed().counts(), {node: 1000 for node in nodes[:2]})


def throwing_inside(version):
    @test("%s: what throws two Ifs deep leaves nobody open whom later operators would be in" %
          version)
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model("reshape_inside"))
        target.run(session, 1)
        probe = t.attach(target)
        for _ in range(100):
            bad = target.do("run", session=session, times=3, change=BAD_SHAPE)
            check_equal((bad["done"], bad["failed"]), (3, 3), "runs that fail")
            target.run(session, 2)
        good, failed = probe.stop().nothing_lost().counts(), t.failed().counts()
        made = subprocess.run([t.program, "export", t.path("capture.opp"), "--format", "csv"],
                              stdout=subprocess.PIPE, check=True)
        for row in csv.DictReader(io.StringIO(made.stdout.decode())):
            depth = {"inner": 2, "outer": 1}.get(row["name"].split("/")[0], 0)
            if row["name"].endswith("/If"):
                depth -= 1
            check_equal(int(row["depth"]), max(depth, 0), "depth of " + row["name"])
        nodes = [("least", "ReduceMin"), ("yes", "Less"), ("outer/If", "If"),
                 ("outer/Sqrt", "Sqrt"), ("inner/If", "If"), ("inner/Reshape", "Reshape"), ("inner/Neg", "Neg"),
                 ("outer/Abs", "Abs"), ("after/Neg", "Neg")]
        check_counts(good, {node: 200 for node in nodes})
        check_counts(failed, {node: 300 for node in nodes[:6]})


for version in ("1.10.0", "1.14.0", "1.20.1", "1.24.3", "1.30.0"):
    throwing(version)
    throwing_inside(version)


@test("a server whose operators throw answers 500 to those requests and 200 to the others")
def _(t):
    server = t.server("1.24.3", ["reshape"])
    probe = t.attach(server)
    connection = http.client.HTTPConnection(server.url.split("//")[1])
    x = {"dims": [12], "data": list(range(12))}
    for i in range(100):
        for shape, status in (([3, 4], 200), ([5, 5], 500)):
            connection.request("POST", "/infer", json.dumps({"model": "reshape", "inputs": {
                "x": x, "shape": {"dims": [2], "data": shape}}}))
            answer = connection.getresponse()
            answer.read()
            check_equal(answer.status, status, "answer %d to shape %r" % (i, shape))
    report = probe.stop().nothing_lost()
    check_equal(report.operator("after/Neg")["count"], 100, "operators after the throwing one")
    connection.request("GET", "/healthz")
    check_equal(connection.getresponse().status, 200, "health")


@test("kill -9 of opprobe leaves the server healthy, and opprobe can attach again")
def _(t):
    server = t.server("1.24.3", ["cnn"], "--intra-op-threads", "2")
    load = t.load(server, ["cnn"])
    ran = set(described_counts(t.model("cnn"), 1))
    for turn in range(3):
        capture = t.path("killed%d.opp" % turn)
        probe = t.opprobe("record", "-p", server.pid, "-o", capture).attached()
        # What is recorded goes to the file soon, not at the end: it is there when that never comes.
        sizes, patience = {os.path.getsize(capture)}, server.patience()
        while len(sizes) < 4:
            check(not patience.over(), "nothing comes into the file while it is recorded")
            time.sleep(PERIOD / 50)
            sizes.add(os.path.getsize(capture))
        probe.signal(signal.SIGKILL)
        probe.wait()
        shown = t.opprobe("report", capture, "--json")
        report = shown.finish()
        check(report.json["runs"] > 0, "no whole run is in the capture", report.json["total"])
        check(report.operators and {op["op_type"] for op in report.operators} <=
              {"Conv", "FusedConv", "ReorderInput", "ReorderOutput"} | {op for _, op in ran},
              "operators that the model does not have", report.operators[:5])
        check("cut short" in json.dumps(report.json) + shown.stderr,
              "it is not said that the capture is cut short", shown.stderr, report.json.keys())
    probe = t.attach(server)
    answered(server, 8)
    report = probe.stop()
    check(report.operators, "nothing was recorded")
    check(server.alive(), "the server is gone")
    finish_load(load)


@test("what was recorded goes to the file soon, although nothing follows")
def _(t):
    target = t.ort_run("1.24.3", "mlp", "-O", "0")
    probe = t.opprobe("record", "-p", target.pid, "-o", t.path("early.opp")).attached()
    target.run(3)
    patience, runs = probe.patience(), 0
    while runs < 3:
        check(not patience.over(), "three runs do not come into the file")
        time.sleep(PERIOD)
        shown = t.opprobe("report", t.path("early.opp"), "--json")
        runs = shown.finish().json["runs"] if shown.wait() == 0 else 0
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status")


@test("what was recorded is kept when the target exits")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("cnn"))
    probe = t.attach(target)
    expected = described_counts(t.model("cnn"), 20)
    # Names are read from the process, which has to be there until they are.
    target.run(session, 1)
    t.recorded("not all names", lambda report: len(report["operators"]) == len(expected))
    target.run(session, 19)
    target.write(json.dumps({"do": "exit"}) + "\n")
    report = probe.finish()
    check_counts(report.counts(), expected)


@test("what was recorded is kept when the target is killed in the middle of a run")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("heavy"))
    probe = t.attach(target)
    expected = described_counts(t.model("heavy"), 1)
    target.run(session, 3)
    t.recorded("not all names", lambda report: len(report["operators"]) == len(expected))
    target.write(json.dumps({"do": "run", "session": session, "times": 100000}) + "\n")
    target.signal(signal.SIGKILL)
    report = probe.finish()
    for name, op in expected:
        check(report.operator(name)["count"] >= 3, "an operator of a whole run is missing", name)


@test("SIGTERM ends a recording as Ctrl-C does")
def _(t):
    target = t.node("1.24.3")
    session = target.load_plain(t.model("mlp"))
    probe = t.attach(target)
    target.run(session, 4)
    probe.signal(signal.SIGTERM)
    check_counts(probe.finish().counts(), described_counts(t.model("mlp"), 4))


@test("-d ends the recording by itself, and 0 runs are said to be none")
def _(t):
    target = t.node("1.24.3")
    target.load_plain(t.model("mlp"))
    probe = t.attach(target, "-d", "200ms")
    check_equal(probe.wait(), 0, "exit status")
    report = Report(probe.stdout, t.directory)
    check_equal((report.operators, report.json["runs"]), ([], 0), "operators and runs")
    check("waiting for the first run" in probe.stderr, "nothing is said of the first run",
          probe.stderr)


@test("Ctrl-C before anything was recorded ends with status 130")
def _(t):
    target = t.node("1.24.3")
    target.load_plain(t.model("mlp"))
    t.attach(target).stop(status=130)
    check(target.alive(), "the target is gone")


@test("until its probes go in, opprobe leaves others their CPUs; then it comes first")
def _(t):
    target = t.ort_run("1.30.0", "tiny", "-O", "0")
    probe = t.opprobe("record", "-p", target.pid, "-o", t.path("capture.opp"))
    seen, patience = [], probe.patience()
    while "attached" not in probe.stderr:
        check(not patience.over(), "it does not attach", probe.stderr)
        seen.append(os.getpriority(os.PRIO_PROCESS, probe.pid))
        time.sleep(0.001)
    check(len(seen) > 20, "it was hardly looked at", seen)
    check(seen.count(-20) < len(seen) / 2, "it came first all the time", *set(seen))
    check_equal(os.getpriority(os.PRIO_PROCESS, probe.pid), -20, "priority of the recording")
    check_equal([os.getpriority(os.PRIO_PROCESS, pid) for pid in helpers(probe)], [-10] * 2,
                "priorities of its helpers, which read the names that records wait for")
    target.run(5)
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status")


@test("with one CPU free, all of opprobe shares one until its probes go in, and none afterwards")
def _(t):
    every = os.sched_getaffinity(0)
    for _ in range(len(every) - 1):
        t.start(Process, [sys.executable, "-c", "while True: pass"])
    # What wants it for a moment now and then, as the shell that has just started opprobe does.
    t.start(Process, [sys.executable, "-c", "import time\nwhile True:\n"
                      " end = time.monotonic() + 0.001\n"
                      " while time.monotonic() < end: pass\n"
                      " time.sleep(0.003)"])
    target = t.ort_run("1.30.0", "tiny", "-O", "0")
    shared, patience = False, target.patience()
    # While somebody else has the free one, it spreads over all at once.
    while not shared:
        check(not patience.over(), "it does not share one CPU")
        probe = t.opprobe("record", "-p", target.pid, "-o", t.path("%d.opp" % time.time_ns()))
        while "attached" not in probe.stderr:
            check(not patience.over(), "it does not attach", probe.stderr)
            cpus = cpus_of(probe)
            shared |= len(cpus) == 3 and len(cpus[0]) == 1 and cpus == [cpus[0]] * 3
            time.sleep(0.001)
        check_equal(cpus_of(probe), [every] * 3, "CPUs of opprobe and its helpers, afterwards")
        probe.signal(signal.SIGINT)
        probe.wait()


def numbers_of_programs(probe):
    """How many BPF programs an opprobe that ends was seen to hold: each number once. To read what
    descriptors() tells takes some ten times as long, in which it lets go of the next."""
    seen = []
    while probe.alive():
        with contextlib.suppress(OSError):
            n = sum(os.readlink(file.path) == "anon_inode:bpf-prog"
                    for file in os.scandir("/proc/%d/fd" % probe.pid))
            if not seen or n != seen[-1]:
                seen.append(n)
    return seen


@test("opprobe lets go of its programs one by one while its target lives, else at once")
def _(t):
    target = t.ort_run("1.30.0", "tiny")
    target.keep_running()
    patience, few = target.patience(), None
    # It may look too seldom to see each.
    while few is None:
        check(not patience.over(), "it lets go of many at once")
        probe = t.opprobe("record", "-p", target.pid, "-o", t.path("%d.opp" % time.time_ns()))
        n = len(programs_recording(probe.attached()))
        probe.signal(signal.SIGINT)
        seen = numbers_of_programs(probe)
        check_equal(probe.wait(), 0, "exit status")
        few = n // 2 if len(seen) > n * 2 // 3 else None
    probe = t.opprobe("record", "-p", target.pid, "-o", t.path("exits.opp")).attached()
    programs_recording(probe)
    target.signal(signal.SIGKILL)
    check(len(numbers_of_programs(probe)) < few, "it waits for nobody")
    check_equal(probe.wait(), 0, "exit status")


class Calls:
    """How often a process calls a function of its libc, by a probe of perf that counts."""

    def __init__(self, pid, name):
        libc = ctypes.CDLL(None, use_errno=True)
        address = ctypes.cast(getattr(libc, name), ctypes.c_void_p).value
        with open("/proc/self/maps", encoding="utf-8") as maps:
            for line in maps:
                fields = line.split()
                first, end = (int(word, 16) for word in fields[0].split("-"))
                if first <= address < end:
                    path = ctypes.create_string_buffer(fields[5].encode())
                    offset = address - first + int(fields[2], 16)
        with open("/sys/bus/event_source/devices/uprobe/type", encoding="utf-8") as file:
            kind = int(file.read())
        # struct perf_event_attr: after type and size, config1 and config2 are the file and where.
        about = struct.pack("II48xQQ", kind, 72, ctypes.addressof(path), offset)
        number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
        self.event = libc.syscall(number, about, pid, -1, -1, 0)
        check(self.event >= 0, "no probe: %s" % os.strerror(ctypes.get_errno()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.event)

    def count(self):
        return struct.unpack("Q", os.read(self.event, 8))[0]


@test("after a pause opprobe looks for records by the clock again, however many there are")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.run(100)
    probe = t.opprobe("record", "-p", target.pid, "-o", t.path("capture.opp")).attached()
    with Calls(probe.pid, "epoll_wait") as looks:
        for _ in range(3):
            patience, before = target.patience(), None
            # Once in 20 ms, and where nothing comes in 200.
            while before is None or looks.count() - before > 10:
                check(not patience.over(), "it looks often, although nothing comes")
                before = looks.count()
                time.sleep(1)
            before, began = looks.count(), time.monotonic()
            target.run(50000)
            took = time.monotonic() - began
            check(looks.count() - before <= 60 * took + 30, "it looked %d times in %.1f s" %
                  (looks.count() - before, took))
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status")

# SPDX-License-Identifier: GPL-2.0-only
"""--hot: where in operators samples were, against what perf saw and what tools say of files."""

import bisect
import collections
import json
import os
import re
import signal
import subprocess

from capture import OWN, WORKS_FOR, Capture
from harness import FRESH_MEMORY, Process, check, check_equal, helpers_of, succeeds, test
from sampling import end, names_known, sample, sampled, sampling_of, some_samples
from test_folded import folded

EACH_FAULT = ["--sample-event", "page-faults", "--sample-period", "1"]
AT_ONCE = 50_000  # ns, between what perf and opprobe note of one page fault


def code_of(pid):
    """{path: (start, offset)} of the first mapping of each file's code"""
    code = {}
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
        for line in maps:
            fields = line.split(None, 5)
            if "x" in fields[1] and fields[5:]:
                code.setdefault(fields[5].strip(), (int(fields[0].split("-")[0], 16),
                                                    int(fields[2], 16)))
    return code


class Perf:
    """perf's record of each page fault in user space."""

    def __init__(self, t, target):
        pipes = [t.path("perf.control"), t.path("perf.ack")]
        for pipe in pipes:
            os.mkfifo(pipe)
        self.path = t.path("perf.data")
        self.perf = t.start(Process, ["perf", "record", "-q", "-e", "page-faults:u", "-c", "1", "-k",
                                      "CLOCK_MONOTONIC", "-p", str(target.pid), "-o", self.path,
                                      "-D", "-1", "--control", "fifo:" + ",".join(pipes)])
        with open(pipes[0], "r+b", 0) as control, open(pipes[1], "r+b", 0) as acknowledged:
            control.write(b"enable\n")
            acknowledged.read(1)

    def end(self):
        """{tid: [(time, ip)]}, in order"""
        self.perf.signal(signal.SIGINT)
        self.perf.wait()
        script = subprocess.run(["perf", "script", "-i", self.path, "--ns", "-F", "tid,time,ip"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                check=True)
        faults = collections.defaultdict(list)
        for line in script.stdout.splitlines():
            tid, seconds, ns, ip = re.match(r"\s*(\d+)\s+(\d+)\.(\d+):\s+([0-9a-f]+)", line).groups()
            faults[int(tid)].append((int(seconds) * 10 ** 9 + int(ns), int(ip, 16)))
        for events in faults.values():
            events.sort()
        return faults


def is_where_perf_saw_it(version, model):
    @test("%s: %s: each page fault was at the instruction where perf saw it" % (version, model))
    def _(t):
        target = t.ort_run(version, model, "-O", "0", "-m", "-t", "2", **FRESH_MEMORY)
        probe = names_known(t, target, EACH_FAULT)
        perf = Perf(t, target)
        target.run(40)
        faults = perf.end()
        end(t, probe)
        code, capture = code_of(target.pid), Capture(t.path("capture.opp"))
        right, missing = 0, []
        for one in capture.samples:
            events = faults[capture.threads[one.thread]]
            # Those in the kernel are at the end of a system call; perf left them out.
            if one.seen not in (OWN, WORKS_FOR) or one.kernel or not events or \
                    not events[0][0] < one.time < events[-1][0]:
                continue
            check(one.function, "it is not known where a sample was", one)
            start, offset = code[one.function.path]
            ip = start + one.function.offset + one.at - offset
            near = events[bisect.bisect_left(events, (one.time - AT_ONCE, 0)):
                          bisect.bisect_right(events, (one.time + AT_ONCE, 0))]
            if ip in [at for _, at in near]:
                right += 1
            else:
                missing.append((one, near))
        check(right > 1000, "there were few page faults in operators", right)
        # perf's events are of threads, and of one in ten thousand they tell nothing.
        check(len(missing) < 0.001 * right, "perf did not see %d" % len(missing), *missing[:3])


is_where_perf_saw_it("1.10.0", "pages")
is_where_perf_saw_it("1.30.0", "resnet")


# -- functions ---------------------------------------------------------------------------

def frames_of(path):
    """[(start, end)] of the functions whose frames a file describes, by readelf"""
    told = subprocess.run(["readelf", "--debug-dump=frames", "--wide", path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout
    return sorted((int(start, 16), int(stop, 16))
                  for start, stop in re.findall(r" FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", told))


def symbols_of(path):
    """{name: {(address, size)}} of a file's exported functions, by nm"""
    told = subprocess.run(["nm", "-D", "-S", "--defined-only", path], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    symbols = collections.defaultdict(set)
    for address, size, name in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [TtWwiI] ([^@\s]+)", told,
                                          re.MULTILINE):
        symbols[name].add((int(address, 16), int(size, 16)))
    return symbols


def check_functions(functions, library):
    """What is said of a stripped library's code is what readelf says of it."""
    frames, counts = frames_of(library), collections.Counter()
    check(len(frames) > 1000, "readelf tells of few functions", len(frames))
    known = set(frames)
    for one in functions:
        span = one.address, one.address + one.size
        check(one.offset <= os.path.getsize(library) and one.size, "a function", one)
        counts[one.bounded] += 1
        if one.bounded:
            check(span in known or one.symbol, "this is no function", one)
            continue
        after = bisect.bisect_left(frames, (span[0], 0))
        inside = [frame for frame in frames[max(0, after - 1):after + 2]
                  if frame[0] < span[1] and frame[1] > span[0]]
        check(not inside, "between functions there is none", one, inside)
    return counts


@test("functions are those of the file, and hot assembly is told apart by who leads to it")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-t", "2")
    target.keep_running()
    probe = sample(t, target)
    some_samples(t)
    report = end(t, probe, "--hot", "--group-by", "op")
    capture = Capture(t.path("capture.opp"))
    library = os.path.realpath(t.library("1.30.0"))
    functions = capture.functions.values()
    counts = check_functions([one for one in functions if one.path == library], library)
    check(counts[True] > 3 and counts[False] > 3, "few functions were seen", counts)
    exported = {}
    for one in functions:
        if not one.symbol or one.path == library:
            continue
        exported.setdefault(one.path, symbols_of(one.path))
        for address, _ in exported[one.path].get(one.symbol, ()):
            check_equal(one.address, address, "where %s is" % one.symbol)
    # The kernels of convolutions are assembly: most of the time is in one or two of them.
    first = report.operators[0]
    check_equal((first["name"], first["is_function"], first["file"]), ("Conv", 0, library),
                "the hottest")
    check(first["share_percent"] > 20 and first["function_bytes"] < 65536, "the hottest", first)
    check(re.fullmatch(r"\+0x[0-9a-f]+\.\.0x[0-9a-f]+", first["function"]), "its name", first)
    build_id = subprocess.run(["readelf", "-n", library], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=True).stdout
    check(first["file_build_id"] in build_id, "the build-id", first, build_id)
    known = sum(one.function is not None for one in capture.samples if one.op is not None)
    check(known > 0.99 * sampling_of(report)["own"], "where few samples were is known", known)


@test("1.24.3: functions are those of the file, of many operators")
def _(t):
    target, _ = sampled(t, "1.24.3", "transformer")
    library = os.path.realpath(t.library("1.24.3"))
    functions = Capture(t.path("capture.opp")).functions.values()
    counts = check_functions([one for one in functions if one.path == library], library)
    check(counts[True] > 20, "few functions were seen", counts)
    check(code_of(target.pid)[library], "the library")


# -- views -------------------------------------------------------------------------------

def report(t, *options):
    return json.loads(succeeds(t, "report", t.path("capture.opp"), "--json", *options))


@test("rows of --hot add up to those of operators, in tables and in stacks")
def _(t):
    sampled(t, "1.30.0", "resnet", "-t", "2")
    whole = {(row["name"], row["node_index"]): row["samples"]
             for row in report(t)["operators"]}
    for how in "--hot", "--hot=addresses":
        parts, places = collections.Counter(), set()
        for row in report(t, how)["operators"]:
            parts[row["name"], row["node_index"]] += row["samples"]
            place = row["name"], row["node_index"], row["file"], row["file_offset"]
            check(place not in places, "a place is there twice", place)
            places.add(place)
        check_equal(dict(parts), whole, "samples by operator, with %s" % how)
        check(len(places) > len(whole), "what is told apart", how, len(places))
    stacks = folded(t, "--hot")
    check_equal(sum(stacks.values()), sum(folded(t).values()), "samples in stacks")
    names = {stack[-1] for stack in stacks if len(stack) > 1}
    check(any(re.fullmatch(r"libonnxruntime\.so[.\d]*\+0x[0-9a-f.x]+", name) for name in names),
          "the innermost frames", names)
    succeeds(t, "export", t.path("capture.opp"), "--format", "pprof", "--hot", "-o",
             t.path("hot.pb.gz"))
    names = subprocess.run(["zcat", t.path("hot.pb.gz")], stdout=subprocess.PIPE, check=True).stdout
    check(b"libonnxruntime.so" in names, "functions in the profile")
    text = succeeds(t, "report", t.path("capture.opp"), "--hot", "--width", "0")
    title = next(line for line in text.split("\n") if line.startswith("Name"))
    check_equal(title.split()[:5], "Name Op Function File Samples".split(), "columns")


@test("top --hot shows functions while it runs, and record --hot behind it")
def _(t):
    target = t.ort_run("1.30.0", "resnet")
    target.run(3)
    target.keep_running()
    shown = succeeds(t, "top", "-p", target.pid, "--sample", "999", "--hot", "--group-by", "op",
                     "--once", "-i", "2s")
    check(re.search(r"^Conv +\+0x[0-9a-f.x]+ +libonnxruntime", shown, re.MULTILINE), "rows", shown)
    shown = succeeds(t, "-p", target.pid, "--sample", "999", "--hot=addresses", "-d", "1s", "-o",
                     t.path("capture.opp"))
    check(re.search(r"^\S+ +Conv +\+0x[0-9a-f]+ +libonnxruntime", shown, re.MULTILINE), "rows",
          shown)


@test("what has no samples is not asked where they were")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.keep_running()
    for command in ["top", "-p", target.pid], ["-p", target.pid]:
        refused = t.opprobe(*command, "--hot")
        check_equal(refused.wait(), 2, "status")
        check("--sample 99 takes some" in refused.stderr, "why", refused.stderr)
    refused = t.opprobe("report", "x", "--hot=lines")
    check_equal(refused.wait(), 2, "status")
    check("of functions or of addresses, not of 'lines'" in refused.stderr, "why", refused.stderr)
    every = t.opprobe("record", "-p", target.pid, "-d", "300ms", "-o", t.path("every.opp"))
    check_equal(every.wait(), 0, "status")
    refused = t.opprobe("report", t.path("every.opp"), "--hot")
    check_equal(refused.wait(), 1, "status")
    check("--hot is of a recording with --sample" in refused.stderr, "why", refused.stderr)


@test("an inspector that dies takes what functions are called along, and nothing else")
def _(t):
    target = t.ort_run("1.30.0", "resnet", "-O", "0", "-m", **FRESH_MEMORY)
    probe = names_known(t, target, EACH_FAULT)
    for pid in helpers_of(probe.pid, "inspector"):
        os.kill(pid, signal.SIGKILL)
    target.run(100)
    report_of = end(t, probe)
    check(sampling_of(report_of)["own"] > 500, "few samples were in operators",
          sampling_of(report_of))
    code = code_of(target.pid)
    for one in Capture(t.path("capture.opp")).samples:
        if one.op is None:
            continue
        check(one.function and one.function.path in code, "its file is not known", one)
        check(one.at < one.function.size or not one.function.size, "it is not in it", one)

# SPDX-License-Identifier: GPL-2.0-only
"""--gpu: what operators have GPUs do. The operators are real ones, of the host's side of a CUDA
source; the libraries that they call stand in for NVIDIA's, as no GPU is here. What is told is
compared with what the operators wrote down before they did it."""

import collections
import json
import os
import re
import signal

from capture import Capture
from gpu import (are_told, are_within, begin, compare, counted, counts_of, end, forget, library, start, told,
                 truth, waits)
from harness import check, check_equal, succeeds, test

VERSIONS = ("1.10.0", "1.16.3", "1.24.3", "1.30.0")


# -- each of them -----------------------------------------------------------------------------

def tells_each(version, how, *options):
    @test("%s: each launch and copy is told with all that it was given, %s" % (version, how))
    def _(t):
        target = start(t, version, *options)
        probe = begin(t, target)
        runs = target.run(4)["runs"]
        report = end(t, probe)
        compare(t, report, truth(t), runs)


for each in VERSIONS:
    tells_each(each, "by threads of two sessions", "-s", "2", "-c", "3")
tells_each("1.24.3", "where operators run side by side", "-p", "-i", "3")


@test("launches are told in the order of the operators before and behind them")
def _(t):
    target = start(t, "1.24.3")
    probe = begin(t, target)
    target.run(20)
    end(t, probe)
    capture = Capture(t.path("capture.opp"))
    check(capture.launches, "no launches")
    capture.check_order()


@test("what is counted of GPUs adds up in the kernel, too")
def _(t):
    target = start(t, "1.24.3")
    probe = begin(t, target, "--aggregate")
    runs = target.run(20)["runs"]
    report = end(t, probe)
    lines = truth(t)
    check_equal(counted(report), counts_of(lines), "what nodes count")
    waits(report, runs)
    check_equal(report.json["kernels"], [], "launches that were not recorded")


@test("launches are kept of runs that are")
def _(t):
    target = start(t, "1.30.0")
    probe = begin(t, target, "--min-duration", "1us")
    target.run(3)
    end(t, probe)
    check_equal(len(told(Capture(t.path("capture.opp")))), len(truth(t)), "launches")
    probe = begin(t, target, "--min-duration", "1h")
    target.run(3)
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 130, "status where all runs were too short")
    probe = begin(t, target, "--runs", "1-2")
    target.run(5)
    end(t, probe)
    capture = Capture(t.path("capture.opp"))
    check_equal({one.run for one in capture.launches}, {1, 2}, "runs with launches")
    check_equal({one.run for one in capture.waits}, {1, 2}, "runs with waits")
    check_equal(len(told(capture)) * 5, 2 * len(truth(t)), "launches of two runs of five")


@test("a report shows launches of the operators and runs that it is of")
def _(t):
    target = start(t, "1.24.3")
    probe = begin(t, target)
    target.run(5)
    end(t, probe)

    def kernels(*options):
        shown = t.opprobe("report", t.path("capture.opp"), "--json", *options).finish()
        return collections.Counter({(one["operator"], one["kind"]): one["launches"]
                                    for one in shown.json["kernels"]})

    check_equal(kernels("--name", "gpu0/*"), {("gpu0/scale", "kernel"): 15}, "of one node")
    check_equal(kernels("--runs", "0-1", "--name", "gpu8/*"), {("gpu8/graph", "graph"): 6},
                "of two runs")
    check_equal(kernels("--op", "Identity"), {}, "of operators that do nothing")
    check_equal(kernels("--failed"), {}, "of runs that failed")


@test("the table of launches has a line for each kernel of an operator, in any width")
def _(t):
    target = start(t, "1.24.3")
    probe = begin(t, target)
    target.run(1)
    end(t, probe)
    wide = succeeds(t, "report", t.path("capture.opp"), "--width", "200")
    table = wide.split("What GPUs were told to do\n")[1].split("\n\n")[0].split("\n")
    check_equal(table[0].split(),
                "Count Kernel Operator Grid Block Bytes Stream Waited".split(), "titles")
    check_equal(len(table) - 2, 28, "lines")
    check(any(line.split() == ["3", "deep::fill<float>", "gpu1/fill", "(Gpu)", "varies", "varies",
                               "0", "B", "default"] for line in table), "a kernel", *table)
    waited = [line for line in table if line.split()[1:5] == "(wait for the device)".split()]
    check(len(waited) == 2 and all(re.search(r" \d+\.\d+ ms$", line) for line in waited),
          "waits for the device", *table)
    check(any(line.split() == ["3", "(graph", "0x96a9)", "gpu8/graph", "(Gpu)", "0x5700"]
              for line in table), "a graph", *table)
    for width in (40, 60, 80, 100):
        shown = succeeds(t, "report", t.path("capture.opp"), "--width", str(width))
        table = shown.split("What GPUs were told to do\n")[1].split("\n\n")[0].split("\n")
        check(all(len(line) <= width for line in table), "a line is too wide", *table)
        check(all(line.startswith(("Count  Kernel", "\u2500", " ")) for line in table),
              "columns", *table)
    cut = succeeds(t, "report", t.path("capture.opp"), "--limit", "3")
    check("... and 25 more rows" in cut, "more rows", cut)


# -- what is not known ---------------------------------------------------------------------------

@test("a process without a GPU's library tells nothing of one, and it is said")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    probe = begin(t, target)
    target.run(3)
    report = end(t, probe)
    for row in report.operators:
        for name in ("gpu-launches", "gpu-copies", "gpu-copy-bytes", "gpu-wait"):
            check_equal(row["counters"][name]["total"], None, "%s of a node" % name)
    notes = " ".join(report.json["notes"])
    check("no library of a GPU was mapped" in notes, "notes", notes)


@test("of a library that is loaded later it is known what runs from then on")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    probe = begin(t, target)
    target.run(3)
    target.ask("load " + library(t, "libcudart.so.12"))
    probe.wait_for("recorded from now on")
    target.run(5)
    report = end(t, probe, "--group-by", "run")
    runs = {row["run"]: row["counters"]["gpu-launches"]["total"] for row in report.operators}
    check_equal([runs[i] for i in range(8)], [None] * 3 + [0] * 5, "launches of runs")


@test("in a file without symbols, kernels are called what it registers them as")
def _(t):
    target = start(t, "1.24.3", operators="stripped.so")
    with open(library(t, "stripped.so"), "rb") as file:
        check(b"__device_stub__" not in file.read(), "it has symbols")
    probe = begin(t, target)
    target.run(2)
    report = end(t, probe)
    # By the stubs, or, as nvcc compiles it, by handles.
    names = {one["name"] for one in report.json["kernels"] if one["name"]}
    check_equal(names - {"loaded(int)"}, {"scale(float*, int)", "void deep::fill<float>(float*, float)",
                        "(anonymous namespace)::hidden(int*)", "plain"}, "names")
    found = collections.Counter()
    for one in report.json["kernels"]:
        if one["name"] and not one["name"].startswith("loaded"):
            name = re.sub(r"^void ", "", one["name"])
            found[name.rpartition("(")[0] or name] += one["launches"]
    lines = collections.Counter(one.kernel for one in truth(t) if one.kind == "kernel" and
                                not one.kernel.startswith(("(function", "_Z6loaded")))
    check_equal(found, lines, "launches by name")


def kernels_are_told(t, lines):
    """Each launch has its kernel's name, or none. Returns how many have one."""
    found = [one for one in told(Capture(t.path("capture.opp")))]
    nameless = collections.Counter(one._replace(kernel="") for one in lines)
    check_equal(collections.Counter(one._replace(kernel="") for one in found), nameless, "launches")
    named = collections.Counter(one for one in found if not one.kernel.startswith("(function"))
    check(not named - collections.Counter(lines), "wrong names", named - collections.Counter(lines))
    return sum(named.values())


def pooled(t, target, least=20):
    """Run until pool threads have launched something. Returns what all launched, and how many
    of that pool threads did."""
    by_pool = 0
    while by_pool < least:
        target.run(5)
        lines = truth(t)
        callers = {one.tid for one in lines if one.node == 0}
        by_pool = sum(one.tid not in callers for one in lines)
    return lines, by_pool


@test("what threads of the pool launch is of the operator that they work for")
def _(t):
    for version, *options in (("1.24.3",), ("1.30.0",), ("1.24.3", "-s", "2", "-c", "3"),
                              ("1.30.0", "-p", "-i", "2")):
        target = start(t, version, "-t", "4", *options, model="gpu_pooled")
        probe = begin(t, target)
        lines, _ = pooled(t, target)
        report = end(t, probe)
        check_equal(counted(report), counts_of(lines), "what nodes count")
        capture = Capture(t.path("capture.opp"))
        are_told(told(capture), lines)
        are_within(capture, False)
        check_equal({one["place"] for one in report.json["kernels"]}, {"operator"}, "places")
        os.unlink(t.path("capture.opp"))


@test("what threads of the pool launch is kept with their runs")
def _(t):
    target = start(t, "1.24.3", "-t", "4", model="gpu_pooled")
    for options in ("--min-duration", "1us"), ("--parts",), ("--runs", "0-100000"):
        probe = begin(t, target, *options)
        lines, _ = pooled(t, target)
        end(t, probe)
        are_told(told(Capture(t.path("capture.opp"))), lines)
        os.unlink(t.path("capture.opp"))
    probe = begin(t, target, "--runs", "1")
    pooled(t, target, 100)
    end(t, probe)
    capture = Capture(t.path("capture.opp"))
    check_equal({one.run for one in capture.launches}, {1}, "runs with launches")
    are_within(capture, False)


@test("what threads of the pool launch for an operator that was not seen to begin is of none")
def _(t):
    fifo = t.path("hold")
    os.mkfifo(fifo)
    target = start(t, "1.24.3", "-t", "4", model="gpu_pooled", GPU_HOLD=fifo)
    by_pool = 0
    while not by_pool:
        target.write("run 1\n")
        with open(fifo, "w", encoding="utf-8"):
            # The operator has opened it, too: it waits.
            probe = begin(t, target)
        check(json.loads(target.line())["ok"], "the run")
        lines = [one for one in truth(t) if one.node == 1]
        caller = {one.tid for one in truth(t) if one.node == 2}
        by_pool = sum(one.tid not in caller for one in lines)
        report = end(t, probe)
        capture = Capture(t.path("capture.opp"))
        os.unlink(t.path("capture.opp"))
        check_equal(sorted(one.tid for one in told(capture) if one.node is None),
                    sorted(one.tid for one in lines), "threads that launched")
        places = collections.Counter()
        for one in report.json["kernels"]:
            places[one["place"]] += one["launches"]
        # The launcher's own, too, as nothing tells it from the pool's.
        check_equal(places["pool"], len(lines), "launches in the section")


def launches_of(report):
    return sum(one["launches"] for one in report["kernels"])


def reload_kernels(t, target):
    """Record while kernels go and others come in their places: none has the other's name."""
    probe = begin(t, target)
    for _ in range(20):
        target.run(10)
    end(t, probe)
    lines = truth(t)
    check(len({one.kernel for one in lines}) == 2, "no other kernel came")
    kernels_are_told(t, lines)


@test("a handle is called what it was when it was launched, or nothing")
def _(t):
    reload_kernels(t, start(t, "1.24.3", "-c", "2", model="gpu_reloading"))
    # After the last one of a run went, the one that came stays.
    target = start(t, "1.24.3", model="gpu_reloading")
    os.unlink(t.path("capture.opp"))
    probe = begin(t, target)
    for runs in range(1, 4):
        target.run(1)
        t.recorded("no launches", lambda report, runs=runs: launches_of(report) == 12 * runs)
    end(t, probe)
    check(kernels_are_told(t, truth(t)) >= 3 * 6, "names of what is still there")


@test("where a driver's functions do not agree on it, no names are read")
def _(t):
    def sites(name):
        shown = json.loads(succeeds(t, "doctor", "--file", library(t, name), "--json"))
        return ({site["role"] for site in shown["sites"]},
                any("has no name" in note for note in shown["notes"]))

    check_equal(sites("libcuda.so.1"), ({"gpu-launch", "gpu-copy", "gpu-unload"}, False),
                "they agree")
    check_equal(sites("contradicting.so"), ({"gpu-launch", "gpu-copy"}, True), "they do not")


# -- HIP ----------------------------------------------------------------------------------------

HIP = ("hip", "hip-DBY_TABLE")


def start_hip(t, version, directory, *options, model="gpu_hip", **environment):
    return start(t, version, *options, operators="hip.so", model=model,
                 LD_LIBRARY_PATH=library(t, directory), **environment)


def tells_hip(version, directory, *options):
    @test("HIP, %s, names %s: each launch and copy is told, by what kernels are registered as" %
          (version, "in place" if directory == "hip" else "behind a table"))
    def _(t):
        target = start_hip(t, version, directory, *options)
        probe = begin(t, target)
        runs = target.run(4)["runs"]
        report = end(t, probe)
        lines = truth(t)
        check("_Z6loadedi" in {one.kernel for one in lines}, "no kernel was loaded")
        compare(t, report, lines, runs)


tells_hip("1.24.3", "hip", "-s", "2")
tells_hip("1.30.0", "hip-DBY_TABLE")


@test("HIP: a handle is called what it was when it was launched, or nothing")
def _(t):
    reload_kernels(t, start_hip(t, "1.24.3", "hip", "-c", "2", model="gpu_reloading"))
    # Where HIP takes a stub, it takes no handle.
    check(all(one.kernel.startswith("(function") for one in told(Capture(t.path("capture.opp")))
              if one.node == 2), "a handle is taken for a stub")


@test("HIP: where what tells names does not always say the same, none are read")
def _(t):
    for directory in HIP + ("hip-DCONTRADICTS",):
        shown = json.loads(succeeds(t, "doctor", "--file",
                                    library(t, directory + "/libamdhip64.so.6"), "--json"))
        check_equal(("gpu-unload" in {site["role"] for site in shown["sites"]},
                     any("has no name" in note for note in shown["notes"])),
                    (directory in HIP, directory not in HIP), directory)


@test("a handle of HIP is none of CUDA's, where a process has both")
def _(t):
    for start_one, model, other in ((start_hip, "gpu_hip", library(t, "libcuda.so.1")),
                                    (start, "gpu", library(t, "hip/libamdhip64.so.6"))):
        target = start_one(t, "1.24.3", *(("hip",) if start_one is start_hip else ()),
                           model=model, LD_PRELOAD=other)
        probe = begin(t, target)
        runs = target.run(2)["runs"]
        report = end(t, probe)
        compare(t, report, truth(t), runs)
        os.unlink(t.path("capture.opp"))


@test("of a handle that may be one of two libraries' it is not known what it is called")
def _(t):
    with open(library(t, "hip/libamdhip64.so.6"), "rb") as file:
        contents = file.read()
    with open(t.path("other.so"), "wb") as file:
        file.write(contents.replace(b"libamdhip64.so.6", b"libamdhip64.so.9"))
    target = start_hip(t, "1.24.3", "hip", LD_PRELOAD=t.path("other.so"))
    probe = begin(t, target)
    target.run(2)
    end(t, probe)
    check_equal(kernels_are_told(t, truth(t)),
                sum(one.kind != "kernel" or not one.kernel.startswith(("_Z6", "reloaded", "(f"))
                    for one in truth(t)), "launches with names")


@test("the driver shows no waits, and doctor says so")
def _(t):
    shown = json.loads(succeeds(t, "doctor", "--file", library(t, "libcuda.so.1"), "--json"))
    check_equal({site["role"] for site in shown["sites"]}, {"gpu-launch", "gpu-copy", "gpu-unload"}, "sites")
    check(all(site["emulated"] for site in shown["sites"]), "sites that are stepped over", shown)
    check(any("how long this library waits" in note for note in shown["notes"]), "notes", shown)
    target = start(t, "1.24.3")
    shown = t.opprobe("doctor", "-p", target.pid)
    check_equal(shown.wait(), 0, "status of doctor")
    layers = re.findall(r"^ok +layer +a GPU's library, .*/(libcuda\S*)$", shown.stdout, re.M)
    check_equal(sorted(layers), ["libcuda.so.1", "libcudart.so.12"], "layers")


@test("counters of GPUs can be asked for by name, are none of samples, and take no modifier")
def _(t):
    target = start(t, "1.30.0")
    probe = t.opprobe("record", "-p", target.pid, "-e", "gpu-launches", "--no-cost", "-o",
                      t.path("capture.opp")).attached()
    forget(t)
    target.run(2)
    report = end(t, probe)
    lines = [one for one in truth(t) if one.kind in ("kernel", "graph")]
    check_equal(report.counter("gpu-launches", [row for row in report.operators
                                                if row["op_type"] == "Gpu"]), len(lines),
                "launches")
    sentence = t.fails("record", "-p", target.pid, "-e", "gpu-launches:u", "-o",
                       t.path("other.opp"))
    check("without a modifier" in sentence, "the remedy", sentence)
    refused = t.opprobe("record", "-p", target.pid, "--gpu", "--sample", "99")
    check_equal(refused.wait(), 2, "status with --sample")
    check("no probes for --gpu" in refused.stderr, "why", refused.stderr)


@test("what probes of GPUs' libraries cost is in no budget, so there is none with them")
def _(t):
    target = start(t, "1.30.0")
    refused = t.opprobe("record", "-p", target.pid, "--gpu", "--max-overhead", "1%")
    check_equal(refused.wait(), 2, "status with --gpu")
    check("--gpu cannot be had within --max-overhead" in refused.stderr, "why", refused.stderr)
    for event in "gpu-launches", "allocs":
        sentence = t.fails("record", "-p", target.pid, "-e", event, "--max-overhead", "1%", "-o",
                           t.path("other.opp"))
        check("leave --max-overhead out" in sentence, "the remedy", sentence)

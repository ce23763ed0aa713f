# SPDX-License-Identifier: GPL-2.0-only
"""Operators that have GPUs do things, what they wrote down of it before they did it, and what was
recorded: both in the same words, so that they can be compared."""

import collections
import os
import re
import signal

from capture import COPY, GRAPH, KERNEL, WAIT, Capture
from harness import check, check_equal

# ns, gpu.h; a real GPU has nothing to do for so long.
WAIT_NS = 0 if os.environ.get("OPPROBE_REAL_GPU") else 3_000_000
SYMBOLS = {
    "_Z20__device_stub__scalePfi": "scale",
    "_ZN4deep19__device_stub__fillIfEEvPT_S1_": "deep::fill<float>",
    "_ZN12_GLOBAL__N_121__device_stub__hiddenEPi": "(anonymous namespace)::hidden",
    "__device_stub__plain": "plain",
    "_Z6loadedi": "_Z6loadedi",
    "reloaded_0d1d2d": "reloaded_0d1d2d",
    # By nvcc, for a machine that has a GPU.
    "_Z5scalePfi": "scale",
    "_ZN4deep4fillIfEEvPT_S1_": "deep::fill<float>",
    "_ZN12_GLOBAL__N_16hiddenEPi": "(anonymous namespace)::hidden",
    "plain": "plain",
}

Told = collections.namedtuple("Told", "node kind kernel grid block bytes stream tid")


def library(t, name="operators.so"):
    return os.path.join(t.objects, "tests", "targets", "gpu", name)


def start(t, version, *options, operators="operators.so", model="gpu", **environment):
    return t.ort_run(version, model, "-x", library(t, operators), *options,
                     GPU_TRUTH=t.path("truth"), **environment)


def forget(t):
    """What was written down so far: the file is open to be added to."""
    if os.path.exists(t.path("truth")):
        os.truncate(t.path("truth"), 0)


def begin(t, target, *options):
    """Record, and have what the operators write down begin there."""
    probe = t.opprobe("record", "-p", target.pid, "--gpu", "--no-cost", "-o",
                      t.path("capture.opp"), *options).attached()
    forget(t)
    return probe


def end(t, probe, *arguments):
    probe.signal(signal.SIGINT)
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
    return t.opprobe("report", t.path("capture.opp"), "--json", *arguments).finish().nothing_lost()


def triple(text):
    return tuple(map(int, text.split(",")))


def truth(t):
    with open(t.path("truth"), encoding="utf-8") as file:
        found = [re.fullmatch(r"(\d+) (\w+) (.+) (\S+) (\S+) (\d+) (\d+) (\d+)\n", line).groups()
                 for line in file]
    check(found, "the operators did nothing")
    return [Told(int(node), kind, kernel if kernel != "-" else "", triple(grid), triple(block),
                 int(size), int(stream) if kind != "copy" else 0, int(tid))
            for node, kind, kernel, grid, block, size, stream, tid in found]


def node_of(name):
    found = re.match(r"gpu(\d+)/", name)
    return int(found[1]) if found else None


WAITS_FOR = ("a stream", "an event 0x%x", "the device", "a copy")


def kernel_of(launch):
    if launch.kind == WAIT:
        what = WAITS_FOR[launch.waits_for]
        return "(wait for %s)" % (what % launch.kernel if "%" in what else what)
    if launch.kind == COPY:
        return ""
    if launch.function:
        symbol = launch.function.symbol
        unnamed = re.match(r"_ZN(\d+)(_GLOBAL__N_.*)", symbol)
        return SYMBOLS["_ZN12_GLOBAL__N_1" + unnamed[2][int(unnamed[1]):] if unnamed else symbol]
    return "(%s 0x%x)" % ("graph" if launch.kind == GRAPH else "function", launch.kernel)


def told(capture):
    kinds = {KERNEL: "kernel", GRAPH: "graph", COPY: "copy", WAIT: "wait"}
    return [Told(node_of(capture.operators[one.op].name) if one.op is not None else None,
                 kinds[one.kind], kernel_of(one), one.grid, one.block, one.bytes, one.stream,
                 capture.threads[one.thread]) for one in capture.launches + capture.waits]


def are_told(found, lines):
    """The same, in any order."""
    found, lines = collections.Counter(found), collections.Counter(lines)
    more, missing = found - lines, lines - found
    check(found == lines, "launches: %d that were not, %d are missing" %
          (sum(more.values()), sum(missing.values())), *list(more.items())[:9],
          *list(missing.items())[:9])


def are_within(capture, by_thread=True):
    """Each launch lies in an execution of its operator on its thread, in the same run."""
    def where(one):
        return one.op, one.run, by_thread and one.thread

    spans = collections.defaultdict(list)
    for one in capture.execs:
        spans[where(one)].append((one.start, one.end))
    for one in capture.launches + capture.waits:
        check(any(start <= one.time <= one.time + one.took <= end for start, end in spans[where(one)]),
              "a launch outside of its operator", one)


def counted(report):
    """By node: launches, copies, their bytes."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for row in report.operators:
        if node_of(row["name"]) is not None:
            for i, name in enumerate(("gpu-launches", "gpu-copies", "gpu-copy-bytes")):
                found[node_of(row["name"])][i] += row["counters"][name]["self"]
    return {node: sums for node, sums in found.items() if any(sums)}


def counts_of(lines):
    found = collections.defaultdict(lambda: [0, 0, 0])
    for one in lines:
        if one.kind == "wait":
            continue
        sums = found[one.node]
        sums[0] += one.kind in ("kernel", "graph")
        sums[1] += one.kind == "copy"
        sums[2] += one.bytes if one.kind == "copy" else 0
    return dict(found)


def waits(report, runs):
    """How long is waited, and only where it is: of each, three times a run."""
    waited, took = collections.Counter(), collections.Counter()
    for row in report.operators:
        waited[row["name"]] += row["counters"]["gpu-wait"]["self"]
        took[row["name"]] += row["self_ns"]
    for name, ns in waited.items():
        waiting = re.search("/(copy_and_wait|wait|mixed)$", name)
        least = 3 * WAIT_NS * runs if waiting else 0
        check(least <= ns <= (took[name] if waiting else 0),
              "%s waits for %d of %d ns, not for %d" % (name, ns, took[name], least))


def waits_add_up(capture, report):
    """Each wait that is told, and what is counted and shown of them, are the same."""
    counted, told, shown = collections.Counter(), collections.Counter(), collections.Counter()
    for row in report.operators:
        counted[row["name"]] += row["counters"]["gpu-wait"]["self"]
    for one in capture.waits:
        told[capture.operators[one.op].name] += one.took
    for row in report.json["kernels"]:
        shown[row["operator"]] += row["waited_ns"] or 0
    check_equal(+told, +counted, "ns of waits, told and counted")
    check_equal(+shown, +counted, "ns of waits, shown and counted")


# -- all of it ---------------------------------------------------------------------------------

def without_handles(launches):
    """What is launched by a handle is called nothing."""
    return [one._replace(kernel="(by a handle)") if
            one.kernel.startswith(("(function", "_Z6loaded")) else one for one in launches]


def compare(t, report, lines, runs, handles=True):
    capture = Capture(t.path("capture.opp"))
    if handles:
        are_told(told(capture), lines)
    else:
        are_told(without_handles(told(capture)), without_handles(lines))
    are_within(capture)
    check_equal(counted(report), counts_of(lines), "what nodes count")
    waits(report, runs)
    waits_add_up(capture, report)
    kernels = report.json["kernels"]
    check_equal(sum(one["launches"] for one in kernels), len(lines), "launches in the report")
    check({one["place"] for one in kernels} == {"operator"}, "places", kernels)
    names = {one["name"] for one in kernels if one["symbol"]}
    check_equal(names - {"loaded(int)"},
                {"scale(float*, int)", "void deep::fill<float>(float*, float)",
                 "(anonymous namespace)::hidden(int*)", "plain"}, "names in the report")

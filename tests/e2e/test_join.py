# SPDX-License-Identifier: GPL-2.0-only
"""report --join: what GPUs did for operators, by profiles of launches that were recorded. In the
profile each activity takes as long as tells whose it is: what is joined wrongly shows in sums."""

import collections
import csv
import io
import json
import os
import random
import sqlite3
import struct
import zlib

from browser import start_browser, write_page
from capture import GRAPH, KERNEL, Bytes, Capture
from gpu import begin, end, start
from harness import check, check_equal, succeeds, test
from perfetto import Trace
from profiles import (FIRST_GUID, GPU_AGENT, PID, Rocpd, work_of, write_kineto, write_nsys,
                      write_rocpd)

WAITS = ("(wait for a stream)", "(wait for an event)", "(wait for the device)",
         "(wait for a copy)")
WRITERS = {"nsys": write_nsys, "kineto": write_kineto, "rocpd": write_rocpd}


def record(t, runs, *options):
    target = start(t, "1.24.3", *options)
    probe = begin(t, target)
    target.run(runs)
    report = end(t, probe)
    return Capture(t.path("capture.opp")), report.json["recording"]["realtime_offset_ns"]


def clock_of(writer, capture, offset):
    """How far the profiler's clock is from the capture's."""
    return capture.boottime_offset if writer == "rocpd" else offset


def join(t, *options):
    return json.loads(succeeds(t, "report", t.path("capture.opp"), "--join", t.path("profile"),
                               "--json", *options))


def sums(capture, works):
    """By operator: how many, and how long."""
    found = collections.defaultdict(lambda: [0, 0])
    for work in works:
        of = found[capture.operators[capture.launches[work.launch].op].name]
        of[0] += 1
        of[1] += work.end - work.begin
    return dict(found)


def sums_told(report):
    found = collections.defaultdict(lambda: [0, 0])
    for row in report["gpu"]:
        found[row["operator"]][0] += row["count"]
        found[row["operator"]][1] += row["total_ns"]
    return dict(found)


def union(works):
    total, until = 0, 0
    for first, last in sorted((work.begin, work.end) for work in works):
        total += max(0, last - max(first, until))
        until = max(until, last)
    return total


def bare_work(work):
    """It by microseconds from the epoch on, which as doubles are a quarter of one apart."""
    begin = round(work.begin / 1000 * 1000)
    return work._replace(begin=begin, end=begin + round((work.end - work.begin) / 1000 * 1000))


def all_are_joined(writer, skew, version=""):
    @test("10,000 launches have what a GPU did for them, by %s%s, clocks %+d us apart" %
          (writer, version, skew // 1000))
    def _(t):
        capture, offset = record(t, 85, "-s", "2", "-c", "3")
        check(len(capture.launches) >= 10_000, "launches", len(capture.launches))
        works = work_of(capture, clock_of(writer, capture, offset), skew)
        options = {"bare": True} if version else {}
        WRITERS[writer](t.path("profile"), capture, works, **options)
        report = join(t)
        told = report["join"]
        check_equal((told["launches"], told["matched"]), (len(works), len(works)), "matched")
        check_equal([told[name] for name in ("ambiguous_calls", "launches_without_work",
                                             "kernels_without_launch", "copies_without_launch")],
                    [0] * 4, "what is not")
        check_equal(sums_told(report), sums(capture, works), "what GPUs did, by operator")
        check_equal(told["sum_ns"], sum(work.end - work.begin for work in works), "sum")
        check_equal(told["busy_ns"], union(map(bare_work, works) if options else works), "union")
        check(abs(told["clocks_apart_ns"] - skew - 1200) < 300, "clocks", told)
        check(told["residual_max_ns"] <= 1200, "residual", told)


for each in WRITERS:
    for apart in (-40_000_000, 0, 1_300_000, 40_000_000):
        all_are_joined(each, apart)
all_are_joined("kineto", -7_000_000, " without a base, as of PyTorch 1.13")


@test("a graph is one launch with as many kernels as its profile tells apart")
def _(t):
    capture, offset = record(t, 20, "-c", "2")
    works = work_of(capture, offset, 0)
    write_nsys(t.path("profile"), capture, works, nodes=3)
    report = join(t)
    told = report["join"]
    check_equal((told["launches"], told["matched"], told["kernels_without_launch"]),
                (len(works), len(works), 0), "matched")
    graphs = sum(one.kind == GRAPH for one in capture.launches)
    found = [row for row in report["gpu"] if row["op_type"] and "/graph" in row["operator"]]
    check(graphs, "no graph was launched")
    check_equal(sum(row["count"] for row in found), 3 * graphs, "kernels of graphs")
    check({row["kernel"].split("(")[0][:6] for row in found} == {"kernel"}, "names", found)


def incomplete(writer):
    @test("where rows are missing from %s's profile, no launch gets another's" % writer)
    def _(t):
        capture, offset = record(t, 60, "-c", "4")
        works = work_of(capture, clock_of(writer, capture, offset), -3_000_000)
        chance = random.Random(2)
        kept = [work for work in works if chance.random() >= 0.1]
        WRITERS[writer](t.path("profile"), capture, kept)
        report = join(t)
        told = report["join"]
        check_equal(sums_told(report), sums(capture, kept), "what GPUs did, by operator")
        check_equal(told["matched"], len(kept), "matched of %d" % len(works))
        check_equal(told["kernels_without_launch"] + told["copies_without_launch"], 0, "alone")


for each in WRITERS:
    incomplete(each)


@test("what GPUs did is of the runs that are shown, and what was launched before is left alone")
def _(t):
    capture, offset = record(t, 40, "-c", "2")
    works = work_of(capture, offset, 500_000)
    # The profile goes on behind the recording, with what is told of none in it.
    last = works[-1]
    more = [last._replace(start=last.start + (i + 1) * 100_000, begin=last.begin + i * 100_000,
                          end=last.begin + i * 100_000 + 500) for i in range(50)]
    write_nsys(t.path("profile"), capture, works, more)
    report = join(t, "--runs", "0-9")
    shown = [work for work in works if capture.launches[work.launch].run <= 9]
    check_equal(sums_told(report), sums(capture, shown), "of ten runs")
    told = report["join"]
    check_equal((told["matched"], told["kernels_without_launch"]), (len(works), 50), "of all")


def of_two(writer):
    @test("of two processes in one profile of %s, calls that have the same numbers are kept apart" %
          writer)
    def _(t):
        capture, offset = record(t, 20)
        works = work_of(capture, clock_of(writer, capture, offset), 0)
        later = works[-1].start - works[0].start + 10_000_000
        another = [work._replace(start=work.start + later, begin=work.begin + later,
                                 end=work.end + later + 5, thread=work.thread + 1)
                   for work in works]
        WRITERS[writer](t.path("profile"), capture, works, another=another)
        report = join(t)
        check_equal(sums_told(report), sums(capture, works), "what GPUs did, by operator")
        told = report["join"]
        check_equal((told["matched"],
                     told["kernels_without_launch"] + told["copies_without_launch"]),
                    (len(works), len(works)), "matched, and the other's")


of_two("nsys")
of_two("rocpd")


def totals(sums_of):
    return {name: total for name, (_, total) in sums_of.items()}


@test("rocprofv3: a graph's kernels, and copies in parts or by kernels, are of their launches")
def _(t):
    capture, _ = record(t, 20, "-c", "2")
    works = work_of(capture, capture.boottime_offset, 2_000_000)
    write_rocpd(t.path("profile"), capture, works, parts=3)
    report = join(t)
    check_equal(totals(sums_told(report)), totals(sums(capture, works)), "what GPUs did")
    several = sum(capture.launches[work.launch].kind != KERNEL for work in works)
    check(several, "graphs and copies")
    check_equal(sum(row["count"] for row in report["gpu"]), len(works) + 2 * several, "how many")
    check_equal(report["join"]["matched"], len(works), "matched")


@test("rocprofv3: what calls of HSA within a launch led to is the launch's")
def _(t):
    capture, _ = record(t, 20, "-c", "2")
    works = work_of(capture, capture.boottime_offset, 0)
    write_rocpd(t.path("profile"), capture, works, nested=True)
    # Numbers that lead back to themselves, or to two calls, lead nowhere.
    database = sqlite3.connect(t.path("profile"))
    process = Rocpd(database, "b", PID)
    one = next(work for work in works if capture.launches[work.launch].kind == KERNEL)
    launch = capture.launches[one.launch]
    for number, callers in (5, (6,)), (6, (5,)), (8, (2, 4)):
        for i, caller in enumerate(callers):
            process.call("hsa_init", 1, works[0].start, number, caller) if not i else \
                process.add("region", guid="b", nid=1, pid=PID, tid=1, start=1, end=2,
                            name_id=process.string("hsa_init"),
                            event_id=process.event("HSA_CORE_API", number, caller))
    for number in 2, 4:
        process.call("hipLaunchKernel", one.thread, one.start - 300, number)
    for number in 5, 6, 8:
        process.kernel("lost(int)", number, one.begin, one.end, launch.grid, launch.block)
    database.commit()
    report = join(t)
    check_equal(sums_told(report), sums(capture, works), "what GPUs did, by operator")
    check_equal((report["join"]["matched"], report["join"]["kernels_without_launch"]),
                (len(works), 3), "matched, and lost")


@test("rocprofv3: kernels, devices and streams are told as its tables have them")
def _(t):
    capture, _ = record(t, 10)
    works = work_of(capture, capture.boottime_offset, 0)
    for mangled in False, True:
        if mangled:
            os.unlink(t.path("profile"))
        write_rocpd(t.path("profile"), capture, works, mangled=mangled)
        if mangled:
            # An agent that is no device, one that there is not, and GPU 3.
            database = sqlite3.connect(t.path("profile"))
            name = database.execute("SELECT name FROM sqlite_master WHERE name LIKE "
                                    "'rocpd_info_agent%'").fetchone()[0]
            database.execute('UPDATE "%s" SET type_index = 3 WHERE id = %d' % (name, GPU_AGENT))
            database.commit()
        rows = join(t, "--group-by", "kernel")["gpu"]
        check_equal({row["kernel"]: row["count"] for row in rows},
                    dict(collections.Counter(work.name for work in works)), "kernels")
        check_equal({(row["device"], row["stream"], row["registers"]) for row in rows
                     if row["kernel"] != "Memcpy HtoD"}, {(3 * mangled, 7, 24)}, "where")
        check_equal({(row["device"], row["stream"]) for row in rows
                     if row["kernel"] == "Memcpy HtoD"}, {(3 * mangled, 7)}, "where copies were")
    shown = succeeds(t, "report", t.path("capture.opp"), "--join", t.path("profile"))
    found = "rocprofv3: %s of %s" % (("{:,}".format(len(works)),) * 2)
    check(found in shown, "whose", shown[-600:])


def with_boottime(path, offset):
    """Have the capture say this of CLOCK_BOOTTIME, or nothing."""
    def varint(value):
        low = b""
        while value >= 0x80:
            low += bytes([value & 0x7f | 0x80])
            value >>= 7
        return low + bytes([value])

    with open(path, "rb") as file:
        data = file.read()
    length, records, _, _ = struct.unpack("<IIII", data[16:32])
    chunk = Bytes(data[32:32 + length])
    kind, info = chunk.take(1), Bytes(chunk.take(chunk.number()))
    fields = b""
    while info.left():
        field, value = info.number(), info.take(info.number())
        if field != 18:
            fields += varint(field) + varint(len(value)) + value
    if offset is not None:
        fields += varint(18) + varint(len(varint(offset << 1))) + varint(offset << 1)
    payload = kind + varint(len(fields)) + fields + chunk.take(chunk.left())
    head = struct.pack("<III", len(payload), records, zlib.crc32(payload))
    with open(path, "wb") as file:
        file.write(data[:16] + head + struct.pack("<I", zlib.crc32(head)) + payload +
                   data[32 + length:])


@test("rocprofv3: its clock goes on in sleep, which a capture tells, or is not joined")
def _(t):
    capture, offset = record(t, 20)
    check(capture.boottime_offset >= 0, "sleep", capture.boottime_offset)
    slept = 5_400_000_000_000
    works = work_of(capture, slept, 0)
    write_rocpd(t.path("profile"), capture, works)
    with_boottime(t.path("capture.opp"), slept)
    report = join(t)
    check_equal((sums_told(report), report["join"]["matched"]), (sums(capture, works), len(works)),
                "after sleep")
    check(abs(report["join"]["clocks_apart_ns"] - 1200) < 300, "clocks", report["join"])
    trace = json.loads(succeeds(t, "export", t.path("capture.opp"), "--format", "chrome", "--join",
                                t.path("profile")))
    base = int(trace["otherData"]["start_ns"])
    begins = sorted(base + round(one["ts"] * 1000) for one in trace["traceEvents"]
                    if one["ph"] == "X" and one["cat"] == "gpu")
    check(all(abs(told - work) <= 1 for told, work in
              zip(begins, sorted(work.begin - slept for work in works))), "when in a trace")
    with_boottime(t.path("capture.opp"), None)
    for command in ("report",), ("export", "--format", "chrome"):
        sentence = t.fails(command[0], t.path("capture.opp"), "--join", t.path("profile"),
                           *command[1:])
        check("does not tell how far" in sentence and "record both again" in sentence, "why",
              sentence)
    # What else there is needs it not.
    write_kineto(t.path("kineto"), capture, work_of(capture, offset, 0))
    succeeds(t, "report", t.path("capture.opp"), "--join", t.path("kineto"))


@test("rocprofv3: rows that are wrong are no one's, and cost no others")
def _(t):
    capture, _ = record(t, 20)
    works = work_of(capture, capture.boottime_offset, 0)
    write_rocpd(t.path("profile"), capture, works)
    database = sqlite3.connect(t.path("profile"))
    process = Rocpd(database, "c", PID)
    works_of_launch = [work for work in works if capture.launches[work.launch].kind == KERNEL]
    one, launch = works_of_launch[0], capture.launches[works_of_launch[0].launch]
    # All columns may hold anything, where a file was made by hand.
    for table in "region", "kernel_dispatch", "memory_copy", "event", "info_kernel_symbol":
        columns = [row[1] + " INTEGER PRIMARY KEY" * (row[1] == "id") for row in
                   database.execute('PRAGMA table_info("rocpd_%s_c")' % table)]
        database.execute('DROP TABLE "rocpd_%s_c"' % table)
        database.execute('CREATE TABLE "rocpd_%s_c" (%s)' % (table, ", ".join(columns)))
    numbers = None, -1, 0, 1 << 48, (1 << 63) - 1, -(1 << 63), "text", b"\0\xff", 0.5, "12abc"
    for i, number in enumerate(numbers, 1):
        process.add("event", id=i, stack_id=number, parent_stack_id=number)
        process.add("info_kernel_symbol", id=i, display_name=number, arch_vgpr_count=number,
                    accum_vgpr_count=number)
    for start in numbers:
        for i in range(1, len(numbers) + 1):
            process.add("region", tid=start, start=start, end=start, event_id=i,
                        name_id=process.string("hipLaunchKernel"))
            process.add("kernel_dispatch", agent_id=start, kernel_id=i, stream_id=start,
                        start=start, end=one.end, event_id=i, workgroup_size_x=start,
                        workgroup_size_y=start, workgroup_size_z=1, grid_size_x=start,
                        grid_size_y=start, grid_size_z=start)
            process.add("memory_copy", start=one.begin, end=start, dst_agent_id=start,
                        src_agent_id=start, size=start, stream_id=start, event_id=i, name_id=start)
    # A block that is cut short is one more, and a launch of another library is none.
    for i, (call, rest) in enumerate((("hipLaunchKernel", 1), ("xhipLaunchKernel", 0)), 100):
        process.add("event", id=i, stack_id=i, parent_stack_id=0)
        process.add("region", tid=one.thread, start=one.start - 300, end=one.start, event_id=i,
                    name_id=process.string(call))
        process.add("kernel_dispatch", agent_id=GPU_AGENT, kernel_id=1, stream_id=7,
                    start=one.begin, end=one.end, event_id=i,
                    **{"workgroup_size_" + axis: size for axis, size in zip("xyz", launch.block)},
                    **{"grid_size_" + axis: count * size + (rest and size > 1)
                       for axis, count, size in zip("xyz", launch.grid, launch.block)})
    check(max(launch.block) > 1, "a block of more than one thread", launch)
    # Nor is what has no number of who has none, or of another process that has what it is too much.
    process.call("hipLaunchKernel", one.thread, one.start - 300, 200)
    first = Rocpd(database, FIRST_GUID, PID, new=False)
    first.kernel("lost(int)", 1 << 48 | 200, one.begin, one.end, launch.grid, launch.block)
    alone = Rocpd(database, "d", PID)
    alone.add("region", guid="d", nid=1, pid=PID, tid=one.thread, start=one.start - 300,
              end=one.start, name_id=alone.string("hipLaunchKernel"),
              event_id=alone.event("HIP_RUNTIME_API_EXT", None, None))
    alone.kernel("lost(int)", None, one.begin, one.end, launch.grid, launch.block)
    database.commit()
    database.close()
    report = join(t)
    check_equal((sums_told(report), report["join"]["matched"]), (sums(capture, works), len(works)),
                "what GPUs did, by operator")
    check(report["join"]["kernels_without_launch"] >= 3, "what is no one's", report["join"])


def group_of(capture, op):
    operator = capture.operators[op]
    return "%s.%d(%s)" % (operator.op_type, operator.index, operator.name)


@test("of each operator it is told how long GPUs worked, and how long any of them did")
def _(t):
    capture, offset = record(t, 30, "-c", "3")
    works = work_of(capture, offset, 0)
    write_nsys(t.path("profile"), capture, works)
    by_operator = collections.defaultdict(list)
    for work in works:
        by_operator[group_of(capture, capture.launches[work.launch].op)].append(work)
    report = join(t, "--group-by", "operator")
    check_equal({row["group"]: (row["count"], row["total_ns"], row["busy_ns"])
                 for row in report["gpu"]},
                {group: (len(its), sum(work.end - work.begin for work in its), union(its))
                 for group, its in by_operator.items()}, "operators")
    check(any(row["busy_ns"] < row["total_ns"] for row in report["gpu"]), "nothing overlaps")
    check_equal({row["kernel"] for row in report["gpu"]}, {None}, "kernels")
    shown = succeeds(t, "report", t.path("capture.opp"), "--join", t.path("profile"),
                     "--group-by", "operator", "--width", "160")
    table = shown.split("What GPUs did\n")[1].split("\n")
    check_equal(table[0].split()[:4], ["GPU", "time", "Busy", "Percent"], "titles")
    check_equal({word for line in table for word in line.split() if word.startswith("Gpu.")},
                set(by_operator), "operators in the table")


@test("what GPUs did is told by kernel, by stream and by device, and as a table")
def _(t):
    capture, offset = record(t, 10)
    works = work_of(capture, offset, 0)
    write_kineto(t.path("profile"), capture, works)
    rows = join(t, "--group-by", "kernel")["gpu"]
    check_equal({row["kernel"]: row["count"] for row in rows},
                dict(collections.Counter(work.name for work in works)), "kernels")
    check({row["operator"] for row in rows} == {None}, "operators", rows)
    for by in "stream", "device":
        rows = join(t, "--group-by", by)["gpu"]
        check_equal([(row[by], row["count"]) for row in rows], [(7 if by == "stream" else 0,
                                                                 len(works))], by)
    shown = succeeds(t, "report", t.path("capture.opp"), "--join", t.path("profile"), "--width",
                     "160")
    table = shown.split("What GPUs did\n")[1].split("\n")
    check_equal(table[0].split(), "GPU time Busy Percent Count Avg Kernel Operator Queued Registers "
                                  "Stream Device".split(), "titles")
    check("%s of %s launches found" % (("{:,}".format(len(works)),) * 2) in shown, "what it is of",
          shown[-600:])


@test("as CSV what GPUs did is the table, and a page has it as one")
def _(t):
    capture, offset = record(t, 10)
    works = work_of(capture, offset, 0)
    write_nsys(t.path("profile"), capture, works)
    shown = succeeds(t, "report", t.path("capture.opp"), "--join", t.path("profile"), "--csv")
    rows = list(csv.DictReader(io.StringIO(shown)))
    told = join(t)["gpu"]
    check_equal([(row["total"], row["count"], row["kernel"], row["operator"], row["stream"])
                 for row in rows], [(str(row["total_ns"]), str(row["count"]), row["kernel"],
                                     row["operator"], str(row["stream"])) for row in told], "rows")
    browser = start_browser(t)
    browser.open(write_page(t, "--join", t.path("profile")))
    check_equal(in_page(browser, "name", "operator", "total", "count", "stream"),
                [[row["kernel"], row["operator"], str(row["total_ns"]), str(row["count"]),
                  str(row["stream"])] for row in told], "rows of the page")
    lead = browser.eval("document.querySelector('#gpus p').textContent")
    check("%s of %s launches found" % (("{:,}".format(len(works)),) * 2) in lead, "lead", lead)
    browser.do("select", at="#gpus select", value="2")
    check_equal({name: int(total) for name, total in in_page(browser, "name", "total")},
                {name: sums for name, (_, sums) in sums_told({"gpu": told}).items()}, "by operator")
    # Without a profile, it is what they were told.
    browser.open(write_page(t))
    kernels = json.loads(succeeds(t, "report", t.path("capture.opp"), "--json"))["kernels"]
    check_equal([int(cells[0]) for cells in in_page(browser, "launches")],
                [one["launches"] for one in kernels], "launches")
    names = {name for name, in in_page(browser, "name")}
    check(set(WAITS) & names, "a page names waits as the table does", names)


def in_page(browser, *keys):
    """The table of GPUs: these cells of each row."""
    return browser.eval("[...document.querySelectorAll('#gpus tbody tr')].map((row) => "
                        "%s.map((key) => row.querySelector(`[data-key=${key}]`).dataset.value))" %
                        json.dumps(keys))


def of_gpus(capture, works, graphs=False):
    """What is drawn on tracks of streams: the operator, what it was, and for how long."""
    def name(work):
        graph = capture.launches[work.launch].kind == GRAPH and graphs
        return "(a graph)" if graph else work.name.split("(")[0]

    return collections.Counter((capture.operators[capture.launches[work.launch].op].name,
                                name(work), work.end - work.begin) for work in works)


@test("in chrome's trace each stream has a track, with an arrow from each launch")
def _(t):
    capture, offset = record(t, 10, "-c", "2")
    works = work_of(capture, offset, -20_000_000)
    write_nsys(t.path("profile"), capture, works)
    trace = json.loads(succeeds(t, "export", t.path("capture.opp"), "--format", "chrome", "--join",
                                t.path("profile")))
    events = trace["traceEvents"]
    base = int(trace["otherData"]["start_ns"])
    slices = [one for one in events if one["ph"] == "X" and one["cat"] == "gpu"]
    check_equal(collections.Counter((one["args"]["operator"], one["name"],
                                     round(one["dur"] * 1000)) for one in slices),
                of_gpus(capture, works, True), "slices")
    points = collections.Counter((one["tid"], base + round(one["ts"] * 1000)) for one in events
                                 if one["ph"] == "i" and one["cat"] == "launch")
    check_equal(points, collections.Counter((capture.threads[one.thread], one.time)
                                            for one in capture.launches), "points")
    waits = collections.Counter((one["tid"], base + round(one["ts"] * 1000),
                                 round(one["dur"] * 1000), one["name"]) for one in events
                                if one["ph"] == "X" and one["cat"] == "launch")
    check_equal(waits, collections.Counter((capture.threads[one.thread], one.time, one.took,
                                            WAITS[one.waits_for]) for one in capture.waits), "waits")
    starts = {one["id"]: one for one in events if one["ph"] == "s" and one["cat"] == "gpu"}
    ends = [one for one in events if one["ph"] == "f" and one["cat"] == "gpu"]
    check_equal(len(ends), len(works), "arrows")
    by_place = {(one["pid"], one["tid"], one["ts"]): one for one in slices}
    begins = {(capture.operators[capture.launches[work.launch].op].name,
               capture.launches[work.launch].time): work.begin - offset + 20_000_000
              for work in works}
    for one in ends:
        to, launched = by_place[one["pid"], one["tid"], one["ts"]], starts[one["id"]]
        when = begins[to["args"]["operator"], base + round(launched["ts"] * 1000)]
        check(abs(base + round(one["ts"] * 1000) - when) < 3000, "when it began", one, when)
    lanes = collections.defaultdict(list)
    for one in slices:
        lanes[one["pid"], one["tid"]].append((one["ts"], one["ts"] + one["dur"]))
    for spans in lanes.values():
        spans.sort()
        check(all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), "two at once in a lane")
    names = {one["args"]["name"] for one in events if one["ph"] == "M"}
    check({"GPU 0", "stream 7"} <= names, "names of tracks", names)


@test("so it is in perfetto's, and in no format that has no tracks")
def _(t):
    capture, offset = record(t, 10, "-c", "2")
    works = work_of(capture, offset, 0)
    write_kineto(t.path("profile"), capture, works)
    trace = Trace(t, "--join", t.path("profile"))
    slices = [one for one in trace.slices if one.categories == ["gpu"] and
              not one.name.startswith("(wait")]
    waits = [one for one in trace.slices if one.name.startswith("(wait")]
    check_equal(collections.Counter((one.start, one.ns(), one.name) for one in waits),
                collections.Counter((one.time, one.took, WAITS[one.waits_for])
                                    for one in capture.waits), "waits")
    check({one.around.told["run"] for one in waits} == {one.run for one in capture.waits},
          "what is around waits", waits)
    check_equal(collections.Counter((one.told["operator"], one.name, one.ns()) for one in slices),
                of_gpus(capture, works), "slices")
    points = [one for one in trace.points if one.categories == ["gpu"]]
    check_equal(collections.Counter(one.start for one in points),
                collections.Counter(one.time for one in capture.launches), "points")
    starts = [flow for one in points for flow in one.starts]
    check_equal(collections.Counter(starts),
                collections.Counter(flow for one in slices for flow in one.ends), "arrows")
    check_equal(len(set(starts)), len(works), "arrows of their own")
    check({"GPU 0", "stream 7"} <= {track.name for track in trace.tracks.values()}, "tracks")
    refused = t.opprobe("export", t.path("capture.opp"), "--format", "csv", "--join",
                        t.path("profile"))
    check_equal(refused.wait(), 2, "status of another format")
    check("--join is for --format chrome and perfetto" in refused.stderr, "why", refused.stderr)


@test("a profile that is none, or of another recording, is refused with the remedy")
def _(t):
    capture, offset = record(t, 5)
    works = work_of(capture, offset, 3_600_000_000_000)
    write_nsys(t.path("other"), capture, works)
    write_rocpd(t.path("rocm"), capture, work_of(capture, capture.boottime_offset,
                                                 3_600_000_000_000))
    for name, text, what in (("rocm", None, "record both at the same time"),
                             ("other", None, "record both at the same time"),
                             ("empty", b"", "neither a database"),
                             ("cut", b"SQLite format 3\0" + b"\xff" * 5000, "export it again"),
                             ("nothing", b'{"traceEvents": []}', "ProfilerActivity.CUDA"),
                             ("missing", None, "cannot open")):
        if text is not None:
            with open(t.path(name), "wb") as file:
                file.write(text)
        sentence = t.fails("report", t.path("capture.opp"), "--join", t.path(name))
        check(what in sentence, "the sentence of %s" % name, sentence)
    check(not os.path.exists(t.path("missing")), "a file came to be")
    refused = t.opprobe("report", t.path("capture.opp"), "--group-by", "stream")
    check_equal(refused.wait(), 2, "status of --group-by without a profile")
    check("name it with --join" in refused.stderr, "why", refused.stderr)


def as_view(table):
    """It has the same rows, but may as well compute for ever."""
    return ('ALTER TABLE "%s" RENAME TO "x"' % table, 'CREATE VIEW "%s" AS SELECT * FROM x' % table)


def changed(t, write, *statements):
    """The profile after these statements."""
    if os.path.exists(t.path("profile")):
        os.unlink(t.path("profile"))
    write()
    database = sqlite3.connect(t.path("profile"))
    ending = "_" + FIRST_GUID.replace("-", "_")
    for statement in statements:
        database.execute(statement.replace("@", ending))
    database.commit()
    database.close()


@test("a database is read as it lies there: views do not run, and no file comes to be beside it")
def _(t):
    capture, offset = record(t, 5)
    path = t.path("profile")

    def rocpd():
        write_rocpd(path, capture, work_of(capture, capture.boottime_offset, 0))

    def nsys():
        write_nsys(path, capture, work_of(capture, offset, 0))

    def empty():
        pass

    for write, statements, what in (
            (rocpd, as_view("rocpd_event@"), "view"),
            (rocpd, as_view("rocpd_region@"), "view"),
            (nsys, as_view("StringIds"), "neither Nsight Systems"),
            (nsys, ("ALTER TABLE StringIds RENAME TO StringIds_", "CREATE TABLE StringIds (a)"),
             "export it again with nsys"),
            (rocpd, ("DROP TABLE \"rocpd_event@\"",), "no such table"),
            (rocpd, ("DROP TABLE \"rocpd_kernel_dispatch@\"",), "no table rocpd_kernel_dispatch"),
            (rocpd, ("ALTER TABLE \"rocpd_kernel_dispatch@\" RENAME TO "
                     "\"rocpd_kernel_dispatch'x\"",),
             "no table rocpd_kernel_dispatch"),
            (rocpd, ("DELETE FROM \"rocpd_kernel_dispatch@\"",
                     "DELETE FROM \"rocpd_memory_copy@\""),
             "tells nothing that a GPU did"),
            (rocpd, ("DELETE FROM \"rocpd_region@\"",), "has no calls of HIP"),
            (rocpd, ("UPDATE \"rocpd_metadata@\" SET value = '4.1.0'",), "has the schema 4.1.0"),
            (empty, ("CREATE TABLE rocpd_op (id)", "CREATE TABLE rocpd_api (id)"),
             "a trace of rpd_tracer, which is not read: record it with rocprofv3 --runtime-trace"),
            (empty, ("CREATE TABLE a (b)",), "neither Nsight Systems")):
        changed(t, write, *statements)
        sentence = t.fails("report", t.path("capture.opp"), "--join", path)
        check(what in sentence, "the sentence of %s" % (statements,), sentence)
    # In SQLite's mode WAL, which rocpd merge leaves behind.
    for write in rocpd, nsys:
        changed(t, write, "PRAGMA journal_mode = WAL")
        join(t)
    # The name is no part of an URI, which may end in what it is to be opened for.
    os.rename(path, path + "?mode=memory#%41")
    succeeds(t, "report", t.path("capture.opp"), "--join", path + "?mode=memory#%41")
    check_equal(sorted(name for name in os.listdir(t.path("")) if name.startswith("profile")),
                ["profile?mode=memory#%41"], "files")
    # What was written last is not in it yet.
    changed(t, rocpd)
    for ending in "-wal", "-journal":
        with open(path + ending, "wb") as file:
            file.write(b"x")
        sentence = t.fails("report", t.path("capture.opp"), "--join", path)
        check("is not whole" in sentence and ending in sentence, "why", sentence)
        os.truncate(path + ending, 0)
    join(t)

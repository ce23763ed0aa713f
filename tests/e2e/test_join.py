# SPDX-License-Identifier: GPL-2.0-only
"""report --join: what GPUs did for operators, by profiles of launches that were recorded. In the
profile each activity takes as long as tells whose it is: what is joined wrongly shows in sums."""

import collections
import csv
import io
import json
import os
import random

from browser import start_browser, write_page
from capture import GRAPH, Capture
from gpu import begin, end, start
from harness import check, check_equal, succeeds, test
from perfetto import Trace
from profiles import work_of, write_kineto, write_nsys

WAITS = ("(wait for a stream)", "(wait for an event)", "(wait for the device)",
         "(wait for a copy)")
WRITERS = {"nsys": write_nsys, "kineto": write_kineto}


def record(t, runs, *options):
    target = start(t, "1.24.3", *options)
    probe = begin(t, target)
    target.run(runs)
    report = end(t, probe)
    return Capture(t.path("capture.opp")), report.json["recording"]["realtime_offset_ns"]


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


def all_are_joined(writer, skew, version=""):
    @test("10,000 launches have what a GPU did for them, by %s%s, clocks %+d us apart" %
          (writer, version, skew // 1000))
    def _(t):
        capture, offset = record(t, 85, "-s", "2", "-c", "3")
        check(len(capture.launches) >= 10_000, "launches", len(capture.launches))
        works = work_of(capture, offset, skew)
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
        # Microseconds from the epoch on, as a double, are a quarter of a microsecond apart.
        check(abs(told["busy_ns"] / union(works) - 1) <= (1e-3 if options else 0), "union", told)
        check(abs(told["clocks_apart_ns"] - skew - 1200) < 300, "clocks", told)
        check(told["residual_max_ns"] <= 1200, "residual", told)


for each in ("nsys", "kineto"):
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
        works = work_of(capture, offset, -3_000_000)
        chance = random.Random(2)
        kept = [work for work in works if chance.random() >= 0.1]
        WRITERS[writer](t.path("profile"), capture, kept)
        report = join(t)
        told = report["join"]
        check_equal(sums_told(report), sums(capture, kept), "what GPUs did, by operator")
        check_equal(told["matched"], len(kept), "matched of %d" % len(works))
        check_equal(told["kernels_without_launch"] + told["copies_without_launch"], 0, "alone")


incomplete("nsys")
incomplete("kineto")


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


@test("of two processes in one profile, calls that have the same numbers are kept apart")
def _(t):
    capture, offset = record(t, 20)
    works = work_of(capture, offset, 0)
    later = works[-1].start - works[0].start + 10_000_000
    another = [work._replace(start=work.start + later, begin=work.begin + later,
                             end=work.end + later + 5, thread=work.thread + 1) for work in works]
    write_nsys(t.path("profile"), capture, works, another=another)
    report = join(t)
    check_equal(sums_told(report), sums(capture, works), "what GPUs did, by operator")
    told = report["join"]
    check_equal((told["matched"], told["kernels_without_launch"] + told["copies_without_launch"]),
                (len(works), len(works)), "matched, and the other's")


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
    for name, text, what in (("other", None, "record both at the same time"),
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

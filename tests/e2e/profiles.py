# SPDX-License-Identifier: GPL-2.0-only
"""Profiles of GPUs as their profilers write them, of launches that were recorded: a database of
Nsight Systems, by its schema (2023.4), or a trace of PyTorch's profiler (2.6)."""

import collections
import json
import random
import sqlite3

from capture import COPY, GRAPH, KERNEL

# What a GPU did for a launch: the name of the call; then the activity's name, start and end, ns.
Work = collections.namedtuple("Work", "launch call thread start name begin end")

CALLS = {KERNEL: "cudaLaunchKernel", GRAPH: "cudaGraphLaunch", COPY: "cudaMemcpyAsync"}
PID = 4711


def work_of(capture, offset, skew, seed=1):
    """A list of what GPUs did: calls lie about a microsecond behind launches, on clocks that are
    `skew` ns apart; each takes as long as its operator's number says."""
    chance = random.Random(seed)
    works = []
    for i, launch in enumerate(capture.launches):
        start = launch.time + offset + skew + chance.randrange(600, 1800)
        begin = start + 5_000 + chance.randrange(20_000)
        name = "Memcpy HtoD" if launch.kind == COPY else "kernel%d(int)" % launch.op
        works.append(Work(i, CALLS[launch.kind], capture.threads[launch.thread], start, name, begin,
                          begin + 1000 + launch.op))
    return works


def foreign(works):
    """Calls that are no launches, between all others."""
    for work in works:
        yield "cudaStreamIsCapturing", work.thread, work.start - 450
        yield "cudaPeekAtLastError", work.thread, work.start + 3_000


def write_kineto(path, capture, works, bare=False):
    base = 0 if bare else works[0].start // 10**9 * 10**9
    events = [{"ph": "M", "name": "process_name", "pid": PID, "tid": 0, "ts": 0, "args": {}}]

    def event(category, name, thread, start, end, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "pid": PID, "tid": thread,
                       "ts": (start - base) / 1000, "dur": (end - start) / 1000,
                       "args": arguments})

    for name, thread, start in foreign(works):
        event("cuda_runtime", name, 0x7f00000 + thread, start, start + 200, correlation=9)
    for work in works:
        launch = capture.launches[work.launch]
        # Its own numbers of threads, which are not the kernel's.
        event("cuda_runtime", work.call, 0x7f00000 + work.thread, work.start,
              work.start + 2_500, correlation=100 + work.launch)
        shared = {"device": 0, "stream": 7, "correlation": 100 + work.launch}
        if launch.kind == COPY:
            event("gpu_memcpy", work.name, 7, work.begin, work.end, bytes=launch.bytes, **shared)
        else:
            event("kernel", work.name, 7, work.begin, work.end, grid=launch.grid,
                  block=launch.block, **{"registers per thread": 24}, **shared)
    trace = events if bare else {"schemaVersion": 1, "baseTimeNanoseconds": base,
                                 "traceEvents": events}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)


SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
    eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
    returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
    shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL,
    gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
    blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, graphId INTEGER NOT NULL);
"""


def write_nsys(path, capture, works, more=(), another=(), nodes=0):
    """With work behind the launches, and of another process, which gives calls the same numbers.
    A graph is one activity, or so many kernels of it (--cuda-graph-trace=node)."""
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    base = works[0].start - 10**9
    strings = {}

    def string(text):
        if text not in strings:
            strings[text] = len(strings) + 1
            database.execute("INSERT INTO StringIds VALUES (?, ?)", (strings[text], text))
        return strings[text]

    def call(name, thread, start, number, pid=PID):
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,0,?,?,?,0,NULL)",
                         (start - base, start - base + 2_500, 1 << 48 | pid << 24 | thread, number,
                          string(name)))

    def put(work, number, pid=PID):
        launch = capture.launches[work.launch]
        place = (work.begin - base, work.end - base, 0, 1, 7, number, 1 << 48 | pid << 24)
        call(work.call + "_v7000", work.thread, work.start, number, pid)
        if launch.kind == COPY:
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?,?,?,?,?,?,?,?,1)",
                             (*place, launch.bytes))
        elif launch.kind == GRAPH and not nodes:
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?,?,?,?,?,?,?,1)",
                             place)
        else:
            # Of a graph's kernels, grids are their own.
            shape = (7, 1, 1, 64, 1, 1) if launch.kind == GRAPH else launch.grid + launch.block
            for _ in range(nodes if launch.kind == GRAPH else 1):
                database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
                                 "(?,?,?,?,?,?,?,?,?,24,?,?,?,?,?,?)",
                                 (*place, string(work.name), string(work.name.split("(")[0]),
                                  *shape))

    database.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (base,))
    for name, thread, start in foreign(works):
        call(name + "_v3020", thread, start, 9)
    for number, work in enumerate([*works, *more], 100):
        put(work, number)
    for number, work in enumerate(another, 100):
        put(work, number, PID + 1)
    database.commit()
    database.close()

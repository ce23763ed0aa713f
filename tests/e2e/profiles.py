# SPDX-License-Identifier: GPL-2.0-only
"""Profiles of GPUs as their profilers write them, of launches that were recorded: a database of
Nsight Systems, by its schema (2023.4), or of rocprofv3, by its schema (3), or a trace of PyTorch's
profiler (2.6)."""

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


# By share/rocprofiler-sdk-rocpd/rocpd_tables.sql of ROCm's rocprofiler-sdk: the columns that tell
# something, of the types that they have there.
ROCPD = """
CREATE TABLE "rocpd_metadata@" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL,
    value TEXT NOT NULL);
CREATE TABLE "rocpd_string@" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL,
    string TEXT NOT NULL UNIQUE ON CONFLICT ABORT);
CREATE TABLE "rocpd_info_agent@" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL, type TEXT CHECK (type IN ('CPU', 'GPU')), type_index INTEGER);
CREATE TABLE "rocpd_info_kernel_symbol@" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL, kernel_name TEXT, display_name TEXT, sgpr_count INTEGER,
    arch_vgpr_count INTEGER, accum_vgpr_count INTEGER);
CREATE TABLE "rocpd_event@" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL,
    category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER);
CREATE TABLE "rocpd_region@" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL,
    nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL, start BIGINT NOT NULL,
    end BIGINT NOT NULL, name_id INTEGER NOT NULL, event_id INTEGER);
CREATE TABLE "rocpd_kernel_dispatch@" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER,
    agent_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL,
    queue_id INTEGER NOT NULL, stream_id INTEGER NOT NULL, start BIGINT NOT NULL,
    end BIGINT NOT NULL, workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL,
    workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL,
    grid_size_z INTEGER NOT NULL, event_id INTEGER);
CREATE TABLE "rocpd_memory_copy@" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER,
    start BIGINT NOT NULL, end BIGINT NOT NULL, name_id INTEGER NOT NULL, dst_agent_id INTEGER,
    src_agent_id INTEGER, size INTEGER NOT NULL, stream_id INTEGER, event_id INTEGER);
"""
CPU_AGENT, GPU_AGENT = 1, 2
FIRST_GUID = "01985b7e-50ff-77ad-9c1b-aa0d13b1c0de"
COPIES = {"Memcpy HtoD": "MEMORY_COPY_HOST_TO_DEVICE"}


class Rocpd:
    """The tables of one process: new ones, or those that there are."""

    def __init__(self, database, guid, pid, mangled=False, new=True):
        self.database, self.guid, self.pid, self.mangled = database, guid, pid, mangled
        self.ending = "_" + guid.replace("-", "_")
        self.strings, self.symbols = {}, {}
        if not new:
            self.strings = {text: number for number, _, text in database.execute(
                'SELECT * FROM "rocpd_string%s"' % self.ending)}
            return
        database.executescript(ROCPD.replace("@", self.ending))
        self.add("metadata", tag="schema_version", value="3")
        for agent, kind in (CPU_AGENT, "CPU"), (GPU_AGENT, "GPU"):
            self.add("info_agent", id=agent, guid=guid, type=kind, type_index=0)

    def add(self, table, **columns):
        return self.database.execute(
            "INSERT INTO \"rocpd_%s%s\" (%s) VALUES (%s)" %
            (table, self.ending, ", ".join(columns), ", ".join("?" * len(columns))),
            list(columns.values())).lastrowid

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = self.add("string", guid=self.guid, string=text)
        return self.strings[text]

    def symbol(self, name):
        if name not in self.symbols:
            short = name.split("(")[0]
            told = "_Z%d%si.kd" % (len(short), short) if self.mangled else name
            self.symbols[name] = self.add(
                "info_kernel_symbol", guid=self.guid, kernel_name="unused.kd", display_name=told,
                sgpr_count=100, arch_vgpr_count=16, accum_vgpr_count=8)
        return self.symbols[name]

    def event(self, category, number, caller):
        return self.add("event", guid=self.guid, category_id=self.string(category),
                        stack_id=number, parent_stack_id=caller, correlation_id=0)

    def call(self, name, thread, start, number, caller=0, category="HIP_RUNTIME_API_EXT",
             row=None):
        self.add("region", id=row or number, guid=self.guid, nid=1, pid=self.pid, tid=thread,
                 start=start, end=start + 2_500, name_id=self.string(name),
                 event_id=self.event(category, number, caller))

    def kernel(self, name, number, begin, end, grid, block):
        self.add("kernel_dispatch", guid=self.guid, nid=1, pid=self.pid, tid=1, agent_id=GPU_AGENT,
                 kernel_id=self.symbol(name), dispatch_id=1, queue_id=1, stream_id=7, start=begin,
                 end=end, event_id=self.event("KERNEL_DISPATCH", number, number),
                 **{"workgroup_size_" + axis: size for axis, size in zip("xyz", block)},
                 **{"grid_size_" + axis: count * size
                    for axis, count, size in zip("xyz", grid, block)})

    def copy(self, name, number, begin, end, size):
        self.add("memory_copy", guid=self.guid, nid=1, pid=self.pid, tid=1, start=begin, end=end,
                 name_id=self.string(COPIES[name]), dst_agent_id=GPU_AGENT, src_agent_id=CPU_AGENT,
                 size=size, stream_id=7, event_id=self.event("MEMORY_COPY", number, number))


def write_rocpd(path, capture, works, more=(), another=(), parts=1, nested=False, mangled=False):
    """As write_nsys(). `parts`: kernels of a graph, and pieces of a copy, which kernels make every
    third time; `nested`: GPUs are told by calls of HSA within those of HIP."""
    database = sqlite3.connect(path)

    def did(process, work, number, begin, end, part):
        launch = capture.launches[work.launch]
        if launch.kind == KERNEL:
            process.kernel(work.name, number, begin, end, launch.grid, launch.block)
        elif launch.kind == GRAPH or (parts > 1 and work.launch % 3 == 0):
            process.kernel(work.name, number, begin, end, (part + 1, 1, 1), (64, 1, 1))
        else:
            size = launch.bytes * (part + 1) // parts - launch.bytes * part // parts
            process.copy(work.name, number, begin, end, size)

    def put(process, works):
        for number, (name, thread, start) in enumerate(foreign(works), 1_000_000):
            process.call(name.replace("cuda", "hip"), thread, start, number)
        for number, work in enumerate(works, 1):
            process.call(work.call.replace("cuda", "hip"), work.thread, work.start, 2 * number)
            if nested:
                process.call("hsa_signal_store_screlease", work.thread, work.start + 900,
                             2 * number + 1, 2 * number, "HSA_CORE_API", 9_000_000 - number)
            n = 1 if capture.launches[work.launch].kind == KERNEL else parts
            times = [work.begin + (work.end - work.begin) * i // n for i in range(n + 1)]
            for i in range(n):
                did(process, work, 2 * number + nested, times[i], times[i + 1], i)

    put(Rocpd(database, FIRST_GUID, PID, mangled), [*works, *more])
    if another:
        put(Rocpd(database, "01985b7e-6a21-7be4-8bd2-0123456789ab", PID + 1, mangled), another)
    database.commit()
    database.close()

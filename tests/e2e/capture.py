# SPDX-License-Identifier: GPL-2.0-only
"""A capture as user/capture/FORMAT.md tells it, read by nothing of opprobe's own: threads,
operators, executions with their parts, sums of executions and runs, samples, and the pool."""

import collections
import struct

from harness import check

Exec = collections.namedtuple("Exec", "flags op thread depth cpu run parent start end work parts")
Part = collections.namedtuple("Part", "thread cpu migrated start end")
Sum = collections.namedtuple("Sum", "of_runs op session parent depth start end ns buckets below_ns "
                             "children inside nested work_ns work_below_ns migrated elsewhere "
                             "unclear counts")
Operator = collections.namedtuple("Operator", "session index name op_type")
Sample = collections.namedtuple("Sample", "seen op parent depth thread kernel time amount ready "
                                "function at")
Function = collections.namedtuple("Function", "path build_id bounded offset address size symbol")
Launch = collections.namedtuple("Launch", "kind place op run thread driver function time kernel "
                                "stream bytes grid block waits_for took")
# Of an event, over a sum's executions.
Counts = collections.namedtuple("Counts", "missing value below work work_below")

THREAD, OPERATOR, EXEC, RUN, END, INFO, POOL, SUM, SAMPLE = 1, 3, 5, 6, 8, 9, 11, 21, 25
FILE, FUNCTION, LAUNCH, BEGIN = 26, 27, 28, 29
KERNEL, GRAPH, COPY, WAIT = 1, 2, 3, 4
OWN, WORKS_FOR, IN_RUNTIME, ELSEWHERE, UNNAMED, UNKNOWN = 1, 2, 3, 4, 5, 6
WORK, HAS_RUN, HAS_PARENT, HAS_SHAPES, TURNS = 8, 16, 32, 64, 128
SHAPES_NS, PEAK, PARTS = 256, 1024, 2048
OF_RUNS, HAS_SESSION, SUM_PARENT, HAS_BELOW, HAS_WORK, HAS_MOVES = 1, 2, 4, 8, 16, 32


def bucket(i):
    """The least duration in bucket `i`, and what is more than its greatest, in ns."""
    power = max(i // 8 - 1, 0)
    least = i if i < 8 else (8 + i % 8) << power
    return least, least + (1 << power) if i < 303 else 1 << 64


class Bytes:
    """Numbers and strings, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        taken = self.data[self.at:self.at + size]
        assert len(taken) == size
        self.at += size
        return taken

    def number(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7

    def text(self):
        return self.take(self.number()).decode(errors="replace")

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)


class Capture:
    """Of threads, by their numbers: tids, numbers of processes, and what the pool's worked, in ns,
    and were on a CPU. Executions in their order; and of each thread when what it did was over, as
    far as that is known, in the order in which it is told."""

    def __init__(self, path):
        self.threads, self.processes, self.pool, self.execs = {}, {}, {}, []
        self.sums, self.runs = [], 0
        self.operators, self.samples = {}, []
        self.files, self.functions = {}, {}
        self.launches = []
        self.over = collections.defaultdict(list)
        self.waits = []
        self.events = 0
        self.boottime_offset = None
        self.start = self.begin = self.end = None
        with open(path, "rb") as file:
            data = Bytes(file.read())
        assert data.take(8) == b"\x89OPPCAP\n"
        data.take(8)
        while data.left():
            length, _, _, _ = struct.unpack("<IIII", data.take(16))
            self.chunk(Bytes(data.take(length)))

    def chunk(self, chunk):
        self.time = self.run = self.sum_end = self.sampled = self.launched = 0
        while chunk.left():
            kind = chunk.take(1)[0]
            payload = Bytes(chunk.take(chunk.number()))
            if kind == INFO:
                self.info(payload)
            elif kind == BEGIN:
                assert self.begin is None
                self.begin = payload.number()
            elif kind == END:
                self.end = payload.number()
            elif kind == THREAD:
                number = payload.number()
                self.threads[number] = payload.number()
                payload.take(payload.number())
                self.processes[number] = payload.number() if payload.left() else 0
            elif kind == OPERATOR:
                self.operator(payload)
            elif kind == SAMPLE:
                self.samples.append(self.sample(payload))
            elif kind == FILE:
                number = payload.number()
                self.files[number] = payload.text(), payload.text()
            elif kind == FUNCTION:
                self.function(payload)
            elif kind == LAUNCH:
                launch = self.launch(payload)
                (self.waits if launch.kind == WAIT else self.launches).append(launch)
                if launch.kind != WAIT and launch.place == 1:
                    self.over[launch.thread].append(launch.time)
            elif kind == EXEC:
                self.execs.append(self.exec(payload))
                self.over[self.execs[-1].thread].append(self.execs[-1].end)
            elif kind == RUN:
                self.runs += 1
                self.skip_run(payload)  # but for its end
            elif kind == SUM:
                self.sums.append(self.sum(payload))
            elif kind == POOL:
                number = payload.number()
                self.pool[number] = (payload.number(), payload.number())

    def check_order(self):
        """What a thread is told to have done is told when it was over."""
        for thread, over in self.over.items():
            for before, behind in zip(over, over[1:]):
                check(before <= behind, "told before what was over sooner", thread, before, behind)

    def info(self, payload):
        while payload.left():
            field, value = payload.number(), Bytes(payload.take(payload.number()))
            self.events += field == 15
            if field == 13:
                self.start = value.number()
            if field == 18:
                self.boottime_offset = value.signed()

    def operator(self, payload):
        flags, number = payload.number(), payload.number()
        session = payload.number() if flags & 2 else None
        index = payload.number() if flags & 4 else None
        name, op_type = [payload.take(payload.number()).decode(errors="replace") for _ in range(2)]
        self.operators[number] = Operator(session, index, name, op_type)

    def sample(self, payload):
        seen, flags, thread = [payload.number() for _ in range(3)]
        op = depth = parent = None
        if seen in (OWN, WORKS_FOR):
            op, depth = payload.number(), payload.number()
            parent = payload.number() if flags & 1 else None
        self.sampled += payload.signed()
        amount = payload.number()
        ready = payload.number() if flags & 4 else 0
        function, at = (payload.number(), payload.number()) if flags & 8 else (None, None)
        assert not payload.left()
        return Sample(seen, op, parent, depth, thread, flags >> 1 & 1, self.sampled, amount, ready,
                      self.functions.get(function), at)

    def function(self, payload):
        number, flags, file, offset, address, size = [payload.number() for _ in range(6)]
        where = self.files.get(file, ("", ""))  # a kernel of a GPU is in none
        self.functions[number] = Function(*where, bool(flags & 1), offset, address, size,
                                          payload.text())

    def launch(self, payload):
        kind, place, flags, thread = [payload.number() for _ in range(4)]
        op = payload.number() if place == 1 else None
        run = payload.number() if flags & 1 else None
        self.launched += payload.signed()
        function = self.functions[payload.number()] if flags & 2 else None
        kernel, stream, size = [payload.number() for _ in range(3)]
        both = [payload.number() for _ in range(6)] if kind == KERNEL else [0] * 6
        waited = [payload.number() for _ in range(2)] if kind == WAIT else [None, 0]
        assert not payload.left()
        return Launch(kind, place, op, run, thread, bool(flags & 4), function, self.launched,
                      kernel, stream, size, tuple(both[::2]), tuple(both[1::2]), *waited)

    def times(self, payload):
        self.time += payload.signed()
        return self.time - payload.number(), self.time

    def counts(self, payload, mask):
        return [payload.number() for i in range(self.events) if mask >> i & 1]

    def skip_run(self, payload):
        flags = payload.number()
        payload.number()
        if flags & 4:
            payload.number()
        payload.number()
        thread, (_, end) = payload.number(), self.times(payload)
        if not flags & 1:
            self.over[thread].append(end)

    def exec(self, payload):
        flags, op, thread, depth, cpu = [payload.number() for _ in range(5)]
        run = parent = None
        if flags & HAS_RUN:
            run = self.run = self.run + payload.signed()
        if flags & HAS_PARENT:
            parent = payload.number()
        if flags & HAS_SHAPES:
            payload.number()
        start, end = self.times(payload)
        counted = payload.number()
        self.counts(payload, counted)
        work = 0
        if flags & WORK:
            work = payload.number()
            self.counts(payload, counted)
        assert not flags & TURNS
        if flags & SHAPES_NS:
            payload.number()
        if flags & PEAK:
            payload.number()
        parts = self.parts(payload, start) if flags & PARTS else None
        assert not payload.left()
        return Exec(flags, op, thread, depth, cpu, run, parent, start, end, work, parts)

    def sum(self, payload):
        flags = payload.number()
        op = None if flags & OF_RUNS else payload.number()
        session = payload.number() if flags & HAS_SESSION else None
        parent = payload.number() if flags & SUM_PARENT else None
        depth = payload.number()
        self.sum_end += payload.signed()
        end = self.sum_end
        start, ns = end - payload.number(), payload.number()
        buckets, at = {}, 0
        for _ in range(payload.number()):
            at += payload.number()
            buckets[at] = payload.number()
            at += 1
        below = [payload.number() if flags & HAS_BELOW else 0 for _ in range(4)]
        work = [payload.number() if flags & HAS_WORK else 0 for _ in range(2)]
        moves = [payload.number() if flags & HAS_MOVES else 0 for _ in range(3)]
        there = [True, True, flags & HAS_BELOW, flags & HAS_WORK, flags & HAS_WORK]
        counts = [Counts(*(payload.number() if is_there else 0 for is_there in there))
                  for _ in range(self.events)]
        assert not payload.left()
        return Sum(flags & OF_RUNS, op, session, parent, depth, start, end, ns, buckets, *below,
                   *work, *moves, counts)

    @staticmethod
    def parts(payload, start):
        parts = []
        for _ in range(payload.number()):
            thread, cpu, delay, ns = [payload.number() for _ in range(4)]
            start += delay
            parts.append(Part(thread, cpu >> 1, cpu & 1, start, start + ns))
        return parts

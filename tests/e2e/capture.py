# SPDX-License-Identifier: GPL-2.0-only
"""A capture as user/capture/FORMAT.md tells it, read by nothing of opprobe's own: threads,
executions with their parts, and the pool."""

import collections
import struct

Exec = collections.namedtuple("Exec", "flags op thread depth cpu run parent start end work parts")
Part = collections.namedtuple("Part", "thread cpu migrated start end")

THREAD, EXEC, RUN, INFO, POOL = 1, 5, 6, 9, 11
WORK, HAS_RUN, HAS_PARENT, HAS_SHAPES, TURNS = 8, 16, 32, 64, 128
SHAPES_NS, PEAK, PARTS = 256, 1024, 2048


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

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)


class Capture:
    """Of threads, by their numbers: tids, numbers of processes, and what the pool's worked, in ns,
    and were on a CPU. Executions in their order."""

    def __init__(self, path):
        self.threads, self.processes, self.pool, self.execs = {}, {}, {}, []
        self.events = 0
        with open(path, "rb") as file:
            data = Bytes(file.read())
        assert data.take(8) == b"\x89OPPCAP\n"
        data.take(8)
        while data.left():
            length, _, _, _ = struct.unpack("<IIII", data.take(16))
            self.chunk(Bytes(data.take(length)))

    def chunk(self, chunk):
        self.time = self.run = 0
        while chunk.left():
            kind = chunk.take(1)[0]
            payload = Bytes(chunk.take(chunk.number()))
            if kind == INFO:
                self.info(payload)
            elif kind == THREAD:
                number = payload.number()
                self.threads[number] = payload.number()
                payload.take(payload.number())
                self.processes[number] = payload.number() if payload.left() else 0
            elif kind == EXEC:
                self.execs.append(self.exec(payload))
            elif kind == RUN:
                self.skip_run(payload)
            elif kind == POOL:
                number = payload.number()
                self.pool[number] = (payload.number(), payload.number())

    def info(self, payload):
        while payload.left():
            self.events += payload.number() == 15
            payload.take(payload.number())

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
        payload.number(), payload.number()
        self.times(payload)

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

    @staticmethod
    def parts(payload, start):
        parts = []
        for _ in range(payload.number()):
            thread, cpu, delay, ns = [payload.number() for _ in range(4)]
            start += delay
            parts.append(Part(thread, cpu >> 1, cpu & 1, start, start + ns))
        return parts

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long to wait for others: until they hang, however slow the machine is.

A second counts in full only while a CPU is to be had. If twenty programs want
two CPUs, it counts a tenth: what takes three seconds on a quiet machine and
thirty on a busy one has used up the same. On top of that, whoever is waited for
and works meanwhile is given its time anew, up to the limit of the test.

As a program: patience.py SECONDS COMMAND... runs the command and kills it, with
status 124, when it has had that many such seconds.
"""

import os
import signal
import subprocess
import sys
import threading
import time

PERIOD = 0.25  # seconds between two looks at the machine
WORKING = 0.1  # of a second's CPU time is work; polling takes far less
TICKS = os.sysconf("SC_CLK_TCK")


def read_machine():
    """Tasks that want a CPU or a disk, and jiffies: stolen by the machine below, all."""
    wanting, jiffies = 1, [0] * 8
    with open("/proc/stat", encoding="ascii") as file:
        for line in file:
            name, *values = line.split()
            if name == "cpu":
                jiffies = list(map(int, values[:8]))
            elif name in ("procs_running", "procs_blocked"):
                wanting += int(values[0])
    return wanting - 1, jiffies[7], sum(jiffies)


class Clock(threading.Thread):
    """Seconds since it was started, as far as a CPU was to be had in them."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seconds = 0.0
        self.start()

    def run(self):
        cpus = os.cpu_count()
        before, (_, stolen_before, all_before) = time.monotonic(), read_machine()
        while True:
            time.sleep(PERIOD)
            now, (wanting, stolen, every) = time.monotonic(), read_machine()
            share = min(1.0, cpus / max(1, wanting))
            if every > all_before:
                share *= 1 - min(0.95, (stolen - stolen_before) / (every - all_before))
            # Who was not woken in time had no CPU, whatever it looks like now.
            self.seconds += share * min(now - before, 2 * PERIOD)
            before, stolen_before, all_before = now, stolen, every


CLOCK = []


def clock():
    if not CLOCK:
        CLOCK.append(Clock())
    return CLOCK[0].seconds


def cpu_seconds(pid):
    """CPU time of all threads of @pid, also of those that have ended."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


class Patience:
    """A limit in such seconds, given anew while process @pid works or on renew()."""

    def __init__(self, limit, pid=None):
        self.limit, self.pid = limit, pid
        self.renew()

    def renew(self):
        self.since = clock()
        self.cpu = cpu_seconds(self.pid) if self.pid else 0.0

    def over(self):
        waited = clock() - self.since
        if waited < 1:
            return False
        if self.pid and cpu_seconds(self.pid) - self.cpu > WORKING * waited:
            self.renew()
            return False
        return waited > self.limit


def main():
    limit, command = float(sys.argv[1]), sys.argv[2:]
    child = subprocess.Popen(command)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: child.send_signal(number))
    start = clock()
    while True:
        try:
            status = child.wait(PERIOD)
            return status if status >= 0 else 128 - status
        except subprocess.TimeoutExpired:
            if clock() - start > limit:
                child.kill()
                child.wait()
                return 124


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-only
"""--parts: which pool thread worked on which operator, and when."""

import collections
import json

from capture import Capture
from harness import check, check_equal, succeeds, test


def check_parts(capture):
    """Each execution has the parts that its work is the sum of; the pool has no others."""
    worked, spans = collections.Counter(), collections.defaultdict(list)
    for ran in capture.execs:
        check(ran.parts is not None if ran.work else not ran.parts, "no parts of its work", ran)
        parts = ran.parts or []
        check_equal(sum(part.end - part.start for part in parts), ran.work,
                    "ns of the parts of an execution")
        check_equal([part.start for part in parts], sorted(part.start for part in parts),
                    "starts of parts")
        for part in parts:
            check(ran.start < part.start < part.end < ran.end, "a part beside its operator", part,
                  ran)
            check(part.thread != ran.thread, "a launcher's own part", part, ran)
            worked[part.thread] += part.end - part.start
            spans[part.thread].append((part.start, part.end))
    for thread, ends in spans.items():
        ends.sort()
        check(all(a[1] <= b[0] for a, b in zip(ends, ends[1:])), "parts of one thread overlap",
              capture.threads[thread])
    check_equal(dict(worked), {number: ns for number, (ns, _) in capture.pool.items()},
                "ns that each thread of the pool worked")


def all_parts_are_told(version, model, *options, runs=60):
    @test("%s: %s: parts of operators are all that their pools worked" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, *options)
        target.run(20)
        probe = t.attach(target, "-e", "page-faults", "--parts")
        check_equal(target.run(runs)["failed"], 0, "failed runs")
        probe.stop().nothing_lost()
        capture = Capture(t.path("capture.opp"))
        check_parts(capture)
        # The sections of others are so short that their caller may be through before the pool wakes.
        check(model != "resnet" or capture.pool, "the pool did nothing")


for version in ("1.10.0", "1.16.3", "1.24.3", "1.30.0"):
    for threads in ("2", "4"):
        all_parts_are_told(version, "resnet", "-t", threads)
all_parts_are_told("1.16.3", "transformer", "-t", "2", runs=300)
all_parts_are_told("1.30.0", "resnet", "-t", "4", "-s", "3", "-c", "4", runs=20)
all_parts_are_told("1.24.3", "transformer", "-t", "3", "-s", "2", "-c", "2")
all_parts_are_told("1.24.3", "gru", "-t", "3", runs=300)
all_parts_are_told("1.30.0", "resnet", "-t", "2", "-p", "-i", "2")

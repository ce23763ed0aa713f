# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of the runtime of tests/runtime share: its program, whose own account is the
truth, and the same account of a capture."""

import collections
import csv
import io
import os

from harness import Target, check_equal

OPERATORS = 3014  # functions of tests/targets/symbols.cc
DEPTH = 16        # operators open at once on a thread, that opprobe follows
THROWN = 4        # of those that one exception leaves are told, the others counted as lost


class Program(Target):
    """symbols: answers with its own account of what its operators did."""

    def do(self, request):
        """{(thread, name, depth, operator around it, threw): how many}"""
        counts = collections.Counter()
        for thread, name, depth, around, threw, count, _ in self.ask(request)["executions"]:
            counts[thread, name, depth, around, threw] += count
        return counts


def built(t, name):
    return os.path.join(t.objects, "tests", "targets", name)


def program(t, threads=1, name="symbols", **environment):
    """Start it, and have t.opprobe() be the one that knows it."""
    t.program = os.path.join(t.objects, "runtime", "opprobe")
    return t.start(Program, [built(t, name), threads], environment).ready()


def record(t, target, *options):
    return t.opprobe("record", "-p", target.pid, "-o", t.path("capture.opp"), "-e", "none",
                     *options).attached()


def finish(t, probe):
    """Ctrl-C; the report of what was recorded."""
    probe.signal(2)
    check_equal(probe.wait(), 0, "status of record")
    return report(t)


def report(t, *options):
    return t.opprobe("report", t.path("capture.opp"), "--json", *options).finish()


def shown(t, *arguments):
    made = t.opprobe(*arguments)
    check_equal(made.wait(), 0, "status of %s" % " ".join(arguments))
    return made.stdout


def executions(t):
    """Of the capture, as Program.do() counts them."""
    counts = collections.Counter()
    for row in csv.DictReader(io.StringIO(
            shown(t, "export", t.path("capture.opp"), "--format", "csv"))):
        check_equal((row["run"], row["session"], row["node_index"]), ("", "", ""),
                    "run, session and index of a node")
        check_equal(row["op_type"], row["name"].split("_")[1], "type of %s" % row["name"])
        counts[int(row["tid"]), row["name"], int(row["depth"]), row["parent"] or None,
               row["threw"] == "1"] += 1
    return counts


def by(counts, key):
    found = collections.Counter()
    for what, count in counts.items():
        found[key(*what)] += count
    return found

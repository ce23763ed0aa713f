# SPDX-License-Identifier: GPL-2.0-only
"""A runtime that is none of opprobe's own (tests/runtime), whatever the kernel is."""

import os

from harness import check, check_counts, check_equal, test
from symbols import DEPTH, OPERATORS, executions, finish, program, record


@test("runtime of symbols: what nests, recurs and throws is recorded as the program counted it")
def _(t):
    target = program(t, 2, "symbols_few")
    probe = record(t, target)
    truth = target.do("all 3") + target.do("throw 3 3") + target.do("deep 2 %d" % (DEPTH + 4))
    found = finish(t, probe)
    beyond = [key for key in truth if key[2] >= DEPTH]
    check_equal(found.losses(), {"too_deep": sum(truth.pop(key) for key in beyond)}, "losses")
    check_counts(executions(t), truth, "executions by thread, name, depth, parent, threw")


@test("runtime of symbols: thousands of sites, where one link may have many; else refused")
def _(t):
    target = program(t)
    doctor = t.opprobe("doctor", "-p", target.pid)
    check_equal(doctor.wait(), 0, "status of doctor")
    if "one link for many probes" in doctor.stdout:
        probe = record(t, target)
        truth = target.do("all 1")
        finish(t, probe).nothing_lost()
        check_counts(executions(t), truth)
        return
    sentence = t.fails("record", "-p", target.pid, "-o", t.path("capture.opp"))
    check("Linux 6.6" in sentence and any(
        "%d places" % (2 * OPERATORS + catches) in sentence for catches in (0, 1)),
          "the sentence is another one", sentence)
    check(not os.path.exists(t.path("capture.opp")), "a capture of nothing was left")

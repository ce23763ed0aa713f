#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run the tests that an emulated machine is there for, inside of it.

Usage: guest.py [--sample] [--again] MACHINE [TEXT...]

The tests are those of tests/every and tests/MACHINE, in the manner of the
end-to-end tests; what they need is mounted by check. With TEXT, only those
whose sentence or file holds one of them. --sample takes one of the tests that
one function makes for many releases; --again is that of e2e/run.
Ends with "N passed, N failed".
"""

import argparse
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))

import harness  # noqa: E402

# An emulator than the machine that the limits are made for; and what else runs on the
# machine that it is emulated on cannot be seen from within.
SLOWER = 6

# Of the tests that one function makes, in a sample.
MOST = 1


def collect(machine, words):
    """Import the test files; returns (sentence, function) in their order."""
    chosen = []
    for folder in (os.path.join(HERE, "tests", name) for name in ("every", machine)):
        if not os.path.isdir(folder):
            continue
        sys.path.insert(0, folder)
        for name in sorted(os.listdir(folder)):
            if name.startswith("test_") and name.endswith(".py"):
                known = len(harness.TESTS_REGISTERED)
                importlib.import_module(name[:-3])
                for entry in harness.TESTS_REGISTERED[known:]:
                    if not words or any(word in entry[0] or word in name for word in words):
                        chosen.append(entry)
    return chosen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("machine")
    parser.add_argument("words", nargs="*", metavar="TEXT")
    arguments = parser.parse_args()
    harness.Context.program = "/share/opprobe"
    harness.Context.objects = "/share"
    harness.Context.runtime = staticmethod(lambda version: "/mnt/ort-" + version)
    chosen = collect(arguments.machine, arguments.words)
    if arguments.sample:
        chosen = harness.sample(chosen, MOST)
    failed = [entry for entry in chosen if harness.run(*entry, SLOWER)]
    if arguments.again:
        failed = harness.run_again(failed, SLOWER)
    print("%d passed, %d failed" % (len(chosen) - len(failed), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

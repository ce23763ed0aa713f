# SPDX-License-Identifier: GPL-2.0-only
"""Shares for --max-overhead that mean the same wherever a test runs."""

import re

PROBES_NS = 2000  # what those of an operator take where the tests' shares were chosen
BY_WINDOWS = 5.1  # %: within less, windows come too seldom to wait for where they slow by much


def on_this_machine(t, per_cent, slow=0):
    """So much, and more where probes take more: virtual machines differ by a factor of six. At
    least `slow` % where they take more than three times as much."""
    doctor = t.opprobe("doctor")
    doctor.wait()
    more = int(re.search(r"(\d+) ns per operator", doctor.stdout)[1]) / PROBES_NS
    return "%.1f%%" % max(per_cent * max(1, more), slow if more > 3 else 0)

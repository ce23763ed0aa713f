# SPDX-License-Identifier: GPL-2.0-only
"""What samples say, compared with what probes saw on the same thread at that moment."""

import bisect
import collections

from capture import OWN, WORKS_FOR
from harness import check

AT_ONCE = 20_000  # ns


class Truth:
    """What every thread was in, by a recording of every execution."""

    def __init__(self, capture):
        self.capture = capture
        self.spans = collections.defaultdict(lambda: collections.defaultdict(list))
        for one in capture.execs:
            self.spans[OWN, capture.threads[one.thread]][one.depth].append(
                (one.start, one.end, one.op))
            for part in one.parts or ():
                self.spans[WORKS_FOR, capture.threads[part.thread]][0].append(
                    (part.start, part.end, one.op))
        for depths in self.spans.values():
            for spans in depths.values():
                spans.sort()
        own = [depths[0] for (seen, _), depths in self.spans.items() if seen == OWN]
        # What was open when the probes came is not recorded, nor what is when they go.
        self.first = max(spans[0][0] for spans in own) + 50_000_000
        self.last = min(spans[-1][1] for spans in own)

    def open(self, seen, thread, time):
        """The operators that the thread was in, or worked for, from the outermost inwards."""
        found = []
        for _, spans in sorted(self.spans.get((seen, thread), {}).items()):
            at = bisect.bisect_right(spans, (time, float("inf"))) - 1
            if at >= 0 and time <= spans[at][1]:
                found.append(named(self.capture, spans[at][2]))
        return found

    def about_to(self, thread, time):
        """The operator whose part the thread takes up next, if that is at once; else None."""
        spans = self.spans.get((WORKS_FOR, thread), {}).get(0, [])
        at = bisect.bisect_right(spans, (time, float("inf")))
        if at < len(spans) and spans[at][0] - time < AT_ONCE:
            return named(self.capture, spans[at][2])
        return None

    def near(self, seen, thread, time):
        """What the thread was in last, and next, by how deep: to look at by a person."""
        found = []
        for depth, spans in sorted(self.spans.get((seen, thread), {}).items()):
            at = bisect.bisect_right(spans, (time, float("inf")))
            found += [(depth, start - time, end - time, named(self.capture, op)[0])
                      for start, end, op in spans[max(at - 2, 0):at + 1]]
        return found


def named(capture, op):
    return capture.operators[op].name, capture.operators[op].op_type, capture.operators[op].index


def compare(samples, truth, nested):
    """How many samples say what the probes do, by what they saw."""
    right, early = collections.Counter(), 0
    for one in samples.samples:
        if not truth.first < one.time < truth.last or one.seen not in (OWN, WORKS_FOR):
            continue
        thread = samples.threads[one.thread]
        around = truth.open(one.seen, thread, one.time)
        op = named(samples, one.op)
        # Where one inside is just about to begin, its kernel has not been called yet.
        if one.seen == WORKS_FOR and not around and op == truth.about_to(thread, one.time):
            early += 1
            continue
        if op not in around[-1:] and not (nested and op in around):
            check(False, "thread %d was in %s" % (thread, around), "a sample says %s, %s" %
                  (("", "in", "for")[one.seen], op), one, "ns from it to starts and ends: %s" %
                  truth.near(one.seen, thread, one.time))
        right[one.seen] += 1
    # Of the launcher's section, but not yet at the first instruction of its part.
    check(early <= 2 + 0.001 * right[WORKS_FOR], "%d samples are of parts that begin later" % early)
    return right

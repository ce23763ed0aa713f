# SPDX-License-Identifier: GPL-2.0-only
"""Perfetto's trace as its trace_processor takes it: packets in the order of time, those of one
time in the order of the file, slices nested by what begins and ends on a track."""

from harness import check, check_equal
from protobuf import exported

NEEDS_STATE, CLEARED = 2, 1
MONOTONIC, REALTIME = 3, 1


class Slice:
    """What began on a track and, unless it is a point, ended."""

    def __init__(self, trace, packet, around):
        event = packet.track_event
        self.track, self.around, self.start, self.end = event.track_uuid, around, \
            packet.timestamp, None
        self.name = event.name or trace.names[event.name_iid]
        self.categories = [trace.categories[iid] for iid in event.category_iids]
        self.told = {trace.keys[told.name_iid]: getattr(told, told.WhichOneof("value"))
                     for told in event.debug_annotations}
        self.starts, self.ends = list(event.flow_ids), list(event.terminating_flow_ids)

    def ns(self):
        return self.end - self.start


class Trace:
    """All of it, with what is wrong found."""

    def __init__(self, t, *options):
        self.packets = exported(t, "perfetto", "Trace", *options).packet
        self.names, self.categories, self.keys = {}, {}, {}
        self.tracks, self.slices, self.points, self.counts = {}, [], [], {}
        self.check_sequence()
        for packet in self.packets:
            self.define(packet)
        self.events = [packet for packet in self.packets if packet.HasField("track_event")]
        self.events.sort(key=lambda packet: packet.timestamp)
        self.nest()

    def check_sequence(self):
        """State is there before it is needed, and by which clock all goes."""
        check_equal({packet.trusted_packet_sequence_id for packet in self.packets}, {1},
                    "sequences")
        clocks, first = self.packets[0].clock_snapshot, self.packets[1]
        check_equal(clocks.primary_trace_clock, MONOTONIC, "the clock of the trace")
        self.clocks = {clock.clock_id: clock.timestamp for clock in clocks.clocks}
        check_equal((first.sequence_flags, first.first_packet_on_sequence,
                     first.trace_packet_defaults.timestamp_clock_id), (CLEARED, True, MONOTONIC),
                    "the first packet")
        check_equal({packet.sequence_flags for packet in self.packets[2:]}, {NEEDS_STATE}, "flags")

    def define(self, packet):
        """In the order of the file: what is referred to was there before."""
        interned, track = packet.interned_data, packet.track_descriptor
        for table, entries in ((self.names, interned.event_names),
                               (self.categories, interned.event_categories),
                               (self.keys, interned.debug_annotation_names)):
            for entry in entries:
                check(entry.iid and entry.iid not in table, "interned twice, or as 0", entry)
                table[entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            check(track.uuid, "the track of number 0")
            check(not track.parent_uuid or track.parent_uuid in self.tracks, "a parent", track)
            self.tracks[track.uuid] = track
        if packet.HasField("track_event"):
            check(packet.track_event.track_uuid in self.tracks, "no such track", packet)

    def nest(self):
        opened = {}
        for packet in self.events:
            event, stack = packet.track_event, opened.setdefault(packet.track_event.track_uuid, [])
            if event.type == event.TYPE_COUNTER:
                self.counts.setdefault(event.track_uuid, []).append(
                    (packet.timestamp, event.counter_value))
            elif event.type == event.TYPE_SLICE_END:
                check(stack, "what ends did not begin", packet)
                stack.pop().end = packet.timestamp
            else:
                new = Slice(self, packet, stack[-1] if stack else None)
                (self.points if event.type == event.TYPE_INSTANT else self.slices).append(new)
                if event.type == event.TYPE_SLICE_BEGIN:
                    stack.append(new)
        check(not any(opened.values()), "what began does not end", opened)

    def of(self, category):
        return [found for found in self.slices if found.categories == [category]]

    def thread(self, found):
        return self.tracks[found.track].thread

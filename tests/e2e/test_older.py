# SPDX-License-Identifier: GPL-2.0-only
"""Runtimes in which node.js cannot switch the built-in profiler on: the counts
are nodes times runs, of models that are not optimised."""

from harness import check_counts, check_equal, described_counts, test

RUNS = 20


def counts_in_node(version, sentence, model, **options):
    @test("node.js, %s: %s: counts are nodes times runs" % (version, sentence))
    def _(t):
        target = t.node(version)
        session = target.load_plain(t.model(model), **options)
        probe = t.attach(target)
        target.run(session, RUNS)
        report = probe.stop().nothing_lost()
        expected = described_counts(t.model(model), RUNS)
        check_counts(report.counts(), expected, "operators of the table")
        check_counts(report.trace_counts(), expected, "operators of the trace")
        check_equal(report.json["runs"], RUNS, "runs")
        check_equal({op["provider"] for op in report.operators}, {"CPUExecutionProvider"},
                    "providers")


for version in ("1.10.0", "1.12.0", "1.14.0", "1.16.3", "1.20.1"):
    for sentence, model, options in (
            ("a CNN", "cnn", {}),
            ("a transformer block with 2 intra-op threads", "transformer",
             {"intraOpNumThreads": 2}),
            ("If and Loop nested twice", "nested", {}),
            ("unnamed nodes in nested subgraphs", "nested_unnamed", {}),
            ("names with quotes, line breaks and UTF-8", "names", {}),
            ("parallel mode", "branches",
             {"executionMode": "parallel", "interOpNumThreads": 3})):
        counts_in_node(version, sentence, model, **options)

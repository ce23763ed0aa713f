# SPDX-License-Identifier: GPL-2.0-only
"""Every generation of ONNX Runtime, as it is published for arm64."""

from harness import check_counts, check_equal, described_counts, read_profile, test

VERSIONS = ("1.10.0", "1.12.0", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")
RUNS = 10
LIMIT = 60


def counts(version):
    @test("arm64, %s: counts are nodes times runs, twice, and results stay equal" % version)
    def _(t):
        target = t.ort_run(version, "nested", "-O", "0", "-t", "2")
        truth = target.run(1)["sum"]
        for _ in range(2):
            probe = t.attach(target, limit=LIMIT)
            check_equal(target.run(RUNS)["sum"], truth, "result while attached")
            report = probe.stop().nothing_lost()
            check_counts(report.counts(), described_counts(t.model("nested"), RUNS))
            check_equal(report.json["runs"], RUNS, "runs")
            check_equal(report.json["runtime"]["version"], version, "version")
            check_equal({op["provider"] for op in report.operators}, {"CPUExecutionProvider"},
                        "providers")


def agreement(version, model, *options):
    @test("arm64, %s: %s %s: names and counts equal the built-in profiler's" %
          (version, model, " ".join(options)))
    def _(t):
        target = t.ort_run(version, model, "-P", "profile", *options)
        probe = t.attach(target, limit=LIMIT)
        target.run(RUNS)
        report = probe.stop().nothing_lost()
        target.ask("end-profiling")
        expected = read_profile(t.directory, "profile")
        check_counts(report.counts(provider=True), expected, "operators of the table")
        check_counts(report.trace_counts(provider=True), expected, "operators of the trace")


for version in VERSIONS:
    counts(version)
agreement("1.16.3", "cnn")
agreement("1.24.3", "transformer", "-t", "2")
agreement("1.27.0", "branches", "-p", "-i", "3")
agreement("1.30.0", "names")

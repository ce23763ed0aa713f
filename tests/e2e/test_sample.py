# SPDX-License-Identifier: GPL-2.0-only
"""--sample: what operators take, by looks at what CPUs do, and no probe in an operator."""

import collections
import json
import os
import shutil
import signal

from capture import ELSEWHERE, IN_RUNTIME, OWN, UNKNOWN, UNNAMED, WORKS_FOR, Capture
from harness import ProbeHits, changed_code, check, check_equal, test
from protobuf import exported
from sampling import (OFTEN, SAMPLES, end, record_all, sample, sampled, sampling_of,
                      some_samples)
from test_folded import folded
from truth import Truth, compare

# -- against probes, sample by sample ---------------------------------------------------

def equals_probes(version, model, *options, pool=False):
    @test("%s: %s: samples see what the probes saw at that moment" %
          (version, " ".join((model,) + options)))
    def _(t):
        target = t.ort_run(version, model, *options)
        target.run(3)
        target.keep_running()
        patience = target.patience()
        while True:
            probe = sample(t, target)
            some_samples(t, 1000)
            record_all(t, target)
            report = end(t, probe)
            samples = Capture(t.path("capture.opp"))
            right = compare(samples, Truth(Capture(t.path("every.opp"))), model == "nested")
            if right[OWN] > 100 and (not pool or right[WORKS_FOR] > 20):
                break
            # Others had the CPUs: once more.
            check(not patience.over(), "few samples were in operators, or of pool threads", right)
        seen = collections.Counter(one.seen for one in samples.samples)
        check(seen[UNKNOWN] <= 0.01 * len(samples.samples), "many stacks did not tell", seen)
        check(seen[UNNAMED] <= 0.1 * len(samples.samples), "names were not found soon", seen)
        # Up to 1.13, what runs on pools in parallel mode does not tell whose it is.
        for row in report.operators if version > "1.14" or "-p" not in options else ():
            check(row["model"] and row["model"].startswith(model), "the session is not known", row)


for each in ("1.10.0", "1.12.1", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0"):
    equals_probes(each, "resnet", "-t", "2", "-s", "2", pool=True)
    equals_probes(each, "nested")
equals_probes("1.30.0", "resnet", "-t", "3", "-c", "2", pool=True)
equals_probes("1.24.3", "resnet", "-t", "3", "-c", "2", pool=True)
equals_probes("1.12.1", "cnn", "-p", "-i", "2", "-t", "2", pool=True)
equals_probes("1.23.2", "cnn", "-p", "-i", "2", "-t", "2")
equals_probes("1.30.0", "gru", "-t", "2")
equals_probes("1.30.0", "transformer", "-d")


def with_inputs(t, model, inputs):
    """A copy of the model that is run with these."""
    path = os.path.abspath(t.path(model))
    shutil.copy(t.model(model), path + ".onnx")
    with open(path + ".inputs", "w", encoding="utf-8") as file:
        file.write(inputs + "\n")
    return path


def equals_time(version, model, inputs=None):
    @test("%s: %s: shares of samples are those of the time that operators took" % (version, model))
    def _(t):
        target = t.ort_run(version, with_inputs(t, model, inputs) if inputs else model, "-O", "0")
        target.run(3)
        target.keep_running()
        probe = sample(t, target)
        some_samples(t, 4 * SAMPLES)
        report = end(t, probe)
        every = t.opprobe("-p", target.pid, "-e", "none", "--no-cost", "--json", "-d", "3s", "-o",
                          t.path("every.opp")).finish()
        times = {(row["name"], row["node_index"]): row["self_ns"] for row in every.operators}
        whole, n = sum(times.values()), sum(row["samples"] for row in report.operators)
        shares = {(row["name"], row["node_index"]): row["samples"] / n for row in report.operators}
        apart = sum(abs(times.get(key, 0) / whole - shares.get(key, 0))
                    for key in set(times) | set(shares)) / 2
        # Of so many samples over so many nodes, chance alone makes less than half of this; a
        # machine that is busy at one of the two times does more.
        most = 2 * sum((share / n) ** .5 for share in shares.values()) / 2 + .03
        check(apart < most, "%.3f of the shares are apart, %.3f is much" % (apart, most))
        check(all(row["share_low_percent"] <= row["share_percent"] <= row["share_high_percent"]
                  for row in report.operators), "intervals")


equals_time("1.30.0", "resnet")
equals_time("1.20.1", "heavy")
# Of nodes of some hundred nanoseconds beside others of some thousand, probes leave too much.
equals_time("1.24.3", "transformer", "tokens float 8 64 64")
equals_time("1.30.0", "tiny")


def leaves_nothing(version, model):
    @test("%s: %s: what a run has left on the stack is no operator" % (version, model))
    def _(t):
        # As long as each run took, the thread stays in a frame that holds what is left of it.
        target = t.ort_run(version, model, "-g")
        target.run(3)
        target.keep_running()
        probe = sample(t, target)
        some_samples(t)
        seen = sampling_of(end(t, probe))
        inside = seen["own"] + seen["pool"] + seen["in_runtime"]
        check(seen["own"] > 300, "few samples were in operators", seen)
        check(0.3 < inside / seen["samples"] < 0.54, "a half of the time is spent in runs", seen)


for each in ("1.10.0", "1.16.3", "1.24.3", "1.30.0"):
    leaves_nothing(each, "resnet")
    leaves_nothing(each, "nested")


# -- what is told -------------------------------------------------------------------------

@test("no operator and no run hits a probe, and executions are not told")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    target.keep_running()
    with ProbeHits(os.getpid()):
        probe = sample(t, target)
        with ProbeHits(probe.pid) as hits:
            some_samples(t)
            check_equal(sum(n for name, n in hits.count().items() if name.startswith("ort_")), 0,
                        "hits of probes")
    doctor = t.opprobe("doctor", "--file", t.library("1.30.0"), "--json")
    check_equal(doctor.wait(), 0, "status of doctor")
    places = {site["offset"] for site in json.loads(doctor.stdout)["sites"]
              if site["role"] in ("setup-enter", "setup-exit", "session-end")}
    check_equal(len(changed_code(target.pid)), len(places), "breakpoints")
    report = end(t, probe)
    check_equal(changed_code(target.pid), {}, "breakpoints, afterwards")
    for row in report.operators:
        for member in ("count", "threw", "total_ns", "avg_ns", "min_ns", "max_ns", "self_ns",
                       "p50_ns", "percent", "busy_ns"):
            check_equal(row[member], None, member)
    seen = sampling_of(report)
    check_equal(seen["own"] + seen["pool"] + seen["in_runtime"] + seen["elsewhere"] +
                seen["unknown"], seen["samples"], "samples of all kinds")
    check_equal(sum(row["samples"] for row in report.operators), report.json["sum"]["samples"],
                "the Sum")
    check_equal(report.json["sum"]["samples"], seen["own"] + seen["pool"], "samples in operators")
    check(abs(seen["amount"] / 1e9 - seen["samples"] / float(OFTEN)) <
          0.2 * seen["samples"] / float(OFTEN), "CPU time that samples stand for", seen)


@test("the table tells shares and where they lie, what is beside operators, and no executions")
def _(t):
    sampled(t, "1.30.0", "resnet", "-t", "2")
    shown = t.opprobe("report", t.path("capture.opp"), "--width", "200")
    check_equal(shown.wait(), 0, "status of report")
    lines = shown.stdout.split("\n")
    check("samples of resnet.onnx in ort_run" in lines[0] and "Conv takes" in lines[0],
          "the verdict", lines[0])
    title = next(line for line in lines if line.startswith("Name"))
    check_equal(title.split(), "Name Op Samples Share Low High CPU time Pool Kernel".split(),
                "columns")
    for label in ("Sum", "in the runtime, in no operator", "elsewhere in the process",
                  "All samples"):
        check(any(line.startswith(label) for line in lines), "no line '%s'" % label, shown.stdout)
    check("per second on each CPU: no probes in operators" in shown.stdout, "what they are of",
          shown.stdout)
    by_thread = t.opprobe("report", t.path("capture.opp"), "--group-by", "thread", "--json").finish()
    check(len(by_thread.operators) == 2, "threads", by_thread.operators)
    pools = sorted(row["pool_percent"] for row in by_thread.operators)
    check_equal(pools, [0, 100], "shares of the pool")


@test("views of single executions say why there is none")
def _(t):
    sampled(t, "1.30.0", "nested")
    path = t.path("capture.opp")
    for view in (["report", "--group-by", "run"], ["report", "--group-by", "shape"],
                 ["report", "--run", "1"], ["report", "--failed"], ["report", "--per-run"],
                 ["diff", path]):
        shown = t.opprobe(*view, path)
        check_equal(shown.wait(), 1, "status of %s" % view)
        check("--sample" in shown.stderr, "why there is none", view, shown.stderr)


@test("stacks and pprof's profile hold the samples, and traces say that there are no executions")
def _(t):
    _, report = sampled(t, "1.30.0", "nested", "-O", "0")
    path = t.path("capture.opp")
    weights = folded(t)
    check_equal(sum(weights.values()), sampling_of(report)["samples"], "samples in stacks")
    check_equal(weights[("in_the_runtime,_in_no_operator",)],
                sampling_of(report)["in_runtime"], "samples in the runtime")
    check(any(len(stack) >= 7 for stack in weights), "nothing is nested twice", weights)
    by_name = collections.Counter()
    for stack, weight in weights.items():
        by_name[stack[-1]] += weight
    for row in report.operators:
        check(by_name[row["name"]] >= row["samples"], "samples of %s" % row["name"], by_name)
    check_equal(folded(t, "--weight", "samples"), weights, "the one weight that there is")
    profile = exported(t, "pprof", "Profile")
    text = list(profile.string_table)
    check_equal([(text[kind.type], text[kind.unit]) for kind in profile.sample_type],
                [("samples", "count"), ("cpu-clock", "nanoseconds")], "types")
    check_equal(text[profile.default_sample_type], "samples", "what is shown first")
    check_equal(sum(one.value[0] for one in profile.sample), sampling_of(report)["samples"],
                "samples in the profile")
    check_equal(sum(one.value[1] for one in profile.sample), sampling_of(report)["amount"],
                "CPU time in the profile")
    for arguments in (["-f", "chrome"], ["-f", "perfetto"], ["-f", "ort"], ["-f", "csv"],
                      ["-f", "speedscope"]):
        shown = t.opprobe("export", *arguments, "-o", t.path("out"), path)
        check_equal(shown.wait(), 1, "status of %s" % arguments)
        check("sample" in shown.stderr, "why there is none", arguments, shown.stderr)
        check(not os.path.exists(t.path("out")), "half an export", arguments)
    said = t.fails("export", "-f", "folded", "--weight", "time", path, status=2)
    check("--weight samples" in said, "what it can be weighed by", said)


@test("what runs inside of an operator is below it in the tree, as by probes")
def _(t):
    target, _ = sampled(t, "1.30.0", "nested")
    every = t.opprobe("record", "-p", target.pid, "-e", "none", "--no-cost", "-d", "300ms", "-o",
                      t.path("every.opp"))
    check_equal(every.wait(), 0, "exit status (%s)" % every.stderr[-2000:])
    below = []
    for capture in "capture.opp", "every.opp":
        tree = t.opprobe("report", t.path(capture), "--tree", "--json").finish()
        below.append({(row["name"], row["parent"], row["depth"]) for row in tree.operators})
    check(any(depth == 2 for _, _, depth in below[0]), "nothing is nested twice", below[0])
    check_equal(below[0] - below[1], set(), "what probes did not see")


@test("what has no samples cannot be recorded with --sample")
def _(t):
    for option in (["--shapes"], ["--memory"], ["--parts"], ["--min-duration", "1ms"],
                   ["--schedule", "active=1"], ["--runs", "1"], ["--aggregate"],
                   ["--max-overhead", "1%"], ["-e", "cycles"], ["--config", "x"]):
        refused = t.opprobe("record", "-p", "1", "--sample", "99", *option)
        check_equal(refused.wait(), 2, "status with %s" % option[0])
        check(option[0] in refused.stderr, "why", refused.stderr)
    for wrong in (["--sample", "99", "--sample-period", "1", "--sample-event", "page-faults"],
                  ["--sample-period", "1"], ["--sample-event", "page-faults"],
                  ["--sample", "off-cpu", "--sample-event", "page-faults"],
                  ["--sample", "off-cpu", "--sample-period", "1"], ["--sample", "0"],
                  ["--sample-period", "0", "--sample-event", "page-faults"],
                  ["--sample-period", "1.5", "--sample-event", "page-faults"]):
        check_equal(t.opprobe("record", "-p", "1", *wrong).wait(), 2, "status of %s" % wrong)
    for rate in ("0", "-1", "many", "99kHz", "10001", "nan"):
        refused = t.opprobe("record", "-p", "1", "--sample", rate)
        check_equal(refused.wait(), 2, "status with %s" % rate)
        check("samples per second" in refused.stderr, "why", refused.stderr)


# -- processes and sessions that come and go ----------------------------------------------------

@test("sessions that come and go are never taken for one another by samples")
def _(t):
    target = t.node("1.30.0")
    keep = target.load_plain(t.model("mlp"))
    target.run(keep, 5)
    probe = sample(t, target)
    patience = target.patience()
    names = lambda report: {op["session"] for op in report["operators"] if "CYCLE" in op["name"]}
    for i in range(1000):
        _, session = target.load_cycle(t.model("cycle"), i)
        target.run(session, 3000)
        target.do("release", session=session)
        target.run(keep, 500)
        if i % 10 == 9:
            shown = t.opprobe("report", t.path("capture.opp"), "--json")
            if not shown.wait() and len(names(json.loads(shown.stdout))) >= 8:
                break
        check(not patience.over(), "few sessions were sampled")
    report = end(t, probe)
    labels = collections.defaultdict(set)
    for op in report.operators:
        if "CYCLE" in op["name"]:
            labels[op["session"]].add(op["name"][op["name"].index("CYCLE"):][:8])
        else:
            labels[op["session"]].add("mlp")
    labels.pop(None, None)
    check(len(labels) >= 8, "few sessions", labels)
    check(all(len(names) == 1 for names in labels.values()), "a session has operators of two",
          labels)
    check_equal(len(set(map(frozenset, labels.values()))), len(labels), "operators in two sessions")


@test("several processes are sampled at once, of several releases, and told apart")
def _(t):
    targets = [t.ort_run("1.30.0", "mlp"), t.ort_run("1.20.1", "cnn"), t.ort_run("1.12.1", "heavy")]
    for target in targets:
        target.keep_running()
    probe = sample(t, targets)
    for target, model in zip(targets, ("mlp", "cnn", "heavy")):
        t.recorded("no samples of %s" % model, lambda report, pid=target.pid:
                   sum(row["samples"] for row in report["operators"] if row["pid"] == pid) > 50)
    report = end(t, probe)
    for row in report.operators:
        pids = [target.pid for target in targets]
        check_equal(row["model"], ("mlp", "cnn", "heavy")[pids.index(row["pid"])] + ".onnx",
                    "the model of %s" % row["name"])


@test("a node.js and Debian's Python are sampled")
def _(t):
    node, python = t.node("1.24.3"), t.debian_python()
    sessions = [(target, target.load_plain(t.model("resnet"))) for target in (node, python)]
    probe = sample(t, [node, python])
    patience = node.patience()
    while True:
        for target, session in sessions:
            target.run(session, 30)
        shown = t.opprobe("report", t.path("capture.opp"), "--json")
        if not shown.wait():
            pids = {row["pid"] for row in json.loads(shown.stdout)["operators"]
                    if row["samples"] > 10}
            if pids == {node.pid, python.pid}:
                break
        check(not patience.over(), "few samples", shown.stdout[:500])
    report = end(t, probe)
    for row in report.operators:
        check(row["model"].startswith("resnet.onnx"), "the model of %s" % row["name"], row)


@test("a command is sampled from its first session on")
def _(t):
    probe = t.opprobe("record", "--sample", OFTEN, "-o", t.path("capture.opp"), "--",
                      t.ort_program, t.library("1.30.0"), t.model("heavy"), "300")
    check_equal(probe.wait(), 0, "exit status (%s)" % probe.stderr[-2000:])
    report = t.opprobe("report", t.path("capture.opp"), "--json").finish()
    check(report.json["sum"]["samples"] > 20, "few samples", report.json["sum"])
    check_equal({row["model"] for row in report.operators}, {"heavy.onnx"}, "models")


@test("kill -9 amid sampling leaves no breakpoint, and what was sampled")
def _(t):
    target = t.ort_run("1.30.0", "mlp", "-w", "10")
    target.keep_running()
    for _ in range(3):
        probe = sample(t, target)
        some_samples(t, 300)
        probe.signal(signal.SIGKILL)
        probe.wait()
        patience = target.patience()
        while changed_code(target.pid):
            check(not patience.over(), "breakpoints are left", changed_code(target.pid))
        report = t.opprobe("report", t.path("capture.opp"), "--json").finish()
        check(sampling_of(report)["samples"] >= 300, "nothing is left", sampling_of(report))
        os.unlink(t.path("capture.opp"))
    check(target.alive(), "the target died", target.stderr)


@test("threads outside of the runtime are told apart from its own code")
def _(t):
    target = t.node("1.30.0")
    session = target.load_plain(t.model("mlp"))
    target.run(session, 5)
    probe = sample(t, target)
    # JavaScript runs between runs of a model, and a little of the runtime around its operators.
    patience = target.patience()
    while True:
        target.run(session, 2000)
        shown = t.opprobe("report", t.path("capture.opp"), "--json")
        if not shown.wait():
            seen = json.loads(shown.stdout)["recording"]["sampling"]
            if seen and min(seen["own"], seen["in_runtime"], seen["elsewhere"]) > 30:
                break
        check(not patience.over(), "something was not seen", shown.stdout[:300])
    end(t, probe)
    kinds = collections.Counter(one.seen for one in Capture(t.path("capture.opp")).samples)
    check(kinds[IN_RUNTIME] > 30 and kinds[ELSEWHERE] > 30, "kinds", kinds)

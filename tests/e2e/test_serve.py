# SPDX-License-Identifier: GPL-2.0-only
"""opprobe serve: what a monitoring system is told, while processes come and go."""

import collections
import gzip
import json
import os
import re
import socket
import subprocess
import time
import uuid

from harness import (TESTS, Opprobe, OrtTarget, check, check_counts, check_equal, read_profile,
                     status_of, succeeds, test)
from metrics import Prometheus, Serve, lint
from pods import CONTAINER_ID, check_pod, join, pod_group, pod_logs, pod_target, told_by_ps
from shares import on_this_machine

LOOPBACK = ("--listen", "127.0.0.1:0")
ALL = ("--max-overhead", "100%")
EXECUTIONS = "opprobe_operator_executions_total"
DURATION = "opprobe_run_duration_seconds"


def serve(t, *arguments, listen=LOOPBACK):
    return Serve(t, "-a", "--comm", "ort_run", *listen, *(arguments or ALL)).waits()


def gzip_or_plain(body):
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def has_executions(n):
    return lambda metrics: metrics.sum(EXECUTIONS) >= n


def truth(model, *options):
    @test("%s: metrics are what the built-in profiler counted, of a process that came later" %
          " ".join((model,) + options))
    def _(t):
        serving = serve(t)
        target = t.ort_run("1.30.0", model, "-P", "profile", *options)
        serving.recorded(target)
        runs = target.run(50)["runs"]
        target.ask("end-profiling")
        expected = read_profile(t.directory, "profile")
        metrics = serving.wait_until("not all is told", has_executions(sum(expected.values())))
        check_counts(metrics.counts(), expected, "operators")
        check_equal(metrics.sum(DURATION + "_count"), runs, "runs")
        check_equal(metrics.sum(DURATION + "_bucket", le="+Inf"), runs, "runs in buckets")
        seconds = metrics.sum(DURATION + "_sum")
        inside = metrics.sum("opprobe_operator_seconds_total")
        check(0 < inside and ("-p" in options or inside <= seconds), "operators took longer than "
              "runs", inside, seconds)
        check_equal(metrics.sum("opprobe_lost_total"), 0, "losses")
        (labels, _), = metrics.all("opprobe_process_info")
        check_equal((labels["pid"], labels["comm"], labels["version"]),
                    (str(target.pid), "ort_run", "1.30.0"), "who is recorded")
        on_cpu = metrics.sum("opprobe_operator_event_seconds_total", event="on-cpu")
        check(0 < on_cpu, "no operator was on a CPU", metrics.text[:3000])
        status, _, text = serving.get()
        check_equal((status, lint(text)), (200, (0, "")), "what promtool finds")
        serving.stop()


truth("nested", "-s", "2", "-c", "2")
truth("names")
truth("resnet", "-t", "2")


@test("processes come and go, sessions begin anew, and no counter falls or forgets what was")
def _(t):
    serving = serve(t, "-e", "none", *ALL)
    expected = collections.Counter()
    nodes = None

    def run(target, model, times):
        expected[model] += target.run(times)["runs"]
        serving.wait_until("runs of %s are missing: %s" % (model, expected), lambda metrics: all(
            metrics.sum(DURATION + "_count", model=name + ".onnx") == n
            for name, n in expected.items()))

    first = t.ort_run("1.30.0", "tiny")
    serving.recorded(first)
    run(first, "tiny", 10)
    second = t.ort_run("1.24.3", "cnn")
    serving.recorded(second)
    run(second, "cnn", 5)
    run(first, "tiny", 10)
    nodes = serving.scrape().sum(EXECUTIONS, model="tiny.onnx") / expected["tiny"]
    check(nodes >= 1, "no operators of tiny", serving.scrape().text[:3000])
    first.close()
    run(second, "cnn", 5)
    second.close()
    serving.waits()
    for _ in range(3):
        third = t.ort_run("1.30.0", "tiny")
        serving.recorded(third)
        run(third, "tiny", 7)
        third.ask("recreate")
        run(third, "tiny", 3)
        third.close()
        serving.waits()
    metrics = serving.scrape()
    check_equal(metrics.sum(EXECUTIONS, model="tiny.onnx"), nodes * expected["tiny"],
                "operators of tiny")
    check_equal({labels["model"] for labels, _ in metrics.all(DURATION + "_count")},
                {"tiny.onnx", "cnn.onnx"}, "models")
    check_equal(metrics.all("opprobe_process_info"), [], "processes that are gone")
    serving.stop()


@test("who is not wanted is not recorded, whoever comes with a runtime")
def _(t):
    def named(name):
        os.symlink(t.ort_program, t.path(name))
        return t.start(OrtTarget, [t.path(name), t.library("1.30.0"), t.model("tiny")]).ready()

    serving = Serve(t, "-a", "--comm", "wanted", *LOOPBACK, *ALL).waits()
    other, target = named("other"), named("wanted")
    serving.recorded(target)
    other.run(10)
    target.run(10)
    metrics = serving.wait_until("no runs", lambda metrics: metrics.sum(DURATION + "_count") >= 10)
    check_equal([labels["pid"] for labels, _ in metrics.all("opprobe_process_info")],
                [str(target.pid)], "who is recorded")
    check_equal(metrics.sum(DURATION + "_count"), 10, "runs")
    serving.stop()


@test("nothing is kept of children that execute something else, nor of recordings that are over")
def _(t):
    def kept():
        metrics = serving.scrape()
        return (metrics.sum("process_open_fds"), status_of(serving.probe.pid)["Seccomp_filters"])

    serving = Serve(t, "-a", "--comm", "node", *LOOPBACK, "-e", "none", *ALL).waits()
    states = []
    for _ in range(2):
        target = t.node("1.30.0")
        session = target.load(t.model("tiny"))
        serving.recorded(target)
        target.run(session, 3)
        serving.wait_until("no runs", lambda metrics: metrics.sum(DURATION + "_count") >= 3)
        before = kept()
        target.do("spawn", times=60)
        serving.wait_until("children are kept: %s, %s" % (before, kept()), lambda metrics:
                           kept()[0] <= before[0] + 2)
        target.close()
        serving.waits()
        states.append(kept())
    check_equal(states[1], states[0], "descriptors and filters of system calls")
    serving.stop()


@test("so many operators have series of their own, and all others are one, and none is lost")
def _(t):
    serving = serve(t, "--nodes", "3", *ALL)
    target = t.ort_run("1.30.0", "resnet", "-P", "profile", "-O", "0")
    serving.recorded(target)
    target.run(20)
    target.ask("end-profiling")
    expected = read_profile(t.directory, "profile")
    metrics = serving.wait_until("not all is told", has_executions(sum(expected.values())))
    told = metrics.all(EXECUTIONS)
    own = [labels["node"] for labels, _ in told if labels["node"] != "other"]
    check_equal((len(own), metrics.sum(EXECUTIONS)), (3, sum(expected.values())), "series, sum")
    by_type = collections.Counter()
    for (_, op, _), n in expected.items():
        by_type[op] += n
    check_equal({op: metrics.sum(EXECUTIONS, op_type=op) for op in by_type}, dict(by_type),
                "executions by type")
    serving.stop()


@test("probes that take more than they may are gone, and samples say what operators take")
def _(t):
    serving = serve(t, "--max-overhead", "0.1%")
    target = t.ort_run("1.30.0", "tiny")
    serving.recorded(target)
    target.keep_running()
    serving.probe.wait_for("samples are taken instead")
    metrics = serving.wait_until("nothing was sampled", lambda metrics:
                                 metrics.sum("opprobe_operator_sampled_cpu_seconds_total") > 0.5)
    check_equal(metrics.sum("opprobe_recording", opprobe_recording="samples"), 1, "samples")
    before = metrics.sum(EXECUTIONS), metrics.sum(DURATION + "_count")
    check(before[0] > 0, "nothing was counted before")
    check(metrics.sum("opprobe_overhead_charged_seconds_total") >
          0.001 * metrics.sum("opprobe_targets_cpu_seconds_total"), "what was charged",
          metrics.text[-3000:])
    metrics = serving.wait_until("nothing was sampled", lambda metrics: metrics.sum(
        "opprobe_operator_sampled_cpu_seconds_total") > 1)
    check_equal((metrics.sum(EXECUTIONS), metrics.sum(DURATION + "_count")), before,
                "executions and runs that nothing counts any more")
    serving.stop()


def until_samples(serving, target, runs, pause):
    """Run it now and then, until its probes were found to take too much."""
    serving.recorded(target)
    patience = target.patience()
    while "samples are taken instead" not in serving.probe.stderr:
        target.run(runs)
        time.sleep(pause)
        check(not patience.over(), "it stays with probes", serving.probe.stderr)
    serving.stop()


@test("probes of what pool threads do for operators are charged as well")
def _(t):
    # Those of operators alone take a third of this.
    until_samples(serve(t, "--max-overhead", "3%"), t.ort_run("1.30.0", "resnet", "-t", "2"), 50, 0)


@test("who uses a little of a CPU is judged when it is enough to be judged")
def _(t):
    until_samples(serve(t, "--max-overhead", "0.1%"), t.ort_run("1.30.0", "tiny"), 3, 0.4)


@test("where probes of operators take too much and those of runs do not, runs are told on")
def _(t):
    serving = serve(t, "--max-overhead", on_this_machine(t, 0.5))
    target = t.ort_run("1.30.0", "resnet", "-O", "0")
    serving.recorded(target)
    patience = target.patience()
    while "probes of runs stay" not in serving.probe.stderr:
        target.run(50)
        check(not patience.over(), "it stays with probes", serving.probe.stderr)
    metrics = serving.scrape()
    while not metrics.sum("opprobe_operator_sampled_cpu_seconds_total"):
        target.run(20)
        metrics = serving.scrape()
        check(not patience.over(), "nothing is sampled", serving.probe.stderr)
    # What is on its way arrives.
    before = None
    while before != (metrics.sum(EXECUTIONS), metrics.sum(DURATION + "_count")):
        before = metrics.sum(EXECUTIONS), metrics.sum(DURATION + "_count")
        time.sleep(1)
        metrics = serving.scrape()
    target.run(100)
    metrics = serving.wait_until("runs are missing", lambda metrics: metrics.sum(
        DURATION + "_count") == before[1] + 100)
    check_equal(metrics.sum(EXECUTIONS), before[0], "executions that nothing counts any more")
    check_equal({labels["model"] for labels, _ in metrics.all(DURATION + "_count")},
                {"resnet.onnx"}, "models")
    serving.stop()


def pod_container(sentence, logs, mounted, expected):
    @test("metrics of a pod's containers, and ps, say which pod it is, and %s" % sentence)
    def _(t):
        uid = str(uuid.uuid4())
        group = pod_group(t, uid, "cri-containerd")
        with pod_logs(uid, logs):
            target = pod_target(t, uid, mounted)
            join(group, target.pid)
            # One that is there already, and no other on the machine.
            serving = Serve(t, "--container", expected, "--pod", "prod/model-*", "--cgroup",
                            group, *LOOPBACK, *ALL)
            serving.recorded(target)
            target.run(3)
            (labels, _), = serving.wait_until("no runs", lambda metrics: metrics.sum(
                DURATION + "_count") >= 3).all("opprobe_runs_failed_total")
            check_equal((labels["namespace"], labels["pod"], labels["container"]),
                        ("prod", "model-server-0", expected), "whose runs")
            check_pod(told_by_ps(t, target), expected if expected in logs else None)
            (line,) = [line.split() for line in succeeds(t, "ps").split("\n")
                       if line.split()[:1] == [str(target.pid)]]
            check_equal(line[5:7], ["prod/model-server-0", expected], "the line of ps")
            target.close()


pod_container("of several containers, by its mounts, which", ["server", "proxy"], "server",
              "server")
pod_container("of one container, by the kubelet's folder, its name", ["server"], None, "server")
pod_container("of several that no mount names, the id", ["server", "proxy"], None,
              CONTAINER_ID[:12])
pod_container("where a mount and the folder differ, the id", ["server"], "liar",
              CONTAINER_ID[:12])


@test("a real Prometheus scrapes it, and its queries give what ran, over restarts of processes")
def _(t):
    serving = serve(t)
    prometheus = Prometheus(t, serving)
    runs = 0
    for _ in range(3):
        target = t.ort_run("1.30.0", "cnn")
        serving.recorded(target)
        for _ in range(3):
            runs += target.run(20)["runs"]
            prometheus.wait_until("runs are missing", "sum(%s_count)" % DURATION,
                                  lambda found: list(found.values()) == [runs])
        target.close()
        serving.waits()
    metrics = serving.scrape()
    by_type = prometheus.query("sum by (op_type) (%s)" % EXECUTIONS)
    check_equal({dict(labels)["op_type"]: n for labels, n in by_type.items()},
                {op: metrics.sum(EXECUTIONS, op_type=op) for op in
                 {labels["op_type"] for labels, _ in metrics.all(EXECUTIONS)}}, "by type")
    (median,) = prometheus.query("histogram_quantile(0.5, sum by (le) (%s_bucket))" %
                                 DURATION).values()
    mean = metrics.sum(DURATION + "_sum") / runs
    check(mean / 8 < median < mean * 8, "the median", median, mean)
    check_equal(list(prometheus.query("up").values()), [1], "the scrapes")
    check_equal(prometheus.query("count(scrape_samples_scraped == 0)"), {}, "empty scrapes")
    serving.stop()


# -- who asks ------------------------------------------------------------------------------------

def refused(t, *arguments):
    return t.fails("serve", "-a", *arguments)


@test("only who knows the token is told anything, and an address of others needs one")
def _(t):
    path = t.path("token")
    with open(path, "w", encoding="utf-8") as file:
        file.write("0123456789abcdef\n")
    serving = serve(t, listen=("--listen", "0.0.0.0:0", "--token-file", path))
    for header in ({}, {"Authorization": "Bearer 0123456789abcdee"},
                   {"Authorization": "Bearer 0123456789abcdef0"},
                   {"Authorization": "Bearer "}, {"Authorization": "Basic 0123456789abcdef"}):
        status, headers, text = serving.get(**header)
        check_equal((status, headers["WWW-Authenticate"]), (401, "Bearer"), header)
        check("opprobe_" not in text, "it tells something", text)
    check_equal(serving.get(Authorization="Bearer 0123456789abcdef")[0], 200, "with the token")
    serving.stop()
    check("--token-file" in refused(t, "--listen", "0.0.0.0:0"), "the remedy")
    check("--token-file" in refused(t, "--listen", "[::]:0"), "the remedy")
    with open(path, "w", encoding="utf-8") as file:
        file.write("short\n")
    check("guessed" in refused(t, "--token-file", path), "a short token")
    check("No such file" in refused(t, "--token-file", t.path("none")), "no file")
    for address in ("localhost", "9464", "127.0.0.1:", "127.0.0.1:70000", "unix:", "[::1]"):
        check("address" in refused(t, "--listen", address), address)


@test("a unix socket answers, is gone afterwards, and one that was left is no hindrance")
def _(t):
    path = t.path("socket")
    for _ in range(2):
        serving = serve(t, listen=("--listen", "unix:" + path))
        check_equal(serving.scrape().sum("opprobe_recordings_total"), 0, "recordings")
        check_equal(os.stat(path).st_mode & 0o7, 0, "rights of others")
        check("another" in refused(t, "--listen", "unix:" + path), "two at one socket")
        serving.stop()
        check(not os.path.exists(path), "a socket is left")
    left = socket.socket(socket.AF_UNIX)
    left.bind(path)
    left.close()
    serving = serve(t, listen=("--listen", "unix:" + path))
    serving.scrape()
    serving.stop()
    with open(path, "w", encoding="utf-8") as file:
        file.write("not a socket")
    check("unix:" in refused(t, "--listen", "unix:" + path), "a file is in the place")
    check_equal(os.path.getsize(path), 12, "the file")


@test("a socket that somebody opened for it answers, and needs a token if it is others' as well")
def _(t):
    def listening(address):
        one = socket.create_server((address, 0))
        os.set_inheritable(one.fileno(), True)
        return one

    with listening("127.0.0.1") as one:
        listen = "fd:%d" % one.fileno()
        # It is whoever opened it that closes it.
        for _ in range(2):
            serving = Serve(t, "-a", "--comm", "ort_run", "--listen", listen,
                            pass_fds=[one.fileno()]).waits()
            check_equal(serving.where, "http://127.0.0.1:%d/metrics" % one.getsockname()[1],
                        "where")
            serving.scrape()
            serving.stop()
    with listening("0.0.0.0") as one:
        sentence = t.fails("serve", "-a", "--listen", "fd:%d" % one.fileno(),
                           pass_fds=[one.fileno()])
        check("--token-file" in sentence, "the remedy", sentence)
    for listen in ("fd:2", "fd:999", "fd:", "fd:x"):
        check("address" in refused(t, "--listen", listen), listen)


@test("nobody who asks can do anything, or keep others from asking")
def _(t):
    serving = serve(t)
    target = t.ort_run("1.30.0", "tiny")
    serving.recorded(target)
    for path, method, headers, status in (
            ("/nothing", "GET", {}, 404), ("/metrics/", "GET", {}, 404),
            ("/metrics", "POST", {}, 405), ("/metrics", "DELETE", {}, 405),
            ("/metrics", "GET", {"Host": "evil.example"}, 421),
            ("/metrics", "HEAD", {}, 200), ("/capture", "POST", {}, 405),
            ("/metrics", "GET", {"Host": "localhost:1"}, 200)):
        check_equal(serving.get(path, method, **headers)[0], status, (path, method, headers))
    port = serving.connect().port
    slow = []
    for i in range(40):
        one = socket.create_connection(("127.0.0.1", port), timeout=60)
        one.sendall((b"GET /metrics HTTP/1.1\r\n", b"", b"\0" * 40000)[i % 3])
        slow.append(one)
    target.run(3)
    serving.wait_until("no runs", lambda metrics: metrics.sum(DURATION + "_count") == 3)
    for one in slow:
        one.close()
    answering = [status_of("%d/task/%s" % (serving.probe.pid, task))
                 for task in os.listdir("/proc/%d/task" % serving.probe.pid)]
    check(any(int(task["CapEff"], 16) == 0 and task["NoNewPrivs"] == "1" for task in answering),
          "who answers has rights", answering)
    serving.stop()


@test("what is asked of serve and cannot be is refused with a sentence")
def _(t):
    for arguments, word in ((["--sample", "99", "--max-overhead", "1%"], "--max-overhead"),
                            (["--sample", "99", "-e", "cycles"], "-e"),
                            (["--nodes", "0"], "'0'"), (["--max-overhead", "200%"], "200%"),
                            (["--sample", "no"], "'no'"), (["x"], "'x'")):
        wrong = t.opprobe("serve", "-a", *arguments)
        check_equal(wrong.wait(), 2, "status of %r" % arguments)
        check(word in wrong.stderr, "the sentence of %r" % arguments, wrong.stderr)
    wrong = t.opprobe("serve")
    check_equal(wrong.wait(), 2, "status without processes")
    check("-a" in wrong.stderr, "which processes", wrong.stderr)


# -- how it is deployed --------------------------------------------------------------------------

DEPLOY = os.path.join(os.path.dirname(TESTS), "user", "serve", "deploy")


def read(name):
    with open(os.path.join(DEPLOY, name), encoding="utf-8") as file:
        return file.read()


def records_with(t, user, capabilities):
    """As @user, with no more than these capabilities: all there is to be told is told."""
    these = ",".join("+" + name.lower() for name in capabilities)
    with socket.create_server(("127.0.0.1", 0)) as one:
        probe = t.start(Opprobe, [
            "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs",
            "--bounding-set=-all," + these, "--inh-caps=-all," + these,
            "--ambient-caps=-all," + these, t.program, "serve", "-a", "--comm", "ort_run",
            "--listen", "fd:%d" % one.fileno(), *ALL], pass_fds=[one.fileno()])
        serving = Serve(t, probe=probe).waits()
        check_equal(int(status_of(probe.pid)["CapEff"], 16).bit_count(), len(capabilities),
                    "capabilities")
        target = t.ort_run("1.30.0", "tiny")
        serving.recorded(target)
        target.run(5)
        metrics = serving.wait_until("no runs", lambda metrics: metrics.sum(
            DURATION + "_count") == 5)
        check(metrics.sum(EXECUTIONS) > 0, "no operators", metrics.text[:3000])
        check_equal(serving.get("/")[0], 200, "the page")
        target.close()
        serving.waits()
        serving.stop()


@test("the rights that the unit for systemd gives are enough, and systemd's own judgement is good")
def _(t):
    folder = t.path("units")
    os.mkdir(folder)
    for name in ("opprobe.service", "opprobe.socket"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(read(name).replace("/usr/bin/opprobe", t.program))
    unit = os.path.join(folder, "opprobe.service")
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", unit],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    check_equal((verified.returncode, verified.stdout), (0, b""), "what systemd finds")
    judged = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=19",
                             unit], stdout=subprocess.PIPE, check=False)
    check_equal(judged.returncode, 0, "exposure of 1.9 at most: %s" % judged.stdout.decode()[-200:])
    service = read("opprobe.service")
    (ambient,), (bounding,) = (re.findall("^%s=(.*)$" % name, service, re.M)
                               for name in ("AmbientCapabilities", "CapabilityBoundingSet"))
    check_equal(ambient, bounding, "capabilities")
    records_with(t, "65533", ambient.replace("CAP_", "").split())


@test("the rights that the pod of each node has are enough, and are those of the unit")
def _(t):
    (wanted,) = re.findall(r"add: \[(.*)\]", read("daemonset.yaml"))
    check_equal(["CAP_" + name for name in wanted.split(", ")],
                re.findall("^AmbientCapabilities=(.*)$", read("opprobe.service"), re.M)[0].split(),
                "capabilities")
    records_with(t, "0", wanted.split(", "))


# -- what was recorded of late ------------------------------------------------------------------

@test("what was recorded of late is there as a capture, a profile and a page, and leaves no file")
def _(t):
    folder = t.path("temporary")
    os.mkdir(folder)
    serving = Serve(t, "-a", "--comm", "ort_run", *LOOPBACK, *ALL,
                    environment={"TMPDIR": folder}).waits()
    check_equal(serving.get("/capture")[0], 503, "before anything is recorded")
    target = t.ort_run("1.30.0", "resnet", "-O", "0")
    serving.recorded(target)
    target.run(20)
    metrics = serving.wait_until("no runs", lambda metrics: metrics.sum(DURATION + "_count") == 20)

    def capture(query=""):
        status, headers, body = serving.get("/capture" + query, raw=True)
        check_equal((status, headers["Content-Disposition"]),
                    (200, 'attachment; filename="opprobe.opp"'), "a capture")
        with open(t.path("capture.opp"), "wb") as file:
            file.write(body)
        return t.opprobe("report", t.path("capture.opp"), "--json").finish()

    whole = capture()
    check_counts(collections.Counter({key[:2]: n for key, n in metrics.counts().items()}),
                 whole.counts(), "operators")
    check_equal(whole.json["recording"]["reason"], "written by opprobe serve", "its end")
    # What is older than two seconds is not of the last one.
    patience = serving.probe.patience()
    while capture("?seconds=1").json["runs"]:
        check(not patience.over(), "old runs are in a capture of the last second")
    check_equal(capture("?seconds=3600").json["runs"], 20, "runs of the last hour")
    other = t.ort_run("1.30.0", "tiny")
    serving.recorded(other)
    other.run(7)
    serving.wait_until("no runs", lambda metrics: metrics.sum(DURATION + "_count") == 27)
    check_equal([capture("?pid=%d" % pid).json["runs"] for pid in (target.pid, other.pid, 1)],
                [20, 7, 0], "runs by process")
    check_equal([serving.get("/capture?" + query)[0] for query in ("pid=x", "seconds=-1")],
                [400, 400], "what are no numbers")
    status, headers, body = serving.get("/profile", raw=True)
    check_equal((status, headers["Content-Type"]), (200, "application/octet-stream"), "profile")
    check(b"/layer1/0/1/conv/Conv" in gzip_or_plain(body), "no operator is in the profile")
    status, headers, page = serving.get("/")
    check_equal((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"), "page")
    check("/layer1/0/1/conv/Conv" in page, "no operator is in the page")
    check_equal(os.listdir(folder), [], "files that are left")
    serving.stop()

# SPDX-License-Identifier: GPL-2.0-only
"""opprobe serve, and what it tells: for tests."""

import collections
import ctypes
import http.client
import json
import os
import re
import select
import socket
import ssl
import subprocess
import time
import urllib.parse

from harness import TARGETS, Process, check, check_equal

OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
BETWEEN = 0.1  # s from one look to the next
IN_OPEN, INOTIFY_EVENT = 0x20, 16  # <linux/inotify.h>
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([0-9.e+-]+|\+Inf|NaN)")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=40)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def unescape(text):
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)


def parse_labels(text):
    labels, at = {}, 0
    while at < len(text):
        found = LABEL.match(text, at)
        check(found and found[1] not in labels, "labels that are none", text)
        labels[found[1]] = unescape(found[2])
        at = found.end()
    return labels


class Metrics:
    """What was told at one time: {name: {labels: value}}"""

    def __init__(self, text):
        self.text = text
        self.values = collections.defaultdict(dict)
        self.types = {}
        for line in text.rstrip("\n").split("\n"):
            if line.startswith("#"):
                words = line.split(" ", 3)
                if words[1] == "TYPE":
                    check(words[2] not in self.types, "a metric stands in two places", line)
                    self.types[words[2]] = words[3]
                continue
            found = SAMPLE.fullmatch(line)
            check(found, "a line that is none", line)
            labels = frozenset(parse_labels(found[2] or "").items())
            check(labels not in self.values[found[1]], "a series stands there twice", line)
            self.values[found[1]][labels] = float(found[3])

    def all(self, name, **labels):
        """[(labels, value)] of those that have all of these."""
        return [(dict(its), value) for its, value in self.values[name].items()
                if set(labels.items()) <= its]

    def sum(self, name, **labels):
        return sum(value for _, value in self.all(name, **labels))

    def counts(self):
        """Executions by name, type and provider, as a report has them."""
        found = collections.Counter()
        for labels, value in self.all("opprobe_operator_executions_total"):
            found[labels.get("node", ""), labels["op_type"], labels["provider"]] += value
        return found

    def counters(self):
        return {(name, labels): value for name, its in self.values.items()
                if name.endswith(("_total", "_count", "_sum", "_bucket"))
                for labels, value in its.items()}


class Serve:
    """An opprobe that serves."""

    def __init__(self, t, *arguments, probe=None, trusted=None, **options):
        self.probe = probe or t.opprobe("serve", *arguments, **options)
        self.trusted = trusted  # certificates, of one that answers by HTTPS
        self.where = self.probe.wait_for("metrics at").split("metrics at ")[1].strip()
        self.last = {}

    def connect(self):
        if self.where.startswith("unix:"):
            return UnixConnection(self.where[len("unix:"):-len("/metrics")])
        url = urllib.parse.urlparse(self.where)
        if url.scheme == "https":
            context = ssl.create_default_context(cafile=self.trusted)
            return http.client.HTTPSConnection(url.hostname, url.port, timeout=40, context=context)
        return http.client.HTTPConnection(url.hostname, url.port, timeout=40)

    def get(self, path="/metrics", method="GET", raw=False, **headers):
        connection = self.connect()
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        got = answer.status, dict(answer.getheaders()), body if raw else body.decode()
        connection.close()
        return got

    def scrape(self):
        """Metrics, of which none may have fallen since."""
        status, headers, text = self.get(Accept=OPENMETRICS)
        check_equal(status, 200, "status: " + text[:200])
        check(headers["Content-Type"].startswith("application/openmetrics-text"), "type", headers)
        check(text.endswith("\n# EOF\n"), "no end", text[-200:])
        metrics = Metrics(text)
        now = metrics.counters()
        for key, value in self.last.items():
            check(now.get(key, value) >= value, "a counter fell", key, value, now.get(key))
        self.last.update(now)
        return metrics

    def wait_until(self, what, enough):
        """Scrape until it is enough; returns what was told then."""
        patience = self.probe.patience()
        while True:
            metrics = self.scrape()
            if enough(metrics):
                return metrics
            check(not patience.over(), what, metrics.text[-3000:], self.probe.stderr[-2000:])
            time.sleep(BETWEEN)

    def waits(self):
        self.probe.wait_for("waiting for one")
        return self

    def recorded(self, target):
        """Wait until the target is recorded."""
        patience = self.probe.patience()
        pid = re.compile(r"(attached to process.*[ ,]%d \(|process %d .*recorded from now on)" %
                         (target.pid, target.pid))
        while not pid.search(self.probe.stderr):
            check(not patience.over(), "process %d is not recorded" % target.pid,
                  self.probe.stderr)
            time.sleep(BETWEEN)

    def stop(self):
        self.probe.signal(2)
        check_equal(self.probe.wait(), 0, "status (%s)" % self.probe.stderr[-2000:])


def wait_for_looks(path, times, patience):
    """Wait until whoever looks at the file has opened it so often."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(fd, os.fsencode(os.path.realpath(path)), IN_OPEN)
    got = b""
    while len(got) < times * INOTIFY_EVENT:
        check(not patience.over(), "nobody looks at " + path)
        if select.select([fd], [], [], BETWEEN)[0]:
            got += os.read(fd, 4096)
    os.close(fd)


def debian_prometheus():
    made = subprocess.run([os.path.join(TARGETS, "get-prometheus")], stdout=subprocess.PIPE,
                          check=True)
    return made.stdout.decode().strip()


def lint(text):
    """What promtool finds in the older text format: its status and output."""
    made = subprocess.run([os.path.join(debian_prometheus(), "promtool"), "check", "metrics"],
                          input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return made.returncode, made.stdout.decode()


class Prometheus:
    """A real one, that scrapes a Serve each second."""

    CONFIG = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: opprobe
    static_configs: [{targets: ["%s"]}]
    scheme: %s
"""

    def __init__(self, t, serving, *config):
        """With further lines of the configuration of what it scrapes."""
        url = urllib.parse.urlparse(serving.where)
        with open(t.path("prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(self.CONFIG % (url.netloc, url.scheme))
            file.writelines("    %s\n" % line for line in config)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % one.getsockname()[1]
        self.process = t.start(Process, [
            os.path.join(debian_prometheus(), "prometheus"), "--config.file",
            t.path("prometheus.yml"), "--storage.tsdb.path", t.path("tsdb"),
            "--web.listen-address", self.address])
        self.process.wait_for("ready to receive web requests")

    def query(self, expression):
        """{labels: value}"""
        connection = http.client.HTTPConnection(self.address, timeout=40)
        connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode(
            {"query": expression}))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        check_equal(answer["status"], "success", expression)
        return {frozenset(one["metric"].items()): float(one["value"][1])
                for one in answer["data"]["result"]}

    def wait_until(self, what, expression, enough):
        patience = self.process.patience()
        while True:
            found = self.query(expression)
            if enough(found):
                return found
            check(not patience.over(), what, expression, found, self.process.stderr[-2000:])
            time.sleep(BETWEEN)

# SPDX-License-Identifier: GPL-2.0-only
"""opprobe serve answers by HTTPS, and follows its certificate: whoever renews it need not start it
anew."""

import os
import resource
import shutil
import socket
import ssl
import subprocess
import time
import urllib.parse

from harness import OrtTarget, check, check_equal, test
from metrics import BETWEEN, Prometheus, Serve, wait_for_looks

TOKEN = "0123456789abcdef"
ANOTHER = "is another one, and is used from now on"
STAYS = "the certificate before it stays in use"


class Secret:
    """A certificate and its key in two files, and as many others as are wanted."""

    def __init__(self, t, *names):
        """Those of these names are made, and the first is used."""
        self.t = t
        self.chain, self.key = t.path("tls.crt"), t.path("tls.key")
        for name in names:
            self.make(name)
        self.use(names[0])

    def make(self, name):
        """A certificate of that name, for the loopback; its path."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                        self.t.path(name + ".key"), "-out", self.t.path(name + ".crt")],
                       check=True, stderr=subprocess.DEVNULL)
        return self.t.path(name + ".crt")

    def put(self, chain, key):
        """Each file is swapped, one after the other."""
        for source, to in ((chain, self.chain), (key, self.key)):
            shutil.copy(source, to + ".new")
            os.rename(to + ".new", to)

    def use(self, name):
        self.put(self.t.path(name + ".crt"), self.t.path(name + ".key"))

    def serve(self, *arguments):
        return Serve(self.t, "-a", "--comm", "secured", "--listen", "127.0.0.1:0", "--tls-cert",
                     self.chain, "--tls-key", self.key, *arguments,
                     trusted=self.chain).waits()


def address_of(serving):
    url = urllib.parse.urlparse(serving.where)
    return url.hostname, url.port


def shown(serving):
    """The certificate that who comes now is shown: PEM."""
    return ssl.get_server_certificate(address_of(serving))


def text_of(path):
    with open(path, encoding="ascii") as file:
        return file.read()


@test("a real Prometheus scrapes it by HTTPS, over a renewal of its certificate")
def _(t):
    secret = Secret(t, "one", "two")
    with open(t.path("token"), "w", encoding="ascii") as file:
        file.write(TOKEN)
    with open(t.path("trusted"), "w", encoding="ascii") as file:
        file.write(text_of(t.path("one.crt")) + text_of(t.path("two.crt")))
    serving = secret.serve("--token-file", t.path("token"))
    check(serving.where.startswith("https://"), "where", serving.where)
    check_equal(serving.get()[0], 401, "without the token")
    prometheus = Prometheus(t, serving, "tls_config: {ca_file: %s}" % t.path("trusted"),
                            "authorization: {credentials: %s}" % TOKEN)
    os.symlink(t.ort_program, t.path("secured"))
    target = t.start(OrtTarget, [t.path("secured"), t.library("1.30.0"), t.model("cnn")]).ready()
    serving.recorded(target)
    count = "sum(opprobe_run_duration_seconds_count)"
    runs = target.run(20)["runs"]
    prometheus.wait_until("runs are missing", count, lambda found: list(found.values()) == [runs])
    secret.use("two")
    serving.probe.wait_for(ANOTHER)
    runs += target.run(20)["runs"]
    prometheus.wait_until("runs are missing", count, lambda found: list(found.values()) == [runs])
    check_equal(list(prometheus.query("min_over_time(up[10m])").values()), [1], "a scrape failed")
    target.close()
    serving.stop()


def used_by(serving):
    """Descriptors and threads."""
    return [len(os.listdir("/proc/%d/%s" % (serving.probe.pid, what))) for what in ("fd", "task")]


def wait_until_used(serving, used):
    """No more of them are, once those that were before have ended."""
    patience = serving.probe.patience()
    while any(now > was for now, was in zip(used_by(serving), used)):
        check(not patience.over(), "descriptors and threads", used, used_by(serving))
        time.sleep(BETWEEN)


@test("a certificate that is renewed is shown to who comes, and who is being answered goes on")
def _(t):
    secret = Secret(t, "0")
    serving = secret.serve()
    check_equal(shown(serving), text_of(t.path("0.crt")), "the first one")
    used = used_by(serving)
    for name in "1234":
        before = serving.connect()
        before.request("GET", "/metrics")
        check(b"opprobe_" in before.getresponse().read(), "it tells nothing")
        secret.make(name)
        secret.use(name)
        serving.probe.wait_for(ANOTHER)
        check_equal(shown(serving), text_of(t.path(name + ".crt")), "the renewed one")
        # By the connection that was there before, which had another one.
        before.request("GET", "/metrics")
        check(b"opprobe_" in before.getresponse().read(), "it tells nothing any more")
        before.close()
        serving.scrape()
    check_equal(serving.probe.stderr.count(ANOTHER), 4, "how often it is said")
    wait_until_used(serving, used)
    serving.stop()


@test("a certificate that descriptors are missing for is used when there are some, and told once")
def _(t):
    secret = Secret(t, "one", "two")
    serving = secret.serve()
    used, pid = used_by(serving), serving.probe.pid
    serving.trusted = t.path("one.crt")
    limit, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    taken = {int(fd) for fd in os.listdir("/proc/%d/fd" % pid)}
    free = min(set(range(len(taken) + 1)) - taken)
    # Enough to read a file, or to answer one client.
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free + 1, most))
    secret.use("two")
    said = serving.probe.wait_for(STAYS)
    check("open files" in said and "tried again" in said, "what is said", said)
    wait_for_looks(secret.key, 4, serving.probe.patience())
    check_equal(shown(serving), text_of(t.path("one.crt")), "the one before it")
    serving.scrape()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, most))
    serving.probe.wait_for(ANOTHER)
    check_equal(shown(serving), text_of(t.path("two.crt")), "the renewed one")
    check_equal(serving.probe.stderr.count(STAYS), 1, "how often it is said")
    wait_until_used(serving, used)
    serving.stop()


def broken(what, spoil, *words, looks=True):
    """What cannot be used changes nothing, and is said once."""
    @test("%s in the place of a certificate leaves the one before it, and is told once" % what)
    def _(t):
        secret = Secret(t, "one", "two", "three")
        serving = secret.serve()
        serving.trusted = t.path("one.crt")
        spoil(t, secret)
        said = serving.probe.wait_for(STAYS)
        check(all(word in said for word in (secret.chain, *words)), "what is said", said)
        check_equal(shown(serving), text_of(t.path("one.crt")), "the one before it")
        serving.scrape()
        # Each time both are looked at, if the first of them can be.
        wait_for_looks(secret.key if looks else secret.chain, 2, serving.probe.patience())
        secret.use("three")
        serving.probe.wait_for(ANOTHER)
        check_equal(shown(serving), text_of(t.path("three.crt")), "the next one")
        check_equal(serving.probe.stderr.count(STAYS), 1, "how often it is said")
        serving.stop()


def swap_one(t, secret):
    secret.put(t.path("two.crt"), t.path("one.key"))


def swap_roles(t, secret):
    secret.put(t.path("two.key"), t.path("two.crt"))


def fill(t, secret):
    with open(t.path("large"), "w", encoding="ascii") as file:
        file.write("-" * 100_000)
    secret.put(t.path("large"), t.path("two.key"))


def put_pipe(t, secret):
    os.unlink(secret.chain)
    os.mkfifo(secret.chain)


broken("the key of another one", swap_one, "is not that of the certificate", "the same request")
broken("a key", swap_roles, "PEM")
broken("what is too large", fill, "64 kB", "PEM", looks=False)
broken("a pipe", put_pipe, "no regular file", looks=False)


@test("a certificate and a key that cannot be used are refused, with the reason")
def _(t):
    Secret(t, "one", "two")
    one = ["--tls-cert", t.path("one.crt")]
    with open(t.path("empty"), "wb"):
        pass
    for key, words in (("two.key", "is not that of the certificate"), ("one.crt", "PEM"),
                       ("none", "cannot read a key"), ("empty", "the file is empty")):
        said = t.fails("serve", "-a", *one, "--tls-key", t.path(key))
        check(words in said and t.path(key) in said, "why", said)
    for alone, other in (("--tls-cert", "--tls-key"), ("--tls-key", "--tls-cert")):
        process = t.opprobe("serve", "-a", alone, t.path("one.crt"))
        check_equal(process.wait(), 2, "status without " + other)
        check(other + " FILE is missing" in process.stderr, "what is missing", process.stderr)
    # Without a token, encryption does not keep anybody out.
    said = t.fails("serve", "-a", "--listen", "0.0.0.0:0", *one, "--tls-key", t.path("one.key"))
    check("--token-file" in said, "the remedy", said)


@test("who speaks no TLS, or an old one, is told nothing, and is in nobody's way")
def _(t):
    secret = Secret(t, "one")
    serving = secret.serve()
    address = address_of(serving)
    silent = [socket.create_connection(address) for _ in range(8)]
    with socket.create_connection(address) as plain:
        plain.settimeout(40)
        plain.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try:
            check(b"opprobe" not in plain.recv(4096), "plain text is answered")
        except ConnectionResetError:
            pass
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    try:
        with old.wrap_socket(socket.create_connection(address)) as one:
            check(False, "it speaks an old TLS", one.version())
    except (ssl.SSLError, ConnectionError):
        pass
    serving.scrape()
    for one in silent:
        one.close()
    serving.stop()

# SPDX-License-Identifier: GPL-2.0-only
"""The Debian package: what lintian says, whether it comes out the same twice, and its life in a
clean Debian, from apt install to purge."""

import glob
import json
import os
import re
import subprocess

from harness import TARGETS, TESTS, Process, check, check_equal, test

ROOT = os.path.dirname(TESTS)


def package(t, kind="deb"):
    (path,) = glob.glob(os.path.join(t.objects, "deb", "opprobe_*." + kind))
    return path


def field(t, name):
    return output(["dpkg-deb", "--field", package(t), name]).strip()


def output(arguments, **options):
    made = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          **options)
    text = made.stdout.decode(errors="replace")
    check_equal(made.returncode, 0, "%s ended, which said %s: status" % (
        " ".join(arguments[:3]), text[-1500:]))
    return text


@test("the package has nothing that lintian warns of")
def _(t):
    text = output(["lintian", "--allow-root", "--info", package(t, "changes")])
    check_equal(text, "", "what lintian says")


@test("the package is the same when it is built once more, elsewhere")
def _(t):
    version = field(t, "Version")
    # As long as the first one took: some minutes, of which it does no work itself.
    output([os.path.join(ROOT, "user/debian/build"), t.path("deb"), version, commit(t),
            *needed(t)], cwd=ROOT)
    once, again = (open(path, "rb").read() for path in (
        package(t), t.path("deb/" + os.path.basename(package(t)))))
    check(once == again, "the packages differ", len(once), len(again))


def commit(t):
    return json.loads(output([built(t), "version", "--json"])).get("commit", "")


def built(t):
    (path,) = glob.glob(os.path.join(t.objects, "deb", "opprobe-*", "opprobe"))
    return path


def needed(t):
    """What the first build was told that it needs."""
    (path,) = glob.glob(os.path.join(t.objects, "deb", "opprobe-*", "debian", "control"))
    with open(path, encoding="utf-8") as file:
        line = re.search(r"^Build-Depends: (.*)$", file.read(), re.M)[1]
    return line.split(", ")[1:]


class Debian:
    """A clean one in a folder of its own, which sees this machine's processes and kernel."""

    def __init__(self, t):
        self.t, self.root = t, t.path("debian")
        depends = [re.sub(r" .*", "", one) for one in field(t, "Depends").split(", ")]
        archive = output([os.path.join(TARGETS, "get-debian"), *sorted(depends)]).splitlines()[-1]
        os.mkdir(self.root)
        output(["tar", "-xf", archive, "-C", self.root])
        for name in ("proc", "sys"):
            output(["mount", "--rbind", "/" + name, os.path.join(self.root, name)])
            output(["mount", "--make-rslave", os.path.join(self.root, name)])
            t.disks.append(os.path.join(self.root, name))

    def command(self, arguments):
        return ["chroot", self.root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "HOME=/root", *arguments]

    def run(self, *arguments):
        return output(self.command(arguments))

    def traces(self):
        """Files that are called after opprobe, but for pages that man keeps as it showed them."""
        found = output(["find", self.root, "-xdev", "-path", "*/var/cache/man", "-prune", "-o",
                        "-name", "*opprobe*", "-print"]).split("\n")
        return {"/" + os.path.relpath(path, self.root) for path in found if path} - {"/opprobe.deb"}


@test("the image of a container has what the package depends on")
def _(t):
    with open(os.path.join(ROOT, "user", "serve", "deploy", "Containerfile"), encoding="utf-8") as file:
        installed = re.findall(r"--no-install-recommends ([^&]*)&&", file.read().replace("\\\n", " "))
    depends = {re.sub(r" .*", "", one) for one in field(t, "Depends").split(", ")}
    # These are in any Debian.
    check_equal(sorted(depends - {"libc6", "libtinfo6"} - set(installed[-1].split())), [],
                "packages that the Containerfile lacks")


@test("in a clean Debian the package is installed, records a process and is gone when purged")
def _(t):
    debian = Debian(t)
    check_equal(debian.traces(), set(), "what is there before")
    output(["cp", package(t), debian.root + "/opprobe.deb"])
    debian.run("apt-get", "install", "-qq", "-y", "--no-install-recommends", "/opprobe.deb")

    known = json.loads(debian.run("opprobe", "version", "--json"))
    check_equal(known["version"], field(t, "Version"), "version")
    check_equal(known.get("commit", ""), commit(t), "commit")
    page = debian.run("man", "opprobe-record")
    check("OPPROBE-RECORD(1)" in page and "--min-duration" in page, "its page", page[:500])
    check("the file of a recording" in debian.run("man", "5", "opprobe-capture"), "the file's page")
    check("report" in debian.run("opprobe", "complete", "--", "rep"), "completion")
    check("ok" in debian.run("opprobe", "doctor"), "doctor")

    target = t.ort_run("1.24.3", "tiny")
    check(str(target.pid) in debian.run("opprobe", "ps"), "the process is not listed")
    record = t.start(Process, debian.command(
        ["opprobe", "record", "-p", str(target.pid), "-o", "/run.opp", "--no-cost"]))
    record.wait_for("attached")
    target.run(20)
    record.signal(2)
    check_equal(record.wait(), 0, "the recording: " + record.stderr)
    report = json.loads(debian.run("opprobe", "report", "/run.opp", "--json"))
    check_equal(report["runs"], 20, "runs")

    output(["rm", debian.root + "/run.opp"])
    debian.run("apt-get", "purge", "-qq", "-y", "opprobe")
    check_equal(debian.traces(), set(), "what is left")

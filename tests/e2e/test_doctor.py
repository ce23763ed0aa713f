# SPDX-License-Identifier: GPL-2.0-only
"""opprobe doctor and opprobe list: what can be done, before it is done."""

import collections
import json
import os
import re
import shutil

from harness import check, check_equal, one_sentence, succeeds, test

VERSIONS = ("1.10.0", "1.12.0", "1.14.0", "1.16.3", "1.20.1", "1.24.3", "1.27.0", "1.30.0")


# Where a function has no instruction that the kernel emulates, before its arguments are gone.
STEPPED = {("1.20.1", "aarch64"): {"task-enter"}, ("1.24.3", "aarch64"): {"free"},
           ("1.27.0", "aarch64"): {"free"}, ("1.30.0", "aarch64"): {"free"}}


def doctor_file(version, architecture):
    @test("doctor --file: the library of %s for %s" % (version, architecture))
    def _(t):
        library = t.library(version, architecture)
        found = json.loads(succeeds(t, "doctor", "--file", library, "--json"))
        check_equal(found["runtime"], "onnxruntime", "runtime")
        check_equal(found["version"], version, "version")
        check(re.fullmatch("[0-9a-f]{40}", found["build_id"]), "no build-id", found["build_id"])
        roles = collections.Counter(site["role"] for site in found["sites"])
        # Up to 1.13, two executors call kernels; since 1.12, two functions run tasks.
        minor = int(version.split(".")[1])
        functions = 2 if minor < 14 else 1
        tasks = 2 if minor >= 12 else 1
        # Initialization, and the ways to load: since 1.24, one more.
        setups = 4 if minor >= 24 else 3
        # Since 1.14, on arm64 since 1.20 or earlier, an arena finds its chunks in one place.
        chunks = minor >= (14 if architecture == "x86_64" else 20)
        # Since 1.24, or earlier, the allocator without an arena ends in one of the C library.
        entered = 1 if chunks else 2
        memory = {"alloc-enter": entered, "alloc": int(chunks), "free": 2,
                  "alloc-exit": entered - (minor >= 24)}
        check_equal(roles, {"op-enter": functions, "op-exit": functions, "run-enter": 1,
                            "run-exit": 1, "setup-enter": setups, "setup-exit": setups,
                            "session-end": 2, "task-enter": tasks, "task-exit": tasks,
                            **{role: n for role, n in memory.items() if n}},
                    "sites by their role")
        check_equal(found["samples"], {"operators": True, "pool": True}, "what samples tell")
        stepped = {site["role"] for site in found["sites"] if not site["emulated"]}
        check_equal(stepped, STEPPED.get((version, architecture), set()), "single-stepped")
        for site in found["sites"]:
            check(site["routes"], "no route found it", site)
        check_equal(len({site["offset"] for site in found["sites"]}), len(found["sites"]),
                    "different places")
        size = os.path.getsize(library)
        check(all(0 < site["offset"] < size for site in found["sites"]), "an offset is outside")
        text = succeeds(t, "doctor", "--file", library)
        check(version in text, "the text lacks the version", text)
        for site in found["sites"]:
            check(site["role"] in text and "%x" % site["offset"] in text, "the text lacks a site",
                  site, text)


@test("doctor --file: a library in the working folder, by its name alone")
def _(t):
    shutil.copy(t.library("1.30.0"), t.path("library.so"))
    check("1.30.0" in succeeds(t, "doctor", "--file", "library.so"), "the version")
    check("cannot open nowhere.so" in t.fails("doctor", "--file", "nowhere.so"), "the sentence")


for version in VERSIONS:
    for architecture in ("x86_64", "aarch64"):
        doctor_file(version, architecture)


@test("doctor --file does not need the file's name")
def _(t):
    copy = shutil.copy(t.library("1.24.3"), t.path("something.else"))
    check_equal(json.loads(succeeds(t, "doctor", "--file", copy, "--json"))["version"], "1.24.3",
                "version")


@test("doctor --file refuses a file without a runtime")
def _(t):
    sentence = t.fails("doctor", "--file", "/bin/true")
    check("runtime" in sentence and "/bin/true" in sentence, "it does not say what", sentence)


@test("doctor --file refuses a damaged library and does not crash")
def _(t):
    with open(t.library("1.24.3"), "rb") as file:
        whole = file.read()
    for keep in (0, 63, 64, 4096, len(whole) // 3, len(whole) - 100000):
        with open(t.path("cut.so"), "wb") as file:
            file.write(whole[:keep])
        process = t.opprobe("doctor", "--file", t.path("cut.so"))
        check(process.wait() in (0, 1), "it ended with %d at %d bytes" % (process.wait(), keep))
        if process.wait():
            one_sentence(process.stderr)


@test("list prints the events that can be opened here")
def _(t):
    text = succeeds(t, "list")
    for event in ("page-faults", "task-clock", "context-switches"):
        check(event in text, "%s is missing" % event, text[:2000])
    narrowed = succeeds(t, "list", "page-faults")
    check("page-faults" in narrowed and "context-switches" not in narrowed,
          "the pattern does not narrow the list", narrowed)


@test("--version prints a version")
def _(t):
    check(re.search(r"\d+\.\d+", succeeds(t, "--version")), "no version")

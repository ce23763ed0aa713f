# SPDX-License-Identifier: GPL-2.0-only
"""What the end-to-end tests share: targets, opprobe, and what must agree.

A test is a function that takes a Context and is registered under a sentence:

    @test("the server answers while opprobe is attached")
    def _(t):
        target = t.node("1.24.3")
        ...

Nothing here sleeps for a fixed time: it waits for a line, an answer or an
exit, each with a limit that only a hang reaches (see patience.py).
"""

import collections
import contextlib
import ctypes
import glob
import json
import os
import queue
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)

from patience import PERIOD, Patience  # noqa: E402

TARGETS = os.path.join(TESTS, "targets")
LIMIT = 30  # seconds of patience: for any single thing to happen
TEST_LIMIT = 300  # likewise: for all of a test

# Every output of 64 KiB and more is mapped anew, by every run.
FRESH_MEMORY = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=65536"}

TESTS_REGISTERED = []


class Failure(AssertionError):
    """A test's own verdict: lines of text."""

    def __init__(self, *lines):
        super().__init__("\n".join(map(str, lines)))


class Skipped(Exception):
    """What the test needs is not to be had on this machine."""


def test(sentence):
    """Register a test."""
    def register(function):
        TESTS_REGISTERED.append((sentence, function))
        return function
    return register


def sample(entries, most):
    """Of tests that one function makes, of many releases or models, `most` at the most, spread
    over them, and others of each function: (sentence, function) in their order."""
    alike = collections.defaultdict(list)
    for entry in entries:
        alike[entry[1].__code__].append(entry)
    chosen = set()
    for number, group in enumerate(alike.values()):
        few = min(most, len(group))
        chosen.update(group[(number + each * len(group) // few) % len(group)][0]
                      for each in range(few))
    return [entry for entry in entries if entry[0] in chosen]


def run_one(function, slower=1):
    """Run a test, on a machine `slower` than the limits are made for; why it failed, or None."""
    def look(signum, frame):
        if patience.over():
            raise Failure("out of time: it goes on and on")

    context = Context()
    context.slower = slower
    patience = Patience(slower * TEST_LIMIT)
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        function(context)
    except Skipped:
        raise
    except Failure as failure:
        return str(failure)
    except Exception:  # pylint: disable=broad-except
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        context.close()
    return None


def run(sentence, function, slower=1):
    """Run a test likewise, and say how it went; its problem, or None."""
    start = time.monotonic()
    problem = run_one(function, slower)
    took = time.monotonic() - start
    print("%s  %s (%.1f s)" % ("FAILED " if problem else "ok     ", sentence, took), flush=True)
    if problem:
        print("    " + problem.rstrip().replace("\n", "\n    "), flush=True)
    return problem


def run_again(failed, slower=1):
    """Those of the tests, (sentence, function) each, that do not pass twice in a row now."""
    if failed:
        print("-- again, what failed", flush=True)
    bad = [entry for entry in failed if run(*entry, slower) or run(*entry, slower)]
    for entry in failed:
        if entry not in bad:
            print("unsteady %s: failed once, and passed twice" % entry[0], flush=True)
    return bad


def check(condition, message, *details):
    if not condition:
        raise Failure(message, *details)


def check_equal(got, expected, what):
    check(got == expected, "%s: got %r, expected %r" % (what, got, expected))


def check_counts(got, expected, what="operators"):
    """Compare two Counters key by key, and show the first differences."""
    if got == expected:
        return
    lines = []
    for key in sorted(set(got) | set(expected), key=repr):
        if got[key] != expected[key]:
            lines.append("  %r: got %d, expected %d" % (key, got[key], expected[key]))
    raise Failure("%s: %d of %d differ\n%s" % (
        what, len(lines), len(set(got) | set(expected)), "\n".join(lines[:12])))


# -- processes ---------------------------------------------------------------

class Process:
    """A child whose output is collected as it comes."""

    slower = 1  # set by the context

    def __init__(self, arguments, **options):
        self.arguments = list(map(str, arguments))
        self.child = subprocess.Popen(self.arguments, **{
            "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
            **options})
        self.pid = self.child.pid
        self.out, self.err = [], []
        self.lines = {"out": queue.Queue(), "err": queue.Queue()}
        self.threads = []
        for name, stream, kept in (("out", self.child.stdout, self.out),
                                   ("err", self.child.stderr, self.err)):
            if stream:
                thread = threading.Thread(target=self._collect, args=(name, stream, kept),
                                          daemon=True)
                thread.start()
                self.threads.append(thread)

    def _collect(self, name, stream, kept):
        for line in stream:
            kept.append(line)
            self.lines[name].put(line)
        self.lines[name].put(None)

    @property
    def stdout(self):
        return b"".join(self.out).decode(errors="surrogateescape")

    @property
    def stderr(self):
        return b"".join(self.err).decode(errors="surrogateescape")

    def fail(self, what):
        raise Failure("%s: %s\n%s" % (" ".join(self.arguments[:4]), what, self.stderr[-2000:]))

    def patience(self):
        """As long as this process works or says something, it does not hang."""
        return Patience(self.slower * LIMIT, self.pid)

    def line(self, name="out"):
        """The next line."""
        patience = self.patience()
        said = len(self.out) + len(self.err)
        while True:
            try:
                line = self.lines[name].get(timeout=PERIOD)
            except queue.Empty:
                if len(self.out) + len(self.err) > said:
                    said = len(self.out) + len(self.err)
                    patience.renew()
                elif patience.over():
                    self.fail("no line on std%s, and it does nothing" % name)
                continue
            if line is None:
                self.lines[name].put(None)
                self.fail("no line on std%s: it ended" % name)
            return line.decode(errors="surrogateescape")

    def wait_for(self, text, name="err"):
        """Wait for a line that holds `text`; returns it."""
        while True:
            line = self.line(name)
            if text in line:
                return line

    def write(self, text):
        self.child.stdin.write(text.encode())
        self.child.stdin.flush()

    def signal(self, number):
        self.child.send_signal(number)

    def wait(self):
        """Wait for the end; returns the exit status."""
        patience = self.patience()
        while True:
            try:
                status = self.child.wait(PERIOD)
                break
            except subprocess.TimeoutExpired:
                if patience.over():
                    self.fail("it does not end")
        for thread in self.threads:
            thread.join()
        return status

    def alive(self):
        return self.child.poll() is None

    def close(self):
        if self.alive():
            self.child.kill()
        self.child.wait()
        with contextlib.suppress(OSError):
            if self.child.stdin:
                self.child.stdin.close()


class Target(Process):
    """A process that answers each request by one line of JSON."""

    def ready(self):
        check(json.loads(self.line())["ok"], "the target did not start")
        return self

    def ask_any(self, request):
        self.write(request + "\n")
        return json.loads(self.line())

    def ask(self, request):
        answer = self.ask_any(request)
        check(answer["ok"], "the target cannot do %s" % request, answer)
        return answer


class NodeTarget(Target):
    """run.cjs: node.js with onnxruntime-node."""

    def do(self, action, **arguments):
        return self.ask(json.dumps({"do": action, **arguments}))

    def load(self, path, profile=None, replace=None, from_bytes=False, **options):
        wanted = {"intraOpNumThreads": 1, "logSeverityLevel": 4, **options}
        if profile:
            wanted.update(enableProfiling=True, profileFilePrefix=profile)
        return self.do("load", model=path, options=wanted, replace=replace,
                       bytes=from_bytes)["session"]

    def load_plain(self, path, **options):
        """Without optimisation: what runs is what the model's description says."""
        return self.load(path, graphOptimizationLevel="disabled", **options)

    def load_cycle(self, path, number):
        """A session of the model cycle, at `path`, whose operators have names of their own; returns
        what is in them, and the session."""
        label = "CYCLE%03d" % number
        return label, self.load_plain(path, replace=["CYCLE000", label])

    def run(self, session, times=1, **arguments):
        answer = self.do("run", session=session, times=times, **arguments)
        check_equal(answer["failed"], 0, "failed runs")
        return answer


class PythonTarget(NodeTarget):
    """run.py: Debian's Python with its onnxruntime."""

    def load(self, path, profile=None, from_bytes=False, **options):
        wanted = {"intra_op_num_threads": 1, **options}
        if profile:
            wanted.update(enable_profiling=True, profile_file_prefix=profile)
        return self.do("load", model=path, options=wanted, bytes=from_bytes)["session"]

    def load_plain(self, path, **options):
        return self.load(path, graph_optimization_level=0, **options)


class OrtTarget(Target):
    """ort_run: a C program on the C API."""

    def run(self, times=1):
        answer = self.ask("run %d" % times)
        check_equal(answer["failed"], 0, "failed runs")
        return answer

    def keep_running(self):
        """Runs without an end: no other request is answered from now on."""
        self.write("run %d\n" % 100_000_000)


class Opprobe(Process):
    """opprobe itself, attached to a process."""

    def attached(self):
        self.wait_for("attached")
        return self

    def stop(self, status=0):
        """Ctrl-C; returns the report that it printed."""
        self.signal(signal.SIGINT)
        return self.finish(status)

    def finish(self, status=0):
        got = self.wait()
        check(got == status, "opprobe ended with status %d, expected %d" % (got, status),
              self.stderr[-2000:])
        return Report(self.stdout, self.directory) if status == 0 else None


def bpf(command, attributes):
    """The system call; returns what it returns, -1 for a failure."""
    number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return ctypes.CDLL(None, use_errno=True).syscall(number, command, buffer, len(buffer))


def descriptors(pid):
    """What the kernel tells of each descriptor of a process: {field: text}"""
    for path in glob.glob("/proc/%d/fdinfo/*" % pid):
        with contextlib.suppress(OSError):
            with open(path, encoding="utf-8") as file:
                yield dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def status_of(pid):
    """What /proc/PID/status says: its values by their names."""
    with open("/proc/%s/status" % pid, encoding="utf-8", errors="replace") as file:
        return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}


def helpers_of(pid, kind=""):
    """The processes by which opprobe, running as pid, looks into targets: "(inspector)" or
    "(hands)", or both."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                arguments = file.read().decode(errors="replace").split("\0")
            with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended meanwhile
        if arguments[:1] == ["opprobe"] and arguments[1:2] and arguments[1][:1] == "(" and \
           kind in arguments[1] and pid in (None, parent):
            found.append(int(name))
    return found


def program_names():
    """{id: name} of all BPF programs"""
    made = subprocess.run(["bpftool", "prog", "-j"], stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
    return {program["id"]: program.get("name", "") for program in json.loads(made.stdout)}


def programs_of(pid):
    """{id: name} of the BPF programs that a process holds; links name theirs as well."""
    names = program_names()
    return {int(fields["prog_id"]): names[int(fields["prog_id"])] for fields in descriptors(pid)
            if "prog_jited" in fields}


def programs_recording(process):
    """Likewise, of an opprobe that records, once its measurement of itself has let go of its own:
    some of these have the same names."""
    patience = process.patience()
    while True:
        with contextlib.suppress(KeyError):  # one has come since all were listed
            programs = programs_of(process.pid)
            names = set(programs.values())
            if names and len(names) == len(programs) and not {"self_enter", "self_exit"} & names:
                return programs
        check(not patience.over(), "it goes on to measure itself")
        time.sleep(0.02)


def changed_code(pid):
    """{address: byte of the file} where the code of ONNX Runtime in a process is not that of its
    file: breakpoints."""
    with open("/proc/%d/maps" % pid, encoding="utf-8") as file:
        maps = [line.split(None, 5) for line in file if "libonnxruntime" in line]
    changed = {}
    for addresses, flags, offset, _, _, path in maps:
        if "x" not in flags:
            continue
        start, end = (int(part, 16) for part in addresses.split("-"))
        with open("/proc/%d/mem" % pid, "rb", 0) as memory, open(path.strip(), "rb") as library:
            memory.seek(start)
            library.seek(int(offset, 16))
            expected = library.read(end - start)
            got = memory.read(len(expected))
        if got != expected:
            changed.update((start + i, expected[i]) for i in range(len(got))
                           if got[i] != expected[i])
    check(any("x" in fields[1] for fields in maps), "there is no code of ONNX Runtime")
    return changed


def machine_code(program):
    """What the kernel's compiler made of BPF program @program, an id."""
    get_by_id, get_info, room = 13, 15, 1 << 20
    code = ctypes.create_string_buffer(room)
    # struct bpf_prog_info: jited_prog_len is its fifth word, jited_prog_insns follows the sixth.
    info = ctypes.create_string_buffer(struct.pack("16xIIQ", room, 0, ctypes.addressof(code)), 256)
    fd = bpf(get_by_id, struct.pack("I124x", program))
    check(fd >= 0, "no BPF program %d" % program)
    got = bpf(get_info, struct.pack("IIQ112x", fd, len(info), ctypes.addressof(info)))
    os.close(fd)
    check(not got, "nothing is told of BPF program %d" % program)
    return code.raw[:struct.unpack_from("I", info.raw, 16)[0]]


class ProbeHits:
    """How often each BPF program of a process has run on a probe, by the kernel's own count.

    The kernel counts while anybody holds the file that this opens."""

    BPF_ENABLE_STATS = 32
    BPF_PROG_TYPE_KPROBE = "2"  # of uprobes, too; others see births and deaths of any thread

    def __init__(self, pid):
        self.pid = pid
        self.switch = bpf(self.BPF_ENABLE_STATS, bytes(4))
        check(self.switch >= 0, "the kernel does not count runs of BPF programs")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.switch)

    def count(self):
        """{name of the program: its runs so far}"""
        names, found = program_names(), collections.Counter()
        for fields in descriptors(self.pid):
            # Links name their program as well, but count nothing.
            if "run_cnt" in fields and fields["prog_type"] == self.BPF_PROG_TYPE_KPROBE:
                found[names[int(fields["prog_id"])]] += int(fields["run_cnt"])
        return found


# -- what is compared ----------------------------------------------------------

class Report:
    """What opprobe -p PID --json printed, and the files it left."""

    def __init__(self, text, directory):
        try:
            self.json = json.loads(text)
        except ValueError as error:
            raise Failure("stdout is not JSON: %s" % error, text[:500]) from None
        self.operators = self.json["operators"]
        self.directory = directory

    def counts(self, provider=False):
        found = collections.Counter()
        for op in self.operators:
            key = (op["name"], op["op_type"])
            found[key + (op["provider"],) if provider else key] += op["count"]
        return found

    def operator(self, name):
        found = [op for op in self.operators if op["name"] == name]
        check(len(found) == 1, "%d operators are called %r" % (len(found), name))
        return found[0]

    def counter(self, name, operators=None):
        """The sum of a counter, over all operators or those given."""
        return sum(op["counters"][name]["total"] for op in operators or self.operators)

    def losses(self):
        """The kinds of loss that are told, whose sum is what is said to be lost."""
        told = {kind: count for kind, count in self.json["losses"].items() if count}
        check_equal(sum(told.values()), self.json["lost"], "the sum of what was lost")
        return told

    def nothing_lost(self):
        check_equal(self.json["lost"], 0, "lost (%s)" % self.json["losses"])
        return self

    def trace(self):
        try:
            with open(os.path.join(self.directory, "trace.json"), encoding="utf-8") as file:
                loaded = json.load(file)
        except (OSError, ValueError) as error:
            raise Failure("the trace is not JSON: %s" % error) from None
        return loaded["traceEvents"] if isinstance(loaded, dict) else loaded

    def trace_counts(self, provider=False):
        found = collections.Counter()
        for event in self.trace():
            if event["ph"] == "X" and event["cat"] == "Node":
                key = (event["name"], event["args"]["op_name"])
                found[key + (event["args"]["provider"],) if provider else key] += 1
        return found


# The built-in profiler escapes nothing, so its file is not JSON if a name has
# a quote or a line break. An event begins at the start of a line.
PROFILE_EVENT = re.compile(r'"ph" : "X","name" :"(.*)_kernel_time","args" : (\{.*\})\}', re.DOTALL)


def read_profile(directory, prefix):
    """Names, types and providers that the built-in profiler recorded, counted."""
    counts = collections.Counter()
    files = [name for name in os.listdir(directory) if name.startswith(prefix)]
    check(files, "the built-in profiler wrote no file %s*" % prefix)
    for name in files:
        with open(os.path.join(directory, name), "rb") as file:
            text = file.read().decode(errors="surrogateescape")
        for event in re.split(r'\n(?=\{"cat")', text):
            found = PROFILE_EVENT.search(event)
            if found:
                op = re.search(r'"op_name" : "([^"]*)"', found[2])
                provider = re.search(r'"provider" : "([^"]*)"', found[2])
                counts[found[1], op[1], provider[1]] += 1
    return counts


# What the built-in profiler tells of an execution's inputs and outputs.
SHAPES = ("input_type_shape", "output_type_shape", "activation_size", "parameter_size",
          "output_size")
SIZES = SHAPES[2:]


def count_shapes(events, fields):
    """Executions by name, type and what was told of their values."""
    found = collections.Counter()
    for event in events:
        if event["cat"] == "Node" and event["name"].endswith("_kernel_time"):
            args = event["args"]
            told = tuple(json.dumps(args.get(field)) for field in fields)
            found[(event["name"][:-len("_kernel_time")], args["op_name"]) + told] += 1
    return found


def read_shapes(t, prefix="profile", fields=SHAPES):
    """Executions with their values' shapes, as the built-in profiler recorded them."""
    found = collections.Counter()
    for name in os.listdir(t.directory):
        if name.startswith(prefix):
            with open(t.path(name), encoding="utf-8") as file:
                found += count_shapes(json.load(file), fields)
    check(found, "the built-in profiler recorded nothing")
    return found


def recorded_shapes(t, fields=SHAPES, capture="capture.opp"):
    """The same of a capture."""
    made = subprocess.run([t.program, "export", t.path(capture), "--format", "ort"],
                          stdout=subprocess.PIPE, check=True)
    return count_shapes(json.loads(made.stdout), fields)


def described_counts(path, runs):
    """What `runs` runs of a model execute if nothing is optimised."""
    counts = collections.Counter()
    with open(re.sub(r"\.onnx$", ".json", path), encoding="utf-8") as file:
        for node in json.load(file)["nodes"]:
            counts[node["name"], node["op"]] += node["times"] * runs
    return counts


def one_sentence(text):
    """Check that an error is one sentence, for people; returns it. Remarks on
    what is going on may stand before it, each on a line of its own."""
    lines = text.strip().split("\n")
    for line in lines:
        check(line.startswith("opprobe: "), "a line lacks the program's name", text)
    check(len(lines[-1]) > 20 and lines[-1].isprintable(), "this is no sentence", repr(text))
    check("attached to" not in text, "it was attached before it failed", text)
    return lines[-1]


# -- one test's surroundings ------------------------------------------------------

class Context:
    """Starts things for one test and cleans all of it up."""

    program = objects = None  # set by the runner
    slower = 1
    few = False  # in a sample

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="opprobe-e2e-")
        os.chmod(self.directory, 0o755)
        self.processes = []
        self.disks, self.groups = [], []

    def close(self):
        for process in reversed(self.processes):
            process.close()
        for group in reversed(self.groups):
            os.rmdir(group)
        for disk in self.disks:
            subprocess.run(["umount", "--lazy", disk], check=False)
        shutil.rmtree(self.directory, ignore_errors=True)

    def times(self, number):
        """As often as that, or a third of it in a sample."""
        return max(1, number // 3) if self.few else number

    def path(self, name):
        return os.path.join(self.directory, name)

    def disk(self, size):
        """A folder on a disk of its own, with room for so many bytes."""
        disk = self.path("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size, "none", disk], check=True)
        self.disks.append(disk)
        return disk

    def group(self, name):
        """A control group of that name, in whichever hierarchy one can be made."""
        for root in ["/sys/fs/cgroup"] + sorted(
                os.path.join("/sys/fs/cgroup", one) for one in os.listdir("/sys/fs/cgroup")):
            path = os.path.join(root, name)
            try:
                os.mkdir(path)
            except OSError:
                continue
            if os.path.exists(os.path.join(path, "cgroup.procs")):
                self.groups.append(path)
                return path
            os.rmdir(path)
        raise Skipped("no control group can be made here")

    def model(self, name):
        return os.path.join(self.objects, "tests", "models", name + ".onnx")

    def start(self, kind, arguments, environment=None, **options):
        options = {"cwd": self.directory, **options}
        process = kind(arguments, env={**os.environ, **(environment or {})}, **options)
        process.directory, process.slower = self.directory, self.slower
        self.processes.append(process)
        return process

    @staticmethod
    def runtime(version):
        made = subprocess.run([os.path.join(TARGETS, "get-onnxruntime"), version],
                              stdout=subprocess.PIPE, check=True)
        return made.stdout.decode().strip()

    def library(self, version, architecture=os.uname().machine):
        machine = {"x86_64": "x64", "aarch64": "arm64"}[architecture]
        package = os.path.join(self.runtime(version), "node_modules", "onnxruntime-node", "bin")
        for directory, _, files in sorted(os.walk(package)):
            for name in sorted(files, reverse=True):
                if machine in directory and re.match(r"libonnxruntime\.so\.1", name):
                    return os.path.join(directory, name)
        raise Failure("no library for %s in onnxruntime-node %s" % (machine, version))

    def node(self, version, **environment):
        return self.start(NodeTarget, ["node", "--expose-gc", os.path.join(TARGETS, "run.cjs"),
                                       self.runtime(version)], environment).ready()

    def debian_python(self):
        """Debian 13's, with the libraries that it came with instead of this machine's."""
        made = subprocess.run([os.path.join(TARGETS, "get-debian-python")],
                              stdout=subprocess.PIPE, check=True)
        root = made.stdout.decode().strip()
        libraries = os.path.join(root, "usr/lib", os.uname().machine + "-linux-gnu")
        (loader,) = glob.glob(os.path.join(libraries, "ld-linux-*.so.*"))
        folders = [libraries] + [os.path.join(libraries, name) for name in ("blas", "lapack")]
        return self.start(PythonTarget, [
            loader, "--library-path", ":".join(folders),
            os.path.join(root, "usr/bin/python3"), os.path.join(TARGETS, "run.py"),
        ], {"PYTHONHOME": os.path.join(root, "usr"), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.path.join(root, "usr/lib/python3/dist-packages")}).ready()

    @property
    def ort_program(self):
        """What ort_run() starts: its arguments are a library and a model, behind its options."""
        return os.path.join(self.objects, "tests", "targets", "ort_run")

    def ort_run(self, version, model, *options, **environment):
        return self.start(OrtTarget, [self.ort_program, *options, self.library(version),
                                      self.model(model)], environment).ready()

    def server(self, version, models, *options):
        """Returns the server, with its url."""
        arguments = ["node", os.path.join(TARGETS, "server.cjs"), "--runtime",
                     self.runtime(version), *options]
        for name in models:
            arguments += ["--model", "%s=%s" % (name, self.model(name))]
        server = self.start(Process, arguments)
        server.url = json.loads(server.line())["url"]
        return server

    def load(self, server, models, *options):
        """Requests to `server`, until finish_load()."""
        arguments = ["node", os.path.join(TARGETS, "load.cjs"), "--url", server.url,
                     "--until-eof", *(options or ["--requests", "1000000"])]
        for name in models:
            arguments += ["--model", "%s=%s" % (name, self.model(name))]
        load = self.start(Process, arguments)
        load.wait_for("first answers known")
        return load

    def opprobe(self, *arguments, environment=None, **options):
        return self.start(Opprobe, [self.program, *map(str, arguments)], environment, **options)

    def attach(self, target, *arguments):
        """Attach, and wait until the probes are in place. What is in the capture while it is
        recorded is under its name only where none is there yet."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path("capture.opp"))
        return self.opprobe("-p", target.pid, "--json", "-o", self.path("capture.opp"), "--trace",
                            self.path("trace.json"), *arguments).attached()

    def named(self, sessions=1):
        """Wait until operators of so many sessions are in the capture: their names are known."""
        self.recorded("no operators of %d sessions" % sessions,
                      lambda report: len({op["session"] for op in report["operators"]}) >= sessions)

    def recorded(self, what, enough, target=None):
        """Wait until a report of the capture, as it is by then, is enough; else fail with what. As
        long as `target` works, if one is given."""
        patience = target.patience() if target else Patience(LIMIT)
        while True:
            report = subprocess.run([self.program, "report", self.path("capture.opp"), "--json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            if not report.returncode and enough(json.loads(report.stdout)):
                return
            check(not patience.over(), "%s in the capture" % what)

    def failed(self, *arguments):
        """What the runs that failed are shown as, of the recording."""
        return self.opprobe("report", self.path("capture.opp"), "--failed", "--json",
                            *arguments).finish()

    def fails(self, *arguments, status=1, **options):
        """Run opprobe, which must fail; returns its sentence."""
        process = self.opprobe(*arguments, **options)
        got = process.wait()
        check(got == status, "opprobe ended with status %d, expected %d" % (got, status),
              process.stderr, process.stdout[:300])
        check(process.stdout == "", "a failure printed to stdout", process.stdout[:300])
        return one_sentence(process.stderr)


def succeeds(t, *arguments, **options):
    process = t.opprobe(*arguments, **options)
    check_equal(process.wait(), 0, "exit status (%s)" % process.stderr.strip())
    return process.stdout


def finish_load(load):
    """Stop the requests; every one must have been answered as the first was."""
    load.child.stdin.close()
    status = load.wait()
    counts = json.loads(load.stdout.strip().split("\n")[-1])
    check(status == 0 and counts["different"] == 0 and counts["failed"] == 0,
          "answers differ or are missing: %r" % counts, load.stderr[-1000:])
    return counts

# SPDX-License-Identifier: GPL-2.0-only
"""What kernels of GPUs are called in libraries as Debian builds them: by what the code registers,
which is read here in the plainest way, by their symbols, and by what AMD's library says itself."""

import glob
import mmap
import os
import re
import struct
import subprocess

from harness import TARGETS, check, check_equal, test

REGISTRARS = ("__cudaRegisterFunction", "__hipRegisterFunction")
NEAR = 96  # bytes of code in which a call gets its arguments


def output(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, **options).stdout


def fetched(suite, package):
    folder = output(os.path.join(TARGETS, "get-debian-gpu")).strip()
    (path,) = glob.glob(os.path.join(folder, suite, package + "_*.deb"))
    return path


def unpacked(t, suite, package, pattern):
    """The file of that package, unpacked."""
    folder = t.path("%s-%s" % (suite, package))
    os.mkdir(folder)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", fetched(suite, package)],
                          stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", folder, "--wildcards", "*/" + pattern],
                       stdin=archive.stdout, check=True)
    found = [path for path in glob.glob(os.path.join(folder, "**", pattern), recursive=True)
             if not os.path.islink(path)]
    check_equal(len(found), 1, "files %s of %s" % (pattern, package))
    return found[0]


def tool(t, name):
    return os.path.join(t.objects, "tests", "targets", "gpu", name)


# -- what is registered ------------------------------------------------------------------------

class Library:
    """As much of an ELF file as it takes to read calls in it."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        segments = re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", output("readelf", "-lW", path))
        self.segments = [tuple(int(word, 16) for word in one) for one in segments]
        self.sections = {name: (int(address, 16), int(offset, 16), int(size, 16))
                         for name, address, offset, size in
                         re.findall(r"\] (\.\S+) +\S+ +(\w+) (\w+) (\w+) ",
                                    output("readelf", "-SW", path))}
        self.slots, self.registrar = {}, None
        for slot, kind, rest in re.findall(r"^0*(\w+) +\w+ +R_X86_64_(\w+) +(.*)$",
                                           output("readelf", "-rW", path), re.M):
            if kind == "JUMP_SLOT" and rest.split()[1].split("@")[0] in REGISTRARS:
                self.registrar = int(slot, 16)
            elif kind in ("RELATIVE", "GLOB_DAT"):
                self.slots[int(slot, 16)] = int(rest.split()[0] or "0", 16)

    def code(self, name):
        address, offset, size = self.sections[name]
        return address, self.data[offset:offset + size]

    def text_at(self, address):
        for offset, start, size in self.segments:
            if start <= address < start + size:
                at = offset + address - start
                return self.data[at:self.data.find(b"\0", at)].decode()
        return None

    def calls(self):
        """Addresses behind calls of what registers kernels."""
        start, plt = self.code(".plt")
        linkage = [start + found.start() for found in re.finditer(rb"\xff\x25(.{4})", plt, re.S)
                   if start + found.end() + struct.unpack("<i", found[1])[0] == self.registrar]
        check_equal(len(linkage), 1, "places that lead to it")
        start, text = self.code(".text")
        return start, text, [start + found.start() + 5
                             for found in re.finditer(rb"(?=\xe8(.{4}))", text, re.S)
                             if start + found.start() + 5 + struct.unpack("<i", found[1])[0] ==
                             linkage[0]]

    def registered(self):
        """Names by the addresses that stand for kernels: of each call, what was made last of the
        second argument, and of the third or fourth, which are the same."""
        start, text, calls = self.calls()
        found = {}
        for call in calls:
            at = call - start - 5
            code = text[max(at - NEAR, 0):at]
            first = start + max(at - NEAR, 0)

            def last(*opcodes):
                places = max((code.rfind(opcode), opcode) for opcode in opcodes)
                check(places[0] >= 0, "no argument before 0x%x" % call)
                behind = places[0] + 7
                value = first + behind + struct.unpack("<i", code[behind - 4:behind])[0]
                return self.slots[value] if places[1][1] == 0x8b else value

            stub = last(b"\x48\x8d\x35", b"\x48\x8b\x35")
            name = self.text_at(last(b"\x48\x8d\x0d", b"\x48\x8d\x15"))
            check_equal(found.setdefault(stub, name), name, "two names of 0x%x" % stub)
        return len(calls), found


def plain(symbol):
    """Of what clang and nvcc call stubs: the kernel."""
    return re.sub(r"(\d+)__device_stub__", lambda found: str(int(found[1]) - 15), symbol)


def symbols(path):
    found = {}
    for line in output("nm", "-D", "--defined-only", path).split("\n"):
        if line:
            address, _, name = line.split()[:3]
            found.setdefault(int(address, 16), set()).add(plain(name.split("@")[0]))
    return found


def told(t, path, addresses):
    lines = output(tool(t, "told"), "stubs", path, input="".join("%x\n" % one for one in addresses))
    return dict(zip(addresses, lines.split("\n")))


def registers(suite, package, pattern, calls, named):
    @test("Debian's %s of %s: kernels are called what they are registered as" % (package, suite))
    def _(t):
        path = unpacked(t, suite, package, pattern)
        n, expected = Library(path).registered()
        check(n >= calls, "only %d calls" % n)
        addresses = sorted(expected)
        found = told(t, path, addresses)
        wrong = {one: (found[one], expected[one]) for one in addresses
                 if found[one] != expected[one]}
        check(not wrong, "%d of %d names" % (len(wrong), n), dict(list(wrong.items())[:3]))
        by_symbol = symbols(path)
        both = [one for one in addresses if one in by_symbol]
        check(len(both) >= named, "only %d with symbols" % len(both))
        wrong = {one: (found[one], by_symbol[one]) for one in both
                 if found[one] not in by_symbol[one]}
        check(not wrong, "%d of %d symbols" % (len(wrong), len(both)), dict(list(wrong.items())[:3]))
        # What is beside them stands for nothing, unless it does so itself.
        beside = [one + 1 for one in addresses]
        check(all(not name for name in told(t, path, beside).values()), "a name beside a stub")
        os.unlink(path)


registers("sid", "libggml0-backend-cuda", "libggml-cuda.so", 5000, 50)
registers("sid", "libggml0-backend-hip", "libggml-hip.so", 5000, 50)
registers("trixie", "libmagma-sparse2", "libmagma_sparse.so.*", 800, 800)
registers("trixie", "librocrand1", "librocrand.so.*", 100, 0)


# -- what a handle is called --------------------------------------------------------------------

def stand_in(t, folder, library, missing):
    """A library that has what @library takes from the one called @missing: nothing is called."""
    versions = dict(re.findall(r"File: (\S+) .*?\n((?:.*Name: .*\n)+)",
                               output("readelf", "-VW", library)))
    wanted = re.findall(r"Name: (\S+)", versions.get(missing, ""))
    names = re.findall(r" UND (\w+)(?:@(\S+))?", output("readelf", "-W", "--dyn-syms", library))
    names = [(name, version) for name, version in names
             if (version in wanted if wanted else not version)]
    with open(t.path("stand_in.c"), "w", encoding="utf-8") as file:
        for i, (name, _) in enumerate(names):
            file.write('int f%d(void) __asm__("%s");\nint f%d(void) { return 1; }\n' % (i, name, i))
    with open(t.path("stand_in.map"), "w", encoding="utf-8") as file:
        for version in wanted:
            file.write("%s { global: %s };\n" % (version, " ".join(
                name + ";" for name, its in names if its == version) or "none;"))
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname," + missing, "-o",
                    os.path.join(folder, missing), t.path("stand_in.c")] +
                   (["-Wl,--version-script=" + t.path("stand_in.map")] if wanted else []),
                   check=True)


def what_it_says(t, suite, library):
    """With the suite's own C library."""
    folder = t.path("libraries")
    os.mkdir(folder)
    for package in "libc6", "libgcc-s1", "libnuma1", "libstdc++6":
        subprocess.run(["dpkg-deb", "-x", fetched(suite, package), t.path("root")], check=True)
    folders = [folder] + [t.path(os.path.join("root", name, "x86_64-linux-gnu"))
                          for name in ("lib", "usr/lib")]
    for needed in re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-dW", library)):
        if not any(os.path.exists(os.path.join(one, needed)) for one in folders):
            stand_in(t, folder, library, needed)
    (loader,) = [path for path in (os.path.join(one, "ld-linux-x86-64.so.2")
                                   for one in folders) if os.path.exists(path)][:1]
    return output(loader, "--library-path", ":".join(folders), tool(t, "hip_name"), library)


def handles(suite, package):
    @test("Debian's %s of %s: a handle's name is where the library itself takes it from" %
          (package, suite))
    def _(t):
        library = unpacked(t, suite, package, "libamdhip64.so.*")
        steps = output(tool(t, "told"), "steps", library)
        check(steps.strip(), "it is not told")
        if os.uname().machine == "x86_64":
            check_equal(steps, what_it_says(t, suite, library), "steps")


handles("bookworm", "libamdhip64-5")
handles("trixie", "libamdhip64-5")
handles("sid", "libamdhip64-6")

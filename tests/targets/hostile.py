#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A process that wants to hold, crash or fool whoever looks into it.

Usage: hostile.py FOLDER MODE...

  files N            maps N files of one byte each
  strings LIBRARY    maps a copy of it whose symbols have names of megabytes
  holes LIBRARY      maps a copy of it that goes on for 10 GB of nothing
  shrinking LIBRARY  maps a copy of it that is cut short and made whole again all the time
  withheld           maps a file of a file system (FUSE) that answers no more
  name LIBRARY       maps a copy of it, damaged, whose name holds control characters

Prints "ready", and ends with its standard input.
"""

import ctypes
import errno
import mmap
import os
import shutil
import stat
import struct
import sys
import threading
import time

SIZE = 8192
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]


def map_file(path, length=4096):
    """For good: unlike an mmap object, it keeps no file open."""
    descriptor = os.open(path, os.O_RDONLY)
    address = LIBC.mmap(None, length, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE,
                        descriptor, 0)
    os.close(descriptor)
    if address == ctypes.c_void_p(-1).value:
        sys.exit("mmap: " + os.strerror(ctypes.get_errno()))


def files(folder, count):
    for i in range(int(count)):
        path = os.path.join(folder, str(i))
        with open(path, "wb") as file:
            file.write(b"x")
        map_file(path, 1)


def strings(folder, library):
    """A symbol table is added of which each name is to be ended first, megabytes further on."""
    with open(library, "rb") as file:
        content = bytearray(file.read())
    sections_at, = struct.unpack_from("<Q", content, 40)
    count, = struct.unpack_from("<H", content, 60)
    sections = content[sections_at:sections_at + 64 * count]
    names, symbols = b"A" * (20 << 20), 150000
    content += bytes(-len(content) % 8)
    names_at = len(content)
    content += names
    table_at = len(content)
    content += b"".join(struct.pack("<IBBHQQ", 1 + i, 0x12, 0, 1, 0x1000, 16)
                        for i in range(symbols))
    struct.pack_into("<Q", content, 40, len(content))
    struct.pack_into("<H", content, 60, count + 2)
    section = struct.Struct("<IIQQQQIIQQ")
    content += sections + section.pack(1, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    content += section.pack(1, 2, 0, 0, table_at, 24 * symbols, count, 1, 8, 24)
    path = os.path.join(folder, "strings.so")
    with open(path, "wb") as file:
        file.write(content)
    map_file(path)


def holes(folder, library):
    path = os.path.join(folder, "holes.so")
    shutil.copy(library, path)
    os.truncate(path, 10 << 30)
    map_file(path)


def shrinking(folder, library):
    path = os.path.join(folder, "shrinking.so")
    with open(library, "rb") as file:
        content = file.read()

    def shrink():
        while True:
            with open(path, "r+b") as file:
                file.truncate(4096)
                time.sleep(0.001)
                file.write(content)
                file.flush()
                time.sleep(0.004)

    with open(path, "wb") as file:
        file.write(content)
    map_file(path)
    threading.Thread(target=shrink, daemon=True).start()


# Of include/uapi/linux/fuse.h: requests, and sizes of what answers them.
LOOKUP, GETATTR, OPEN, READ, STATFS, FLUSH, INIT, OPENDIR = 1, 3, 14, 15, 17, 25, 26, 27


def attributes(node):
    """struct fuse_attr: the root, or the one file in it."""
    mode = 0o40755 if node == 1 else 0o100755
    return struct.pack("<QQQQQQIIIIIIIIII", node, SIZE, 16, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0,
                       4096, 0)


def answer_file_system(device, answers):
    """As long as `answers` is set, a file system with the file "withheld"."""
    while True:
        request = os.read(device, 1 << 17)
        _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
        if opcode not in (INIT, LOOKUP, GETATTR) and not answers.is_set():
            continue
        error, data = 0, b""
        if opcode == INIT:
            data = struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0)
        elif opcode == LOOKUP:
            data = struct.pack("<QQQQII", 2, 0, 3600, 3600, 0, 0) + attributes(2)
        elif opcode == GETATTR:
            data = struct.pack("<QII", 3600, 0, 0) + attributes(node)
        elif opcode in (OPEN, OPENDIR):
            data = struct.pack("<QII", 1, 0, 0)
        elif opcode == READ:
            offset, size = struct.unpack_from("<8xQI", request, 40)
            data = (b"\x7fELF" + bytes(SIZE))[offset:min(SIZE, offset + size)]
        elif opcode == STATFS:
            data = bytes(80)
        elif opcode != FLUSH:
            error = -errno.ENOSYS
        if opcode not in (2, 42):  # FORGET, BATCH_FORGET: nobody waits
            os.write(device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)


def withheld(folder):
    place = os.path.join(folder, "mount")
    os.mkdir(place)
    node = "/dev/fuse"
    if not os.path.exists(node):
        node = os.path.join(folder, "fuse")
        os.mknod(node, 0o600 | stat.S_IFCHR, os.makedev(10, 229))
    device = os.open(node, os.O_RDWR)
    options = "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other" % device
    if LIBC.mount(b"hostile", place.encode(), b"fuse", 0, options.encode()):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    answers = threading.Event()
    answers.set()
    threading.Thread(target=answer_file_system, args=(device, answers), daemon=True).start()
    map_file(os.path.join(place, "withheld"), 4096)
    answers.clear()


def name(folder, library):
    path = os.path.join(folder.encode(), b"a\x1b[31m\xc2\x9b\xff\"lib.so")
    with open(library, "rb") as file:
        content = bytearray(file.read())
    # It is the runtime by all that it says, and has no code.
    table, = struct.unpack_from("<Q", content, 32)
    for i in range(*struct.unpack_from("<H", content, 56)):
        kind, flags, offset, _, _, size = struct.unpack_from("<IIQQQQ", content, table + 56 * i)
        if kind == 1 and flags & 1 and offset:
            content[offset:offset + size] = bytes(size)
    with open(path, "wb") as file:
        file.write(content)
    map_file(path)


def main():
    folder, mode, *rest = sys.argv[1:]
    globals()[mode](folder, *rest)
    print("ready", flush=True)
    sys.stdin.read()
    if mode == "withheld":
        os._exit(0)


main()

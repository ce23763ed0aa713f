# SPDX-License-Identifier: GPL-2.0-only
"""What makes a mistake in opprobe, which runs as root, harder to use."""

import os
import subprocess

from harness import check, test


def told(t, *command):
    return subprocess.run([*command, t.program], stdout=subprocess.PIPE, check=True).stdout.decode()


@test("opprobe is built hardened")
def _(t):
    headers = told(t, "readelf", "--wide", "--file-header", "--program-headers", "--dynamic")
    check("DYN (" in headers, "it is at the same address each time")
    check("GNU_RELRO" in headers and "BIND_NOW" in headers, "its tables of functions can be written")
    stack = [line for line in headers.splitlines() if "GNU_STACK" in line]
    check(stack and " RWE" not in stack[0], "its stack can be executed", stack)
    check(not [line for line in headers.splitlines() if "LOAD" in line and "RWE" in line],
          "it has code that can be written")
    symbols = told(t, "readelf", "--wide", "--dyn-syms")
    check("__stack_chk_fail" in symbols, "no stack protector")
    check("_chk@" in symbols.replace("__stack_chk", ""), "no fortified functions")
    code = told(t, "objdump", "--disassemble=main", "--no-show-raw-insn")
    guard = "endbr64" if os.uname().machine == "x86_64" else "paciasp"
    check(guard in code, "an indirect call may lead anywhere", code[:500])

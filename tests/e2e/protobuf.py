# SPDX-License-Identifier: GPL-2.0-only
"""Exports in protobuf's wire format, read by protobuf's own decoder."""

import importlib.util
import os
import subprocess

from harness import check


def module_of(t, name):
    """What protoc makes of NAME.proto beside this file, loaded."""
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["protoc", "-I", here, "--python_out", t.path(""), name + ".proto"], check=True)
    spec = importlib.util.spec_from_file_location(name + "_pb2", t.path(name + "_pb2.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def exported(t, name, message, *options):
    """What the decoder reads of the capture in that format; it knows each field there is."""
    made = subprocess.run([t.program, "export", t.path("capture.opp"), "--format", name, *options],
                          stdout=subprocess.PIPE, check=True)
    read = getattr(module_of(t, name), message).FromString(made.stdout)
    size = read.ByteSize()
    read.DiscardUnknownFields()
    check(read.ByteSize() == size, "the decoder does not know all fields", read.ByteSize(), size)
    return read

# SPDX-License-Identifier: GPL-2.0-only
"""A shell on a terminal of its own, in which somebody types."""

import contextlib
import os
import pty
import re
import select
import signal

from harness import LIMIT, check
from patience import PERIOD, Patience

ESCAPES = re.compile(r"\x1b(\[[0-9;?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>78])")


class Shell:
    """What is written to the screen, without what moves the cursor about."""

    def __init__(self, arguments, environment, directory):
        self.child, self.fd = pty.fork()
        if not self.child:
            os.chdir(directory)
            # Wide, so that no line is broken.
            os.execvpe(arguments[0], arguments, {**os.environ, "TERM": "xterm", "COLUMNS": "200",
                                                 "LINES": "50", **environment})
        self.written = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.fd)

    def type(self, text):
        self.written = b""
        os.write(self.fd, text.encode())

    def shown(self):
        return ESCAPES.sub("", self.written.decode(errors="replace")).replace("\r", "")

    def wait_for(self, *texts):
        """Wait until all of them are there; returns what is."""
        patience = Patience(LIMIT, self.child)
        while not all(text in self.shown() for text in texts):
            if select.select([self.fd], [], [], PERIOD)[0]:
                with contextlib.suppress(OSError):
                    self.written += os.read(self.fd, 65536)
            elif patience.over():
                check(False, "%r did not appear on the terminal" % (texts,), self.shown())
        return self.shown()

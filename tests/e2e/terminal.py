# SPDX-License-Identifier: GPL-2.0-only
"""A real terminal, tmux, for what draws on one: its screen is read, and its keys are pressed."""

import os
import shlex
import subprocess

from harness import LIMIT, check
from patience import Patience


class Terminal:
    """A shell in a terminal of its own; what it shows is text, a line each."""

    def __init__(self, t, width=80, height=24, **environment):
        self.socket, self.width, self.height, self.slower = t.path("tmux"), width, height, t.slower
        self.asked = 0
        t.processes.append(self)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height,
                  "-c", t.directory, "bash", "--norc", "--noprofile",
                  environment={"PS1": "$ ", "TERM": "xterm-256color", **environment})
        # What belongs to this terminal, and not to the machine's user.
        self.run("unset COLUMNS NO_COLOR; " + " ".join(
            "export %s=%s;" % (name, shlex.quote(value)) for name, value in environment.items()))

    def tmux(self, *arguments, environment=None):
        made = subprocess.run(["tmux", "-S", self.socket, *map(str, arguments)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env={**os.environ, **(environment or {})})
        check(not made.returncode, "tmux %s" % " ".join(map(str, arguments)), made.stderr)
        return made.stdout.decode(errors="replace")

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def run(self, command):
        self.type(command)
        self.press("Enter")

    def screen(self):
        return self.tmux("capture-pane", "-p").rstrip("\n").split("\n")

    def resize(self, width, height):
        self.tmux("resize-window", "-x", width, "-y", height)

    def wait(self, what, enough):
        """Wait for a screen of which `enough` is true; returns it."""
        patience = Patience(self.slower * LIMIT)
        while True:
            screen = self.screen()
            if enough(screen):
                return screen
            check(not patience.over(), "the screen does not show %s" % what, *screen)

    def wait_for(self, text):
        return self.wait(text, lambda screen: any(text in line for line in screen))

    def settings(self):
        """What stty says of it, as a command of the shell sees it."""
        self.asked += 1
        self.run("stty -a > %s.settings; echo 'asked' %d" % (self.socket, self.asked))
        self.wait_for("asked %d" % self.asked)
        with open(self.socket + ".settings", encoding="utf-8") as file:
            return file.read()

    def reads_lines(self):
        """Does it wait for whole lines? Not so while a program takes each key."""
        name = self.tmux("display-message", "-p", "#{pane_tty}").strip()
        with open(name, encoding="utf-8") as terminal:
            return b" icanon" in subprocess.run(["stty", "-a"], stdin=terminal, check=True,
                                                stdout=subprocess.PIPE).stdout

    def alternate(self):
        """Is what is shown a screen that goes when its program does?"""
        return self.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], stderr=subprocess.DEVNULL,
                       check=False)

# SPDX-License-Identifier: GPL-2.0-only
"""A page that opprobe wrote, in a real browser, and what is in it."""

import json
import os
import re
import subprocess

from harness import TARGETS, Target, check, check_equal

DATA = re.compile(r'<script type="application/json" id="(\w+)">\n(.*?)</script>', re.S)


def data_of(path):
    """The JSON in a page, by its id."""
    with open(path, encoding="utf-8") as file:
        return {name: json.loads(text) for name, text in DATA.findall(file.read())}


class Browser(Target):
    """browser.cjs. Whatever a page complains of, or asks for, is a failure of any request."""

    def do(self, action, **arguments):
        answer = self.ask(json.dumps({"do": action, **arguments}))
        check_equal(answer["errors"], [], "what the page complains of")
        check_equal(len(answer["requests"]), 1, "requests (%r)" % answer["requests"])
        return answer["value"]

    def eval(self, code):
        return self.do("eval", code="() => " + code)

    def open(self, path, **options):
        """Returns how many milliseconds that took."""
        return self.do("open", file=path, **options)

    def press(self, *keys):
        self.do("press", keys=keys)

    def table(self, at):
        """The values of a picture's table, which is opened first."""
        return self.eval("""{
            const details = document.querySelector(%r);
            details.open = true;
            return new Promise((resolve) => setTimeout(() => resolve([...details.querySelectorAll('tbody tr')].map((row) =>
                [...row.children].map((cell) => cell.dataset.value)))));
        }""" % (at + " details.alternative"))


def start_browser(t):
    made = subprocess.run([os.path.join(TARGETS, "get-playwright")], stdout=subprocess.PIPE,
                          check=True)
    return t.start(Browser, ["node", os.path.join(TARGETS, "browser.cjs"),
                             made.stdout.decode().strip()]).ready()


def write_page(t, *options, capture="capture.opp", page="page.html"):
    """The page of a capture; returns its path."""
    made = t.opprobe("report", t.path(capture), "--html", "-o", t.path(page), *options)
    check_equal(made.wait(), 0, "status of report --html (%s)" % made.stderr)
    check_equal((made.stdout, made.stderr), ("", ""), "what it printed")
    return t.path(page)

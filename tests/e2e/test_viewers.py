# SPDX-License-Identifier: GPL-2.0-only
"""Exports in the real viewer, without a network, in a real browser."""

import base64
import collections
import json
import os
import re
import subprocess

from browser import start_browser
from harness import TARGETS, check, check_equal, test

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
ROWS = """[...document.querySelectorAll('tr')].slice(1).map((row) =>
    [...row.children].map((cell) => cell.innerText.trim()))"""


def shown(t, name):
    """Self and total ns of each frame, with half of the last digit, as speedscope has them of the
    capture exported as `name`."""
    made = subprocess.run([t.program, "export", t.path("capture.opp"), "--format", name],
                          stdout=subprocess.PIPE, check=True)
    got = subprocess.run([os.path.join(TARGETS, "get-speedscope")], stdout=subprocess.PIPE,
                         check=True)
    with open(t.path("profile.js"), "w", encoding="utf-8") as file:
        file.write("speedscope.loadFileFromBase64('profile', '%s')" %
                   base64.b64encode(made.stdout).decode())
    browser = start_browser(t)
    ask = lambda action, **arguments: browser.ask(json.dumps({"do": action, **arguments}))
    answer = ask("open", file="%s/index.html#localProfilePath=%s" %
                 (got.stdout.decode().strip(), t.path("profile.js")))
    ask("eval", code="""() => new Promise((resolve) => {
        const look = () => document.body.innerText.includes('Sandwich') ? resolve() :
            setTimeout(look, 20);
        look();
    })""")
    ask("press", keys=["3"])
    answer = ask("eval", code="""() => new Promise((resolve) => {
        const look = () => document.querySelector('tr td') ? resolve(%s) : setTimeout(look, 20);
        look();
    })""" % ROWS)
    complaints = [line for line in answer["errors"]
                  if not re.match(r"log:|timeEnd:|warning: \[\.WebGL", line)]
    check_equal(complaints, [], "what speedscope complains of")
    check(all(url.startswith("file://") for url in answer["requests"]), "a network",
          answer["requests"])
    return {row[2]: (ns_of(row[1]), ns_of(row[0])) for row in answer["value"]}


def ns_of(text):
    number, unit = re.match(r"([\d.]+)(ns|µs|ms|s)\b", text).groups()
    return float(number) * UNITS[unit], UNITS[unit] * 0.5 * 10 ** -len(number.partition(".")[2])


@test("speedscope shows each node once, and its time is what the report has")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-O", "0")
    target.run(3)
    probe = t.attach(target, "-e", "none")
    target.run(20)
    probe.stop().nothing_lost()
    report = t.opprobe("report", t.path("capture.opp"), "--no-compensate", "--json").finish()
    expected = collections.defaultdict(lambda: [0, 0])
    for op in report.operators:
        row = expected["%s %s" % (op["op_type"], op["name"])]
        row[0] += op["self_ns"]
        row[1] += op["total_ns"]
    total = report.json["total"]["total_ns"]
    outer = sum(op["self_ns"] for op in report.operators)
    expected["nested.onnx"] = [total - outer, total]
    found = shown(t, "speedscope")
    check_equal(sorted(found), sorted(expected), "frames")
    for name, row in expected.items():
        for (got, half), ns in zip(found[name], row):
            check(abs(got - ns) <= half + 1, "time of " + name, got, ns)

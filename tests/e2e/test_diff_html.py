# SPDX-License-Identifier: GPL-2.0-only
"""The page of a comparison, in a real browser: it shows the numbers of diff --json, asks nobody
for anything and complains of nothing, whatever nodes are called."""

import json
import os
import subprocess

from browser import data_of, start_browser
from harness import OrtTarget, check, check_equal, one_sentence, succeeds, test


def record(t, model, name):
    program = os.path.join(t.objects, "tests/vm/exact")
    target = t.start(OrtTarget, [program, t.library("1.30.0"),
                                 os.path.join(t.objects, "tests/vm", model)]).ready()
    probe = t.opprobe("record", "-p", target.pid, "--no-cost", "-o", t.path(name)).attached()
    target.ask("run 60")
    probe.signal(2)
    check_equal(probe.wait(), 0, "exit status")
    return t.path(name)


def compare(t, before, after):
    """The page of two captures, and the JSON."""
    page = t.path("diff.html")
    made = t.opprobe("diff", before, after, "--html", "-o", page)
    check_equal((made.wait(), made.stdout), (0, ""), "status and output (%s)" % made.stderr)
    return page, json.loads(succeeds(t, "diff", before, after, "--json"))


def value(of, what):
    return next((found for found in of["values"] if found["what"] == what), None)


def rows_of(browser):
    return browser.eval("[...document.querySelectorAll('#table tbody tr')].map((row) => "
                        "Object.fromEntries([...row.children].map((cell) => [cell.dataset.key, cell.dataset.value])))")


def number(text):
    return float(text) if text else None


def check_pictures(browser, model, inside):
    sizes = {side: sum(len(one["runs"]) for one in [inside["sides"][side]])
             for side in ("before", "after")}
    time = value(model["runs"], "time")
    for side, n in sizes.items():
        check_equal(n, time[side]["runs"], "runs that are drawn, " + side)
    label = browser.eval("document.querySelector('#runs .picture').getAttribute('aria-label')")
    check("before: %d runs" % sizes["before"] in label, "the distribution is of others", label)
    check_equal(browser.eval("document.querySelectorAll('#runs circle').length"),
                sum(sizes.values()), "points over time")
    spread = browser.table("#runs")
    for side in (2, 3):
        check(abs(sum(float(row[side] or 0) for row in spread) - 1) < 1e-9, "a spread is not whole")
    medians = browser.eval("[...document.querySelectorAll('#runs tr[data-what]')].map((row) => "
                           "[row.dataset.what, Number(row.dataset.before), Number(row.dataset.after)])")
    check_equal(medians, [[one["what"], one["before"]["median"], one["after"]["median"]]
                          for one in model["runs"]["values"] if one["before"] and one["after"]],
                "medians of runs")
    bars = browser.eval("[...document.querySelectorAll('#changed .change')].map((bar) => Number(bar.dataset.by))")
    changes = [value(one, "time")["change"]
               for one in [*model["nodes"], model["between_operators"]]
               if value(one, "time") and value(one, "time").get("significant")]
    check_equal(bars, sorted(changes, key=abs, reverse=True)[:16], "bars")
    cells = [row for row in browser.table("#time") if row[1] != "between operators"]
    expected = sorted((side, one["name"], value(one, "time")[side]["median"])
                      for side in ("before", "after") for one in model["nodes"]
                      if value(one, "time")[side] and value(one, "time")[side]["median"] > 0)
    check_equal(sorted((row[0], row[2], float(row[3])) for row in cells), expected, "icicles")


@test("diff --html: shows the numbers of the JSON, and asks nobody for anything")
def _(t):
    before, after = record(t, "exact.onnx", "before.opp"), record(t, "slower.onnx", "after.opp")
    page, found = compare(t, before, after)
    inside = data_of(page)
    check_equal(inside["diff"], found, "the JSON in the page")
    (model,) = found["models"]
    browser = start_browser(t)
    browser.open(page)
    sentence = browser.eval("document.querySelector('#verdict').textContent")
    text = " ".join(succeeds(t, "diff", before, after).split())
    check("slower.onnx: runs " in sentence and " ".join(sentence.split()) in text, "another sentence",
          sentence, text)
    check_pictures(browser, model, inside)
    rows = {row["name"]: row for row in rows_of(browser)}
    check_equal(len(rows), len(model["nodes"]) + 1, "rows")
    for node in model["nodes"]:
        time, row = value(node, "time"), rows[node["name"]]
        check_equal((number(row["time:before"]), number(row["time:after"]), number(row["time:change"])),
                    (time["before"]["median"], time["after"]["median"], time["change"]), node["name"])
    most = max((*model["nodes"], {**model["between_operators"], "name": "between operators"}),
               key=lambda one: abs(value(one, "time")["change"]))
    check_equal(next(iter(rows)), most["name"], "what changed most is not the first")
    browser.do("fill", at="#table input[type=search]", text="exact_1000000")
    check_equal([row["name"] for row in rows_of(browser)], ["exact_1000000"], "what is searched")
    facts = browser.eval("document.querySelector('#about').textContent")
    check("before.opp" in facts and "after.opp" in facts, "facts of both", facts)


@test("diff --html: new and gone nodes are told; by keyboard, on a phone, in the dark")
def _(t):
    names = []
    for name, options in (("before.opp", ("-t", "1")), ("after.opp", ("-t", "1", "-O", "0"))):
        target = t.ort_run("1.24.3", "cnn", *options)
        probe = t.opprobe("record", "-p", target.pid, "--no-cost", "--shapes", "-o",
                          t.path(name)).attached()
        target.run(20)
        probe.signal(2)
        check_equal(probe.wait(), 0, "exit status")
        names.append(t.path(name))
    page, found = compare(t, *names)
    browser = start_browser(t)
    browser.open(page, width=390, height=800, scheme="dark")
    check_equal(browser.eval("document.documentElement.dataset.theme"), "dark", "theme")
    check(browser.eval("document.documentElement.scrollWidth <= innerWidth"), "it is too wide")
    (model,) = found["models"]
    rows = rows_of(browser)
    for remark, side in (("new", "before"), ("gone", "after")):
        expected = {node["name"] for node in model["nodes"] if not node[side]}
        check(expected, "no node is %s" % remark)
        check_equal({row["name"] for row in rows if row["remark"] == remark}, expected, remark)
    # The focus reaches bars, which tell of themselves; the page moves at the first.
    for _ in range(40):
        browser.press("Tab")
        if browser.eval("document.activeElement.className").endswith("change"):
            break
    browser.press("Tab")
    check_equal(browser.eval("document.querySelector('#tip').hidden"), False, "no tooltip by keyboard")


@test("diff --html: whatever nodes are called is text")
def _(t):
    made = os.path.join(t.objects, "tests/bench/make_capture")
    subprocess.run([made, "-n", "20000", "-e", "2", "-o", t.path("odd.opp")],
                   stderr=subprocess.DEVNULL, check=True)
    page, found = compare(t, t.path("odd.opp"), t.path("odd.opp"))
    check(any("\x1b" in node["name"] for model in found["models"] for node in model["nodes"]),
          "no odd names")
    browser = start_browser(t)
    browser.open(page)
    check("runs take the same time" in browser.eval("document.querySelector('#verdict').textContent"),
          "it differs from itself")
    text = browser.eval("document.body.innerText")
    check("\x1b" not in text and "\\x1b[31mred" in text, "a control character is shown")
    check(os.path.getsize(page) < 1000000, "it is large")


@test("diff --html: what cannot be a page is refused with a sentence, and nothing is replaced")
def _(t):
    made = os.path.join(t.objects, "tests/bench/make_capture")
    subprocess.run([made, "-n", "2000", t.path("a.opp")], stderr=subprocess.DEVNULL, check=True)
    a = t.path("a.opp")
    for arguments in (("--html",), ("--html", "--json", "-o", "x"), ("-o", "x"),
                      ("--html", "-o", "x", a)):
        process = t.opprobe("diff", a, a, *arguments)
        check_equal((process.wait(), process.stdout), (2, ""), "status of %r" % (arguments,))
    with open(a, "rb") as file:
        before = file.read()
    process = t.opprobe("diff", a, a, "--html", "-o", a)
    check_equal(process.wait(), 2, "status")
    check("is one of the captures" in one_sentence(process.stderr), "why", process.stderr)
    with open(a, "rb") as file:
        check(file.read() == before, "the capture was replaced")
    check("/nowhere/" in t.fails("diff", a, a, "--html", "-o", "/nowhere/x.html"), "where")

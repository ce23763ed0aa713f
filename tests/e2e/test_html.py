# SPDX-License-Identifier: GPL-2.0-only
"""The page of a capture, in a real browser: it asks nobody for anything, complains of nothing,
and each of its pictures shows the numbers of the JSON."""

import collections
import json
import os
import shutil
import subprocess

from browser import data_of, start_browser, write_page
from harness import check, check_equal, test

SLOW = 40  # times as many sequences in the runs that are to stand out,
TIMES = (12, 18)  # behind as many others


def record(t, *options):
    """A capture of three sessions, of which one runs a much larger input once."""
    target = t.node("1.30.0")
    models = [target.load(t.model(name), **loading) for name, loading in (
        ("cnn", {"intraOpNumThreads": 2}), ("transformer", {}), ("nested", {}))]
    probe = t.attach(target, "--shapes", *options)
    for times in TIMES:
        for session in models:
            target.run(session, times)
        target.run(models[1], 1, change={"tokens": {"dims": [2 * SLOW, 16, 64]}})
    probe.stop().nothing_lost()
    return t.opprobe("report", t.path("capture.opp"), "--json").finish().json


def made(t, *options, name="made.opp"):
    subprocess.run([os.path.join(t.objects, "tests", "bench", "make_capture"), *options,
                    t.path(name)], stderr=subprocess.DEVNULL, check=True)


def numbers(rows, *columns):
    """The rows of a table, the values of these columns as numbers, None where there is none."""
    return [[(float(cell) if cell else None) if i in columns else cell
             for i, cell in enumerate(row)] for row in rows]


def counted(pairs):
    sums = collections.Counter()
    for key, value in pairs:
        sums[key] += value
    return sums


def check_time(browser, report):
    titles = {one["session"]: one["title"] for one in report["session_models"]}
    rows = numbers(browser.table("#time"), 3, 4, 5, 6, 7)
    got = counted(((row[0], row[1], row[2]), row[3]) for row in rows if row[1])
    expected = counted(((titles[op["session"]], op["op_type"], op["name"]), op["self_ns"])
                       for op in report["operators"] if op["self_ns"])
    check_equal(got, expected, "self times of the icicle")
    (gap,) = [row for row in rows if row[2] == "between operators"]
    check_equal(gap[3], report["between_operators"]["total_ns"], "between operators")
    for column, event in ((5, "on-cpu"), (6, "ready"), (7, "blocked")):
        check_equal(sum(row[column] for row in rows if row[1]),
                    sum(op["counters"][event]["self"] for op in report["operators"]
                        if op["self_ns"]), event)
    cells = browser.eval("[...document.querySelectorAll('.icicle .cell')].map((cell) => "
                         "[Number(cell.dataset.level), Number(cell.dataset.ns)])")
    check_equal(sum(ns for level, ns in cells if level == 0), sum(row[3] for row in rows), "root")
    sessions = sum(ns for level, ns in cells if level == 1)
    check(sessions > 0.99 * cells[0][1], "sessions are not all", cells)


def check_runs(browser, report, details):
    rows = numbers(browser.table("#runs"), 0, 2, 3, 4)
    check_equal(len(rows), report["total"]["count"], "runs")
    check_equal(sum(row[3] for row in rows), report["total"]["total_ns"], "their time")
    check_equal(max(row[3] for row in rows), report["total"]["max_ns"], "the longest")
    check_equal(sum(row[5] == "yes" for row in rows),
                sum(track["outliers"] for track in details["tracks"]), "those that stand out")


def check_heat(browser, report):
    rows = numbers(browser.table("#heat"), 2, 3, 4)
    expected = counted(((op["name"], op["op_type"]), op["self_ns"]) for op in report["operators"])
    got = counted(((row[0], row[1]), row[4]) for row in rows)
    other = got.pop(("other operators", ""), 0)
    for key, ns in got.items():
        check_equal(ns, expected[key], "self time of %s over time" % (key,))
    check_equal(sum(got.values()) + other, sum(expected.values()), "all of it")
    check_equal(sum(row[3] for row in rows), sum(op["count"] for op in report["operators"]),
                "executions")


def check_roofline(browser, report):
    got = sorted((row[0], *row[2:]) for row in numbers(browser.table("#roofline"), 2, 3, 4))
    expected = sorted((op["name"], op["gflops"], op["flop_per_byte"], op["total_ns"])
                      for op in report["operators"] if op["gflops"] and op["flop_per_byte"])
    check_equal(got, expected, "points of the roofline")
    dots = browser.eval("[...document.querySelectorAll('#roofline .dot')].map((dot) => "
                        "[Number(dot.dataset.ns), Number(dot.getAttribute('r'))])")
    check_equal(len(dots), len(expected), "points that are drawn")
    (ns, radius), last = dots[0], [dot for dot in dots if dot[1] > 2.5][-1]
    check(abs(last[1] / radius - (last[0] / ns) ** 0.5) < 1e-6, "areas are not as times", dots)


def check_timelines(browser, details):
    for timeline in details["timelines"][:2]:
        (run,) = [run for run in details["runs"] if run[0] == timeline["run"]]
        check_equal(run[3], timeline["ns"], "time of the run of a timeline")
    slowest = details["timelines"][0]
    rows = numbers(browser.table("#timeline"), 2, 3, 4, 5)
    own = [row for row in rows if row[6] == "this one"]
    check_equal(sum(row[2] == 0 for row in own), 1, "runs of the slowest run")
    (whole,) = [row for row in own if row[2] == 0]
    check(whole[4] >= slowest["ns"], "the run is shorter than without probes", whole)
    top = [row for row in own if row[2] == 1]
    check(top and all(whole[3] <= row[3] and row[3] + row[4] <= whole[3] + whole[4] for row in own),
          "operators outside of their run", own)
    check(sum(row[4] for row in top) <= whole[4], "operators take longer than their run", top)


def check_table(browser, report):
    """It has the rows of the JSON in their order, and the sums."""
    rows = browser.eval("[...document.querySelectorAll('#table tbody tr')].map((row) => "
                        "Object.fromEntries([...row.children].map((cell) => [cell.dataset.key, cell.dataset.value])))")
    check_equal([(row["name"], row["op"], int(row["count"]), int(row["total"])) for row in rows],
                [(op["name"], op["op_type"], op["count"], op["total_ns"])
                 for op in report["operators"]], "rows of the table")
    check_equal([int(row["event:on-cpu"]) for row in rows],
                [op["counters"]["on-cpu"]["estimate"] for op in report["operators"]], "on-cpu")
    last = browser.eval("Object.fromEntries([...document.querySelectorAll('#table tfoot td')]"
                        ".map((cell) => [cell.dataset.key, cell.dataset.value]))")
    check_equal((int(last["count"]), int(last["total"])),
                (report["sum"]["count"], report["sum"]["total_ns"]), "sum of the table")


@test("html: every picture of a recording shows the numbers of the JSON, and nothing is asked for")
def _(t):
    report = record(t)
    path = write_page(t)
    inside = data_of(path)
    check(inside["report"] == report, "another JSON is in the page")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    check(len(text) - sum(len(json.dumps(part)) for part in inside.values()) < 1e6, "a large page")
    check("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'" in text and
          "unsafe" not in text.split("<title>")[0], "no strict policy")
    browser = start_browser(t)
    browser.open(path)
    check_time(browser, report)
    check_runs(browser, report, inside["details"])
    check_heat(browser, report)
    check_roofline(browser, report)
    check_table(browser, report)
    check_timelines(browser, inside["details"])
    verdict = browser.eval("document.getElementById('verdict').textContent")
    printed = t.opprobe("report", t.path("capture.opp"), "--width", "0")
    printed.wait()
    check_equal(verdict.strip(), printed.stdout.split("\n")[0], "the verdict")
    about = browser.eval("document.getElementById('about').innerText")
    for fact in (report["machine"]["kernel"], report["runtime"]["version"], "Nothing was lost",
                 report["processes"][0]["library"], "transformer.onnx", "context-switches"):
        check(fact in about, "the page does not tell %s" % fact, about)
    browser.do("click", at="#json summary")
    # It is put there when the browser has told that it is opened.
    shown = browser.eval("""new Promise((resolve) => {
        const look = () => {
            const pre = document.querySelector('#json pre');
            pre ? resolve(pre.textContent) : setTimeout(look, 10);
        };
        look();
    })""")
    check(json.loads(shown) == report, "another JSON is shown")


@test("html: a run that stands out is found, and a click tells the operators that grew")
def _(t):
    record(t)
    path = write_page(t)
    details = data_of(path)["details"]
    (track,) = [i for i, one in enumerate(details["tracks"]) if one["title"] == "transformer.onnx"]
    runs = [run for run in details["runs"] if run[1] == track]
    slow = runs[TIMES[0]]  # with the larger input, behind as many others
    check(slow[4], "the larger input does not stand out", slow)
    check_equal(details["timelines"][[one["track"] for one in details["timelines"]].index(track)]
                ["run"], max(runs, key=lambda run: run[3])[0], "the slowest run of the timelines")
    browser = start_browser(t)
    browser.open(path)
    # Where the run is drawn, by the axes of the picture.
    place = browser.eval("""{
        const over = document.querySelector('#runs .u-over');
        over.scrollIntoView();
        return [over.getBoundingClientRect().width, over.getBoundingClientRect().height];
    }""")
    check(place[0] > 100 and place[1] > 100, "there is no picture", place)
    found = browser.eval("""{
        const over = document.querySelector('#runs .u-over'), box = over.getBoundingClientRect();
        const section = document.getElementById('runs'), wanted = %d;
        for (const button of document.querySelectorAll('#runs .panel ol button'))
            if (Number(section.dataset.run) === wanted)
                button.click();
        for (let x = 2; x < box.width; x += 4)
            for (let y = 2; y < box.height; y += 4) {
                over.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: box.left + x, clientY: box.top + y }));
                if (Number(section.dataset.run) === wanted)
                    return [x, y];
            }
        return null;
    }""" % slow[0])
    check(found, "no click finds the run")
    told = browser.eval("[...document.querySelectorAll('#grown tbody tr')].map((row) => [row.cells[0].textContent, "
                        "...[...row.cells].slice(1).map((cell) => Number(cell.dataset.value))])")
    check_equal([(row[2], row[3]) for row in told], [(ns, usual) for _, ns, usual in slow[5]],
                "what is told of it")
    check_equal([row[1] for row in told], sorted((row[1] for row in told), reverse=True), "order")
    check(all(row[2] > 3 * row[3] for row in told[:2]), "these have not grown", told)
    report = data_of(path)["report"]
    medians = {(op["name"], op["session"]): op["p50_ns"] for op in report["operators"]}
    for node, _, usual in slow[5]:
        if node >= 0:
            about = details["nodes"][node]
            check_equal(usual, medians[about["name"], about["session"]], "median of " + about["name"])
    # The same by keys, from the one that stands out first to the one behind it.
    first, second = [run[0] for run in details["runs"] if run[4]][:2]
    browser.eval("document.querySelector('#runs .picture').focus()")
    browser.press(*["ArrowLeft"] * sum(track["outliers"] for track in details["tracks"]))
    check_equal(browser.eval("document.getElementById('runs').dataset.run"), str(first), "first")
    browser.press("ArrowRight")
    check_equal(browser.eval("document.getElementById('runs').dataset.run"), str(second), "second")


def column(browser, key):
    return browser.eval("[...document.querySelectorAll('#table tbody td[data-key=\"%s\"]')]"
                        ".map((cell) => cell.dataset.value)" % key)


@test("html: the table is searched, sorted and grouped, and its columns are chosen")
def _(t):
    report = record(t)
    browser = start_browser(t)
    browser.open(write_page(t))
    operators = report["operators"]
    search = "#table input[type=search]"
    browser.do("fill", at=search, text="matmul ATTN")
    wanted = [op["name"] for op in operators if "attn" in op["name"] and
              "matmul" in (op["name"] + op["op_type"]).lower()]
    check(wanted, "there is no such node")
    check_equal(column(browser, "name"), wanted, "rows that are found")
    browser.do("fill", at=search, text="")
    browser.do("click", at="#table thead th:nth-child(1) button")
    check_equal(column(browser, "name"), sorted((op["name"] for op in operators)), "by name")
    count = 1 + browser.eval("[...document.querySelectorAll('#table thead th')]"
                             ".findIndex((head) => head.textContent === 'Count')")
    for _ in range(2):
        browser.do("click", at="#table thead th:nth-child(%d) button" % count)
    check_equal(list(map(int, column(browser, "count"))), sorted(op["count"] for op in operators),
                "by count, the least first")
    browser.do("select", at="#table select", value="1")
    groups = counted((op["op_type"], op["total_ns"]) for op in operators)
    check_equal(dict(zip(column(browser, "name"), map(int, column(browser, "total")))),
                dict(groups), "by type")
    titles = {one["session"]: one["title"] for one in report["session_models"]}
    browser.do("select", at="#table select", value="2")
    check_equal(dict(zip(column(browser, "name"), map(int, column(browser, "event:ready")))),
                dict(counted((titles[op["session"]], op["counters"]["ready"]["total"])
                             for op in operators)), "waiting by session")
    browser.do("select", at="#table select", value="0")
    check_equal(column(browser, "max"), [], "a column that nobody asked for")
    browser.do("click", at="#table details summary")
    browser.do("click", at="#table input[value=max]")
    check_equal(sorted(map(int, column(browser, "max"))),
                sorted(op["max_ns"] for op in operators), "a column that was asked for")


CONTRAST = """(() => {
    const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const ground = (element) => {
        for (; element; element = element.parentElement) {
            const colour = parse(getComputedStyle(element).backgroundColor);
            if (colour.length < 4 || colour[3] > 0)
                return colour;
        }
        return [255, 255, 255];
    };
    return [...document.querySelectorAll('h1, h2, h3, p, td, th, dt, dd, li, nav a, button, summary, .lane, .labels div')].filter((one) =>
        one.textContent.trim() && one.getClientRects().length).map((one) => {
        const a = light(parse(getComputedStyle(one).color)), b = light(ground(one));
        return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.tagName + ' ' + one.className, one.textContent.slice(0, 40)];
    }).sort((a, b) => a[0] - b[0])[0];
})()"""


@test("html: it is for phones and keyboards, in light and in dark")
def _(t):
    record(t)
    path = write_page(t)
    browser = start_browser(t)
    for scheme in ("light", "dark"):
        for width in (360, 1280):
            browser.open(path, width=width, height=740, scheme=scheme)
            wide = browser.eval("document.documentElement.scrollWidth")
            check(wide <= width, "at %d the page is %d wide" % (width, wide))
            least = browser.eval(CONTRAST)
            check(least[0] >= 4.5, "text that is hard to read, in " + scheme, least)
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = browser.eval(ground)
    browser.do("click", at="#theme")
    check(browser.eval(ground) != dark, "the button changes no colour")
    # Everything that a pointer can do is in the order of tabs, or in reach of arrows.
    seen = set()
    browser.eval("document.body.focus()")
    for _ in range(90):
        browser.press("Tab")
        seen.add(browser.eval("document.activeElement.closest('section')?.id ?? ''"))
    check({"time", "runs", "heat", "roofline", "table"} <= seen, "out of reach of Tab", seen)
    browser.eval("document.querySelector('.icicle .cell').focus()")
    where = "document.activeElement.dataset.level + ' ' + document.activeElement.dataset.name"
    browser.press("ArrowDown", "ArrowDown")
    check(browser.eval(where).startswith("2 "), "arrows do not go down", browser.eval(where))
    browser.press("Enter")
    check_equal(browser.eval("document.querySelectorAll('#time .tools button').length"), 3,
                "parts of the way down")
    browser.press("Escape", "Escape")
    check_equal(browser.eval("document.querySelectorAll('#time .tools button').length"), 1,
                "parts of the way back up")
    browser.eval("document.querySelector('.heat canvas').focus()")
    browser.press("ArrowRight", "ArrowDown")
    check("self time" in browser.eval("document.querySelector('#heat .sr[role=status]').textContent")
          or "none" in browser.eval("document.querySelector('#heat .sr[role=status]').textContent"),
          "what is there is not told")
    browser.eval("document.querySelector('.timeline canvas').focus()")
    browser.press("ArrowRight", "ArrowRight", "+")
    check("took" in browser.eval("document.querySelector('.timeline [role=status]').textContent"),
          "an operator is not told")


@test("html: names of any bytes stay text")
def _(t):
    target = t.node("1.30.0")
    hostile = t.path("<img src=x onerror=alert(1)>\u202e&quot;'.onnx")
    shutil.copy(t.model("names"), hostile)
    shutil.copy(t.model("names")[:-5] + ".inputs", hostile[:-5] + ".inputs")
    sessions = [target.load_plain(path) for path in (hostile, t.model("long_names"),
                                                     t.model("not_utf8"))]
    probe = t.attach(target, "--shapes")
    for session in sessions:
        target.run(session, 5)
    report = probe.stop().nothing_lost().json
    path = write_page(t)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    data = data_of(path)
    names = [op["name"] for op in data["report"]["operators"]]
    check_equal(sorted(names), sorted(op["name"] for op in report["operators"]), "names")
    check(any("</script><b>" in name for name in names) and
          any("\u202e" in name for name in names) and max(map(len, names)) >= 1024,
          "there are no hostile names")
    check_equal(page.count("<img"), 0, "markup of a name")
    check_equal(page.count("</script>"), page.count("<script"), "ends of scripts")
    browser = start_browser(t)
    for scheme in ("light", "dark"):
        browser.open(path, width=360, scheme=scheme)
    check(browser.eval("document.documentElement.scrollWidth") <= 360, "too wide for a phone")
    for at in ("#time", "#runs", "#heat", "#timeline"):
        browser.table(at)
    check_equal(browser.eval("document.querySelectorAll('main img, main b:not(.label b), main script').length"), 0,
                "elements that names made")
    shown = browser.eval("document.body.innerText + document.title")
    check("</script><b>" in shown and "\\u202e" in shown and "\\x1b[31m" in shown, "names are not shown")
    check(not any(c in shown for c in "\u202e\u2066\u2028\x1b\x07"), "a name steers the text")
    for op in data["report"]["operators"]:
        check(op["session"] is not None, "whose is it?", op)


def milliseconds(browser, path):
    """How long it takes until a page can be used, at best of three."""
    return min(browser.open(path) for _ in range(3))


@test("html: a million records open within two seconds")
def _(t):
    made(t, "-n", "1000000", "-swdf")
    path = write_page(t, capture="made.opp")
    check(os.path.getsize(path) < 2.5e6, "the page grows with the records")
    details = data_of(path)["details"]
    report = data_of(path)["report"]
    check(report["executions"] >= 1000000, "these are no million")
    check_equal(sum(bucket[1] for track in details["tracks"] for bucket in track["buckets"]),
                report["total"]["count"], "runs of all stretches")
    check_equal(sum(bucket[4] for track in details["tracks"] for bucket in track["buckets"]),
                report["total"]["total_ns"], "their time")
    with open(t.path("empty.html"), "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html><title>empty</title>")
    browser = start_browser(t)
    empty, full = milliseconds(browser, t.path("empty.html")), milliseconds(browser, path)
    # An empty page takes some 100 ms where two CPUs are free.
    check(full < 2000 * max(1, empty / 100), "it takes %d ms, an empty page %d" % (full, empty))


@test("html: roofs that were measured are drawn, and operators are held against them")
def _(t):
    made(t, "-n", "5000", "-s")
    path = write_page(t, capture="made.opp")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, after = page.split('"machine":{', 1)
    roofs = {"measured_s": 1, "instructions": "AVX2", "cpus": 2,
             "one_cpu": {"gflops": 50, "memory_gb_per_s": 10, "l1_gb_per_s": None},
             "all_cpus": {"gflops": 100, "memory_gb_per_s": 20, "l1_gb_per_s": 400}}
    after = after.replace('"roofs":null', '"was":null', 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + '"machine":{"roofs":' + json.dumps(roofs) + "," + after)
    browser = start_browser(t)
    browser.open(path)
    check_equal(sorted(browser.eval("[...document.querySelectorAll('#roofline [data-roof]')].map((roof) => roof.dataset.roof)")),
                sorted(["100.0 GFLOP/s", "50.00 GFLOP/s", "20.00 GB/s", "400.0 GB/s"]), "roofs")
    label = browser.eval("document.querySelector('#roofline .dot').getAttribute('aria-label')")
    check("of its roof" in label, "an operator has no roof", label)


@test("html: what makes no sense is refused in a sentence, and a file is whole or not there")
def _(t):
    made(t, "-n", "60000", "-s")
    capture = t.path("made.opp")
    refused = [("--html", "--csv"), ("--html", "--group-by", "op"), ("--html", "--tree"),
               ("--html", "--columns", "name")]
    for options in refused:
        sentence = t.opprobe("report", capture, "-o", t.path("no.html"), *options)
        check_equal(sentence.wait(), 2, "status of %r" % (options,))
        check(sentence.stderr.startswith("opprobe"), "no sentence", sentence.stderr)
        check(not os.path.exists(t.path("no.html")), "a file of what was refused")
    sentence = t.fails("report", capture, "--html", "-o", capture, status=2)
    check("is the capture itself" in sentence, "over the capture", sentence)
    with open(capture, "rb") as file:
        sentence = t.fails("report", "-", "--html", "-o", t.path("no.html"),
                           stdin=subprocess.Popen(["cat", capture], stdout=subprocess.PIPE).stdout)
        check("cannot be read twice: name a file" in sentence, "from a pipe", sentence)
        whole = file.read()
    master, terminal = os.openpty()
    onto = t.opprobe("report", capture, "--html", stdout=terminal)
    check_equal(onto.wait(), 2, "status on a terminal")
    check("-o run.html" in onto.stderr, "no word of -o", onto.stderr)
    os.close(terminal)
    os.close(master)
    target = t.ort_run("1.30.0", "tiny")
    live = t.opprobe("-p", target.pid, "--html", "-d", "1s")
    check_equal(live.wait(), 2, "status while recording")
    check("behind the recording with opprobe report --html" in live.stderr and
          "attached" not in live.stderr, "while recording", live.stderr)
    # Of a damaged one, what precedes the damage.
    with open(t.path("damaged.opp"), "wb") as file:
        file.write(whole[:-1000] + b"\xff" * 64 + whole[-1000:])
    damaged = t.opprobe("report", t.path("damaged.opp"), "--html", "-o", t.path("damaged.html"))
    check_equal(damaged.wait(), 1, "status of a damaged capture")
    browser = start_browser(t)
    browser.open(t.path("damaged.html"))
    check("The end of the recording is missing" in
          browser.eval("document.getElementById('verdict').textContent"), "no word of the damage")
    empty = data_of(t.path("damaged.html"))["report"]["recording"]["damage"]
    check(empty, "the damage is not in the JSON")
    for selection in (("--op", "Conv"), ("--session", "0"), ("--run", "0-3"), ("--failed",),
                      ("--name", "nothing"), ("-n", "3")):
        browser.open(write_page(t, *selection, capture="made.opp"))
        kept = data_of(t.path("page.html"))
        wanted = t.opprobe("report", capture, "--json", *selection).finish().json
        check(kept["report"] == wanted, "another JSON of %r" % (selection,))
        check_equal(sum(track["runs"] for track in kept["details"]["tracks"]),
                    wanted["total"]["count"], "runs of %r" % (selection,))
    for name in ("table", "csv"):
        printed = t.opprobe("report", capture, *(["--csv"] if name == "csv" else []))
        printed.wait()
        check_equal(t.opprobe("report", capture, "-o", t.path(name), "--width", "0",
                              *(["--csv"] if name == "csv" else [])).wait(), 0, "status of -o")
        with open(t.path(name), encoding="utf-8") as file:
            check_equal(file.read(), printed.stdout, "what -o writes")



@test("html: a page of what was added up has what sums tell, and says nothing of what they do not")
def _(t):
    target = t.ort_run("1.30.0", "nested")
    probe = t.opprobe("-p", target.pid, "--aggregate", "--no-cost", "--json", "-o",
                      t.path("capture.opp")).attached()
    target.run(50)
    report = probe.stop().nothing_lost().json
    browser = start_browser(t)
    browser.open(write_page(t))
    check_time(browser, report)
    check_table(browser, report)
    for picture in "runs", "heat", "timeline":
        text = browser.eval("document.querySelector('#%s').innerText" % picture)
        check("added up as they ended (--aggregate)" in text, "why %s is not there" % picture, text)

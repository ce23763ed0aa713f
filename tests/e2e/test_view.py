# SPDX-License-Identifier: GPL-2.0-only
"""opprobe view: a capture in the browser, and for nobody else."""

import http.client
import json
import os
import re
import socket
import subprocess
import urllib.parse

from harness import check, check_equal, test

REPORT = "report.json"


def get(port, path, method="GET", host=None):
    """Status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or "127.0.0.1:%d" % port)
    connection.endheaders()
    answer = connection.getresponse()
    got = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return got


@test("a capture is shown on the loopback to who knows the address, and nothing else is")
def _(t):
    target = t.ort_run("1.30.0", "nested", "-O", "0")
    target.run(3)
    probe = t.attach(target, "-e", "none")
    target.run(5)
    probe.stop()
    folder = t.path("views")
    os.mkdir(folder)
    view = t.opprobe("view", t.path("capture.opp"), "--port", "0",
                     environment={**os.environ, "TMPDIR": folder})
    url = urllib.parse.urlparse(view.line().strip())
    check(re.fullmatch(r"/[0-9a-f]{32}/", url.path), "the word in the address", url)
    port, root = url.port, url.path
    for address in ("127.0.0.2", "::1"):
        try:
            socket.create_connection((address, port), timeout=5).close()
            check(False, "it answers at " + address)
        except OSError:
            pass
    status, headers, page = get(port, root)
    check_equal((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"), "the page")
    check(b"</html>" in page or b"</script>" in page, "the page", page[:200])
    check("Access-Control-Allow-Origin" not in headers, "others may read the page", headers)
    exported = subprocess.run([t.program, "export", t.path("capture.opp"), "--format", "perfetto"],
                              stdout=subprocess.PIPE, check=True).stdout
    status, headers, trace = get(port, root + "trace.perfetto-trace")
    check_equal((status, headers["Access-Control-Allow-Origin"]), (200, "https://ui.perfetto.dev"),
                "the trace")
    check_equal(trace, exported, "the trace")
    report = subprocess.run([t.program, "report", t.path("capture.opp"), "--json"],
                            stdout=subprocess.PIPE, check=True).stdout
    for _ in range(2):
        check_equal(json.loads(get(port, root + REPORT)[2]), json.loads(report), "the report")
    check_equal(get(port, root + REPORT, "HEAD")[0::2], (200, b""), "HEAD")
    for name in ("report.csv", "trace.json", "speedscope.json", "profile.pb", "stacks.folded"):
        check_equal(get(port, root + name)[0], 200, name)
    check_equal(get(port, root + REPORT, host="localhost:%d" % port)[0], 200, "localhost")
    for host in ("evil.example:%d" % port, "127.0.0.1", "127.0.0.1:1"):
        check_equal(get(port, root + REPORT, host=host)[0], 421, "for " + host)
    for path in ("/", "/" + "0" * 32 + "/" + REPORT, root[:-1], root + "../../etc/passwd",
                 root + "nothing", root + REPORT + "/"):
        check_equal(get(port, path)[0], 404, path)
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        check_equal(get(port, root, method)[0], 405, method)
    check_equal(os.listdir(os.path.join(folder, *os.listdir(folder))), [], "files that are open")
    view.signal(2)
    check_equal(view.wait(), 0, "status")
    check_equal(os.listdir(folder), [], "what is left behind")

# SPDX-License-Identifier: GPL-2.0-only
"""What sessions of the C program are, as its options say: also on emulated machines."""

import os

from harness import check, check_equal

# Options of ort_run, and what they mean.
SETTINGS = [
    (("-t", "3"), {"parallel": False, "intra_threads": 3, "intra_spins": True,
                   "inter_threads": None, "memory_pattern": True, "arena": True}),
    (("-p", "-t", "2", "-i", "3"), {"parallel": True, "intra_threads": 2, "inter_threads": 3,
                                    "intra_spins": True, "inter_spins": True}),
    (("-t", "1", "-m"), {"parallel": False, "intra_threads": 1, "memory_pattern": False,
                         "arena": False}),
]


def look_at_models(t, version):
    """Of a recording, and of the sessions that doctor finds without one."""
    for options, wanted in SETTINGS:
        target = t.ort_run(version, "mlp", *options)
        probe = t.attach(target)
        target.run(3)
        (got,) = probe.stop().nothing_lost().json["session_models"]
        wanted = {"path": t.model("mlp"), "graph": "mlp", "producer": "opprobe",
                  "providers": ["CPUExecutionProvider"], **wanted}
        check_equal({key: got[key] for key in wanted}, wanted, "what the session is")
        doctor = t.opprobe("doctor", "-p", target.pid)
        doctor.wait()
        found = [line for line in doctor.stdout.split("\n") if line.startswith("ok    session ")]
        check(len(found) == 1 and "%s: graph mlp, by opprobe, %s" % (
            t.model("mlp"), "parallel" if wanted["parallel"] else "sequential") in found[0],
              "doctor tells of another session", doctor.stdout)
        os.unlink(t.path("capture.opp"))
        target.close()

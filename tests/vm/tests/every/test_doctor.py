# SPDX-License-Identifier: GPL-2.0-only
"""What opprobe doctor says of this kernel and this machine."""

import os

from harness import check, check_equal, test

VERSIONS = ("1.30.0",)


@test("doctor: probes work here, and whether there are hardware counters is true")
def _(t):
    target = t.ort_run("1.30.0", "mlp")
    doctor = t.opprobe("doctor", "-p", target.pid)
    check_equal(doctor.wait(), 0, "status of doctor")
    verdicts = {line[6:24].strip(): line[:4].strip() for line in doctor.stdout.splitlines()}
    for what in ("kernel", "kernel types", "probes", "perf events", "runtime", "probe sites"):
        check_equal(verdicts.get(what), "ok", what)
    hardware = "ok" if os.path.exists("/sys/bus/event_source/devices/armv8_pmuv3") else "warn"
    check_equal(verdicts.get("hardware counters"), hardware, "hardware counters")
    check(os.uname().release in doctor.stdout, "the kernel's version is not said", doctor.stdout)

# SPDX-License-Identifier: GPL-2.0-only
"""Pods by control groups of version 2, where a pod sees the groups of others from its own."""

import ctypes
import os
import uuid

from harness import check, check_equal, test
from pods import check_pod, join, pod_group, pod_logs, told_by_ps

VERSIONS = ("1.30.0",)
CLONE_NEWCGROUP = 0x02000000  # include/uapi/linux/sched.h
ABOVE = ("kubepods.slice", "kubepods-besteffort.slice")
LIBC = ctypes.CDLL(None, use_errno=True)


def in_pod(group):
    """What a child does so as to be in a pod of its own, as a DaemonSet's is."""
    def enter():
        join(group, os.getpid())
        if LIBC.unshare(CLONE_NEWCGROUP):
            raise OSError(ctypes.get_errno(), "unshare")
    return enter


def pods(driver):
    @test("a process is told by its pod, from another one too, where groups are %s's" % driver)
    def _(t):
        uid, own = str(uuid.uuid4()), str(uuid.uuid4())
        group, own_group = (pod_group(t, one, driver, ABOVE) for one in (uid, own))
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            check(file.read().startswith("0::/"), "control groups are not of version 2")
        with pod_logs(uid, ["server"]):
            target, other = t.ort_run("1.30.0", "tiny"), t.ort_run("1.30.0", "tiny")
            join(group, target.pid)
            check_pod(told_by_ps(t, target), "server")
            check_equal(told_by_ps(t, other), {}, "the pod of what is in none")
            check_pod(told_by_ps(t, target, preexec_fn=in_pod(own_group)), "server")
            for choice, pod in ((("--pod", "prod/model-*"), own_group), (("--cgroup", group), None)):
                probe = t.opprobe(*choice, "--json", "-o", t.path(choice[0] + ".opp"),
                                  preexec_fn=in_pod(pod) if pod else None).attached()
                other.run(2)
                runs = target.run(3)["runs"]
                report = probe.stop().nothing_lost()
                check_equal(report.json["runs"], runs, "runs by %s" % choice[0])


for each in ("cri-containerd", "crio"):
    pods(each)

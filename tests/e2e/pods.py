# SPDX-License-Identifier: GPL-2.0-only
"""Pods as they are found on a node: control groups, the kubelet's folders, and what it mounts."""

import contextlib
import json
import os
import shutil

from harness import OrtTarget, check_equal, succeeds

LOGS = "/var/log/pods"
NAMESPACE, NAME = "prod", "model-server-0"
CONTAINER_ID = "0123456789abcdef" * 4


def pod_group(t, uid, driver, above=()):
    """The control group of the container of the pod, by the runtime whose scopes are named so."""
    parts = [*above, "kubepods-besteffort-pod%s.slice" % uid.replace("-", "_"),
             "%s-%s.scope" % (driver, CONTAINER_ID)]
    group = None
    for n in range(len(parts)):
        group = t.group("/".join(parts[:n + 1]))
    return group


def join(group, pid):
    with open(os.path.join(group, "cgroup.procs"), "w", encoding="utf-8") as file:
        file.write(str(pid))


@contextlib.contextmanager
def pod_logs(uid, containers):
    """The folder in which the kubelet keeps what the containers of the pod say."""
    folder = os.path.join(LOGS, "%s_%s_%s" % (NAMESPACE, NAME, uid))
    made = not os.path.exists(LOGS)
    try:
        for name in containers:
            os.makedirs(os.path.join(folder, name))
        yield
    finally:
        shutil.rmtree(LOGS if made else folder)


def pod_target(t, uid, mounted):
    """A process with the file that the kubelet mounts for the container `mounted` of the pod."""
    if not mounted:
        return t.ort_run("1.30.0", "tiny")
    folder = t.path("kubelet/pods/%s/containers/%s" % (uid, mounted))
    os.makedirs(folder)
    return t.start(OrtTarget, [
        "unshare", "--mount", "sh", "-ec",
        'echo >"$1"; mount -t tmpfs none /dev; echo >/dev/termination-log; '
        'mount --bind "$1" /dev/termination-log; shift; exec "$@"',
        "-", os.path.join(folder, "1b2c3d4e"), t.ort_program, t.library("1.30.0"),
        t.model("tiny")]).ready()


def told_by_ps(t, target, **options):
    """What ps says of the pod that it is in; options are of the process that ps is."""
    listed = json.loads(succeeds(t, "ps", "--json", **options))
    (one,) = [one for one in listed if one["pid"] == target.pid]
    return {key: one[key] for key in one if key in ("pod", "namespace") or "container" in key}


def check_pod(told, container):
    """It is told by ps that the process is in the pod, in a container of that name, or of none."""
    expected = {"container": CONTAINER_ID, "pod": NAME, "namespace": NAMESPACE}
    if container:
        expected["container_name"] = container
    check_equal(told, expected, "the pod that ps tells")

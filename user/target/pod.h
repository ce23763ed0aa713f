/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which container of its Kubernetes pod a process is in, by the name that the pod gives to it:
 * what /proc/PID/mountinfo says of that. It may be read without any right over the process.
 */
#ifndef OPPROBE_POD_H
#define OPPROBE_POD_H

#include <stdbool.h>
#include <stdio.h>

#define POD_CONTAINER 63 /* bytes of a container's name, a label of DNS */

/* Is it a name that a pod may give: digits, small letters, and '-' between them (RFC 1123)? */
bool pod_may_call(const char *name, size_t length);
/*
 * The name of the container of the pod @uid, as cgroup_pod() has that. False if @mountinfo tells
 * none, or several. The kubelet mounts a file at /dev/termination-log that it makes for each
 * container, .../pods/UID/containers/NAME/ and 8 hex digits: makeMounts() of
 * pkg/kubelet/kuberuntime/kuberuntime_container.go, getPodContainerDir() of
 * pkg/kubelet/kubelet_getters.go of github.com/kubernetes/kubernetes. A container that has a
 * terminationMessagePath of its own has it elsewhere, and is not known by it.
 *
 * Any line may be of a mount that the process made in a namespace of its own, and so may the name:
 * whoever lies in that way calls their own container something else, in their own pod.
 */
bool pod_container(FILE *mountinfo, const char *uid, char name[POD_CONTAINER + 1]);

#endif

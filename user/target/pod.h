/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Kubernetes pod that a process is in, and which of its containers, by the names that people
 * gave to them: what the kubelet's folders on this node tell of that, and /proc/PID/mountinfo. It
 * may be read without any right over the process.
 */
#ifndef OPPROBE_POD_H
#define OPPROBE_POD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Bytes of names: labels of DNS, and a pod's is a domain's (RFC 1123). */
#define POD_NAMESPACE 63
#define POD_NAME      253
#define POD_CONTAINER 63
#define POD_WHOLE     (POD_NAMESPACE + 1 + POD_NAME) /* NAMESPACE/NAME */

/* "" where it is not known. The first two may hold any bytes but '_'. */
struct pod {
	char namespace[POD_NAMESPACE + 1], name[POD_NAME + 1];
	char container[POD_CONTAINER + 1]; /* where it is certain; pod_may_call() of it holds */
};

/*
 * Fill in @pod, which is zeroed, of process @pid, which is in the pod @uid: as cgroup_pod() has it.
 * A pod is what the folder of its logs is called, /var/log/pods/NAMESPACE_POD_UID, the one place on
 * a node that tells it; and in that is a folder for each container that was started
 * (BuildPodLogsDirectory and BuildContainerLogsDirectory of pkg/kubelet/kuberuntime/helpers.go of
 * github.com/kubernetes/kubernetes). The container is what its mounts say (pod_container()), or the
 * only one that has a folder; where these two differ, it is not certain.
 */
void pod_find(struct pod *pod, pid_t pid, const char *uid);

/* NAMESPACE/NAME, as people say it, stored in @whole; "" if the pod is not known. */
void pod_whole_name(const struct pod *pod, char whole[POD_WHOLE + 1]);

/* Is it a name that a pod may give: digits, small letters, and '-' between them (RFC 1123)? */
bool pod_may_call(const char *name, size_t length);
/*
 * The name of the container of the pod @uid, by /proc/PID/mountinfo. False if @mountinfo tells
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

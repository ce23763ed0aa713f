/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process is called among others, on a machine of many: its program, container and pod. */
#ifndef OPPROBE_WHOSE_H
#define OPPROBE_WHOSE_H

#include "serve/metrics.h"

/*
 * Where the kubelet keeps what containers print, in folders NAMESPACE_POD_UID/CONTAINER: the one
 * place on a node that tells what a pod is called (pkg/kubelet/kuberuntime/helpers.go,
 * BuildPodLogsDirectory and BuildContainerLogsDirectory, of github.com/kubernetes/kubernetes).
 */
#define WHOSE_POD_LOGS "/var/log/pods"

/*
 * Fill in @whose, as far as it is known; @pod_logs: WHOSE_POD_LOGS. Bytes as they are. A container
 * is called as its pod calls it, which is what others mean by the label; where that is not certain,
 * and outside of pods, it is the beginning of its id.
 */
void whose_find(pid_t pid, const char *pod_logs, struct metrics_whose *whose);

#endif

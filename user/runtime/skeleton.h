/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF programs, as bpftool made them: build/opprobe.skel.h, behind the
 * headers that declare what the programs share with us. A runtime whose
 * programs have words of their own adds the header of those.
 */
#ifndef OPPROBE_SKELETON_H
#define OPPROBE_SKELETON_H

#include "../../bpf/events.h"
#include "../../bpf/ort/layout.h"
#include "opprobe.skel.h"

#endif

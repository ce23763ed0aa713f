/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same as gpu.h, of NVIDIA's own headers: for a machine that has a GPU.
 */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <cuda.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* As many bytes as the longest copy has. */
#define AREA 8192

#define TO_DEVICE cudaMemcpyHostToDevice

typedef cudaLaunchConfig_t launch_config;
typedef CUlaunchConfig driver_config;

#endif

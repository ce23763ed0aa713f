/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same as gpu.h for HIP, whose functions are called otherwise and take the same. What HIP has
 * not is not called by the models for it.
 */
#ifndef TESTS_HIP_H
#define TESTS_HIP_H

#define __cudaPushCallConfiguration __hipPushCallConfiguration
#define __cudaPopCallConfiguration  __hipPopCallConfiguration

#define cudaLaunchKernel	    hipLaunchKernel
#define cudaLaunchCooperativeKernel hipLaunchCooperativeKernel
#define cudaGraphLaunch		    hipGraphLaunch
#define cudaMemcpyAsync		    hipMemcpyAsync
#define cudaMemcpy		    hipMemcpy
#define cudaMemcpy2DAsync	    hipMemcpy2DAsync
#define cudaStreamSynchronize	    hipStreamSynchronize
#define cudaEventSynchronize	    hipEventSynchronize
#define cudaDeviceSynchronize	    hipDeviceSynchronize
#define cudaGetLastError	    hipGetLastError
#define cuLaunchKernel		    hipModuleLaunchKernel
#define cuModuleUnload		    hipModuleUnload
#define cuFuncGetName		    name_of_function
#define stand_in_kernel		    stand_in_function

#define cudaLaunchKernelExC no_launch_of_hip
#define cudaMemcpy3DAsync   no_copy_of_hip
#define cuLaunchKernelEx    no_launch_of_function_of_hip
#define cuMemcpy2DAsync_v2  no_copy_of_area_of_hip

#define cudaMemcpyBatchAsync  no_batch_of_hip
#define cuMemcpyBatchAsync_v2 no_copies_of_hip

#include "gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its grid is of threads. */
cudaError_t hipExtModuleLaunchKernel(void *function, unsigned threads_x, unsigned threads_y,
				     unsigned threads_z, unsigned block_x, unsigned block_y,
				     unsigned block_z, size_t shared, cudaStream_t stream,
				     void **arguments, void **extra, void *start, void *stop,
				     unsigned flags);

#ifdef __cplusplus
}
#endif

#endif

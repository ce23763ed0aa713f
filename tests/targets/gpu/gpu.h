/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of cuda_runtime_api.h and cuda.h as the tests' operators call and the stand-ins for
 * both libraries have: their names, arguments and structures, by NVIDIA's documentation of 12.4.
 */
#ifndef TESTS_GPU_H
#define TESTS_GPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *cudaStream_t;
typedef void *cudaEvent_t;
typedef int cudaError_t;

struct dim3 {
	unsigned x, y, z;
#ifdef __cplusplus
	dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
	{
	}
#endif
};

/* cudaLaunchConfig_t */
struct launch_config {
	struct dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	void *attributes;
	unsigned n_attributes;
};

/* CUlaunchConfig */
struct driver_config {
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	cudaStream_t hStream;
	void *attributes;
	unsigned n_attributes;
};

/* CUDA_MEMCPY2D and CUDA_MEMCPY3D. */
struct CUDA_MEMCPY2D {
	size_t from_and_to[14];
	size_t WidthInBytes, Height;
};

struct CUDA_MEMCPY3D {
	size_t from_and_to[22];
	size_t WidthInBytes, Height, Depth;
};

cudaError_t cudaLaunchKernel(const void *stub, struct dim3 grid, struct dim3 block,
			     void **arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *stub, struct dim3 grid, struct dim3 block,
					void **arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const struct launch_config *config, const void *stub,
				void **arguments);
cudaError_t cudaGraphLaunch(void *graph, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, int kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			      size_t width, size_t height, int kind, cudaStream_t stream);
/* One of many that opprobe has no probe in, and that leads to the driver, too. */
cudaError_t cudaMemcpy3DAsync(const void *parameters, cudaStream_t stream);
cudaError_t cuMemcpy2DAsync_v2(const struct CUDA_MEMCPY2D *copy, cudaStream_t stream);
cudaError_t cuMemcpy3DAsync_v2(const struct CUDA_MEMCPY3D *copy, cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
				 size_t n, void *attributes, size_t *of, size_t n_attributes,
				 cudaStream_t stream);
cudaError_t cuMemcpyBatchAsync_v2(void *const *to, const void *const *from, const size_t *sizes,
				  size_t n, void *attributes, size_t *of, size_t n_attributes,
				  cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);

cudaError_t cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			   cudaStream_t stream, void **arguments, void **extra);
cudaError_t cuLaunchKernelEx(const struct driver_config *config, void *function, void **arguments,
			     void **extra);
cudaError_t cuGraphLaunch(void *graph, cudaStream_t stream);
cudaError_t cuMemcpyAsync(void *to, const void *from, size_t size, cudaStream_t stream);
cudaError_t cuStreamSynchronize(cudaStream_t stream);
cudaError_t cuEventSynchronize(cudaEvent_t event);
cudaError_t cuCtxSynchronize(void);

cudaError_t cuFuncGetName(const char **name, void *function);
cudaError_t cuModuleUnload(void *module);
/* A function that was loaded, of the thread's own: unloaded, there is another one in its place. */
void *stand_in_kernel(void);

/* How long the stand-in's device is at work when somebody waits for it. */
#define DEVICE_WAIT_NS 3000000

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * In place of libcudart, without a device: each function has the driver do it, as the real one
 * does, and begins as the real one does, with a push.
 */
#include "gpu.h"

#define REFUSED 9 /* cudaErrorInvalidConfiguration */

static int sink;

cudaError_t cudaLaunchKernel(const void *stub, struct dim3 grid, struct dim3 block,
			     void **arguments, size_t shared, cudaStream_t stream)
{
	if (!grid.x)
		return REFUSED;
	return cuLaunchKernel((char *)stub + 1, grid.x, grid.y, grid.z, block.x, block.y, block.z,
			      shared, stream, arguments, NULL);
}

cudaError_t cudaLaunchCooperativeKernel(const void *stub, struct dim3 grid, struct dim3 block,
					void **arguments, size_t shared, cudaStream_t stream)
{
	return cuLaunchKernel((char *)stub + 1, grid.x, grid.y, grid.z, block.x, block.y, block.z,
			      shared, stream, arguments, NULL);
}

cudaError_t cudaLaunchKernelExC(const struct launch_config *config, const void *stub,
				void **arguments)
{
	const struct driver_config driver = {
		.gridDimX = config->gridDim.x,
		.gridDimY = config->gridDim.y,
		.gridDimZ = config->gridDim.z,
		.blockDimX = config->blockDim.x,
		.blockDimY = config->blockDim.y,
		.blockDimZ = config->blockDim.z,
		.sharedMemBytes = config->dynamicSmemBytes,
		.hStream = config->stream,
	};

	return cuLaunchKernelEx(&driver, (char *)stub + 1, arguments, NULL);
}

cudaError_t cudaGraphLaunch(void *graph, cudaStream_t stream)
{
	return cuGraphLaunch(graph, stream);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, cudaStream_t stream)
{
	int error = cuMemcpyAsync(to, from, size, stream);

	sink += error;
	return error;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			      size_t width, size_t height, int kind, cudaStream_t stream)
{
	/* Row by row: several calls of the driver are one of this. */
	int error = cuMemcpyAsync(to, from, width * (height - 1), stream);

	sink += error;
	return error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
	int error = cuMemcpyAsync(to, from, size, NULL);

	error |= cuStreamSynchronize(NULL);
	sink += error;
	return error;
}

cudaError_t cudaMemcpy3DAsync(const void *parameters, cudaStream_t stream)
{
	const struct CUDA_MEMCPY3D copy = {.WidthInBytes = 101, .Height = 11, .Depth = 3};
	int error = cuMemcpy3DAsync_v2(&copy, stream);

	sink += error;
	return error;
}

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
				 size_t n, void *attributes, size_t *of, size_t n_attributes,
				 cudaStream_t stream)
{
	int error = cuMemcpyBatchAsync_v2(to, from, sizes, n, attributes, of, n_attributes, stream);

	sink += error;
	return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	int error = cuStreamSynchronize(stream);

	sink += error;
	return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	int error = cuEventSynchronize(event);

	sink += error;
	return error;
}

cudaError_t cudaDeviceSynchronize(void)
{
	int error = cuCtxSynchronize();

	sink += error;
	return error;
}

cudaError_t cudaGetLastError(void)
{
	return 0;
}

/* -- what clang's code for the host calls ------------------------------------------------------ */

#include "pushed.h"

void **__cudaRegisterFatBinary(void *binary)
{
	static void *handle;

	return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
}

void __cudaUnregisterFatBinary(void **handle)
{
}

int __cudaRegisterFunction(void **handle, const void *stub, char *name, const char *device_name,
			   int limit, void *thread, void *block, void *dim, void *grid, int *size)
{
	return 0;
}

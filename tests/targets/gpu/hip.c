// SPDX-License-Identifier: GPL-2.0-only
/*
 * In place of libamdhip64, without a device. Its hipKernelNameRef() goes to the name as ROCm's of
 * 5.2 to 7.2 do: by a member of what the handle points to, and a string in what that points to.
 * Built with BY_TABLE, it does so as from 6 on: by a table that is filled when it is first asked
 * for. Built with CONTRADICTS, it does not always say the same.
 */
#include <stdlib.h>
#include <time.h>

#include "hip.h"

struct string {
	const char *text;
	size_t length;
};

/* amd::Kernel, and hip::DeviceFunc, whose address is the handle. */
struct kernel {
	long pad[2];
	struct string name, other;
};

struct function {
	long pad[7];
	struct kernel *kernel;
};

static const struct string loaded = {"_Z6loadedi", 10}, reloaded = {"reloaded_0d1d2d", 15};
static int sink;

cudaError_t hipLaunchKernel(const void *stub, struct dim3 grid, struct dim3 block, void **arguments,
			    size_t shared, cudaStream_t stream)
{
	return sink;
}

cudaError_t hipLaunchCooperativeKernel(const void *stub, struct dim3 grid, struct dim3 block,
				       void **arguments, size_t shared, cudaStream_t stream)
{
	return sink;
}

cudaError_t hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
				  unsigned block_x, unsigned block_y, unsigned block_z,
				  unsigned shared, cudaStream_t stream, void **arguments,
				  void **extra)
{
	return sink;
}

cudaError_t hipExtModuleLaunchKernel(void *function, unsigned threads_x, unsigned threads_y,
				     unsigned threads_z, unsigned block_x, unsigned block_y,
				     unsigned block_z, size_t shared, cudaStream_t stream,
				     void **arguments, void **extra, void *start, void *stop,
				     unsigned flags)
{
	return sink;
}

cudaError_t hipGraphLaunch(void *graph, cudaStream_t stream)
{
	return sink;
}

cudaError_t hipMemcpyAsync(void *to, const void *from, size_t size, int kind, cudaStream_t stream)
{
	return sink;
}

cudaError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			     size_t width, size_t height, int kind, cudaStream_t stream)
{
	return sink;
}

static int be_at_work(void)
{
	const struct timespec time = {.tv_nsec = DEVICE_WAIT_NS};

	return nanosleep(&time, NULL);
}

cudaError_t hipMemcpy(void *to, const void *from, size_t size, int kind)
{
	int error = be_at_work();

	sink += error;
	return error;
}

cudaError_t hipStreamSynchronize(cudaStream_t stream)
{
	int error = be_at_work();

	sink += error;
	return error;
}

cudaError_t hipEventSynchronize(cudaEvent_t event)
{
	int error = be_at_work();

	sink += error;
	return error;
}

cudaError_t hipDeviceSynchronize(void)
{
	int error = be_at_work();

	sink += error;
	return error;
}

cudaError_t hipGetLastError(void)
{
	return 0;
}

/* -- handles ---------------------------------------------------------------------------------- */

static __attribute__((noinline)) const struct string *name_of(const struct function *function)
{
	return &function->kernel->name;
}

static __attribute__((noinline)) const char *name_ref(const struct function *function)
{
#ifdef CONTRADICTS
	if (function && sink)
		return function->kernel->other.text;
#endif
	return function ? name_of(function)->text : NULL;
}

#ifdef BY_TABLE
struct table {
	size_t size;
	cudaError_t (*get_last_error)(void);
	const char *(*name_ref)(const struct function *function);
};

static __attribute__((noinline)) const struct table *get_table(void)
{
	static struct table table;
	static const struct table *of_hip;

	if (!__atomic_load_n(&of_hip, __ATOMIC_ACQUIRE)) {
		table.size = sizeof(table);
		table.get_last_error = hipGetLastError;
		table.name_ref = name_ref;
		__atomic_store_n(&of_hip, &table, __ATOMIC_RELEASE);
	}
	return of_hip;
}

const char *hipKernelNameRef(const struct function *function)
{
	return get_table()->name_ref(function);
}
#else
const char *hipKernelNameRef(const struct function *function)
{
	return name_ref(function);
}
#endif

cudaError_t cuFuncGetName(const char **name, void *function)
{
	*name = hipKernelNameRef(function);
	return 0;
}

/* What HIP has not: nobody calls it. */
cudaError_t cudaLaunchKernelExC(const struct launch_config *config, const void *stub,
				void **arguments)
{
	return 0;
}

cudaError_t cuLaunchKernelEx(const struct driver_config *config, void *function, void **arguments,
			     void **extra)
{
	return 0;
}

cudaError_t cudaMemcpy3DAsync(const void *parameters, cudaStream_t stream)
{
	return 0;
}

cudaError_t cuMemcpy2DAsync_v2(const struct CUDA_MEMCPY2D *copy, cudaStream_t stream)
{
	return 0;
}

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
				 size_t n, void *attributes, size_t *of, size_t n_attributes,
				 cudaStream_t stream)
{
	return 0;
}

cudaError_t cuMemcpyBatchAsync_v2(void *const *to, const void *const *from, const size_t *sizes,
				  size_t n, void *attributes, size_t *of, size_t n_attributes,
				  cudaStream_t stream)
{
	return 0;
}

/* Another kernel comes to be where one was: the worst that can follow. */
cudaError_t hipModuleUnload(void *module)
{
	struct kernel *kernel = ((struct function *)module)->kernel;

	kernel->name = kernel->name.text == loaded.text ? reloaded : loaded;
	return 0;
}

void *stand_in_function(void)
{
	static __thread struct function *function;

	if (!function) {
		function = calloc(1, sizeof(*function));
		function->kernel = calloc(1, sizeof(*function->kernel));
		function->kernel->name = loaded;
		function->kernel->other = reloaded;
	}
	return function;
}

/* -- what clang's code for the host calls ------------------------------------------------------ */

#include "pushed.h"

void **__hipRegisterFatBinary(void *binary)
{
	static void *handle;

	return &handle;
}

void __hipUnregisterFatBinary(void **handle)
{
	sink = 0;
}

int __hipRegisterFunction(void **handle, const void *stub, char *name, const char *device_name,
			  int limit, void *thread, void *block, void *dim, void *grid, int *size)
{
	return 0;
}

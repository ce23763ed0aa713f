// SPDX-License-Identifier: GPL-2.0-only
/*
 * Custom operators of ONNX Runtime that have a GPU do things, and write down what: a line each in
 * the file $GPU_TRUTH, before it is done.
 *
 *	NODE KIND KERNEL GRID BLOCK BYTES STREAM TID
 *
 * Its attributes: `node`, its number; `what`, see below; `times`. Clang compiles it as it does
 * any CUDA source, for the host alone.
 */
#include "gpu.h"

#define __global__ __attribute__((global))

/* As cuda_runtime_api.h has it, for `<<<>>>`. */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
						cudaStream_t stream = NULL);
extern "C" long syscall(long number, ...);
extern "C" char *getenv(const char *name);
extern "C" int open(const char *path, int flags, ...);
extern "C" int dprintf(int file, const char *format, ...);
extern "C" void *calloc(size_t n, size_t size);
extern "C" void free(void *);

/* -- kernels ------------------------------------------------------------------------------- */

__global__ void scale(float *to, int n)
{
}

namespace deep
{
template <typename T> __global__ void fill(T *to, T value)
{
}
} // namespace deep

namespace
{
__global__ void hidden(int *to)
{
}
} // namespace

extern "C" __global__ void plain(int n)
{
}

/* -- doing it, and writing it down ----------------------------------------------------------- */

#define STREAM ((cudaStream_t)0x5700)
#define HANDLE ((void *)0xc0de1000)
#define GRAPH  ((void *)0x96a9)

enum what {
	SCALE,
	FILL,
	HIDDEN,
	PLAIN,
	CONFIGURED,
	COOPERATIVE,
	DRIVER,
	DRIVER_CONFIGURED,
	GRAPHS,
	COPY,
	COPY_AND_WAIT,
	COPY_AREA,
	COPY_UNSEEN, /* by a function that has no probe */
	WAIT,
	REFUSED, /* by the runtime's library, so that the driver is told */
	MIXED,	 /* a copy, a kernel, and a wait */
	NOTHING,
};

struct call {
	int node;
	const char *kind, *kernel;
	dim3 grid, block;
	unsigned long bytes;
	unsigned long stream;
};

static int truth()
{
	static int file = -2;
	const char *path = getenv("GPU_TRUTH");

	if (file == -2)
		file = path ? open(path, 02101, 0644) : -1; /* O_WRONLY | O_CREAT | O_APPEND */
	return file;
}

static void write_down(const call &call)
{
	if (truth() < 0)
		return;
	dprintf(truth(), "%d %s %s %u,%u,%u %u,%u,%u %lu %lu %ld\n", call.node, call.kind,
		call.kernel, call.grid.x, call.grid.y, call.grid.z, call.block.x, call.block.y,
		call.block.z, call.bytes, call.stream, syscall(186));
}

static dim3 grid_of(int i)
{
	return dim3(1 + i, 2, 3);
}

static dim3 block_of(int i)
{
	return dim3(32, 1 + i % 4, 1);
}

static void launch(int node, const char *kernel, int i, unsigned long bytes, unsigned long stream)
{
	call call = {node, "kernel", kernel, grid_of(i), block_of(i), bytes, stream};

	write_down(call);
}

static void tell(int node, const char *kind, unsigned long bytes)
{
	call call = {node, kind, "-", dim3(0, 0, 0), dim3(0, 0, 0), bytes, 0};

	write_down(call);
}

template <typename T> static const void *stub_of(T *kernel)
{
	return (const void *)kernel;
}

static void do_driver(int node, int i)
{
	dim3 grid = grid_of(i), block = block_of(i);

	launch(node, "(function 0xc0de1000)", i, 512, 0x5700);
	cuLaunchKernel(HANDLE, grid.x, grid.y, grid.z, block.x, block.y, block.z, 512, STREAM, NULL,
		       NULL);
}

static void do_configured(int node, int i)
{
	launch_config config = {grid_of(i), block_of(i), 1024, STREAM, NULL, 0};

	launch(node, "scale", i, 1024, 0x5700);
	cudaLaunchKernelExC(&config, stub_of(scale), NULL);
}

static void do_driver_configured(int node, int i)
{
	dim3 grid = grid_of(i), block = block_of(i);
	driver_config config = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
				2048, STREAM, NULL, 0};

	launch(node, "(function 0xc0de1000)", i, 2048, 0x5700);
	cuLaunchKernelEx(&config, HANDLE, NULL, NULL);
}

static __attribute__((noinline)) void be_refused(void)
{
	/* Further down the stack than what the driver is told behind it. */
	cudaLaunchKernel(stub_of(scale), dim3(0), dim3(1), NULL, 0, NULL);
}

/* Further down the stack than the copy before it, which is over. */
static __attribute__((noinline)) void copy_unseen(void)
{
	volatile char deep[8192];

	deep[0] = 0;
	cudaMemcpy3DAsync((const void *)deep, STREAM);
	deep[1] = 0;
}

static void do_refused(int node, int i)
{
	/* It counts where it is asked for: this library does not know that it will be refused. */
	call call = {node, "kernel", "scale", dim3(0), dim3(1), 0, 0};

	write_down(call);
	be_refused();
	do_driver(node, i);
}

static void do_one(int node, int what, int i)
{
	char memory[8];

	switch (what) {
	case SCALE:
		launch(node, "scale", i, 64, 0x5700);
		scale<<<grid_of(i), block_of(i), 64, STREAM>>>(NULL, i);
		break;
	case FILL:
		launch(node, "deep::fill<float>", i, 0, 0);
		deep::fill<float><<<grid_of(i), block_of(i)>>>(NULL, 1.0f);
		break;
	case HIDDEN:
		launch(node, "(anonymous namespace)::hidden", i, 0, 0);
		hidden<<<grid_of(i), block_of(i)>>>(NULL);
		break;
	case PLAIN:
		launch(node, "plain", i, 0, 0x5700);
		plain<<<grid_of(i), block_of(i), 0, STREAM>>>(i);
		break;
	case CONFIGURED:
		do_configured(node, i);
		break;
	case COOPERATIVE:
		launch(node, "scale", i, 96, 0x5700);
		cudaLaunchCooperativeKernel(stub_of(scale), grid_of(i), block_of(i), NULL, 96,
					    STREAM);
		break;
	case DRIVER:
		do_driver(node, i);
		break;
	case DRIVER_CONFIGURED:
		do_driver_configured(node, i);
		break;
	case GRAPHS: {
		call call = {node, "graph", "(graph 0x96a9)", dim3(0, 0, 0), dim3(0, 0, 0), 0,
			     0x5700};

		write_down(call);
		cudaGraphLaunch(GRAPH, STREAM);
		break;
	}
	case COPY:
		tell(node, "copy", 1000 + i);
		cudaMemcpyAsync(memory, memory, 1000 + i, 1, STREAM);
		break;
	case COPY_AND_WAIT:
		tell(node, "copy", 7000);
		cudaMemcpy(memory, memory, 7000, 1);
		break;
	case COPY_AREA:
		tell(node, "copy", 10 * 20);
		cudaMemcpy2DAsync(memory, 16, memory, 16, 10, 20, 1, STREAM);
		break;
	case COPY_UNSEEN:
		do_one(node, COPY, i);
		tell(node, "copy", 3333);
		copy_unseen();
		break;
	case WAIT:
		cudaStreamSynchronize(STREAM);
		break;
	case REFUSED:
		do_refused(node, i);
		break;
	case MIXED:
		do_one(node, COPY, i);
		do_one(node, SCALE, i);
		do_one(node, WAIT, i);
		break;
	}
}

/* -- ONNX Runtime's side: onnxruntime_c_api.h, of version 7 --------------------------------- */

typedef void *status_t;

struct operator_kernel {
	void *const *api;
	long node, what, times;
};

struct custom_op {
	unsigned version;
	void *(*create)(const custom_op *, void *const *api, const void *info);
	const char *(*name)(const custom_op *);
	const char *(*provider)(const custom_op *);
	int (*input_type)(const custom_op *, size_t);
	size_t (*inputs)(const custom_op *);
	int (*output_type)(const custom_op *, size_t);
	size_t (*outputs)(const custom_op *);
	void (*compute)(void *kernel, void *context);
	void (*destroy)(void *kernel);
	int (*input_characteristic)(const custom_op *, size_t);
	int (*output_characteristic)(const custom_op *, size_t);
};

/* Places in the table of its functions. */
enum {
	CREATE_DOMAIN = 26,
	ADD_OPERATOR = 27,
	ADD_DOMAIN = 28,
	ATTRIBUTE_INT = 86,
	CONTEXT_INPUT = 90,
	CONTEXT_OUTPUT = 91,
	TENSOR_DATA = 51,
};

static long attribute(void *const *api, const void *info, const char *name)
{
	long value = 0;

	((status_t(*)(const void *, const char *, long *))api[ATTRIBUTE_INT])(info, name, &value);
	return value;
}

static void *create(const custom_op *, void *const *api, const void *info)
{
	operator_kernel *kernel = (operator_kernel *)calloc(1, sizeof(*kernel));

	kernel->api = api;
	kernel->node = attribute(api, info, "node");
	kernel->what = attribute(api, info, "what");
	kernel->times = attribute(api, info, "times");
	return kernel;
}

static void compute(void *it, void *context)
{
	operator_kernel *kernel = (operator_kernel *)it;
	void *const *api = kernel->api;
	const long one = 1;
	const void *input;
	float *from, *to;
	void *output;

	((status_t(*)(void *, size_t, const void **))api[CONTEXT_INPUT])(context, 0, &input);
	((status_t(*)(void *, size_t, const long *, size_t, void **))api[CONTEXT_OUTPUT])(
		context, 0, &one, 1, &output);
	((status_t(*)(const void *, float **))api[TENSOR_DATA])(input, &from);
	((status_t(*)(void *, float **))api[TENSOR_DATA])(output, &to);
	for (long i = 0; i < kernel->times; i++)
		do_one(kernel->node, kernel->what, i);
	*to = *from + 1;
}

static void destroy(void *kernel)
{
	free(kernel);
}

static const char *name(const custom_op *)
{
	return "Gpu";
}

static const char *provider(const custom_op *)
{
	return NULL;
}

static int type(const custom_op *, size_t)
{
	return 1; /* float */
}

static size_t one(const custom_op *)
{
	return 1;
}

static int required(const custom_op *, size_t)
{
	return 0;
}

extern "C" status_t RegisterCustomOps(void *options, void *const *(*const *base)(unsigned))
{
	static custom_op op = {8,      create,	name, provider, type,	    one,
			       type,   one,	compute,		destroy,  required, required};
	void *const *api = (*base)(8);
	void *domain = NULL;

	((status_t(*)(const char *, void **))api[CREATE_DOMAIN])("test.gpu", &domain);
	((status_t(*)(void *, custom_op *))api[ADD_OPERATOR])(domain, &op);
	return ((status_t(*)(void *, void *))api[ADD_DOMAIN])(options, domain);
}

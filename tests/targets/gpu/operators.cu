// SPDX-License-Identifier: GPL-2.0-only
/*
 * Custom operators of ONNX Runtime that have a GPU do things, and write down what: a line each in
 * the file $GPU_TRUTH, before it is done.
 *
 *	NODE KIND KERNEL GRID BLOCK BYTES STREAM TID
 *
 * One that has threads of the pool do it waits for $GPU_HOLD before that, see hold().
 * Its attributes: `node`, its number; `what`, see below; `times`. Clang compiles it as it does
 * any source of CUDA, or of HIP, for the host alone; nvcc for a machine that has a GPU (device.h).
 */
#ifdef __NVCC__
#include "device.h"
#else
#ifdef __HIP__
#include "hip.h"
#else
#include "gpu.h"
#endif

#define __global__ __attribute__((global))

/* As cuda_runtime_api.h has it, for `<<<>>>`. */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
						cudaStream_t stream = NULL);
extern "C" int gettid();
extern "C" char *getenv(const char *name);
extern "C" int open(const char *path, int flags, ...);
extern "C" long read(int file, void *to, size_t size);
extern "C" int close(int file);
extern "C" int usleep(unsigned us);
extern "C" void *mmap(void *at, size_t size, int may, int flags, int file, long offset);
extern "C" int mprotect(void *at, size_t size, int may);
extern "C" int dprintf(int file, const char *format, ...);
extern "C" int snprintf(char *to, size_t size, const char *format, ...);
extern "C" void *calloc(size_t n, size_t size);
extern "C" void free(void *);
#endif

/* -- kernels ------------------------------------------------------------------------------- */

__global__ void scale(float *to, int n)
{
	if (to)
		*to *= n;
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

#ifndef __NVCC__
#define STREAM ((cudaStream_t)0x5700)
#define HANDLE ((void *)0xc0de1000) /* of plain() */
#define GRAPH  ((void *)0x96a9)
#define EVENT  ((cudaEvent_t)0xe4e4)
#define LOADED_KERNEL stand_in_kernel()
#define MODULE	      stand_in_kernel()
/* Areas that bytes are copied from and to: nothing here does it. */
#define FROM	  NULL
#define TO	  NULL
#define TO_DEVICE 1

static void prepare()
{
}
#else
static cudaStream_t the_stream;
static CUfunction the_function;
static cudaGraphExec_t the_graph;
static cudaEvent_t the_event;
static char *from_host, *to_device;

#define STREAM the_stream
#define HANDLE the_function
#define GRAPH  the_graph
#define EVENT  the_event
#define LOADED_KERNEL the_function
#define MODULE	      NULL /* which is refused: nothing is unloaded */
#define FROM   from_host
#define TO	to_device

/* What is given to the GPU before anybody looks: it is in no operator. */
static void prepare()
{
	cudaGraph_t graph;

	cudaStreamCreateWithFlags(&the_stream, cudaStreamNonBlocking);
	cudaGetFuncBySymbol(&the_function, (const void *)plain);
	cudaMallocHost(&from_host, AREA);
	cudaMalloc(&to_device, AREA);
	cudaStreamBeginCapture(the_stream, cudaStreamCaptureModeThreadLocal);
	scale<<<1, 32, 0, the_stream>>>(NULL, 1);
	hidden<<<2, 32, 0, the_stream>>>(NULL);
	plain<<<3, 32, 0, the_stream>>>(1);
	cudaStreamEndCapture(the_stream, &graph);
	cudaGraphInstantiate(&the_graph, graph, 0);
	cudaEventCreate(&the_event);
	cudaEventRecord(the_event, the_stream);
	cudaDeviceSynchronize();
}
#endif

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
	COPY_AREA,   /* by both */
	COPY_UNSEEN, /* by a function that has no probe, */
	WAIT,
	REFUSED, /* by the runtime's library, so that the driver is told */
	MIXED,	 /* a copy, a kernel, and a wait */
	LOADED,	 /* a function that has a name, by the driver */
	HANDLED, /* and by the runtime, which takes handles, too */
	RELOADED, /* the same, after all were unloaded and others loaded */
	NOTHING,
	BATCHED, /* copies, of a number of areas at once */
	POOLED, /* as many kernels as there are, by threads of the session's pool */
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
	dprintf(truth(), "%d %s %s %u,%u,%u %u,%u,%u %lu %lu %d\n", call.node, call.kind,
		call.kernel, call.grid.x, call.grid.y, call.grid.z, call.block.x, call.block.y,
		call.block.z, call.bytes, call.stream, gettid());
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

/* By its name, or, where none can be read, by its handle. */
static void launch_handle(int node, int i, unsigned long bytes)
{
#ifdef __NVCC__
	launch(node, "plain", i, bytes, (unsigned long)STREAM);
#else
	char name[64];

	snprintf(name, sizeof(name), "(function %p)", HANDLE);
	launch(node, name, i, bytes, (unsigned long)STREAM);
#endif
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

static void tell_wait(int node, const char *what, unsigned long stream)
{
	call call = {node, "wait", what, dim3(0, 0, 0), dim3(0, 0, 0), 0, stream};

	write_down(call);
}

static void do_wait(int node, int i)
{
	char name[64];

	switch (i % 3) {
	case 0:
		tell_wait(node, "(wait for a stream)", (unsigned long)STREAM);
		cudaStreamSynchronize(STREAM);
		break;
	case 1:
		snprintf(name, sizeof(name), "(wait for an event %p)", (void *)EVENT);
		tell_wait(node, name, 0);
		cudaEventSynchronize(EVENT);
		break;
	default:
		tell_wait(node, "(wait for the device)", 0);
		cudaDeviceSynchronize();
	}
}

static void do_driver(int node, int i)
{
	dim3 grid = grid_of(i), block = block_of(i);
	void *arguments[] = {&i};

	launch_handle(node, i, 512);
	cuLaunchKernel(HANDLE, grid.x, grid.y, grid.z, block.x, block.y, block.z, 512, STREAM,
		       arguments, NULL);
}

static void do_configured(int node, int i)
{
	launch_config config = {};
	float *to = NULL;
	void *arguments[] = {&to, &i};

	config.gridDim = grid_of(i);
	config.blockDim = block_of(i);
	config.dynamicSmemBytes = 1024;
	config.stream = STREAM;
	launch(node, "scale", i, 1024, (unsigned long)STREAM);
	cudaLaunchKernelExC(&config, stub_of(scale), arguments);
}

static void do_driver_configured(int node, int i)
{
	dim3 grid = grid_of(i), block = block_of(i);
	void *arguments[] = {&i};
	driver_config config = {};

	config.gridDimX = grid.x;
	config.gridDimY = grid.y;
	config.gridDimZ = grid.z;
	config.blockDimX = block.x;
	config.blockDimY = block.y;
	config.blockDimZ = block.z;
	config.sharedMemBytes = 2048;
	config.hStream = STREAM;
	launch_handle(node, i, 2048);
	cuLaunchKernelEx(&config, HANDLE, arguments, NULL);
}

static void do_loaded(int node, int what, int i)
{
	dim3 grid = grid_of(i), block = block_of(i);
	void *arguments[] = {&i};
	const char *name;

	cuFuncGetName(&name, LOADED_KERNEL);
	launch(node, name, i, 32, (unsigned long)STREAM);
	if (what == HANDLED) {
		cudaLaunchKernel((const void *)LOADED_KERNEL, grid, block, arguments, 32, STREAM);
		cudaGetLastError(); /* Of a device: it is no cudaKernel_t. */
		return;
	}
#ifdef __HIP__
	if (i == 1) {
		/* The last block of a line is cut short. */
		hipExtModuleLaunchKernel(LOADED_KERNEL, grid.x * block.x - 1, grid.y * block.y,
					 grid.z * block.z, block.x, block.y, block.z, 32, STREAM,
					 arguments, NULL, NULL, NULL, 0);
		return;
	}
#endif
	cuLaunchKernel(LOADED_KERNEL, grid.x, grid.y, grid.z, block.x, block.y, block.z, 32, STREAM,
		       arguments, NULL);
}

static __attribute__((noinline)) void be_refused(void)
{
	/* Further down the stack than what the driver is told behind it. */
	cudaLaunchKernel(stub_of(scale), dim3(0), dim3(1), NULL, 0, NULL);
	cudaGetLastError(); /* The next one that asks is not to take it for its own. */
}

/* Of the driver's own. */
static void copy_area()
{
	CUDA_MEMCPY2D copy = {};

#ifdef __NVCC__
	copy.srcMemoryType = CU_MEMORYTYPE_HOST;
	copy.srcHost = FROM;
	copy.srcPitch = 16;
	copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.dstDevice = (CUdeviceptr)TO;
	copy.dstPitch = 16;
#endif
	copy.WidthInBytes = 12;
	copy.Height = 21;
	cuMemcpy2DAsync_v2(&copy, STREAM);
}

#ifndef __NVCC__
/* Further down the stack than the copy before it, which is over. */
static __attribute__((noinline)) void copy_unseen(int node)
{
	volatile char deep[8192];

	tell(node, "copy", 3333);
	deep[0] = 0;
	cudaMemcpy3DAsync((const void *)deep, STREAM);
	deep[1] = 0;
}
#else
static void copy_unseen(int node)
{
	cudaMemcpy3DParms parameters = {};

	parameters.srcPtr = make_cudaPitchedPtr(FROM, 101, 101, 11);
	parameters.dstPtr = make_cudaPitchedPtr(TO, 101, 101, 11);
	parameters.extent = make_cudaExtent(101, 11, 3);
	parameters.kind = TO_DEVICE;
	tell(node, "copy", 3333);
	cudaMemcpy3DAsync(&parameters, STREAM);
}
#endif

#ifndef __NVCC__
#define BATCH 3000 /* copies: not a multiple of what is read at once */

/* Its sizes end where nothing is mapped behind them. */
static const size_t *sizes_of_batch(int n)
{
	static size_t *end;

	if (!end) {
		/* PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS; PROT_NONE */
		char *pages = (char *)mmap(NULL, 8 * 4096, 3, 0x22, -1, 0);
		size_t *filled = (size_t *)(pages + 7 * 4096);

		mprotect(pages + 7 * 4096, 4096, 0);
		for (int i = 1; i <= BATCH; i++)
			filled[-i] = 1 + i % 7;
		end = filled;
	}
	return end - n;
}

/* The longest one, a short one, and one of the runtime's library. */
static void do_batch(int node, int i)
{
	static const void *from[BATCH];
	static void *to[BATCH];
	int n = i == 1 ? 5 : BATCH - i;
	const size_t *sizes = sizes_of_batch(n);
	size_t sum = 0;

	for (int k = 0; k < n; k++)
		sum += sizes[k];
	tell(node, "copy", sum);
	if (i == 2)
		cudaMemcpyBatchAsync(to, from, sizes, n, NULL, NULL, 0, STREAM);
	else
		cuMemcpyBatchAsync_v2(to, from, sizes, n, NULL, NULL, 0, STREAM);
}
#else
static void do_batch(int node, int i)
{
	/* Drivers before 12.8 have none. */
}
#endif

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
	float *none = NULL;
	void *arguments[] = {&none, &i};

	switch (what) {
	case SCALE:
		launch(node, "scale", i, 64, (unsigned long)STREAM);
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
		launch(node, "plain", i, 0, (unsigned long)STREAM);
		plain<<<grid_of(i), block_of(i), 0, STREAM>>>(i);
		break;
	case CONFIGURED:
		do_configured(node, i);
		break;
	case COOPERATIVE:
		launch(node, "scale", i, 96, (unsigned long)STREAM);
		cudaLaunchCooperativeKernel(stub_of(scale), grid_of(i), block_of(i),
					    arguments, 96, STREAM);
		break;
	case DRIVER:
		do_driver(node, i);
		break;
	case DRIVER_CONFIGURED:
		do_driver_configured(node, i);
		break;
	case GRAPHS: {
		char name[64];

		snprintf(name, sizeof(name), "(graph %p)", (void *)GRAPH);
		call call = {node, "graph", name, dim3(0, 0, 0), dim3(0, 0, 0), 0,
			     (unsigned long)STREAM};

		write_down(call);
		cudaGraphLaunch(GRAPH, STREAM);
		break;
	}
	case COPY:
		tell(node, "copy", 1000 + i);
		cudaMemcpyAsync(TO, FROM, 1000 + i, TO_DEVICE, STREAM);
		break;
	case COPY_AND_WAIT:
		tell(node, "copy", 7000);
		tell_wait(node, "(wait for a copy)", 0);
		cudaMemcpy(TO, FROM, 7000, TO_DEVICE);
		break;
	case COPY_AREA:
		tell(node, "copy", 10 * 20);
		cudaMemcpy2DAsync(TO, 16, FROM, 16, 10, 20, TO_DEVICE, STREAM);
		tell(node, "copy", 12 * 21);
		copy_area();
		break;
	case COPY_UNSEEN:
		do_one(node, COPY, i);
		copy_unseen(node);
		break;
	case BATCHED:
		do_batch(node, i);
		break;
	case WAIT:
		do_wait(node, i);
		break;
	case REFUSED:
		do_refused(node, i);
		break;
	case RELOADED:
		cuModuleUnload(MODULE);
		/* fall through */
	case LOADED:
	case HANDLED:
		do_loaded(node, what, i);
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
	PARALLEL_FOR = 274, /* from 1.17 on */
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

static void launch_one(void *it, size_t i)
{
	/* The pool is to be awake before all is done. */
	if (getenv("GPU_HOLD"))
		usleep(100);
	do_one(((operator_kernel *)it)->node, PLAIN, i);
}

/* Until somebody has written the file $GPU_HOLD, a FIFO, if there is one. */
static void hold()
{
	const char *path = getenv("GPU_HOLD");
	int file = path ? open(path, 0) : -1; /* O_RDONLY */
	char written;

	if (file < 0)
		return;
	while (read(file, &written, 1) > 0)
		;
	close(file);
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
	if (kernel->what == POOLED) {
		hold();
		((status_t(*)(const void *, void (*)(void *, size_t), size_t, size_t,
			      void *))api[PARALLEL_FOR])(context, launch_one, kernel->times, 0, it);
	}
	for (long i = 0; i < kernel->times && kernel->what != POOLED; i++)
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

	prepare();
	((status_t(*)(const char *, void **))api[CREATE_DOMAIN])("test.gpu", &domain);
	((status_t(*)(void *, custom_op *))api[ADD_OPERATOR])(domain, &op);
	return ((status_t(*)(void *, void *))api[ADD_DOMAIN])(options, domain);
}

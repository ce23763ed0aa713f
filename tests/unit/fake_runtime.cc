// SPDX-License-Identifier: GPL-2.0-only
//
// A library with the shape of ONNX Runtime, to be built with other compilers,
// linkers and flags than those of the published files: what location looks
// for is here (class names, vtables, strings, the API table, the thread
// pool's lambdas), and it can be run. OLD_EXECUTOR gives the shape of 1.13
// and before, where executors call kernels in their own loops.
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// What the runtime's macros do with a message and where it came from.
extern "C" __attribute__((visibility("default"), noinline)) int report(const char *what,
								       const char *where)
{
	asm volatile("" ::: "memory");
	return what && where;
}

namespace onnxruntime
{

namespace common
{
class Status
{
      public:
	Status() = default;
	Status(const char *text) : state_(std::make_unique<std::string>(text))
	{
	}
	bool IsOK() const
	{
		return !state_;
	}

      private:
	std::unique_ptr<std::string> state_;
};
} // namespace common

using common::Status;
using NodeIndex = size_t;

struct Frame {
	std::vector<int> values{1, 2, 3};
};

class OpKernel;

class OpKernelContext
{
      public:
	__attribute__((noinline)) OpKernelContext(Frame *frame, const OpKernel *kernel, void *pool)
	    : frame_(frame), kernel_(kernel), pool_(pool)
	{
		report("context", "constructor");
	}
	virtual ~OpKernelContext() = default;
	virtual int Output()
	{
		return 1;
	}
	Frame *frame_;
	const OpKernel *kernel_;
	void *pool_;
};

class OpKernelContextInternal : public OpKernelContext
{
      public:
	OpKernelContextInternal(Frame *frame, const OpKernel *kernel, void *pool,
				const bool &terminate)
	    : OpKernelContext(frame, kernel, pool), terminate_(terminate)
	{
	}
	int Output() override
	{
		return 2;
	}
	const bool &terminate_;
	std::vector<int> implicit_;
};

class OpKernel
{
      public:
	virtual ~OpKernel() = default;
	virtual Status Compute(OpKernelContext *context) const = 0;
	virtual bool IsAsync() const
	{
		return false;
	}
};

class Kernel : public OpKernel
{
      public:
	explicit Kernel(int number) : number_(number)
	{
	}
	Status Compute(OpKernelContext *context) const override
	{
		if (number_ == 13)
			throw std::runtime_error("unlucky");
		return context->Output() == number_ ? Status("failed") : Status();
	}
	int number_;
};

// Another one, or the compiler would know which one is called.
class Identity : public OpKernel
{
      public:
	Status Compute(OpKernelContext *context) const override
	{
		return report("identity", "kernel") && context ? Status() : Status("failed");
	}
	bool IsAsync() const override
	{
		return report("identity", nullptr);
	}
};

struct StreamExecutionContext {
	std::vector<std::unique_ptr<OpKernel>> kernels;
	Frame frame;
};

struct SessionScope {
	int runs = 0;
};

struct KernelScope {
	explicit KernelScope(SessionScope &scope) : scope_(scope)
	{
		report("scope", "begin");
	}
	~KernelScope()
	{
		report(scope_.runs ? "scope" : "first", "end");
	}
	SessionScope &scope_;
};

#ifdef OLD_EXECUTOR

class IExecutor
{
      public:
	virtual ~IExecutor() = default;
	virtual Status Execute(StreamExecutionContext &ctx, const bool &terminate) = 0;
};

class SequentialExecutor : public IExecutor
{
      public:
	Status Execute(StreamExecutionContext &ctx, const bool &terminate) override
	{
		report("begin", "SequentialExecutor::Execute");
		for (const auto &kernel : ctx.kernels) {
			Status status;
			if (terminate)
				return Status("Exiting due to terminate flag being set to true.");
			OpKernelContextInternal context(&ctx.frame, kernel.get(), this, terminate);
			if (report("fence", "before"))
				report("fence", "again");
			try {
				status = kernel->Compute(&context);
			} catch (const std::exception &e) {
				status = Status(e.what());
			}
			if (!status.IsOK()) {
				report("Non-zero status code returned while running ", "node");
				return status;
			}
		}
		report("end", "SequentialExecutor::Execute");
		return Status();
	}
};

// How many functions beside SequentialExecutor::Execute() run kernels: one in every release.
#ifndef MORE_EXECUTORS
#define MORE_EXECUTORS 1
#endif

static volatile int last_executor;

class ParallelExecutor : public IExecutor
{
      public:
	Status Execute(StreamExecutionContext &ctx, const bool &terminate) override
	{
		for (size_t i = 0; i < ctx.kernels.size(); i++) {
			Status status = RunNode<MORE_EXECUTORS>(i, ctx, terminate);
			if (!status.IsOK())
				return status;
		}
		return Status();
	}
	template <int Number>
	Status RunNode(size_t index, StreamExecutionContext &ctx, const bool &terminate)
	{
		if constexpr (Number > 1)
			if (last_executor % Number)
				return RunNode<Number - 1>(index, ctx, terminate);
		return RunNodeAsync<Number>(index, ctx, terminate);
	}
	template <int Number>
	__attribute__((noinline)) Status RunNodeAsync(size_t index, StreamExecutionContext &ctx,
						      const bool &terminate)
	{
		Status status;
		last_executor = Number;
		for (bool again = true; again; again = report("more", nullptr)) {
			const OpKernel *kernel = ctx.kernels[index].get();
			OpKernelContextInternal context(&ctx.frame, kernel, this, terminate);
			report("fence", "before");
			try {
				status = kernel->Compute(&context);
			} catch (const std::exception &e) {
				status = Status(e.what());
			}
			if (!status.IsOK()) {
				report("Non-zero status code returned while running ", "parallel");
				return status;
			}
		}
		return status;
	}
};

static Status RunAll(StreamExecutionContext &ctx, SessionScope &scope, const bool &terminate)
{
	std::unique_ptr<IExecutor> executor;
	if (scope.runs % 2)
		executor = std::make_unique<ParallelExecutor>();
	else
		executor = std::make_unique<SequentialExecutor>();
	return executor->Execute(ctx, terminate);
}

#else

__attribute__((noinline)) Status ExecuteKernel(StreamExecutionContext &ctx, NodeIndex index,
					       size_t stream, const bool &terminate,
					       SessionScope &session)
{
	const OpKernel *kernel = ctx.kernels[index].get();
	if (!kernel)
		return report("kernel", __PRETTY_FUNCTION__) ? Status("no kernel") : Status();
	OpKernelContextInternal context(&ctx.frame, kernel, &stream, terminate);
	Status status;
	try {
		KernelScope scope(session);
		if (kernel->IsAsync())
			return Status(__PRETTY_FUNCTION__);
		status = kernel->Compute(&context);
	} catch (const std::exception &e) {
		status = Status(e.what());
	}
	if (!status.IsOK()) {
		report("Non-zero status code returned while running ", __PRETTY_FUNCTION__);
		return status;
	}
	report("done", "kernel");
	return status;
}

#ifdef MISLEADING
// Another function that looks the same: which one is it?
__attribute__((noinline)) Status RunKernelToo(const OpKernel *kernel, OpKernelContext *context)
{
	report("onnxruntime::common::Status onnxruntime::ExecuteKernel(", "no, here");
	Status status = kernel->Compute(context);
	report("kernel", "too");
	return status;
}
#endif

class ExecutionStep
{
      public:
	virtual ~ExecutionStep() = default;
	virtual Status Execute(StreamExecutionContext &ctx, size_t stream, SessionScope &scope,
			       const bool &terminate, bool &go_on) = 0;
};

class LaunchKernelStep : public ExecutionStep
{
      public:
	explicit LaunchKernelStep(NodeIndex index) : index_(index)
	{
	}
	Status Execute(StreamExecutionContext &ctx, size_t stream, SessionScope &scope,
		       const bool &terminate, bool &go_on) override
	{
#ifdef MISLEADING
		if (report("misled", nullptr))
			return RunKernelToo(ctx.kernels[0].get(), nullptr);
#endif
		Status status = ExecuteKernel(ctx, index_, stream, terminate, scope);
		go_on = status.IsOK();
		return status;
	}
	NodeIndex index_;
};

static Status RunAll(StreamExecutionContext &ctx, SessionScope &scope, const bool &terminate)
{
	for (size_t i = 0; i < ctx.kernels.size(); i++) {
		std::unique_ptr<ExecutionStep> step = std::make_unique<LaunchKernelStep>(i);
		bool go_on = false;
		Status status = step->Execute(ctx, 0, scope, terminate, go_on);
		if (!go_on)
			return status;
	}
	return Status();
}

#endif

namespace concurrency
{
class ThreadPool
{
      public:
	void ParallelForFixedBlockSizeScheduling(
		std::ptrdiff_t total, std::ptrdiff_t block_size,
		const std::function<void(std::ptrdiff_t, std::ptrdiff_t)> &fn);
	__attribute__((noinline)) void RunInParallel(std::function<void(unsigned idx)> work,
						     unsigned n)
	{
		for (unsigned i = 0; i < n; i++)
			work(i);
	}
};

void ThreadPool::ParallelForFixedBlockSizeScheduling(
	std::ptrdiff_t total, std::ptrdiff_t block_size,
	const std::function<void(std::ptrdiff_t, std::ptrdiff_t)> &fn)
{
	volatile std::ptrdiff_t next = 0;
	if (block_size > 1) {
		std::function<void(unsigned)> run_work = [&](unsigned idx) {
			char names[64];
			for (std::ptrdiff_t i = next; i < total; i = next) {
				next = i + block_size;
				names[i % 64] = static_cast<char>(idx);
				fn(i, i + block_size + (report(names, "dynamic") > 1));
			}
		};
		RunInParallel(run_work, 3);
		return;
	}
	std::function<void(unsigned)> run_work = [&](unsigned idx) {
		char names[64];
		for (std::ptrdiff_t i = next; i < total; i++) {
			names[i % 64] = static_cast<char>(idx);
			fn(i, i + 1 + (report(names, "single") > 1));
		}
		next = total;
	};
	RunInParallel(run_work, 2);
}
} // namespace concurrency

struct RunOptions {
	std::string run_tag{"tag"};
};

class InferenceSession
{
      public:
	InferenceSession()
	{
		for (int i = 0; i < 5; i++)
			if (i % 2)
				ctx_.kernels.push_back(std::make_unique<Kernel>(i + 10));
			else
				ctx_.kernels.push_back(std::make_unique<Identity>());
	}
	virtual ~InferenceSession();
	Status Load(std::function<Status(int &)> loader, const std::string &event_name);
	Status LoadOwnFormat(std::function<Status(int &)> loader);
	Status Initialize();
	Status Run(const RunOptions &options, const std::vector<std::string> &names);
	Status Run(const RunOptions &options, const char *const *names, size_t n);
	virtual bool IsInitialized() const
	{
		return true;
	}
	StreamExecutionContext ctx_;
	SessionScope scope_;
	concurrency::ThreadPool pool_;
	int model_ = 0;
};

InferenceSession::~InferenceSession()
{
	report("~InferenceSession", "session");
}

__attribute__((noinline)) Status InferenceSession::Load(std::function<Status(int &)> loader,
							const std::string &event_name)
{
	try {
		if (model_) {
			report("This session already contains a loaded model.", "load");
			return Status("loaded");
		}
		Status status = loader(model_);
		report(status.IsOK() ? "load" : "no load", event_name.c_str());
		return status;
	} catch (const std::exception &e) {
		return Status(e.what());
	}
}

__attribute__((noinline)) Status
InferenceSession::LoadOwnFormat(std::function<Status(int &)> loader)
{
	if (model_) {
		report("This session already contains a loaded model.", "own format");
		return Status("loaded");
	}
	return loader(model_);
}

__attribute__((noinline)) Status InferenceSession::Initialize()
{
	report("Initializing session.", "session");
	char bytes[64];
	for (int i = 0; i < model_; i++)
		bytes[i % 64] = static_cast<char>(report("step", nullptr));
	report(bytes, "initialized");
	report("Session successfully initialized.", "session");
	return Status();
}

#ifdef TWO_INITIALIZE
// Another one that says the same: which is it?
__attribute__((noinline)) Status InitializeToo(InferenceSession &session)
{
	report("Initializing session.", "no, here");
	char bytes[64];
	for (int i = 0; i < session.scope_.runs; i++)
		bytes[i % 64] = static_cast<char>(report("step", nullptr));
	report(bytes, "initialized");
	report("Session successfully initialized.", "no, here");
	return Status();
}
#endif

__attribute__((noinline)) Status InferenceSession::Run(const RunOptions &options,
						       const std::vector<std::string> &names)
{
	char buffer[100] = "";
	if (!options.run_tag.empty())
		report("Running with tag: ", options.run_tag.c_str());
	for (const auto &name : names)
		if (name.empty())
			return Status("no name");
	buffer[names.size()] = 'x';
	report(buffer, "run");
	bool terminate = false;
	try {
		scope_.runs++;
		Status status = RunAll(ctx_, scope_, terminate);
		pool_.ParallelForFixedBlockSizeScheduling(8, 1 + scope_.runs % 2,
							  [](std::ptrdiff_t a, std::ptrdiff_t b) {
								  report(a < b ? "a" : "b", "loop");
							  });
		return status;
	} catch (...) {
		return Status("unknown exception");
	}
}

__attribute__((noinline)) Status InferenceSession::Run(const RunOptions &options,
						       const char *const *names, size_t n)
{
	std::vector<std::string> copies;
	for (size_t i = 0; i < n; i++) {
		if (!names[i])
			return report("name", __PRETTY_FUNCTION__) ? Status("null") : Status();
		copies.emplace_back(names[i]);
	}
	return Run(options, copies);
}

// What is behind an allocator's Alloc and Free: from 1.23 on, questions of streams first.
class IAllocator
{
      public:
	virtual ~IAllocator() = default;
	virtual void *Alloc(size_t size) = 0;
#ifndef OLD_EXECUTOR
	virtual bool IsStreamAware() const
	{
		return false;
	}
	virtual void *AllocOnStream(size_t size, void *stream)
	{
		return Alloc(size);
	}
#endif
	virtual void Free(void *address) = 0;
	virtual void *Reserve(size_t size)
	{
		return Alloc(size);
	}
};

class CPUAllocator : public IAllocator
{
      public:
	void *Alloc(size_t size) override;
	void Free(void *address) override;
	size_t alignment_ = 64;
};

class BFCArena : public IAllocator
{
      public:
	struct Chunk {
		size_t size, requested_size;
		long allocation_id;
		void *ptr;
	};
	~BFCArena() override;
	void *Alloc(size_t size) override;
	void Free(void *address) override;
	void *AllocateRaw(size_t size, bool dump, void *stream);
	Chunk *FindChunkPtr(int bin, size_t rounded, size_t bytes, void *stream);
	Chunk *FindLast(size_t rounded);
	void *FindFree();
	std::vector<Chunk> chunks_;
	long next_id_ = 1;
	CPUAllocator device_;
	std::vector<void *> free_;
	size_t in_use_ = 0;
};

// Old ones return themselves; later, it is the C library that does.
__attribute__((noinline)) void *CPUAllocator::Alloc(size_t size)
{
#ifdef OLD_EXECUTOR
	void *address = nullptr;
	if (posix_memalign(&address, alignment_, size))
		throw std::bad_alloc();
	return address;
#else
	return aligned_alloc(alignment_, size);
#endif
}

__attribute__((noinline)) void CPUAllocator::Free(void *address)
{
	free(address);
}

// Chunks are found by a function of their own; in old ones, Alloc's does all that itself.
__attribute__((noinline)) BFCArena::Chunk *BFCArena::FindChunkPtr(int bin, size_t rounded,
								  size_t bytes, void *stream)
{
	char message[64] = "";
	if (bin > 20)
		return nullptr;
	for (Chunk &chunk : chunks_) {
		if (chunk.allocation_id != -1 || chunk.size < rounded)
			continue;
		chunk.requested_size = bytes;
		message[bytes % 64] = 'x';
		report(message, stream ? "stream" : "arena");
		chunk.allocation_id = next_id_++;
		in_use_ += chunk.size;
		return &chunk;
	}
	return nullptr;
}

#ifndef CHUNK_ADDRESS
#define CHUNK_ADDRESS ptr
#endif
#ifdef NOTHING
#define NO_ADDRESS reinterpret_cast<void *>(NOTHING)
#else
#define NO_ADDRESS nullptr
#endif

// What there is in no release: chunks that another function finds, and what is of none.
__attribute__((noinline)) BFCArena::Chunk *BFCArena::FindLast(size_t rounded)
{
	report("last", "arena");
	return chunks_.empty() || chunks_.back().size < rounded ? nullptr : &chunks_.back();
}

__attribute__((noinline)) void *BFCArena::FindFree()
{
	report("free", "arena");
#ifdef CHUNKS_ASIDE
	if (!free_.empty())
		return static_cast<char *>(free_.back()) + CHUNKS_ASIDE;
#endif
	return nullptr;
}

__attribute__((noinline)) void *BFCArena::AllocateRaw(size_t size, bool dump, void *stream)
{
	char message[64] = "";
	if (!size)
		return NO_ADDRESS;
#ifndef OLD_EXECUTOR
	size_t rounded = (size + 255) & ~static_cast<size_t>(255);
	int bin = 63 - __builtin_clzl(rounded >> 8);
#ifdef CHUNKS_ASIDE
	if (void *address = FindFree())
		return address;
#endif
#ifdef CHUNKS_OF_TWO
	if (Chunk *chunk = FindLast(rounded))
		return (void *)chunk->CHUNK_ADDRESS;
#endif
	if (Chunk *chunk = FindChunkPtr(bin, rounded, size, stream))
		return (void *)chunk->CHUNK_ADDRESS;
	if (void *more = device_.Alloc(rounded)) {
		chunks_.push_back({rounded, 0, -1, more});
		if (Chunk *chunk = FindChunkPtr(bin, rounded, size, stream))
			return (void *)chunk->CHUNK_ADDRESS;
	}
	message[size % 64] = 'x';
	report(message, dump ? "dump" : "arena");
	throw std::bad_alloc();
#endif
	if (!free_.empty()) {
		void *address = free_.back();
		free_.pop_back();
		return address;
	}
	void *address = device_.Alloc(size);
	if (!address || dump) {
		message[size % 64] = 'x';
		report(message, stream ? "stream" : "arena");
		throw std::bad_alloc();
	}
	in_use_ += size;
	return address;
}

__attribute__((noinline)) void *BFCArena::Alloc(size_t size)
{
	return AllocateRaw(size, false, nullptr);
}

__attribute__((noinline)) void BFCArena::Free(void *address)
{
	if (!address)
		return;
	report("free", "arena");
	free_.push_back(address);
}

BFCArena::~BFCArena()
{
	for (void *address : free_)
		device_.Free(address);
}

} // namespace onnxruntime

using onnxruntime::InferenceSession;
using onnxruntime::Status;

namespace OrtApis
{
static void *CreateSession()
{
	auto session = std::make_unique<InferenceSession>();
	auto loader = [](int &model) {
		model = 5;
		return report("read", "model") ? Status() : Status("unreadable");
	};
	Status status = report("own", nullptr) ? session->LoadOwnFormat(loader)
					       : session->Load(loader, "model_loading_uri");
	if (status.IsOK())
		status = session->Initialize();
#ifdef TWO_INITIALIZE
	if (status.IsOK())
		status = onnxruntime::InitializeToo(*session);
#endif
	return status.IsOK() ? session.release() : nullptr;
}
static void ReleaseSession(void *session)
{
	delete static_cast<InferenceSession *>(session);
}
static int Run(void *session, const char *const *names, size_t n)
{
	onnxruntime::RunOptions options;
	return static_cast<InferenceSession *>(session)->Run(options, names, n).IsOK();
}
static void Other()
{
	report("other", "api");
}
} // namespace OrtApis

#define FOUR(function)	  function, function, function, function
#define SIXTEEN(function) FOUR(function), FOUR(function), FOUR(function), FOUR(function)
using any = void (*)();
static const any other = OrtApis::Other;
extern const any ort_api[];
const any ort_api[] = {
	reinterpret_cast<any>(OrtApis::CreateSession),
	reinterpret_cast<any>(OrtApis::ReleaseSession),
	OrtApis::Other,
	OrtApis::Other,
	OrtApis::Other,
	OrtApis::Other,
	OrtApis::Other,
	OrtApis::Other,
	OrtApis::Other,
	reinterpret_cast<any>(OrtApis::Run),
	SIXTEEN(OrtApis::Other),
	SIXTEEN(OrtApis::Other),
	SIXTEEN(OrtApis::Other),
	SIXTEEN(OrtApis::Other),
	SIXTEEN(OrtApis::Other),
	SIXTEEN(OrtApis::Other),
	SIXTEEN(OrtApis::Other),
	nullptr,
};

static const any *GetApi(unsigned version)
{
	if (version >= 1 && version <= 21)
		return ort_api;
	report("The requested API version [", "] is not available");
	return nullptr;
}

static const char *GetVersionString()
{
	return "1.99.0";
}

struct OrtApiBase {
	const any *(*get_api)(unsigned version);
	const char *(*get_version_string)();
};
static const OrtApiBase base = {GetApi, GetVersionString};

#ifdef HIDDEN_API
#define API_VISIBILITY "hidden"
#else
#define API_VISIBILITY "default"
#endif
extern "C" __attribute__((visibility(API_VISIBILITY), used)) const OrtApiBase *OrtGetApiBase()
{
	return &base;
}

// Two runs of one session; each operator but the last ends normally.
extern "C" __attribute__((visibility("default"))) int fake_run()
{
	const char *names[] = {"x"};
	const any *api = OrtGetApiBase()->get_api(1);
	auto run = reinterpret_cast<int (*)(void *, const char *const *, size_t)>(api[9]);
	void *session = reinterpret_cast<void *(*)()>(api[0])();
	int ok = run(session, names, 1) + run(session, names, 1);
	reinterpret_cast<void (*)(void *)>(api[1])(session);
	return ok;
}

#ifdef PROGRAM
int main()
{
	return fake_run();
}
#endif

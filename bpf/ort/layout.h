/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where ONNX Runtime's objects hold what the programs read: found and proven
 * on the live process by user/runtime/ort, read by bpf/ort. All are offsets in
 * bytes and addresses of the target. One set for each location that is probed.
 */
#ifndef OPPROBE_ORT_LAYOUT_H
#define OPPROBE_ORT_LAYOUT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* How the runtime's C++ library lays out a std::string. */
enum string_abi {
	STRING_CXX11,  /* libstdc++: {pointer, length, 16 bytes in place or capacity} */
	STRING_COW,    /* libstdc++ before 5: {pointer}, length 24 bytes before the data */
	STRING_LIBCXX, /* libc++: bit 0 of the first byte tells long from short */
};

/*
 * Where an operator's names lie, as offsets in bytes; found and proven on the
 * live process by ort_calibrate(). Written by user space once,
 * `proven` last; until then the BPF side sends sightings.
 */
struct ort_layout {
	__u32 proven;
	__u32 string_abi; /* enum string_abi */
	__u32 session;	  /* in the context: SessionState* */
	__u32 kernels;	  /* in SessionState: vector of OpKernel* */
	__u32 info;	  /* in OpKernel: OpKernelInfo* */
	__u32 node;	  /* in OpKernelInfo: Node* */
	__u32 definition; /* in OpKernelInfo: KernelDef* */
	__u32 index;	  /* in Node: its index, 8 bytes */
	__u32 name;	  /* in Node: the three strings */
	__u32 op_type;
	__u32 domain;
	__u32 provider; /* in KernelDef: string */
};

/*
 * Where the shapes of an operator's values lie: classes by the address of
 * their vtable in the process, offsets in bytes. Written by user space, which
 * begins with a guess and proves it, or another, by what the BPF side finds
 * with it; `epoch` is stored last and changes with each guess.
 */
struct ort_shape_layout {
	__u32 epoch; /* 0: shapes are not read */
	__u32 proven;
	__u64 context_class;	/* OpKernelContextInternal */
	__u64 tensor_class;	/* of the type of values that are tensors */
	__u64 definition_class; /* ValueInfoProto, in NodeArg */
	__u32 info;		/* in OpKernel: OpKernelInfo* */
	__u32 node;		/* in OpKernelInfo: Node* */
	__u32 constants;	/* in OpKernelInfo: map of the session's constants */
	__u32 stride;		/* from value to value of a frame */
	__u32 dims;		/* in Tensor: its shape */
	__u32 element;		/* in Tensor: its element type */
};

/*
 * The value of a site where runs begin: which arguments are still in their registers,
 * and above these the number of the one that the second was saved in; 0: in none.
 */
#define ORT_RUN_RESULT	    1
#define ORT_RUN_OPTIONS	    2
#define ORT_RUN_SAVED_SHIFT 8
#define ORT_SAVED_FIRST	    19 /* of arm64's registers that calls preserve */
#define ORT_SAVED_LAST	    28

/*
 * The value of a site of a setup: the number of its function, its kind, and which
 * arguments are still in their registers where it begins, or the number of the one that
 * the third was saved in, as of runs.
 */
#define ORT_SETUP_KIND(value)	((value) >> 8 & 0xff)
#define ORT_SETUP(number, kind) (((number)&0xff) | (kind) << 8)
#define ORT_SETUP_RESULT	0x10000
#define ORT_SETUP_NAME		0x20000
#define ORT_SETUP_SAVED_SHIFT	24

/*
 * The value of a site where memory is asked for. That of one where it is got is the
 * number of the register that has its address.
 */
#define ORT_ALLOC_ARENA	  1 /* of the allocator that may ask another one meanwhile */
#define ORT_ALLOC_RETURNS 2 /* its ways out are probed as well */

/*
 * The value of a site where an arena has found a chunk: the numbers of the registers that
 * have it and the arena. It begins as core/framework/bfc_arena.h says.
 */
#define ORT_CHUNK(chunk, arena) ((__u32)(chunk) | (__u32)(arena) << 8)
#define ORT_CHUNK_CHUNK(value)	((value)&0xff)
#define ORT_CHUNK_ARENA(value)	((value) >> 8)

struct ort_chunk {
	__u64 size;	 /* granted */
	__u64 requested; /* of that; bytes */
	__u64 allocation_id;
	__u64 address;
};

/*
 * What a run returned, as a status of ../events.h: the category above the code.
 * Categories are those of onnxruntime/core/common/status.h.
 */
#define ORT_CODE_BITS	  16
#define ORT_CODE_MAX	  0xffff /* likely codes are below 20, and those of errno below 4096 */
#define ORT_CATEGORIES	  2
#define ORT_CATEGORY_SELF 2 /* the other one is of the system's: an errno */

#define ORT_FUNCTIONS_MAX 8 /* that run operators, in one location; power of two */

/*
 * Found by the programs, and the same in every execution of a location: the context, in
 * bytes from the stack pointer at the exit of each function, plus 1; the
 * definitions in Node; the one type of value that tensors have.
 */
struct ort_shapes_found {
	__u32 contexts[ORT_FUNCTIONS_MAX];
	__u64 tensor_type;
	__u32 definitions;
	__u32 pad;
};

#endif

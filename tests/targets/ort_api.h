/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few entries of ONNX Runtime's table of C functions that ort_run uses,
 * found in a library that is loaded at run time. Its entry point and the
 * meaning of the entries are documented at onnxruntime.ai, "C API".
 */
#ifndef ORT_API_H
#define ORT_API_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* The API's own types are opaque pointers to us. */
typedef void *status_t;

/* What an allocator can do, as far as it is used here; since its version 23, tell of itself. */
struct ort_allocator {
	uint32_t version;
	void *(*alloc)(struct ort_allocator *, size_t);
	void (*free)(struct ort_allocator *, void *);
	const void *(*info)(const struct ort_allocator *);
	void *(*reserve)(struct ort_allocator *, size_t);
	status_t (*statistics)(const struct ort_allocator *, void **pairs);
};

/*
 * The entries of the API table that are used here. A position in the table
 * never changes between releases: new entries are only added at its end.
 */
struct api {
	void *handle; /* of the library */
	const char *(*error_message)(status_t);
	status_t (*create_env)(int level, const char *log_id, void **env);
	status_t (*create_env_with_log)(void *log, void *param, int level, const char *log_id,
					void **env);
	status_t (*create_session)(void *env, const char *path, void *options, void **session);
	status_t (*run)(void *session, void *options, const char *const *input_names,
			void *const *inputs, size_t n_inputs, const char *const *output_names,
			size_t n_outputs, void **outputs);
	status_t (*create_session_options)(void **options);
	status_t (*set_execution_mode)(void *options, int mode);
	status_t (*enable_profiling)(void *options, const char *prefix);
	status_t (*disable_mem_pattern)(void *options);
	status_t (*disable_arena)(void *options);
	status_t (*set_optimization)(void *options, int level);
	status_t (*set_intra_threads)(void *options, int threads);
	status_t (*set_inter_threads)(void *options, int threads);
	status_t (*output_count)(void *session, size_t *count);
	status_t (*output_name)(void *session, size_t i, void *allocator, char **name);
	status_t (*create_run_options)(void **options);
	status_t (*set_run_tag)(void *options, const char *tag);
	status_t (*create_tensor)(void *memory, void *data, size_t size, const int64_t *dims,
				  size_t n_dims, int type, void **value);
	status_t (*tensor_data)(void *value, void **data);
	status_t (*element_type)(void *info, int *type);
	status_t (*element_count)(void *info, size_t *count);
	status_t (*tensor_info)(void *value, void **info);
	status_t (*cpu_memory)(int allocator, int type, void **memory);
	status_t (*default_allocator)(void **allocator);
	void (*release_status)(status_t);
	void (*release_session)(void *session);
	void (*release_value)(void *value);
	void (*release_tensor_info)(void *info);
	status_t (*end_profiling)(void *session, void *allocator, char **file);
	status_t (*add_config)(void *options, const char *key, const char *value);
	status_t (*create_allocator)(void *session, const void *memory,
				     struct ort_allocator **allocator);
};

/*
 * Load the file @library and fill @api-> Returns NULL, or why it failed.
 */
static inline const char *api_load(struct api *api, const char *library)
{
	struct api_base {
		void *const *(*get_api)(uint32_t version);
		const char *(*version)(void);
	};
	const struct api_base *(*get_base)(void);
	const struct api_base *base;
	void *const *table;
	void *handle;

	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return dlerror();
	get_base = dlsym(handle, "OrtGetApiBase");
	if (!get_base)
		return "not ONNX Runtime: it has no OrtGetApiBase";
	base = get_base();
	/* The version of the API of 1.10, which later releases still offer. */
	table = base->get_api(10);
	if (!table)
		return "it does not offer version 10 of the API";
	api->handle = handle;
	api->error_message = table[2];
	api->create_env = table[3];
	api->create_env_with_log = table[4];
	api->create_session = table[7];
	api->run = table[9];
	api->create_session_options = table[10];
	api->set_execution_mode = table[13];
	api->enable_profiling = table[14];
	api->disable_mem_pattern = table[17];
	api->disable_arena = table[19];
	api->set_optimization = table[23];
	api->set_intra_threads = table[24];
	api->set_inter_threads = table[25];
	api->output_count = table[31];
	api->output_name = table[37];
	api->create_run_options = table[39];
	api->set_run_tag = table[42];
	api->create_tensor = table[49];
	api->tensor_data = table[51];
	api->element_type = table[60];
	api->element_count = table[64];
	api->tensor_info = table[65];
	api->cpu_memory = table[69];
	api->default_allocator = table[78];
	api->release_status = table[93];
	api->release_session = table[95];
	api->release_value = table[96];
	api->release_tensor_info = table[99];
	api->end_profiling = table[110];
	api->add_config = table[130];
	api->create_allocator = table[131];
	return NULL;
}

#endif

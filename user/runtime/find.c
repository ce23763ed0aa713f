// SPDX-License-Identifier: GPL-2.0-only
#include "find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "node, libc.so.6 and 17 more" */
static void list_names(const struct mapped_file *files, size_t n, char *text, size_t size)
{
	size_t used = 0, shown = 0;

	text[0] = '\0';
	for (; shown < n && shown < 12; shown++) {
		const char *slash = strrchr(files[shown].path, '/');
		const char *name = slash ? slash + 1 : files[shown].path;

		if (used + strlen(name) + 24 > size)
			break;
		used += snprintf(text + used, size - used, "%s%s", shown ? ", " : "", name);
	}
	if (shown < n)
		snprintf(text + used, size - used, " and %zu more", n - shown);
}

int runtime_find(const struct process *process, struct location *location, struct mapped_file *file,
		 struct error *err)
{
	struct mapped_file *files = NULL;
	struct error refusal = {};
	char names[512];
	int found = -ENOENT;
	ssize_t n;

	n = process_mapped_files(process, &files, err);
	if (n < 0)
		return n;
	for (ssize_t i = 0; i < n && found; i++) {
		struct error why;
		int error = runtime_locate_file(files[i].open_path, location, &why);

		if (!error) {
			*file = files[i];
			found = 0;
		} else if (error != -ENOENT && !refusal.text[0]) {
			found = error;
			error_set(&refusal, error, "%s (%s)", why.text, files[i].path);
		}
	}
	if (found && refusal.text[0]) {
		if (err)
			*err = refusal;
	} else if (found) {
		list_names(files, n, names, sizeof(names));
		error_set(
			err, found,
			"there is no ONNX Runtime in process %d (looked at %zd files: %s): choose "
			"the process that runs the model, or use --wait if it will load it later",
			process->pid, n, names);
	}
	free(files);
	return found;
}

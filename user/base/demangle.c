// SPDX-License-Identifier: GPL-2.0-only
#include "demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY  -1	/* __cxa_demangle()'s status, by the C++ ABI of Itanium */
#define SYMBOL_MAX 4096 /* longer ones may be made to take long */

typedef char *demangler(const char *symbol, char *text, size_t *size, int *status);

static demangler *of_library;
static pthread_once_t looked = PTHREAD_ONCE_INIT;

/* It is for the rest of the program: never closed. */
static void look(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (library)
		of_library = (demangler *)dlsym(library, "__cxa_demangle");
}

char *demangle(const char *symbol)
{
	char *text = NULL;
	int status = 0;

	if (strncmp(symbol, "_Z", 2) != 0)
		return strdup(symbol);
	pthread_once(&looked, look);
	if (of_library && strnlen(symbol, SYMBOL_MAX) < SYMBOL_MAX)
		text = of_library(symbol, NULL, NULL, &status);
	return text || status == NO_MEMORY ? text : strdup(symbol);
}

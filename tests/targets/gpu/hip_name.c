// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: hip_name LIBRARY
 *
 * What does AMD's library say is the name of a handle? Whatever it takes from the handle's record,
 * and from that which is there, is a text that says where it was taken from: "0x88 0x28".
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#define WORDS 256

static void *first[WORDS], *second[WORDS][WORDS];
static char texts[WORDS][WORDS][16];

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_LAZY) : NULL;
	const char *(*tell)(void *handle) = library ? dlsym(library, "hipKernelNameRef") : NULL;

	if (!tell) {
		fprintf(stderr, "hip_name: %s\n", dlerror());
		return 1;
	}
	for (int i = 0; i < WORDS; i++) {
		first[i] = second[i];
		for (int k = 0; k < WORDS; k++) {
			second[i][k] = texts[i][k];
			snprintf(texts[i][k], sizeof(texts[i][k]), "0x%x 0x%x", 8 * i, 8 * k);
		}
	}
	puts(tell(first));
	fflush(stdout);
	_exit(0); /* What it would do at its end needs a device. */
}

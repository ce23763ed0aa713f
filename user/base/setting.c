// SPDX-License-Identifier: GPL-2.0-only
#include "setting.h"

#include <stdio.h>

int setting_read(const char *path, int unknown)
{
	FILE *file = fopen(path, "re");
	int value = unknown;

	if (file) {
		if (fscanf(file, "%d", &value) != 1)
			value = unknown;
		fclose(file);
	}
	return value;
}

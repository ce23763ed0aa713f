// SPDX-License-Identifier: GPL-2.0-only
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>

void cmd_parse(const struct argp *argp, int argc, char **argv, void *arguments)
{
	argp_err_exit_status = EXIT_USAGE;
	/* Whatever else is wrong it says and exits. */
	if (!argp_parse(argp, argc, argv, 0, NULL, arguments))
		return;
	fputs("opprobe: out of memory reading the command line\n", stderr);
	exit(EXIT_FAILED);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who looks at what an analysis adds up, one by one and just when it is added: what is selected,
 * without what the probes added. So what is made of it agrees with the rows.
 *
 * An analysis that has to begin anew, as runs failed, calls begin() once more: what was seen
 * before does not count then. A function returns 0, or -ENOMEM, which ends the analysis.
 */
#ifndef OPPROBE_ANALYZE_WATCH_H
#define OPPROBE_ANALYZE_WATCH_H

struct analyze_row;
struct capture_exec;
struct capture_run;
struct nested_exec;
struct open_run;

struct analyze_watch {
	int (*begin)(struct analyze_watch *watch);
	/* @exec was added to @row; @run is the one that it is of, NULL if that is not known. Its
	 * parts are the watcher's, and empty at first: see open_runs.h. */
	int (*exec)(struct analyze_watch *watch, struct analyze_row *row, struct open_run *run,
		    const struct capture_exec *exec, const struct nested_exec *nested);
	/* @run was seen whole, and @ops is what is known of its operators, NULL: it had none. */
	int (*run)(struct analyze_watch *watch, const struct capture_run *run,
		   const struct open_run *ops);
};

#endif

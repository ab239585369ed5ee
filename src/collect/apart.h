/* SPDX-License-Identifier: Apache-2.0
 *
 * apart - what is told apart of those that would be one by name, executable and cgroup.
 *
 * More of it makes more of everything: keys that are counted, and rows that are kept.
 */
#ifndef DWELL_COLLECT_APART_H
#define DWELL_COLLECT_APART_H

#include <stdbool.h>

struct path_choice;

struct apart {
	bool processes, threads; /* by their numbers */
	bool cpus;		 /* on which a sample was taken */
	/* Of processes only those of these executables, which is borrowed; NULL: all of
	 * them or none. */
	const struct path_choice *chosen;
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * wait_kinds - what a thread waits for in the kernel, which knows only of a word.
 *
 * The functions that wait there are those of a few libraries, which say by their names
 * whether it is for a lock that another holds, or for something to do.
 */
#ifndef DWELL_ANALYZE_WAIT_KINDS_H
#define DWELL_ANALYZE_WAIT_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/own.h"

struct wait_kind {
	const char *what; /* "mutex" */
	bool is_lock;
};

/* So many frames, at most, are between a thread that waits and the kernel. */
#define WAIT_KINDS_FRAMES 8

/* By the names of the innermost functions, NULL: they do not tell. */
const struct wait_kind *wait_kinds_find(const char *const *names, size_t n);

#endif

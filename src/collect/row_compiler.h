/* SPDX-License-Identifier: Apache-2.0
 *
 * row_compiler - unwind rows of files, packed beside the caller's work.
 *
 * Those of a compiler's own executable take 0.2 s, in which nobody else's stacks are to
 * end early.  What is kept on disk is taken from there, and what is made is kept.  A
 * thread does it, which begins with the first file; the smallest is next.  All is for
 * one thread to call.
 */
#ifndef DWELL_COLLECT_ROW_COMPILER_H
#define DWELL_COLLECT_ROW_COMPILER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "collect/row_pack.h"

struct row_cache;
struct row_compiler;

/* Borrowed for the call. */
struct row_compiler_file {
	uint32_t image; /* as it is asked for */
	int fd;
	const char *name;
	const char *key; /* of the cache, "": it is not to be kept */
	uint32_t layout;
};

/* Release pack with row_pack_fini(). */
struct row_compiler_result {
	uint32_t image;
	int rc; /* of enum err_code */
	struct row_pack pack;
};

/* The cache is borrowed. */
struct row_compiler *row_compiler_new(struct row_cache *cache);
/* Waits for the file that is under way. */
void row_compiler_free(struct row_compiler *c);
void row_compiler_freep(struct row_compiler **c);

/* At once, in the caller's thread. */
int row_compiler_run(struct row_compiler *c, const struct row_compiler_file *f,
		     struct row_pack *ret);
/* False: no thread can be had. */
bool row_compiler_add(struct row_compiler *c, const struct row_compiler_file *f);
/* What is done, false: nothing is. */
bool row_compiler_take(struct row_compiler *c, struct row_compiler_result *ret);
/* Readable when something is done; -1: nothing will be. */
int row_compiler_fd(const struct row_compiler *c);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * function_search - where in a file the functions of a name begin.
 *
 * By its symbol tables, and those of its debug file where it was stripped.  All names of
 * a function count, as the linker knows them and as people wrote them.  One thread.
 */
#ifndef DWELL_SYM_FUNCTION_SEARCH_H
#define DWELL_SYM_FUNCTION_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

struct function_search;

struct function_search_hit {
	const char *name;      /* as the linker knows it; borrowed */
	uint64_t address, end; /* as linked */
	uint64_t offset;       /* in the file */
};

must_use int function_search_open(const char *path, struct function_search **ret,
				  struct err *e);
void function_search_free(struct function_search *s);
void function_search_freep(struct function_search **s);

unsigned function_search_machine(const struct function_search *s); /* EM_… */
/* All of them, by name; one that has several names comes several times. */
size_t function_search_count(const struct function_search *s);
struct function_search_hit function_search_at(const struct function_search *s, size_t i);
/* Functions of that name, in the order of their places, each once; how many there are,
 * also beyond max. */
size_t function_search_find(const struct function_search *s, const char *name,
			    struct function_search_hit *ret, size_t max);
/* The name that is spelled most like it; NULL: none is. */
const char *function_search_nearest(const struct function_search *s, const char *name);
/* Appends the bytes of its code. */
size_t function_search_code(struct function_search *s,
			    const struct function_search_hit *hit, struct buf *ret);

#endif

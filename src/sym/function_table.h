/* SPDX-License-Identifier: Apache-2.0
 *
 * function_table - the functions and frames that a symbolizer has found so far.
 *
 * A function is one name of one image; the same inline function of many units is one.
 * Each name is demangled once.  Functions never move; frames do.
 */
#ifndef DWELL_SYM_FUNCTION_TABLE_H
#define DWELL_SYM_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/symbolizer.h"

struct function_table;

struct function_table *function_table_new(bool keep_mangled);
void function_table_free(struct function_table *t);

/* What is known of a function; strings are copied.  identity tells functions of one
 * name apart (0: the name alone identifies it). */
struct function_key {
	uint32_t image;
	const char *linkage;
	const char *decl_file; /* interned by function_table_file(), or NULL */
	uint32_t decl_line;
	uint64_t start, size; /* 0 unknown: filled in by a later call that knows */
	uint64_t identity;
};

uint32_t function_table_add(struct function_table *t, const struct function_key *key);
/* A place without a function: "[libfoo.so]". */
uint32_t function_table_add_place(struct function_table *t, uint32_t image,
				  const char *name);
/* Code between bounds without a name of its own: "fn@0x1a2b". */
uint32_t function_table_add_bounds(struct function_table *t, uint32_t image,
				   const char *name, uint64_t start, uint64_t size);
const struct sym_function *function_table_get(const struct function_table *t,
					      uint32_t id);
uint32_t function_table_count(const struct function_table *t);

/* Equal text, equal pointer. */
const char *function_table_file(struct function_table *t, const char *path, size_t n);

uint32_t function_table_add_frame(struct function_table *t, const struct sym_frame *f);
const struct sym_frame *function_table_frame(const struct function_table *t, uint32_t i);

#endif

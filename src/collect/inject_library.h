/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_library - a freestanding shared library, as it would be at an address of another
 * process.
 *
 * By nobody's dynamic linker: what it needs of the process may be there or not.
 */
#ifndef DWELL_COLLECT_INJECT_LIBRARY_H
#define DWELL_COLLECT_INJECT_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct inject_library {
	uint8_t *image; /* relocated; owned */
	size_t bytes;	/* whole pages */
	uint64_t at;
	size_t code_bytes; /* whole pages, from the beginning on: executed, not written */
	size_t file_bytes; /* what is behind is 0 */
	const uint8_t *symbols, *strings;
	size_t n_symbols, strings_bytes;
};

/* The address of a symbol that it does not define itself, or 0. */
typedef uint64_t inject_resolve_fn(void *ctx, const char *name);

must_use int inject_library_make(const uint8_t *elf, size_t size, uint64_t at,
				 inject_resolve_fn *resolve, void *ctx,
				 struct inject_library *ret, struct err *e);
void inject_library_fini(struct inject_library *l);

/* Where it has a function that it exports; 0: it has none. */
uint64_t inject_library_find(const struct inject_library *l, const char *name);

#endif

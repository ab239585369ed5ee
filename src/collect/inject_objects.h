/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_objects - what the dynamic linker of a running process has loaded, in the order
 * in which it looks for symbols.
 */
#ifndef DWELL_COLLECT_INJECT_OBJECTS_H
#define DWELL_COLLECT_INJECT_OBJECTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/inject_memory.h"

#define INJECT_OBJECTS_MAX 4096

struct inject_object {
	uint64_t bias;	  /* of its addresses */
	uint64_t dynamic; /* address of its dynamic section */
	char name[64];	  /* the end of its path */
};

struct inject_objects {
	VEC(struct inject_object) at;
	bool is_settled; /* nothing is being loaded or unloaded */
};

void inject_objects_fini(struct inject_objects *o);

/* Where the linker tells debuggers of them (struct r_debug), from the program's headers
 * as the kernel tells of these (AT_PHDR, AT_PHNUM); 0: there is no linker, or it has not
 * begun. */
uint64_t inject_objects_debug(const struct inject_memory *m, uint64_t phdrs, uint64_t n);
/* All of them anew. */
must_use int inject_objects_read(const struct inject_memory *m, uint64_t debug,
				 struct inject_objects *ret, struct err *e);
bool inject_objects_have(const struct inject_objects *o, const struct inject_object *one);
bool inject_objects_are_same(const struct inject_objects *a,
			     const struct inject_objects *b);

/* The same by what is in /proc/PID/auxv. */
uint64_t inject_objects_debug_by(const struct inject_memory *m, const void *auxv,
				 size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * lazy_stubs - which stub a function was called through, when the dynamic linker bound
 * it.
 *
 * The first call through "NAME@plt" goes by the linker's resolver, which jumps on to
 * NAME: as if that one function had called all others that were bound late.  By the names
 * it is told which stub a jump of the resolver belongs to.  Names are borrowed.
 */
#ifndef DWELL_ANALYZE_LAZY_STUBS_H
#define DWELL_ANALYZE_LAZY_STUBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct lazy_stub {
	const char *name; /* with "@plt" */
	uint32_t program, node;
	uint32_t next; /* with the same hash, + 1; 0: none */
};

/* Zero-initialise. */
struct lazy_stubs {
	struct map last_of; /* program and name: index of its last stub + 1 */
	VEC(struct lazy_stub) all;
};

void lazy_stubs_fini(struct lazy_stubs *s);
bool lazy_stubs_is_resolver(const char *function);
/* Only names of stubs are kept. */
void lazy_stubs_add(struct lazy_stubs *s, uint32_t program, const char *name,
		    uint32_t node);
/* The first stub of the function in the program, or the one behind another; NULL: no
 * more. */
const struct lazy_stub *lazy_stubs_find(const struct lazy_stubs *s, uint32_t program,
					const char *function,
					const struct lazy_stub *behind);

#endif

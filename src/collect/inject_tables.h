/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_tables - the dynamic section of an object in a running process: which symbols it
 * defines, and the slots by which it reaches those of others.
 */
#ifndef DWELL_COLLECT_INJECT_TABLES_H
#define DWELL_COLLECT_INJECT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/inject_memory.h"
#include "collect/inject_objects.h"

struct inject_tables {
	const struct inject_memory *memory;
	uint64_t bias;
	uint64_t strings, strings_bytes, symbols;
	uint64_t gnu_hash, hash, versions, needed; /* 0: there is none */
	struct inject_relocations {
		uint64_t at, bytes;
	} plt, others; /* of others: behind those that name no symbol */
};

/* False: it cannot be read. */
bool inject_tables_open(const struct inject_memory *m, const struct inject_object *o,
			struct inject_tables *ret);

/* The address of what is defined by that name, by default where there are versions of it;
 * 0: nothing, or what is chosen at run time. */
uint64_t inject_tables_find(const struct inject_tables *t, const char *name);
/* The same, and where the object says so: the word is address less bias. */
struct inject_symbol {
	uint64_t at, bias;
};
uint64_t inject_tables_find_symbol(const struct inject_tables *t, const char *name,
				   struct inject_symbol *ret);
/* That of an older version, for programs that were built for it, which does something
 * else: besides is the one by default. */
uint64_t inject_tables_find_older(const struct inject_tables *t, const char *name,
				  uint64_t besides);

/* For each slot that the linker fills, and to no other purpose than a call or the
 * address of a function: what it names, and its number among those that may be filled
 * when they are first needed; of others INJECT_TABLES_AT_ONCE.  And for each word of the
 * object's own data that the linker fills with an address of another's, as
 * INJECT_TABLES_DATA. */
#define INJECT_TABLES_AT_ONCE UINT64_MAX
#define INJECT_TABLES_DATA    (UINT64_MAX - 1)
typedef void inject_slot_fn(void *ctx, uint64_t slot, const char *name, uint64_t number,
			    uint32_t symbol);
bool inject_tables_slots(const struct inject_tables *t, inject_slot_fn *fn, void *ctx);
/* Does the object, of a symbol that others define, mean another version than the C
 * library's first?  False: it is not known. */
bool inject_tables_means_newer(const struct inject_tables *t, uint32_t symbol);

#endif

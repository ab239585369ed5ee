/* SPDX-License-Identifier: Apache-2.0
 *
 * symtab - the functions, or the variables, of an object by address, from its symbol
 * tables.
 *
 * Sized symbols win over open ones; a symbol without size (hand-written assembly)
 * reaches to the next symbol or the end of its section.  Of several names for one
 * address the most public is kept: global or weak rather than local, that of a default
 * version rather than of one which is only there for old programs (cfree of free), and
 * that with fewer leading underscores.  Names are borrowed from the object.  Fill,
 * finish, then look up; immutable after symtab_finish().
 */
#ifndef DWELL_SYM_SYMTAB_H
#define DWELL_SYM_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/object.h"

struct symtab;

struct symtab_symbol {
	uint64_t address, end;
	const char *name;
	uint8_t rank; /* higher is the better name */
	bool is_open; /* no size of its own: the end is only a bound */
};

struct symtab *symtab_new(void);
void symtab_free(struct symtab *t);
void symtab_freep(struct symtab **t);

/* Code lives only inside these: bounds of the object's executable sections. */
void symtab_add_ranges(struct symtab *t, const struct object *o);
/* All function symbols of ".symtab" or ".dynsym"; how many there were. */
size_t symtab_add_section(struct symtab *t, struct object *o, const char *section);
/* A table of variables instead: of what such a section says is data. */
size_t symtab_add_variables(struct symtab *t, struct object *o, const char *section);
void symtab_add_range(struct symtab *t, uint64_t start, uint64_t size);
/* One more; the name is borrowed. size 0: open. */
void symtab_add(struct symtab *t, uint64_t address, uint64_t size, bool is_global,
		const char *name);
/* Symbols from elsewhere (PLT, bounds) that must lose against all of the object's. */
void symtab_add_weak(struct symtab *t, uint64_t address, uint64_t size, const char *name);
void symtab_finish(struct symtab *t);

/* The function that contains the address, or NULL. */
const struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t address);
size_t symtab_count(const struct symtab *t);
const struct symtab_symbol *symtab_at(const struct symtab *t, size_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * die_name - what a function entry is called and where it was declared.
 *
 * A concrete function names its abstract one, an out-of-class definition its
 * declaration, across units and, after dwz, across files; each fact is taken from the
 * first entry that has it.
 */
#ifndef DWELL_SYM_DIE_NAME_H
#define DWELL_SYM_DIE_NAME_H

#include "sym/debug_file.h"

struct die_name {
	const char *linkage, *name; /* NULL: none; borrowed from the file */
	struct debug_unit *unit;    /* whose file numbers decl_file counts in */
	uint64_t decl_file;	    /* from DWARF 5 on 0 is a file, too */
	bool has_decl_file;
	uint32_t decl_line;
};

/* Not for several threads: reads abbreviations of other units. */
void die_name_find(struct debug_unit *u, uint64_t entry, struct die_name *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * coverage - which source lines and functions there are, and how often each was executed.
 *
 * Of exact counts of instructions: a line was executed as often as the instruction of it
 * that was executed most, each place where it is inlined for itself.  What debug
 * information tells of and was never executed is there, too.  Borrows from the profile.
 */
#ifndef DWELL_ANALYZE_COVERAGE_H
#define DWELL_ANALYZE_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/vec.h"

struct coverage_line {
	uint32_t file; /* index of files */
	uint32_t line;
	uint64_t times;
};

struct coverage_function {
	const char *name;
	uint32_t file, line; /* where it is declared */
	uint64_t times;	     /* entered */
};

struct coverage {
	VEC(const char *) files;		 /* by path */
	VEC(struct coverage_line) lines;	 /* by file, then line */
	VEC(struct coverage_function) functions; /* by file, then line */
	struct intern *paths;			 /* the files' memory */
};

/* Does the column count every instruction? */
bool coverage_has(const struct profile *p, size_t column);
void coverage_make(struct coverage *ret, const struct profile *p, size_t column);
void coverage_fini(struct coverage *c);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * listing - where inside one function the weight is: by source line, by address, and
 * by what was inlined into each of its lines.
 *
 * Lines are of the function wherever it was inlined; addresses only of its own body, in
 * the image that the profile names for it: another build has others.
 */
#ifndef DWELL_ANALYZE_LISTING_H
#define DWELL_ANALYZE_LISTING_H

#include "analyze/profile.h"

struct listing_row {
	const char *file;  /* of a line; NULL unknown */
	uint32_t line;	   /* 0 unknown */
	uint64_t address;  /* of an instruction: what was stored for the frame */
	bool is_return;	   /* the call before the address */
	uint32_t function; /* what was inlined there; MODEL_NONE: nothing */
	uint64_t *exclusive, *inclusive; /* by column */
};

struct listing_rows {
	struct listing_row *rows; /* by file and line, or by address */
	size_t n;
	uint64_t *values;
};

struct listing {
	size_t n_columns;
	struct listing_rows lines, instructions, inlined;
	bool *has_other_build; /* [source]: it has the function in another image, too */
	/* Link-time address minus stored offset, in the function's own code. */
	uint64_t code_delta;
	bool has_code_delta;
};

void listing_make(struct listing *ret, const struct profile *p, uint32_t function);
void listing_fini(struct listing *l);

/* The functions that a name means: exactly, or without parameters, or by linkage name,
 * else by the C library's own names of "malloc", else those that have it as a word, else
 * those that contain it, an ellipsis standing for anything.  The heaviest first, by their
 * own values over all columns, then inclusive; the caller frees *ret. */
size_t listing_find(const struct profile *p, const char *name, uint32_t **ret);
/* Of functions that it does not mean those that are called nearly so: what a slip of the
 * finger makes of a name, in whatever case, without parameters and with as many scopes.
 * The nearest first, then the heaviest; the caller frees *ret. */
size_t listing_near(const struct profile *p, const char *name, uint32_t **ret);
/* Does the name mean this function and no other?  Weighs nothing. */
bool listing_means(const struct profile *p, const char *name, uint32_t function);

#endif

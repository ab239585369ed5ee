/* SPDX-License-Identifier: Apache-2.0
 *
 * gap_rows - rows of code that no table covers, by what it goes on to do.
 *
 * Between two functions with rules, before the first and behind the last, a file has code
 * without: what the C library puts into every program and library (__do_global_dtors_aux,
 * below which destructors run; _init and _fini at the two ends), and what people wrote by
 * hand.  A walker in user space follows such code when it meets it,
 * and checks against the stack (no_table); who only looks rows up is told beforehand.
 * There is nothing to check against, so a row is given only where all ways from there on
 * lead to one return address.  x86-64.
 */
#ifndef DWELL_UNWIND_GAP_ROWS_H
#define DWELL_UNWIND_GAP_ROWS_H

#include "unwind/cfa_row.h"

struct unwind_image;

/* Between functions, smaller ones are what aligns them; larger ones have tables of data
 * in them. */
#define GAP_ROWS_MIN_BYTES 16
#define GAP_ROWS_MAX_BYTES 4096

/* From vaddr on the row is in force: ascending, CFA_ROW_NONE where nothing is known. */
typedef void gap_rows_visit_fn(void *ctx, uint64_t vaddr, const struct cfa_row *row);

/* Of what is between two addresses that are covered, or one and an end of its segment;
 * the zeros that align what follows are no code.  False, and nothing is visited, when it
 * is not to be read as code. */
bool gap_rows(struct unwind_image *image, uint64_t start, uint64_t end,
	      gap_rows_visit_fn *visit, void *ctx);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * calc_stall - the bubble above an instruction that stalls: how long, and every cause
 * that is not ruled out, on rows of the listing.
 *
 * Causes that differ in nothing but their names share a row, and so do many places that
 * one cause may be of, of which the likeliest is named.
 */
#ifndef DWELL_CMD_CALC_STALL_H
#define DWELL_CMD_CALC_STALL_H

#include "analyze/stall.h"
#include "base/table.h"

/* Of a step; PROCEDURE_OUTSIDE: on the way to a block.  Nothing, where it does not stall.
 * column: of the table, for the text; those before it are left empty. */
void calc_stall_put(const struct stall *s, const struct procedure *p, uint32_t step,
		    struct table *to, unsigned column);
/* The instructions that its rows name, steps: each is told to fn. */
void calc_stall_each_named(const struct stall *s, const struct procedure *p,
			   uint32_t step, void (*fn)(void *ctx, uint32_t named),
			   void *ctx);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * ranking - which rows of a report are shown, and in what order.
 */
#ifndef DWELL_ANALYZE_RANKING_H
#define DWELL_ANALYZE_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranking_options {
	size_t limit;	   /* rows at most; 0: no limit */
	double min_pct;	   /* of the total; smaller rows are left out */
	double cumulative; /* stop when the rows shown make up this share; 0: never */
	uint64_t total;	   /* what the percentages are of */
	bool by_name;	   /* the rows that the above leave */
};

/* A row with its value in the order's column; `tie` decides between equals. */
struct ranking_row {
	size_t id;
	uint64_t value, tie;
	const char *name; /* decides at last; NULL: the id does */
};

/* Sorts the rows, heaviest first, and returns how many are shown.  Rows that are 0 in
 * value and tie are never shown. */
size_t ranking_order(struct ranking_row *rows, size_t n, const struct ranking_options *o);

#endif

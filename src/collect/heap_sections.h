/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_sections - what becomes of a process' blocks from one mark to the next.
 *
 * A section is the time between two ends of intervals (collect/gauges.h).  A site of the
 * ledger is a stack of a thread in the section in which it took its blocks, so all sums
 * of a site are cut by that; what is given back is summed here, by site and section.
 * Ends by a timer count only where sites are few, so that sums stay bounded.
 */
#ifndef DWELL_COLLECT_HEAP_SECTIONS_H
#define DWELL_COLLECT_HEAP_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/gauges.h"

/* blocks: heap_ledger_count_of() tells how many these are. */
struct heap_amount {
	uint64_t blocks, bytes;
};

/* Until the next one begins, later. */
struct heap_section {
	uint64_t from_ns;
	struct heap_amount held; /* when it began */
	uint64_t n_uncut;	 /* intervals that ended within */
};

/* Of what a site took, this was given back in a section. */
struct heap_given {
	uint32_t site, section;
	struct heap_amount amount;
};

/* Parallel to the ledger's sites. */
struct heap_section_site {
	uint32_t born; /* section */
	uint32_t given_in;
	struct heap_amount given; /* in that one */
};

struct heap_sections {
	VEC(struct heap_section) all;
	VEC(struct heap_section_site) sites;
	VEC(struct heap_given) given; /* before; heap_sections_giving() tells the rest */
	uint64_t n_touched;	      /* sums that the last section has brought about */
	uint64_t n_before;	      /* and those before */
};

void heap_sections_fini(struct heap_sections *s);
/* The first one; what is given before has none. */
void heap_sections_begin(struct heap_sections *s, uint64_t from_ns);
/* An interval ended: true where another section begins. */
bool heap_sections_cut(struct heap_sections *s, const struct gauges_cut *cut,
		       struct heap_amount held);
void heap_sections_add_site(struct heap_sections *s);
void heap_sections_give(struct heap_sections *s, uint32_t site,
			struct heap_amount amount);
/* That was no release, as it was said just now. */
void heap_sections_take_back(struct heap_sections *s, uint32_t site,
			     struct heap_amount amount);
/* Of what a site took, what was given back in the section under way, or last. */
struct heap_given heap_sections_giving(const struct heap_sections *s, uint32_t site);

/* When the section began in which the site took its blocks. */
uint64_t heap_sections_born_ns(const struct heap_sections *s, uint32_t site);

#endif

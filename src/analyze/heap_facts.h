/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_facts - what was recorded of the whole heap of each process.
 */
#ifndef DWELL_ANALYZE_HEAP_FACTS_H
#define DWELL_ANALYZE_HEAP_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/recording.h"

enum heap_fact {
	HEAP_FACT_ALLOCATIONS,
	HEAP_FACT_ALLOCATED, /* bytes */
	HEAP_FACT_FREES,
	HEAP_FACT_PEAK, /* bytes */
	HEAP_FACT_PEAK_BLOCKS,
	HEAP_FACT_PEAK_TIME, /* CLOCK_MONOTONIC, ns */
	HEAP_FACT_LEFT,	     /* bytes */
	HEAP_FACT_LEFT_BLOCKS,
	HEAP_FACT_SAMPLE, /* bytes for each block that was observed; 0: all were */
	HEAP_FACT_MAPPINGS,
	HEAP_FACT_MAPPED,      /* bytes, by the program itself */
	HEAP_FACT_MAPPED_PEAK, /* bytes */
	HEAP_FACT_MAPPED_LEFT, /* bytes */
	HEAP_FACT_LOOKED,      /* enum heap_facts_looked */
	HEAP_FACT_LOST,	       /* bytes, to which nothing points */
	HEAP_FACT_LOST_BLOCKS,
	HEAP_FACT_INDIRECTLY, /* bytes, to which only those do */
	HEAP_FACT_INDIRECTLY_BLOCKS,
	HEAP_FACT_POSSIBLY, /* bytes, to which something points only within blocks */
	HEAP_FACT_POSSIBLY_BLOCKS,
	HEAP_FACT_N,
};

/* Was it looked for what still points to what is left? */
enum heap_facts_looked {
	HEAP_FACTS_LOOKED = 1,
	HEAP_FACTS_VISITED = 7, /* it ran before it was observed, and perhaps goes on */
	HEAP_FACTS_WENT_ON = 8, /* the recorder was killed before its end */
	HEAP_FACTS_N_LOOKED,	/* others say why not; 0: an older recording */
};

struct heap_process {
	uint32_t process; /* id in the recording */
	uint64_t facts[HEAP_FACT_N];
};

struct heap_processes {
	VEC(struct heap_process) all; /* those that held most first */
};

/* Empty when the heap was not recorded. */
void heap_facts_load(struct heap_processes *h, const struct recording *r);
void heap_facts_fini(struct heap_processes *h);
/* The name in docs/format.md. */
const char *heap_facts_name(enum heap_fact fact);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/heap_facts.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[HEAP_FACT_N] = {
	[HEAP_FACT_ALLOCATIONS] = "heap-allocations",
	[HEAP_FACT_ALLOCATED] = "heap-allocated",
	[HEAP_FACT_FREES] = "heap-frees",
	[HEAP_FACT_PEAK] = "heap-peak",
	[HEAP_FACT_PEAK_BLOCKS] = "heap-peak-blocks",
	[HEAP_FACT_PEAK_TIME] = "heap-peak-time",
	[HEAP_FACT_LEFT] = "heap-left",
	[HEAP_FACT_LEFT_BLOCKS] = "heap-left-blocks",
	[HEAP_FACT_SAMPLE] = "heap-sample",
	[HEAP_FACT_MAPPINGS] = "heap-mappings",
	[HEAP_FACT_MAPPED] = "heap-mapped",
	[HEAP_FACT_MAPPED_PEAK] = "heap-mapped-peak",
	[HEAP_FACT_MAPPED_LEFT] = "heap-mapped-left",
	[HEAP_FACT_LOOKED] = "heap-looked",
	[HEAP_FACT_LOST] = "heap-lost",
	[HEAP_FACT_LOST_BLOCKS] = "heap-lost-blocks",
	[HEAP_FACT_INDIRECTLY] = "heap-indirectly-lost",
	[HEAP_FACT_INDIRECTLY_BLOCKS] = "heap-indirectly-lost-blocks",
	[HEAP_FACT_POSSIBLY] = "heap-possibly-lost",
	[HEAP_FACT_POSSIBLY_BLOCKS] = "heap-possibly-lost-blocks",
};

const char *heap_facts_name(enum heap_fact fact)
{
	return names[fact];
}

static int find_name(const char *name)
{
	for (int i = 0; i < HEAP_FACT_N; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static struct heap_process *process_of(struct heap_processes *h, uint32_t id)
{
	struct heap_process *p;

	vec_each(x, &h->all)
		if (x->process == id)
			return x;
	p = vec_push(&h->all);
	*p = (struct heap_process){ .process = id };
	return p;
}

static int by_peak(const void *a, const void *b)
{
	const struct heap_process *x = a, *y = b;
	uint64_t p = x->facts[HEAP_FACT_PEAK], q = y->facts[HEAP_FACT_PEAK];

	if (p != q)
		return p < q ? 1 : -1;
	return (x->process > y->process) - (x->process < y->process);
}

void heap_facts_load(struct heap_processes *h, const struct recording *r)
{
	for (uint32_t i = 0; i < recording_n_facts(r); i++) {
		const struct model_fact *f = recording_fact(r, i);
		int at = find_name(recording_string(r, f->name));

		if (at >= 0 && f->process < recording_n_processes(r))
			process_of(h, f->process)->facts[at] = f->value;
	}
	if (h->all.n)
		qsort(h->all.at, h->all.n, sizeof(*h->all.at), by_peak);
}

void heap_facts_fini(struct heap_processes *h)
{
	vec_fini(&h->all);
}

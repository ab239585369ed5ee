/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * rows - unwind rules by place in a file, as wire/stack_rows.h lays them out.
 */
#ifndef DWELL_COLLECT_BPF_ROWS_BPF_H
#define DWELL_COLLECT_BPF_ROWS_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "wire/stack_rows.h"

struct stack_rows_page {
	uint32_t words[STACK_ROWS_PAGE_WORDS];
};

/* Sizes, not types: to Linux 6.1 a map whose types are told is another kind than those
 * that the collector makes, who tells none. */
struct stack_rows_pool {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STACK_ROWS_POOL_PAGES);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(struct stack_rows_page));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, STACK_ROWS_POOLS_MAX);
	__type(key, uint32_t);
	__array(values, struct stack_rows_pool);
} pools SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STACK_ROWS_RULES_MAX);
	__type(key, uint32_t);
	__type(value, struct stack_rule);
} rules SEC(".maps");

static __always_inline struct stack_rows_page *rows_page(uint32_t page)
{
	uint32_t pool = page / STACK_ROWS_POOL_PAGES;
	uint32_t at = page % STACK_ROWS_POOL_PAGES;
	void *pages = bpf_map_lookup_elem(&pools, &pool);

	return pages ? bpf_map_lookup_elem(pages, &at) : NULL;
}

#define ROWS_CACHE_SLOTS 4096 /* per CPU, a power of two */

/* The rule at a place that was looked up before: what calls where hardly changes. */
struct rows_cached {
	uint64_t place;
	struct stack_rule rule;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ROWS_CACHE_SLOTS);
	__type(key, uint32_t);
	__type(value, struct rows_cached);
} rows_cache SEC(".maps");

/* Which image has its rules where. */
struct rows_image {
	uint32_t state; /* enum stack_image_state */
	uint32_t index_page, first_block, n_blocks;
};

/* The number of the rule in force at a pc: of the rows behind `first`, the last that
 * does not start after it.  Without branches, of which the verifier would go all ways. */
__noinline int rows_search(struct stack_rows_page *page, uint32_t first, uint32_t pc)
{
	uint64_t at = 0, n;

	if (!page)
		return 0;
	pc &= STACK_ROWS_BLOCK_BYTES - 1;
	n = page->words[first % STACK_ROWS_PAGE_WORDS];
	for (uint32_t bit = STACK_ROWS_PAGE_WORDS / 2; bit; bit /= 2) {
		uint64_t next = at + bit;
		uint64_t start =
			page->words[(first + 1 + next) % STACK_ROWS_PAGE_WORDS] & 0xffff;
		/* Negative, if both are below. */
		uint64_t is_before = (next - n) & (start - pc - 1);

		at += bit & -(is_before >> 63);
	}
	return page->words[(first + 1 + at) % STACK_ROWS_PAGE_WORDS] >> 16;
}

static __always_inline uint32_t rows_find(const struct rows_image *image, uint64_t offset)
{
	uint64_t block = (offset >> STACK_ROWS_BLOCK_SHIFT) - image->first_block;
	struct stack_rows_page *page;
	uint32_t entry;

	if (block >= image->n_blocks)
		return 0;
	page = rows_page(image->index_page + (uint32_t)(block / STACK_ROWS_PAGE_WORDS));
	if (!page)
		return 0;
	entry = page->words[block % STACK_ROWS_PAGE_WORDS];
	if (!entry)
		return 0;
	page = rows_page(entry >> 16);
	if (page && (entry & STACK_ROWS_SPLIT)) {
		entry = page->words[(entry + STACK_ROWS_PART(offset)) %
				    STACK_ROWS_PAGE_WORDS];
		page = rows_page(entry >> 16);
	}
	return page ? (uint32_t)rows_search(page, entry & 0xffff, (uint32_t)offset) : 0;
}

/* The rule at an offset in the file of an image, whose number is part of the place.  A
 * place has the same rule for ever: a number is of one file, until slots have gone
 * through all generations. */
static __always_inline struct stack_rule *
rows_rule(const struct rows_image *image, uint64_t place, uint64_t offset, bool is_shared)
{
	uint32_t slot = (place ^ place >> 12 ^ place >> 40) & (ROWS_CACHE_SLOTS - 1);
	struct rows_cached *c;
	struct stack_rule *rule;
	uint32_t number;

	if (!is_shared) { /* as mapping_at() says */
		number = rows_find(image, offset);
		return bpf_map_lookup_elem(&rules, &number);
	}
	c = bpf_map_lookup_elem(&rows_cache, &slot);
	if (!c)
		return NULL;
	if (c->place == place)
		return &c->rule;
	number = rows_find(image, offset);
	rule = bpf_map_lookup_elem(&rules, &number);
	if (!rule)
		return NULL;
	c->rule = *rule;
	c->place = place;
	return &c->rule;
}

#endif

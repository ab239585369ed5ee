/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/loop_nest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "insn/procedure.h"

#define NONE LOOP_NEST_NONE

/* Wei, Mao, Zou, Chen: A New Algorithm for Identifying Loops in Decompilation (2007):
 * one search, depth first, in which each block is told the innermost header on the path
 * to it that it leads back to.  `around` of a header is that of the loop around it. */
struct search {
	const struct procedure *p;
	struct loop_nest_block *blocks;
	uint32_t *around; /* [block] */
	uint32_t *place;  /* [block] on the path, from 1; 0: not on it */
	bool *is_met;
	uint32_t *path, *next_way; /* of the block at each place */
	uint32_t n_path;
	bool is_from_entry; /* the path begins where the procedure is entered */
};

/* A block leads back to a header on the path: to its other headers that is around them,
 * or in between. */
static void put_around(struct search *s, uint32_t block, uint32_t header)
{
	while (block != header && s->around[block] != NONE) {
		uint32_t known = s->around[block];

		if (known == header)
			return;
		if (s->place[known] < s->place[header]) {
			s->around[block] = header;
			block = header;
			header = known;
		} else {
			block = known;
		}
	}
	if (block != header)
		s->around[block] = header;
}

/* A block that was left before is in a loop whose header is not on the path: it is
 * entered here, too.  So is each around it, up to one whose header is.  From where nobody
 * knows who comes that tells nothing: a handler of exceptions that goes on in a loop
 * comes from within it. */
static void enter_elsewhere(struct search *s, uint32_t from, uint32_t to)
{
	uint32_t header = s->around[to];

	while (header != NONE && !s->place[header]) {
		s->blocks[header].is_entered_elsewhere |= s->is_from_entry;
		header = s->around[header];
	}
	if (header != NONE)
		put_around(s, from, header);
}

static void go_on(struct search *s, uint32_t block)
{
	s->is_met[block] = true;
	s->path[s->n_path] = block;
	s->next_way[s->n_path] = 0;
	s->place[block] = ++s->n_path;
}

static void go_back(struct search *s)
{
	uint32_t block = s->path[--s->n_path];

	s->place[block] = 0;
	if (s->n_path && s->around[block] != NONE)
		put_around(s, s->path[s->n_path - 1], s->around[block]);
}

static void follow(struct search *s, uint32_t from, uint32_t to)
{
	if (to == PROCEDURE_OUTSIDE)
		return;
	if (!s->is_met[to]) {
		go_on(s, to);
	} else if (s->place[to]) {
		s->blocks[to].is_header = true;
		put_around(s, from, to);
	} else {
		enter_elsewhere(s, from, to);
	}
}

static void search_from(struct search *s, uint32_t block)
{
	if (s->is_met[block])
		return;
	go_on(s, block);
	while (s->n_path) {
		uint32_t last = s->path[s->n_path - 1];
		const struct procedure_block *b = &s->p->blocks[last];
		uint32_t i = s->next_way[s->n_path - 1]++;

		if (i < b->n_out)
			follow(s, last, s->p->ways[b->first_out + i].to);
		else
			go_back(s);
	}
}

static uint32_t depth_of(const struct search *s, uint32_t block)
{
	const struct loop_nest_block *b = &s->blocks[block];
	uint32_t ret = b->is_header;

	for (uint32_t i = s->around[block]; i != NONE; i = s->around[i])
		ret++;
	return ret;
}

static void tell(const struct search *s)
{
	for (uint32_t i = 0; i < s->p->n_blocks; i++) {
		struct loop_nest_block *b = &s->blocks[i];

		b->loop = b->is_header ? i : s->around[i];
		b->outer = b->is_header ? s->around[i] : NONE;
		b->depth = depth_of(s, i);
	}
}

void loop_nest_make(struct loop_nest *ret, const struct procedure *p)
{
	const size_t n = p->n_blocks + 1;
	own(freep) uint32_t *around = xcalloc(n, sizeof(*around));
	own(freep) uint32_t *place = xcalloc(n, sizeof(*place));
	own(freep) uint32_t *path = xcalloc(n, sizeof(*path));
	own(freep) uint32_t *next_way = xcalloc(n, sizeof(*next_way));
	own(freep) bool *is_met = xcalloc(n, sizeof(*is_met));
	struct search s = { .p = p,
			    .around = around,
			    .place = place,
			    .is_met = is_met,
			    .path = path,
			    .next_way = next_way };

	s.blocks = ret->blocks = xcalloc(n, sizeof(*ret->blocks));
	for (uint32_t i = 0; i < p->n_blocks; i++)
		around[i] = NONE;
	s.is_from_entry = true;
	if (p->entry != PROCEDURE_OUTSIDE)
		search_from(&s, p->entry);
	s.is_from_entry = false;
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].has_unknown_ways_in)
			search_from(&s, i);
	for (uint32_t i = 0; i < p->n_blocks; i++)
		search_from(&s, i);
	tell(&s);
}

void loop_nest_fini(struct loop_nest *n)
{
	free(n->blocks);
	n->blocks = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define WORD	    sizeof(uint64_t)
#define PIECE_BYTES (UINT64_C(256) << 10)
#define PAGE_BYTES  UINT64_C(4096)
/* Each costs a system call. */
#define BLOCKS_MAX 512

static const struct heap_reach_origin by_root = { HEAP_REACH_REACHED, 0 };

void heap_reach_begin(struct heap_reach *r, const struct heap_finder *finder,
		      const struct heap_ranges *roots, struct heap_vtables *tables,
		      heap_roots_read_fn *read, heap_reach_skip_fn *skip, void *ctx)
{
	*r = (struct heap_reach){ .finder = finder,
				  .roots = roots,
				  .tables = tables,
				  .read = read,
				  .skip = skip,
				  .ctx = ctx };
	r->states = xcalloc(finder->blocks.n + 1, 1);
	r->objects = xcalloc(finder->blocks.n + 1, 1);
	r->piece = xcalloc(1, PIECE_BYTES);
}

void heap_reach_fini(struct heap_reach *r)
{
	free(r->states);
	free(r->objects);
	free(r->piece);
	vec_fini(&r->pending);
	*r = (struct heap_reach){ 0 };
}

static void raise_state(struct heap_reach *r, size_t i, enum heap_reach_state state)
{
	if (r->states[i] >= state)
		return;
	r->states[i] = (uint8_t)state;
	*vec_push(&r->pending) = (uint32_t)i;
}

/* Pointers behind a word that says how much there is: to arrays of objects that have
 * destructors, and of those who put the size in front. */
static bool is_behind_count(struct heap_reach *r, const struct heap_block *b,
			    uint64_t pointer)
{
	uint64_t n;

	return pointer - b->address == WORD && b->size_bytes > WORD &&
	       r->read(r->ctx, b->address, &n, WORD) && n && n <= b->size_bytes &&
	       (b->size_bytes - WORD) % n == 0;
}

/* To the characters of a string that others share: length, room and who shares it are in
 * front (libstdc++ before C++11). */
static bool is_string(struct heap_reach *r, const struct heap_block *b, uint64_t pointer)
{
	uint64_t head[2];

	return pointer - b->address == 3 * WORD && b->size_bytes > 3 * WORD &&
	       r->read(r->ctx, b->address, head, sizeof(head)) && head[0] <= head[1] &&
	       head[1] == b->size_bytes - 3 * WORD - 1;
}

static bool has_table(struct heap_reach *r, uint64_t address)
{
	uint64_t word;

	return r->read(r->ctx, address, &word, WORD) &&
	       heap_vtables_has(r->tables, word, r->read, r->ctx);
}

static bool is_object(struct heap_reach *r, size_t i)
{
	if (r->objects[i] == HEAP_REACH_UNASKED)
		r->objects[i] = has_table(r, r->finder->blocks.at[i].address)
					? HEAP_REACH_OBJECT
					: HEAP_REACH_NO_OBJECT;
	return r->objects[i] == HEAP_REACH_OBJECT;
}

/* To a base class of an object. */
static bool is_base(struct heap_reach *r, size_t i, uint64_t pointer)
{
	uint64_t left = heap_finder_end_of(&r->finder->blocks.at[i]) - pointer;

	return pointer % WORD == 0 && left >= WORD && is_object(r, i) &&
	       has_table(r, pointer);
}

/* Is it how one points to the whole of a block? */
static bool is_whole(struct heap_reach *r, size_t i, uint64_t pointer)
{
	const struct heap_block *b = &r->finder->blocks.at[i];

	return pointer == b->address || is_behind_count(r, b, pointer) ||
	       is_string(r, b, pointer) || is_base(r, i, pointer);
}

static void follow(struct heap_reach *r, const struct heap_reach_origin *from,
		   uint64_t pointer)
{
	size_t i = heap_finder_at(r->finder, pointer);

	if (i == HEAP_FINDER_NONE || r->states[i] >= from->state)
		return;
	if (from->state == HEAP_REACH_INDIRECTLY) {
		if (i != from->leader)
			raise_state(r, i, HEAP_REACH_INDIRECTLY);
		return;
	}
	raise_state(r, i, is_whole(r, i, pointer) ? from->state : HEAP_REACH_POSSIBLY);
}

static void follow_words(struct heap_reach *r, const struct heap_reach_origin *from,
			 const uint8_t *bytes, size_t size)
{
	uint64_t lo, hi = r->finder->end;

	if (!r->finder->blocks.n)
		return;
	lo = r->finder->blocks.at[0].address;
	for (size_t at = 0; at + WORD <= size; at += WORD) {
		uint64_t word;

		memcpy(&word, bytes + at, WORD);
		if (word - lo < hi - lo)
			follow(r, from, word);
	}
}

void heap_reach_follow(struct heap_reach *r, const uint64_t *words, size_t n)
{
	follow_words(r, &by_root, (const uint8_t *)words, n * WORD);
}

/* Whole words of it, up to a piece.  False: up to a page that cannot be read. */
static bool follow_range(struct heap_reach *r, const struct heap_reach_origin *from,
			 uint64_t start, uint64_t end)
{
	start = (start + WORD - 1) & ~(WORD - 1);
	if (end <= start)
		return true;
	if (r->read(r->ctx, start, r->piece, end - start)) {
		follow_words(r, from, r->piece, end - start);
		return true;
	}
	while (start < end) {
		uint64_t page_end = (start / PAGE_BYTES + 1) * PAGE_BYTES;
		uint64_t to = page_end < end ? page_end : end;

		if (!r->read(r->ctx, start, r->piece, to - start))
			return false;
		follow_words(r, from, r->piece, to - start);
		start = to;
	}
	return true;
}

/* Up to the next block of the root at hand, or as much as fits. */
static void go_on_root(struct heap_reach *r)
{
	const struct heap_range *root = &r->roots->all.at[r->root];
	uint64_t at = r->root_at ? r->root_at : root->start, end = root->end;
	size_t i = heap_finder_above(r->finder, at);
	const struct heap_block *block =
		i < r->finder->blocks.n ? &r->finder->blocks.at[i] : NULL;

	if (block && block->address <= at) {
		r->root_at = heap_finder_end_of(block);
	} else {
		if (block && block->address < end)
			end = block->address;
		at = r->skip(r->ctx, at, end);
		if (end - at > PIECE_BYTES)
			end = at + PIECE_BYTES;
		(void)follow_range(r, &by_root, at, end);
		r->root_at = end;
	}
	if (r->root_at < root->end)
		return;
	r->root++;
	r->root_at = 0;
}

/* A piece of what is left of a block.  Whatever a process says, no more of it than is
 * there. */
static void go_on_rest(struct heap_reach *r)
{
	uint64_t at = r->rest.start, end = r->rest.end;

	if (end - at > PIECE_BYTES)
		at = r->skip(r->ctx, at, end);
	if (end - at > PIECE_BYTES)
		end = at + PIECE_BYTES;
	r->rest.start = end;
	if (!follow_range(r, &r->rest_of, at, end))
		r->rest.start = r->rest.end;
}

static void follow_block(struct heap_reach *r, size_t i,
			 const struct heap_reach_origin *from)
{
	const struct heap_block *b = &r->finder->blocks.at[i];

	r->rest = (struct heap_range){ b->address, heap_finder_end_of(b) };
	r->rest_of = *from;
	go_on_rest(r);
}

/* Up to a number of blocks, or of bytes.  What is lost with a leader it alone leads to.
 */
static void go_on_pending(struct heap_reach *r, size_t leader)
{
	uint64_t bytes = 0;

	for (size_t n = 0; n < BLOCKS_MAX && bytes < PIECE_BYTES && r->pending.n; n++) {
		size_t i = r->pending.at[--r->pending.n];
		struct heap_reach_origin from = { r->states[i], leader };

		bytes += r->finder->blocks.at[i].size_bytes;
		follow_block(r, i, &from);
	}
}

/* Of a block that nothing has led to: what is lost with it. */
static void begin_leader(struct heap_reach *r)
{
	struct heap_reach_origin from = { HEAP_REACH_INDIRECTLY, r->leader };

	if (r->states[r->leader] == HEAP_REACH_LOST)
		follow_block(r, r->leader, &from);
}

bool heap_reach_go_on(struct heap_reach *r)
{
	if (r->rest.start < r->rest.end) {
		go_on_rest(r);
		return true;
	}
	if (r->root < r->roots->all.n) {
		go_on_root(r);
		return true;
	}
	if (r->pending.n) {
		go_on_pending(r, r->leader ? r->leader - 1 : HEAP_FINDER_NONE);
		return true;
	}
	if (r->leader == r->finder->blocks.n)
		return false;
	begin_leader(r);
	r->leader++;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_begun.h"

void io_begun_fini(struct io_begun *b)
{
	map_fini(&b->innermost);
	vec_fini(&b->places);
}

static void give_back(struct io_begun *b, uint64_t place)
{
	struct io_begun_call *c = &b->places.at[place - 1];

	c->is_there = false;
	c->around = b->free;
	b->free = place;
	b->n--;
}

static uint64_t take_place(struct io_begun *b)
{
	uint64_t place = b->free;

	if (place) {
		b->free = b->places.at[place - 1].around;
	} else {
		vec_push(&b->places);
		place = b->places.n;
	}
	b->n++;
	return place;
}

void io_begun_end(struct io_begun *b, uint32_t thread, uint64_t frame)
{
	uint64_t *innermost = map_find(&b->innermost, thread);

	while (innermost && *innermost && b->places.at[*innermost - 1].frame <= frame) {
		uint64_t place = *innermost;

		*innermost = b->places.at[place - 1].around;
		give_back(b, place);
	}
	if (innermost && !*innermost)
		map_remove(&b->innermost, thread);
}

bool io_begun_add(struct io_begun *b, const struct io_begun_call *call)
{
	const uint64_t *known;
	uint64_t around, place;
	uint32_t depth;

	io_begun_end(b, call->thread, call->frame);
	known = map_find(&b->innermost, call->thread);
	around = known ? *known : 0;
	depth = around ? b->places.at[around - 1].depth + 1 : 0;
	if (b->n >= IO_BEGUN_MAX || depth >= IO_BEGUN_DEPTH_MAX)
		return false;
	place = take_place(b);
	b->places.at[place - 1] = *call;
	b->places.at[place - 1].depth = depth;
	b->places.at[place - 1].around = around;
	b->places.at[place - 1].is_there = true;
	*map_slot(&b->innermost, call->thread, NULL) = place;
	return true;
}

bool io_begun_is_innermost(const struct io_begun *b, const struct io_begun_call *call)
{
	const uint64_t *known =
		call->is_there ? map_find(&b->innermost, call->thread) : NULL;

	return known && *known && &b->places.at[*known - 1] == call;
}

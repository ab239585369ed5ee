/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_choice.h"

#include <stdlib.h>

#include "analyze/profile_data.h"
#include "analyze/stream.h"
#include "base/search.h"

struct making {
	struct block_choice *c;
	const struct input *s;
	uint32_t event; /* that counts instructions */
};

void block_choice_fini(struct block_choice *c)
{
	vec_fini(&c->places);
}

static int take_samples(void *ctx, const struct sample_block *b, const uint8_t *keep,
			struct err *e unused)
{
	struct making *m = ctx;

	for (size_t i = 0; i < b->n; i++) {
		const struct model_thread *thread =
			recording_thread(m->s->recording, b->thread[i]);
		const struct model_location *l;

		if (b->event[i] != m->event || !b->stack[i] || !thread)
			continue;
		l = &m->s->locations[m->s->stacks[b->stack[i]].location];
		*vec_push(&m->c->places) =
			(struct block_choice_place){ .process = thread->process,
						     .image = l->image,
						     .off = l->offset,
						     .passes = !keep || keep[i] };
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct block_choice_place *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	return (int)x->passes - (int)y->passes;
}

/* By functions that were chosen when recording, which blocks do not know. */
static bool is_divided(const struct block_choice *c)
{
	for (size_t i = 1; i < c->places.n; i++) {
		const struct block_choice_place *x = &c->places.at[i], *y = x - 1;

		if (x->process == y->process && x->image == y->image &&
		    x->off == y->off && x->passes != y->passes)
			return true;
	}
	return false;
}

int block_choice_make(struct block_choice *ret, const struct profile *p, size_t source,
		      struct err *e)
{
	/* A block that cannot be read was counted when the profile was loaded: count into
	 * a copy. */
	struct input s = p->sources[source];
	own(filter_binding_freep) struct filter_binding *filter = NULL;
	struct making m = { .c = ret, .s = &s };
	uint32_t column;
	int rc = input_counted_column(&s, &column, e);

	*ret = (struct block_choice){ .recording = s.recording, .is_all = !p->filter };
	if (rc < 0 || ret->is_all)
		return rc;
	m.event = input_counted_event(s.recording);
	filter = filter_bind(p->filter, p, &s);
	rc = stream_samples(&s, filter, SAMPLE_EVENT | SAMPLE_THREAD | SAMPLE_STACK,
			    take_samples, &m, e);
	if (ret->places.n)
		qsort(ret->places.at, ret->places.n, sizeof(*ret->places.at), by_place);
	if (rc == 0 && is_divided(ret))
		return err_set(e, ERR_UNSUPPORTED,
			       "the filter takes a part of what a block executed, and "
			       "blocks and calls are known as a whole: see 'dwell "
			       "report' or 'dwell lines'");
	return rc;
}

/* The last instruction of block b that begins within so many bytes of it. */
static const struct block_choice_place *last_within(const struct block_choice *c,
						    const struct model_basic_block *b,
						    uint32_t size_bytes)
{
	const struct model_location *l = &recording_locations(c->recording)[b->location];
	struct block_choice_place end = { .process = b->process,
					  .image = l->image,
					  .off = l->offset + size_bytes };
	const struct block_choice_place *place;
	size_t low = search_split(c->places.n, i, by_place(&c->places.at[i], &end) < 0);

	if (!low)
		return NULL;
	place = &c->places.at[low - 1];
	if (place->process != b->process || place->image != l->image)
		return NULL;
	return place->off >= l->offset ? place : NULL;
}

static bool has_within(const struct block_choice *c, const struct model_basic_block *b,
		       uint32_t size_bytes)
{
	const struct block_choice_place *place;

	if (c->is_all)
		return true;
	place = last_within(c, b, size_bytes);
	return place && place->passes;
}

bool block_choice_has_begin(const struct block_choice *c,
			    const struct model_basic_block *b)
{
	return has_within(c, b, 1);
}

bool block_choice_has_end(const struct block_choice *c, const struct model_basic_block *b)
{
	return has_within(c, b, b->size_bytes);
}

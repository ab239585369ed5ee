/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stack_stream.h"

#include "store/writer_data.h"

/* Rows of a block: who wants a few of them reads no more than that. */
#define BLOCK_ROWS (1u << 14)

void stack_stream_fini(struct stack_stream *s)
{
	vec_fini(&s->path);
	vec_fini(&s->rows);
	vec_fini(&s->ups);
	buf_fini(&s->spine);
}

/* The row before a block and its callers, outermost first: with them a reader needs no
 * other block to know the stacks of this one. */
static void encode_spine(struct stack_stream *s)
{
	uint32_t last = 0;

	buf_clear(&s->spine);
	buf_uleb(&s->spine, s->path.n);
	vec_each(step, &s->path) {
		buf_uleb(&s->spine, step->id - last);
		buf_uleb(&s->spine, step->location);
		last = step->id;
	}
}

int stack_stream_add(struct stack_stream *s, size_t depth, uint32_t location,
		     struct err *e)
{
	if (!s->rows.n)
		encode_spine(s);
	*vec_push(&s->ups) = (uint32_t)(s->path.n + 1 - depth);
	s->path.n = depth - 1;
	*vec_push(&s->rows) = (struct model_stack){
		.parent = s->path.n ? s->path.at[s->path.n - 1].id : 0,
		.location = location,
	};
	*vec_push(&s->path) = (struct stack_stream_step){ ++s->n, location };
	return s->rows.n < BLOCK_ROWS ? 0 : stack_stream_end(s, e);
}

int stack_stream_end(struct stack_stream *s, struct err *e)
{
	const struct format_summary summary = { .n = s->rows.n,
						.first = s->n - s->rows.n + 1 };
	int rc = 0;

	if (s->rows.n)
		rc = writer_append_stacks(s->writer, s->rows.at, s->ups.at, &s->spine,
					  &summary, s->n_locations, e);
	vec_clear(&s->rows);
	vec_clear(&s->ups);
	return rc;
}

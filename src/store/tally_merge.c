/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tally_merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/merge_input.h"
#include "store/row_stream.h"
#include "store/stack_stream.h"
#include "store/tally_data.h"
#include "store/writer.h"

struct tally_merge {
	struct tally *front;
	VEC(struct merge_input) inputs;
	VEC(uint32_t) images; /* of the innermost frame, by stack */
	char *culprit;
};

struct tally_merge *tally_merge_new(void)
{
	struct tally_merge *m = xcalloc(1, sizeof(*m));

	m->front = tally_new();
	return m;
}

void tally_merge_free(struct tally_merge *m)
{
	if (!m)
		return;
	vec_each(in, &m->inputs)
		merge_input_fini(in);
	vec_fini(&m->inputs);
	vec_fini(&m->images);
	tally_free(m->front);
	free(m->culprit);
	free(m);
}

void tally_merge_freep(struct tally_merge **m)
{
	tally_merge_free(*m);
}

struct tally *tally_merge_front(struct tally_merge *m)
{
	return m->front;
}

const char *tally_merge_culprit(const struct tally_merge *m)
{
	return m->culprit;
}

static int blame(struct tally_merge *m, const char *path, int rc)
{
	if (rc < 0) {
		free(m->culprit);
		m->culprit = xstrdup(path);
	}
	return rc;
}

int tally_merge_add(struct tally_merge *m, const char *path, struct err *e)
{
	return blame(m, path, merge_input_open(vec_push(&m->inputs), path, m->front, e));
}

static int check(struct tally_merge *m, const struct merge_input *in, int rc)
{
	return blame(m, recording_path(in->recording), rc);
}

/* The caller of the next stack in the order of all is on the path of the last one: the
 * deepest comes first, and of one depth that of the first location.  NULL: no more. */
static const struct merge_input *next_stack(const struct tally_merge *m)
{
	const struct merge_input *next = NULL;

	vec_each(in, &m->inputs)
		if (in->depth &&
		    (!next || in->depth > next->depth ||
		     (in->depth == next->depth && in->location < next->location)))
			next = in;
	return next;
}

static int pass_stack(struct tally_merge *m, size_t depth, uint32_t location, uint32_t id,
		      struct err *e)
{
	int rc = 0;

	vec_each(in, &m->inputs)
		if (in->depth == depth && in->location == location && rc == 0)
			rc = check(m, in, merge_input_pass_stack(in, id, e));
	return rc;
}

static uint32_t image_of(const struct tally_merge *m, const struct tally_order *o,
			 uint32_t location)
{
	return o->image[m->front->locations.all.at[o->locations.at[location]].image];
}

static int merge_stacks(struct tally_merge *m, const struct tally_output *out,
			struct err *e)
{
	own(stack_stream_fini) struct stack_stream stream = {
		.writer = out->w,
		.n_locations = (uint32_t)out->o.locations.n,
	};
	const struct merge_input *next;
	int rc = 0;

	vec_each(in, &m->inputs)
		if (rc == 0)
			rc = check(m, in, merge_input_begin_stacks(in, &out->o, e));
	*vec_push(&m->images) = MODEL_NONE; /* of the empty stack */
	while (rc == 0 && (next = next_stack(m))) {
		const size_t depth = next->depth;
		const uint32_t location = next->location;

		rc = stack_stream_add(&stream, depth, location, e);
		*vec_push(&m->images) = image_of(m, &out->o, location);
		if (rc == 0)
			rc = pass_stack(m, depth, location, stream.n, e);
	}
	return rc == 0 ? stack_stream_end(&stream, e) : rc;
}

static struct merge_input *next_row(const struct tally_merge *m)
{
	struct merge_input *next = NULL;

	vec_each(in, &m->inputs)
		if (in->has_row && (!next || merge_input_compare_rows(in, next) < 0))
			next = in;
	return next;
}

/* Adds it, unless it is another row or the count would grow too large. */
static bool add_row(struct model_sample *sum, const struct model_sample *row)
{
	if (row->event != sum->event || row->thread != sum->thread ||
	    row->cpu != sum->cpu || row->stack != sum->stack ||
	    row->count > UINT32_MAX - sum->count)
		return false;
	sum->count += row->count;
	sum->weight += row->weight;
	return true;
}

static int merge_rows(struct tally_merge *m, const struct tally_output *out,
		      struct err *e)
{
	own(row_stream_fini) struct row_stream stream = { .writer = out->w };
	struct merge_input *next;
	struct model_sample sum;
	uint32_t image = MODEL_NONE;
	bool has_sum = false;
	int rc = 0;

	vec_each(in, &m->inputs)
		if (rc == 0)
			rc = check(m, in, merge_input_next_row(in, m->images.at, e));
	while (rc == 0 && (next = next_row(m))) {
		if (!has_sum || !add_row(&sum, &next->row)) {
			if (has_sum)
				rc = row_stream_add(&stream, &sum, image, e);
			sum = next->row;
			image = next->image;
			has_sum = true;
		}
		if (rc == 0)
			rc = check(m, next, merge_input_next_row(next, m->images.at, e));
	}
	if (rc == 0 && has_sum)
		rc = row_stream_add(&stream, &sum, image, e);
	return rc == 0 ? row_stream_end(&stream, e) : rc;
}

int tally_merge_write(struct tally_merge *m, const char *path,
		      const struct tally_write_options *o, struct err *e)
{
	own(tally_output_fini) struct tally_output out = { .t = m->front };
	int rc;

	tally_order_init_front(&out.o, m->front);
	rc = tally_output_begin(&out, path, o, e);
	if (rc == 0)
		rc = merge_stacks(m, &out, e);
	if (rc == 0)
		rc = merge_rows(m, &out, e);
	return rc == 0 ? writer_close(steal(&out.w), e) : rc;
}

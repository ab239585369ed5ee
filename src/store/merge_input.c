/* SPDX-License-Identifier: Apache-2.0 */
#include "store/merge_input.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/column_set.h"
#include "store/recording_data.h"

void merge_input_fini(struct merge_input *in)
{
	recording_free(in->recording);
	tally_translation_fini(&in->to);
	free(in->stack);
	vec_fini(&in->ups);
	vec_fini(&in->locations);
	vec_fini(&in->path);
	buf_fini(&in->stored);
	buf_fini(&in->raw);
	buf_fini(&in->scratch);
	sample_block_fini(&in->rows);
	*in = (struct merge_input){ 0 };
}

static int refuse(const struct merge_input *in, const char *why, struct err *e)
{
	return err_set(e, ERR_FORMAT, "%s: %s", recording_path(in->recording), why);
}

int merge_input_open(struct merge_input *in, const char *path, struct tally *t,
		     struct err *e)
{
	int rc = recording_open_front(path, &in->recording, e);

	if (rc < 0)
		return rc;
	in->n_locations = recording_n_locations(in->recording);
	if (recording_n_stacks(in->recording) >
	    in->recording->dictionary.max_bytes / sizeof(*in->stack))
		return refuse(in, "damaged: the index", e);
	in->stack = xcalloc(recording_n_stacks(in->recording), sizeof(*in->stack));
	rc = tally_add_front(t, in->recording, &in->to, e);
	recording_forget(in->recording);
	return rc;
}

/* Stacks. */

static int read_stacks(struct merge_input *in, const struct column_set *s, struct err *e)
{
	in->at = 0;
	in->n = (size_t)s->head.summary.n;
	vec_reserve(&in->ups, in->n + 1);
	vec_reserve(&in->locations, in->n + 1);
	if (s->head.summary.first != in->id || !column_set_has(s, STACK_COLUMN_UP) ||
	    !column_set_u32(s, STACK_COLUMN_UP, 0, in->ups.at, &in->scratch) ||
	    !column_set_u32(s, STACK_COLUMN_LOCATION, 0, in->locations.at, &in->scratch))
		return refuse(in, "wrong stacks", e);
	return 0;
}

/* The next block of stacks; n is 0 when there is none. */
static int next_block(struct merge_input *in, struct err *e)
{
	struct recording *r = in->recording;
	struct reader payload;
	struct column_set s;

	in->at = in->n = 0;
	while (in->next_block < r->list.blocks.n &&
	       r->list.blocks.at[in->next_block].kind != FORMAT_STACKS)
		in->next_block++;
	if (in->next_block == r->list.blocks.n)
		return 0;

	const struct format_entry *b = &r->list.blocks.at[in->next_block++];
	int rc = block_source_payload(&r->source, b->offset, b->kind, &in->stored,
				      &in->raw, &payload, e);

	if (rc < 0)
		return err_in(e, rc, recording_path(r));
	if (!column_set_parse(payload.at, reader_left(&payload), &s))
		return refuse(in, "wrong stacks", e);
	return read_stacks(in, &s, e);
}

/* Behind the last one, as a walk would go. */
static bool is_in_order(const struct merge_input *in, size_t depth, uint32_t location)
{
	return depth > in->path.n || in->path.at[depth - 1] < location;
}

static int take_stack(struct merge_input *in, struct err *e)
{
	uint32_t up = in->ups.at[in->at], location = in->locations.at[in->at];
	size_t depth = in->path.n + 1 - up;

	if (up > in->path.n || location >= in->n_locations ||
	    in->id >= recording_n_stacks(in->recording))
		return refuse(in, "wrong stacks", e);
	location = in->to.location[location];
	if (!is_in_order(in, depth, location))
		return refuse(in, "its stacks are not in order", e);
	in->at++;
	in->path.n = depth - 1;
	*vec_push(&in->path) = location;
	in->depth = depth;
	in->location = location;
	return 0;
}

static int next_stack(struct merge_input *in, struct err *e)
{
	int rc = 0;

	in->id++;
	in->depth = 0;
	if (in->at == in->n)
		rc = next_block(in, e);
	if (rc < 0 || in->n)
		return rc < 0 ? rc : take_stack(in, e);
	return in->id == recording_n_stacks(in->recording)
		       ? 0
		       : refuse(in, "stacks are missing", e);
}

static void translate(uint32_t *ids, size_t n, const uint32_t *rank)
{
	for (size_t i = 0; i < n; i++)
		ids[i] = rank[ids[i]];
}

int merge_input_begin_stacks(struct merge_input *in, const struct tally_order *o,
			     struct err *e)
{
	const struct recording *r = in->recording;

	translate(in->to.location, in->n_locations, o->location);
	translate(in->to.thread, recording_n_threads(r), o->thread);
	translate(in->to.event, recording_n_events(r), o->event);
	return next_stack(in, e);
}

int merge_input_pass_stack(struct merge_input *in, uint32_t id, struct err *e)
{
	in->stack[in->id] = id;
	return next_stack(in, e);
}

/* Samples. */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_rows(const struct model_sample *a, uint32_t a_image,
			const struct model_sample *b, uint32_t b_image)
{
	int order = compare(a->event, b->event);

	if (!order)
		order = compare(a_image, b_image);
	if (!order)
		order = compare(a->thread, b->thread);
	if (!order)
		order = compare(a->cpu, b->cpu);
	return order ? order : compare(a->stack, b->stack);
}

int merge_input_compare_rows(const struct merge_input *a, const struct merge_input *b)
{
	return compare_rows(&a->row, a->image, &b->row, b->image);
}

int merge_input_next_row(struct merge_input *in, const uint32_t *images, struct err *e)
{
	const struct model_sample last = in->row;
	const uint32_t last_image = in->image;
	const bool had_row = in->has_row;

	in->has_row = false;
	while (in->at_row == in->rows.n) {
		if (in->next_row_block == recording_n_sample_blocks(in->recording)) {
			sample_block_fini(&in->rows); /* others may go on for long */
			in->at_row = 0;
			return 0;
		}

		int rc = recording_read_samples(in->recording, in->next_row_block++,
						SAMPLE_ALL & ~SAMPLE_TIME, &in->rows, e);

		if (rc < 0)
			return rc;
		in->at_row = 0;
	}

	size_t i = in->at_row++;

	in->has_row = true;
	in->row = (struct model_sample){
		.weight = in->rows.weight[i],
		.event = in->to.event[in->rows.event[i]],
		.thread = in->to.thread[in->rows.thread[i]],
		.cpu = in->rows.cpu[i],
		.stack = in->stack[in->rows.stack[i]],
		.count = in->rows.count[i],
	};
	in->image = images[in->row.stack];
	/* Equal ones follow each other when a count grew too large for one. */
	if (had_row && compare_rows(&last, last_image, &in->row, in->image) > 0)
		return refuse(in, "its samples are not in order", e);
	return 0;
}

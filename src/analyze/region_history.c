/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/region_history.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/frame_path.h"
#include "analyze/profile_data.h"

const char *const region_history_names[REGION_HISTORY_N_VALUES] = {
	[REGION_HISTORY_CALLS] = "calls",
	[REGION_HISTORY_SUBROUTINES] = "subroutines",
	[REGION_HISTORY_EXCLUSIVE] = "exclusive",
	[REGION_HISTORY_INCLUSIVE] = "inclusive",
	[REGION_HISTORY_INSTANCE_EXCLUSIVE] = "instance-exclusive",
	[REGION_HISTORY_INSTANCE_INCLUSIVE] = "instance-inclusive",
};

struct reading {
	struct region_history *to;
	const struct profile *p;
	const struct input *s;
	size_t source;
	struct frame_path path;
};

static bool is_slice(const struct recording *r, const struct model_trace_type *type)
{
	for (uint32_t i = 0; i < REGION_HISTORY_N_VALUES; i++)
		if (i >= type->n_columns ||
		    strcmp(recording_string(r, type->columns[i].name),
			   region_history_names[i]) != 0)
			return false;
	return true;
}

static int take(void *ctx, const struct model_trace *t, struct err *e)
{
	struct reading *in = ctx;
	const struct recording *r = in->s->recording;
	struct region_slice_row row = {
		.source = in->source,
		.thread = recording_thread(r, t->thread),
		.time_ns =
			t->time_ns > in->s->start_ns ? t->time_ns - in->s->start_ns : 0,
	};

	(void)e;
	if (t->trace_type >= recording_n_trace_types(r) || !row.thread ||
	    !is_slice(r, recording_trace_type(r, t->trace_type)))
		return 0;
	frame_path_fill(&in->path, in->p, in->s, t->stack);
	if (!in->path.frames.n)
		return 0;
	row.depth = (uint32_t)in->path.frames.n - 1;
	row.function = in->path.frames.at[row.depth].function;
	memcpy(row.values, t->values, sizeof(row.values));
	*vec_push(&in->to->rows) = row;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct region_slice_row *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

int region_history_load(struct region_history *h, const struct profile *p, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < p->n_sources && rc == 0; i++) {
		struct reading in = { .to = h, .p = p, .s = &p->sources[i], .source = i };

		rc = recording_each_trace(in.s->recording, take, &in, e);
		frame_path_fini(&in.path);
	}
	if (h->rows.n)
		qsort(h->rows.at, h->rows.n, sizeof(*h->rows.at), compare);
	return rc < 0 ? rc : 0;
}

void region_history_fini(struct region_history *h)
{
	vec_fini(&h->rows);
}

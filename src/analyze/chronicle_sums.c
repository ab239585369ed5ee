/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/chronicle_sums.h"

#include <stdlib.h>

#include "analyze/profile_data.h"
#include "analyze/stream.h"
#include "analyze/track.h"

#define WRITTEN_NS UINT64_C(1000000000)
/* Whoever writes them may be busy; after more than that a time was left out. */
#define LATEST_NS (WRITTEN_NS + WRITTEN_NS / 2)

void chronicle_sums_fini(struct chronicle_sums *c)
{
	map_fini(&c->processes);
	map_fini(&c->threads);
	vec_each(x, &c->all)
		vec_fini(&x->at);
	vec_fini(&c->all);
}

static uint64_t key_of(uint32_t id, const struct model_event *ev)
{
	return (uint64_t)id << 32 | ev->experiment;
}

static void add(struct chronicle_sums *c, struct map *to, uint64_t key, uint64_t time_ns,
		double ns)
{
	bool is_new;
	uint64_t *at = map_slot(to, key, &is_new);
	struct chronicle_sums_times *times;
	struct chronicle_sums_time *last;

	if (is_new) {
		*at = c->all.n;
		*vec_push(&c->all) = (struct chronicle_sums_times){ 0 };
	}
	times = &c->all.at[*at];
	last = times->at.n ? &times->at.at[times->at.n - 1] : NULL;
	if (!last || last->time_ns != time_ns) {
		last = vec_push(&times->at);
		*last = (struct chronicle_sums_time){ .time_ns = time_ns };
	}
	last->ns += ns;
	last->longest_ns = ns > last->longest_ns ? ns : last->longest_ns;
}

struct reading {
	struct chronicle_sums *to;
	const struct input *source;
	const enum chronicle_kind *kinds;
};

static void add_sample(const struct reading *in, const struct sample_block *b, size_t i,
		       const struct model_event *ev)
{
	const struct recording *r = in->source->recording;
	const struct model_thread *thread = recording_thread(r, b->thread[i]);
	const struct model_process *process =
		thread ? recording_process(r, thread->process) : NULL;
	uint32_t own = in->source->column_of_event[b->event[i]];
	size_t column = in->source->first_column + own;

	if (!process)
		return;
	add(in->to, &in->to->processes, key_of(process->pid, ev), b->time_ns[i], 0);
	if (own != MODEL_NONE && in->kinds[column] != CHRONICLE_NONE &&
	    track_kind_of(in->to->profile, column) == TRACK_SUM)
		add(in->to, &in->to->threads, key_of(thread->tid, ev), b->time_ns[i],
		    (double)b->weight[i]);
}

static int take_block(void *ctx, const struct sample_block *b, unused const uint8_t *keep,
		      unused struct err *e)
{
	const struct reading *in = ctx;

	for (size_t i = 0; i < b->n; i++) {
		const struct model_event *ev =
			recording_event(in->source->recording, b->event[i]);

		if (ev && ev->flags & EVENT_SUMMED)
			add_sample(in, b, i, ev);
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct chronicle_sums_time *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void sort(struct chronicle_sums_times *x)
{
	size_t n = 0;

	if (x->at.n)
		qsort(x->at.at, x->at.n, sizeof(*x->at.at), by_time);
	for (size_t i = 0; i < x->at.n; i++) {
		const struct chronicle_sums_time *from = &x->at.at[i];
		struct chronicle_sums_time *to = n ? &x->at.at[n - 1] : NULL;

		if (!to || to->time_ns != from->time_ns) {
			x->at.at[n++] = *from;
			continue;
		}
		to->ns += from->ns;
		if (from->longest_ns > to->longest_ns)
			to->longest_ns = from->longest_ns;
	}
	x->at.n = n;
}

static bool has_sums(const struct recording *r)
{
	for (uint32_t i = 0; i < recording_n_events(r); i++)
		if (recording_event(r, i)->flags & EVENT_SUMMED)
			return true;
	return false;
}

int chronicle_sums_load(struct chronicle_sums *c, const struct profile *p, size_t source,
			const enum chronicle_kind *kinds, struct err *e)
{
	/* A block that cannot be read was counted when the profile was loaded. */
	struct input s = p->sources[source];
	struct reading in = { c, &s, kinds };
	int rc;

	*c = (struct chronicle_sums){ .profile = p, .source = source };
	if (!has_sums(s.recording))
		return 0;
	rc = stream_samples(&s, NULL,
			    SAMPLE_TIME | SAMPLE_EVENT | SAMPLE_THREAD | SAMPLE_WEIGHT,
			    take_block, &in, e);
	vec_each(x, &c->all)
		sort(x);
	return rc;
}

/* All of an id; *ret: how many of them are before the sample.  NULL: there are none. */
static const struct chronicle_sums_times *find(const struct chronicle_sums *c,
					       const struct map *in, uint32_t id,
					       const struct profile_sample *s,
					       size_t *ret)
{
	const struct model_event *ev =
		recording_event(profile_source(c->profile, c->source),
				profile_column(c->profile, s->column)->source_event);
	const uint64_t *place = ev ? map_find(in, key_of(id, ev)) : NULL;
	const struct chronicle_sums_times *x = place ? &c->all.at[*place] : NULL;
	size_t first = 0, end = x ? x->at.n : 0;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (x->at.at[middle].time_ns < s->time_ns)
			first = middle + 1;
		else
			end = middle;
	}
	*ret = first;
	return x;
}

uint64_t chronicle_sums_since(const struct chronicle_sums *c,
			      const struct profile_sample *s)
{
	size_t i;
	const struct chronicle_sums_times *x =
		find(c, &c->processes, s->process->pid, s, &i);
	uint64_t before_ns = x && i ? x->at.at[i - 1].time_ns
				    : profile_start_ns(c->profile, c->source);

	return s->time_ns > before_ns && s->time_ns - before_ns > LATEST_NS
		       ? s->time_ns - WRITTEN_NS
		       : before_ns;
}

double chronicle_sums_rest_ns(const struct chronicle_sums *c,
			      const struct profile_sample *s)
{
	size_t i;
	const struct chronicle_sums_times *x =
		find(c, &c->threads, s->thread->tid, s, &i);

	return x && i < x->at.n ? x->at.at[i].ns - x->at.at[i].longest_ns : 0;
}

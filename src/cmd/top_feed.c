/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/top_feed.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "host/clock.h"
#include "host/self_cost.h"
#include "store/recording.h"
#include "sym/symbolizer.h"

/* Looks that are remembered, at the least those of the longest window. */
#define MARKS_MAX 4096

/* A look: how far things had come. */
struct mark {
	uint64_t taken_ns;
	size_t n_blocks; /* of samples */
	uint64_t lost, cpu_ns, self_ns;
};

struct top_feed {
	struct live *live;
	struct live_state state;
	struct recording *recording;
	uint64_t opened_ns; /* of the recording */
	struct symbolizer *symbolizer;
	struct profile *profile;
	VEC(struct mark) marks; /* the first is where the recording begins */
	size_t from;		/* the mark that the profile begins at */
	bool is_over;
};

struct top_feed *top_feed_new(struct live *l, const struct sym_options *sym)
{
	struct top_feed *f = xcalloc(1, sizeof(*f));
	struct sym_options options = *sym;

	options.keeps_places = true;
	f->live = l;
	f->symbolizer = symbolizer_new(&options);
	return f;
}

static void drop_profile(struct top_feed *f)
{
	profile_free(f->profile);
	f->profile = NULL;
}

void top_feed_free(struct top_feed *f)
{
	if (!f)
		return;
	drop_profile(f);
	symbolizer_free(f->symbolizer);
	recording_free(f->recording);
	vec_fini(&f->marks);
	free(f);
}

void top_feed_freep(struct top_feed **f)
{
	top_feed_free(*f);
}

/* Looking. */

static struct mark last_mark(const struct top_feed *f)
{
	return f->marks.n ? f->marks.at[f->marks.n - 1] : (struct mark){ 0 };
}

/* Another recording was begun: what was counted goes on. */
static int begin(struct top_feed *f, struct err *e)
{
	struct mark first = last_mark(f);
	struct recording *r;
	int rc = recording_open_growing(f->state.path, &r, e);

	if (rc < 0)
		return rc;
	if (!f->recording) {
		first.self_ns = self_cost_cpu_ns();
		/* A daemon has been at work before. */
		first.cpu_ns = f->state.cpu_ns;
		first.lost = f->state.lost;
	}
	recording_free(f->recording);
	f->recording = r;
	f->opened_ns = first.taken_ns = f->state.opened_ns;
	first.n_blocks = 0;
	vec_clear(&f->marks);
	*vec_push(&f->marks) = first;
	return 0;
}

static void forget_old(struct top_feed *f)
{
	size_t half = MARKS_MAX / 2;

	if (f->marks.n < MARKS_MAX)
		return;
	memmove(f->marks.at + 1, f->marks.at + half,
		(f->marks.n - half) * sizeof(*f->marks.at));
	f->marks.n -= half - 1;
}

static void add_mark(struct top_feed *f)
{
	forget_old(f);
	*vec_push(&f->marks) = (struct mark){
		.taken_ns = f->state.taken_ns,
		.n_blocks = recording_n_sample_blocks(f->recording),
		.lost = f->state.lost,
		.cpu_ns = f->state.cpu_ns,
		.self_ns = self_cost_cpu_ns(),
	};
}

static int ask(struct top_feed *f, struct err *e)
{
	int rc = live_ask(f->live, &f->state, e);

	if (rc == 0 || !live_has_ended(f->live) || !f->recording)
		return rc;
	f->is_over = true;
	f->state.taken_ns = clock_monotonic_ns();
	return 0;
}

int top_feed_look(struct top_feed *f, struct err *e)
{
	int rc;

	if (f->is_over)
		return 0;
	drop_profile(f);
	rc = ask(f, e);
	if (rc < 0)
		return rc;
	if (!f->recording || f->opened_ns != f->state.opened_ns)
		rc = begin(f, e);
	else
		rc = recording_follow(f->recording, e);
	if (rc == 0)
		add_mark(f);
	return rc;
}

bool top_feed_has(const struct top_feed *f)
{
	return f->marks.n > 1;
}

/* Loading. */

/* Where a window begins: the look nearest to that. */
static size_t first_mark(const struct top_feed *f, uint64_t window_ns)
{
	size_t last = f->marks.n - 1, best = last - 1;
	uint64_t to = f->marks.at[last].taken_ns;

	if (window_ns == TOP_FEED_ALL)
		return 0;
	while (window_ns && best > 0) {
		uint64_t age = to - f->marks.at[best].taken_ns;
		uint64_t before = to - f->marks.at[best - 1].taken_ns;

		if (age >= window_ns || before - window_ns > window_ns - age)
			break;
		best--;
	}
	return best;
}

int top_feed_load(struct top_feed *f, uint64_t window_ns, const struct profile_options *o,
		  struct err *e)
{
	struct profile_live live = { .recording = f->recording,
				     .symbolizer = f->symbolizer };

	drop_profile(f);
	f->from = first_mark(f, window_ns);
	live.first_block = f->marks.at[f->from].n_blocks;
	return profile_load_live(&live, o, &f->profile, e);
}

const struct profile *top_feed_profile(const struct top_feed *f)
{
	return f->profile;
}

/* A recorder that was started anew counts from 0. */
static uint64_t grown(uint64_t to, uint64_t from)
{
	return to > from ? to - from : 0;
}

void top_feed_span(const struct top_feed *f, struct top_feed_span *ret)
{
	const struct mark *from = &f->marks.at[f->from], to = last_mark(f);

	*ret = (struct top_feed_span){
		.from_ns = from->taken_ns,
		.to_ns = to.taken_ns,
		.lost = grown(to.lost, from->lost),
		.cpu_ns = grown(to.cpu_ns, from->cpu_ns),
		.self_ns = grown(to.self_ns, from->self_ns),
	};
}

const struct live_state *top_feed_state(const struct top_feed *f)
{
	return &f->state;
}

bool top_feed_is_over(const struct top_feed *f)
{
	return f->is_over;
}

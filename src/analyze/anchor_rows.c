/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_rows.h"

#include <stdlib.h>

#include "analyze/anchor_programs.h"
#include "analyze/profile_data.h"
#include "base/mem.h"
#include "base/search.h"

#define WINDOWS_MAX (1u << 17)
#define PLACES_MAX  64 /* of a run */
#define JOINED_MAX  256
/* Instead of a place, while rows are read. */
#define ANCHOR_ROWS_TIME    UINT32_MAX
#define ANCHOR_ROWS_COUNTED (UINT32_MAX - 1) /* the time of a window itself */

/* Windows have the recording's numbers while they are read. */
struct reading {
	struct anchor_rows *to; /* of each program */
	const struct anchor_run *run;
	const struct profile *p;
	bool *are_looked_at; /* processes, as far as has been read */
};

void anchor_rows_fini(struct anchor_rows *r)
{
	vec_fini(&r->blocks);
	vec_fini(&r->ways);
	vec_fini(&r->places);
	vec_fini(&r->watched);
	vec_fini(&r->windows);
	vec_fini(&r->runs);
}

static void take_looked_at(const struct reading *r, uint32_t process,
			   struct anchor_rows *to)
{
	if (!r->are_looked_at[process])
		to->looked_ns += r->run->all_of[process];
	r->are_looked_at[process] = true;
}

static void take_time(struct anchor_rows *r, const struct model_anchor *x)
{
	if (x->is_near)
		r->unseen_ns += (double)x->cpu_ns;
	else
		*vec_push(&r->watched) =
			(struct anchor_rows_watched){ .place = ANCHOR_ROWS_TIME,
						      .window = x->window,
						      .cpu_ns = (double)x->cpu_ns };
}

/* False: there are too many. */
static bool place_at(struct anchor_rows *r, const struct anchor_rows_place *x, size_t max,
		     uint32_t *ret)
{
	for (*ret = 0; *ret < r->places.n; ++*ret)
		if (r->places.at[*ret].sym_image == x->sym_image &&
		    r->places.at[*ret].offset == x->offset)
			return true;
	if (r->places.n == max)
		return false;
	*vec_push(&r->places) = *x;
	return true;
}

static void take_watched(struct anchor_rows *r, const struct model_anchor *x,
			 const struct anchor_rows_place *at)
{
	struct anchor_rows_watched row = { .window = x->window,
					   .is_near = x->is_near,
					   .hits = (double)x->times,
					   .cpu_ns = (double)x->cpu_ns };

	if (place_at(r, at, PLACES_MAX, &row.place))
		*vec_push(&r->watched) = row;
}

static void take_block(struct anchor_rows *r, const struct model_anchor *x,
		       const struct anchor_rows_place *at)
{
	*vec_push(&r->blocks) = (struct anchor_rows_block){ .sym_image = at->sym_image,
							    .window = x->window,
							    .offset = at->offset,
							    .size = x->size_bytes,
							    .times = x->times };
	if (x->cpu_ns)
		*vec_push(&r->watched) =
			(struct anchor_rows_watched){ .place = ANCHOR_ROWS_COUNTED,
						      .window = x->window,
						      .cpu_ns = (double)x->cpu_ns };
}

static struct anchor_rows_place place_of(const struct reading *r, uint32_t location)
{
	uint32_t source = r->run->source;
	const struct model_location *l = &r->p->sources[source].locations[location];

	return (struct anchor_rows_place){ profile_sym_image(r->p, source, l->image),
					   l->offset };
}

static int take_row(void *ctx, const struct model_anchor *x, struct err *e)
{
	const struct reading *r = ctx;
	uint32_t program = r->run->of_process[x->process];
	struct anchor_rows_place at;
	struct anchor_rows *to;

	(void)e;
	if (x->window >= WINDOWS_MAX || program == ANCHOR_PROGRAMS_NONE)
		return 0;
	to = &r->to[program];
	if (x->location == MODEL_NONE) {
		take_looked_at(r, x->process, to);
		take_time(to, x);
		return 0;
	}
	at = place_of(r, x->location);
	if (x->size_bytes)
		take_block(to, x, &at);
	else if (x->cpu_ns)
		take_watched(to, x, &at);
	return 0;
}

static int take_way(void *ctx, const struct model_anchor_way *x, struct err *e unused)
{
	const struct reading *r = ctx;
	uint32_t program = r->run->of_process[x->process];
	struct anchor_rows_place to = { .sym_image = ANCHOR_ROWS_NOWHERE };

	if (x->window >= WINDOWS_MAX || program == ANCHOR_PROGRAMS_NONE)
		return 0;
	if (x->to != MODEL_NONE)
		to = place_of(r, x->to);
	*vec_push(&r->to[program].ways) =
		(struct anchor_rows_way){ .behind = place_of(r, x->behind),
					  .to = to,
					  .window = x->window,
					  .times = x->times };
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct anchor_rows_block *x = a, *y = b;

	if (x->sym_image != y->sym_image)
		return x->sym_image < y->sym_image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_behind(const void *a, const void *b)
{
	const struct anchor_rows_place *x = &((const struct anchor_rows_way *)a)->behind,
				       *y = &((const struct anchor_rows_way *)b)->behind;

	if (x->sym_image != y->sym_image)
		return x->sym_image < y->sym_image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static uint32_t last_window(const struct anchor_rows *r)
{
	uint32_t last = 0;

	vec_each(x, &r->blocks)
		last = x->window > last ? x->window : last;
	vec_each(x, &r->ways)
		last = x->window > last ? x->window : last;
	vec_each(x, &r->watched)
		last = x->window > last ? x->window : last;
	return last;
}

/* Its own number of each window of the recording, or of the next that it has, and of the
 * one behind, in an array to be freed. */
static uint32_t *number_windows(struct anchor_rows *r)
{
	uint32_t last = last_window(r);
	uint32_t *own_number = xcalloc(last + 2, sizeof(*own_number));

	vec_each(x, &r->blocks)
		own_number[x->window + 1] = 1;
	for (uint32_t i = 1; i < last + 2; i++)
		own_number[i] += own_number[i - 1];
	r->n_windows = own_number[last + 1];
	for (uint32_t i = 0; i <= r->n_windows; i++)
		*vec_push(&r->windows) = (struct anchor_window){ 0 };
	return own_number;
}

/* Those of windows without blocks are of none. */
static void number_ways(struct anchor_rows *r, const uint32_t *own_number)
{
	size_t n = 0;

	vec_each(x, &r->ways) {
		uint32_t window = own_number[x->window];

		if (own_number[x->window + 1] == window)
			continue;
		r->ways.at[n] = *x;
		r->ways.at[n++].window = window;
	}
	r->ways.n = n;
}

static void share_gaps(struct anchor_rows *r)
{
	struct anchor_window *w = r->windows.at;

	for (uint32_t i = 0; i < r->n_windows; i++) {
		bool is_last = i + 1 == r->n_windows;

		w[i].own_before_ns = i ? w[i].before_ns / 2 : w[i].before_ns;
		w[i].own_behind_ns =
			is_last ? w[i + 1].before_ns : w[i + 1].before_ns / 2;
	}
}

/* Times go to the windows that they are before. */
static void number(struct anchor_rows *r)
{
	own(freep) uint32_t *own_number = number_windows(r);
	size_t n = 0;

	vec_each(x, &r->blocks)
		x->window = own_number[x->window];
	for (size_t i = 0; i < r->watched.n; i++) {
		struct anchor_rows_watched *x = &r->watched.at[i];
		uint32_t window = own_number[x->window];
		bool has_window = own_number[x->window + 1] > window;

		x->window = window;
		if (x->place == ANCHOR_ROWS_TIME) {
			r->native_ns += x->cpu_ns;
			r->windows.at[window].before_ns += x->cpu_ns;
		} else if (x->place == ANCHOR_ROWS_COUNTED) {
			r->windows.at[window].counted_ns += x->cpu_ns;
		} else if (!x->is_near || has_window) {
			r->watched.at[n++] = *x;
		}
	}
	r->watched.n = n;
	number_ways(r, own_number);
	share_gaps(r);
}

static void join_watched(struct anchor_rows *to, const struct anchor_rows *run)
{
	vec_each(x, &run->watched) {
		struct anchor_rows_watched row = *x;

		row.window += to->n_windows;
		if (place_at(to, &run->places.at[x->place], JOINED_MAX, &row.place))
			*vec_push(&to->watched) = row;
	}
}

/* What is before its first window is so behind the last one of the runs before. */
static void join_windows(struct anchor_rows *to, const struct anchor_rows *run)
{
	double behind_ns = 0;

	if (to->windows.n)
		behind_ns = to->windows.at[--to->windows.n].before_ns;
	vec_each(w, &run->windows)
		*vec_push(&to->windows) = *w;
	to->windows.at[to->n_windows].before_ns += behind_ns;
}

static void join(struct anchor_rows *to, const struct anchor_rows *run)
{
	join_watched(to, run);
	vec_each(x, &run->blocks) {
		*vec_push(&to->blocks) = *x;
		to->blocks.at[to->blocks.n - 1].window += to->n_windows;
	}
	vec_each(x, &run->ways) {
		*vec_push(&to->ways) = *x;
		to->ways.at[to->ways.n - 1].window += to->n_windows;
	}
	join_windows(to, run);
	*vec_push(&to->runs) =
		(struct anchor_rows_run){ .first_window = to->n_windows,
					  .n_windows = run->n_windows,
					  .native_ns = run->native_ns,
					  .unseen_ns = run->unseen_ns,
					  .first_ns = run->windows.at[0].before_ns };
	to->n_windows += run->n_windows;
	to->native_ns += run->native_ns;
	to->unseen_ns += run->unseen_ns;
	to->looked_ns += run->looked_ns;
}

static int read_run(struct anchor_rows *ret, const struct profile *p,
		    const struct anchor_run *run, struct err *e)
{
	const struct recording *recording = p->sources[run->source].recording;
	own(freep) bool *looked_at =
		xcalloc(recording_n_processes(recording) + 1, sizeof(*looked_at));
	struct reading r = { ret, run, p, looked_at };
	int rc = recording_each_anchor(recording, take_row, &r, e);

	return rc < 0 ? rc : recording_each_anchor_way(recording, take_way, &r, e);
}

static int add_run(struct anchor_rows *to, size_t n_programs, const struct profile *p,
		   const struct anchor_run *run, struct err *e)
{
	own(freep) struct anchor_rows *of = xcalloc(n_programs + 1, sizeof(*of));
	int rc = read_run(of, p, run, e);

	for (size_t i = 0; i < n_programs; i++) {
		if (rc == 0) {
			number(&of[i]);
			join(&to[i], &of[i]);
		}
		anchor_rows_fini(&of[i]);
	}
	return rc;
}

static void order(struct anchor_rows *r)
{
	if (r->blocks.n)
		qsort(r->blocks.at, r->blocks.n, sizeof(*r->blocks.at), by_place);
	if (r->ways.n)
		qsort(r->ways.at, r->ways.n, sizeof(*r->ways.at), by_behind);
}

int anchor_rows_read(struct anchor_rows *ret, const struct profile *p,
		     const struct anchor_programs *programs, struct err *e)
{
	int rc = 0;

	vec_each(run, &programs->runs)
		if (rc == 0)
			rc = add_run(ret, programs->at.n, p, run, e);
	for (size_t i = 0; i < programs->at.n && rc == 0; i++)
		order(&ret[i]);
	return rc;
}

size_t anchor_rows_find(const struct anchor_rows *r, uint32_t sym_image, uint64_t offset)
{
	struct anchor_rows_block place = { .sym_image = sym_image, .offset = offset };
	return search_split(r->blocks.n, i, by_place(&r->blocks.at[i], &place) < 0);
}

size_t anchor_rows_find_ways(const struct anchor_rows *r,
			     const struct anchor_rows_place *behind)
{
	struct anchor_rows_way way = { .behind = *behind };
	return search_split(r->ways.n, i, by_behind(&r->ways.at[i], &way) < 0);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * chrome - the Trace Event Format, JSON that chrome://tracing and ui.perfetto.dev show as
 * a timeline.
 *
 * Samples of time are slices of their threads, waits too, and calls that were kept one by
 * one; requests that were are beside these, as they overlap; what is summed up over some
 * time, or is no time, is a counter of its process, as a rate; and so are its heap and
 * what the system counted.  Marks are moments.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/gauge_tracks.h"
#include "analyze/heap_rows.h"
#include "analyze/track.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "export/chrome_slices.h"
#include "export/chrome_writer.h"
#include "export/exporter.h"

/* Above these a viewer would be slow. */
#define CHROME_MAX_SAMPLES 500000
#define CHROME_MAX_SLICES  2000000
/* What a thread did between two calls that were kept is not known: it went on in their
 * callers, unless it took longer. */
#define CHROME_GAP_NS UINT64_C(1000000)
/* Of a counter there are so many values at most, and none is of a shorter time. */
#define CHROME_COUNTER_STEPS  1000
#define CHROME_COUNTER_MIN_NS UINT64_C(10000000)

struct chrome_sample {
	const struct model_thread *thread;
	const struct model_process *process;
	uint32_t pid; /* of the file */
	uint32_t column, stack;
	uint64_t time_ns, weight;
};

/* No process id is as large: those of several recordings are told apart by it. */
#define CHROME_PIDS 10000000

struct chrome {
	const struct profile *p;
	const struct export_options *o;
	struct intern *stacks; /* arrays of functions, outermost first */
	VEC(struct chrome_sample) samples;
	VEC(uint32_t) path;
	uint64_t n_left_out, n_slices;
	struct chrome_spans spans;
	struct chrome_slices slices;
	struct chrome_writer writer; /* of the source that is written */
	struct json j;
};

/* Frames that say which wait it is are columns, above all functions. */
#define WAIT_FRAME(column) (UINT32_MAX - (column))

static void chrome_fini(struct chrome *c)
{
	intern_free(c->stacks);
	vec_fini(&c->samples);
	vec_fini(&c->path);
	chrome_spans_fini(&c->spans);
	chrome_slices_fini(&c->slices);
}

static const struct profile_column *column_of(const struct chrome *c, uint32_t column)
{
	return profile_column(c->p, column);
}

static const struct recording *recording_of(const struct chrome *c, uint32_t column)
{
	return profile_source(c->p, column_of(c, column)->source);
}

static bool is_time(const struct chrome *c, uint32_t column)
{
	return strcmp(column_of(c, column)->unit, "ns") == 0;
}

static uint32_t pid_of(size_t source, uint32_t pid)
{
	return (uint32_t)source * CHROME_PIDS + pid;
}

/* Samples. */

static bool is_wanted(const struct chrome *c, uint32_t column)
{
	if (c->o->has_column)
		return column == c->o->column;
	if (strcmp(column_of(c, column)->experiment, "heap") == 0)
		return false; /* put_heap() has its course */
	return track_is_each(c->p, column) ||
	       (track_is_shown(c->p, column) && !track_is_told_one_by_one(c->p, column));
}

/* What has no function or is no sample is called by its event; what is kept one by one
 * says what it is itself. */
static bool has_wait_frame(const struct chrome *c, const struct profile_sample *x)
{
	uint32_t flags = track_flags(c->p, x->column);

	return !x->n_frames || !(flags & (EVENT_SAMPLED | EVENT_EACH));
}

static int add_sample(void *ctx, const struct profile_sample *x, unused struct err *e)
{
	struct chrome *c = ctx;

	if (!is_wanted(c, x->column))
		return 0;
	if (c->samples.n >= CHROME_MAX_SAMPLES) {
		c->n_left_out++;
		return 0;
	}
	vec_clear(&c->path);
	for (size_t i = 0; i < x->n_frames; i++)
		*vec_push(&c->path) = x->frames[i].function;
	if (has_wait_frame(c, x))
		*vec_push(&c->path) = WAIT_FRAME(x->column);
	*vec_push(&c->samples) = (struct chrome_sample){
		.thread = x->thread,
		.process = x->process,
		.pid = pid_of(column_of(c, x->column)->source, x->process->pid),
		.column = x->column,
		.stack = intern_add(c->stacks, (const char *)c->path.at,
				    c->path.n * sizeof(*c->path.at)),
		.time_ns = track_end_ns(c->p, x),
		.weight = x->weight,
	};
	return 0;
}

static int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Whatever programs it runs, one after the other. */
static bool is_same_thread(const struct chrome_sample *x, const struct chrome_sample *y)
{
	return x->pid == y->pid && x->thread->tid == y->thread->tid;
}

static int by_thread(const void *a, const void *b)
{
	const struct chrome_sample *x = a, *y = b;
	int order = order_of(x->pid, y->pid);

	if (!order)
		order = order_of(x->thread->tid, y->thread->tid);
	if (!order)
		order = order_of(x->time_ns, y->time_ns);
	return order ? order : order_of(x->column, y->column);
}

static int by_process(const void *a, const void *b)
{
	const struct chrome_sample *x = a, *y = b;
	int order = order_of(x->pid, y->pid);

	if (!order)
		order = order_of(x->column, y->column);
	return order ? order : order_of(x->time_ns, y->time_ns);
}

static void sort(struct chrome *c, int (*compare)(const void *a, const void *b))
{
	if (c->samples.n)
		qsort(c->samples.at, c->samples.n, sizeof(*c->samples.at), compare);
}

/* Slices. */

static void put_slice(struct chrome *c, const struct chrome_sample *whose,
		      const struct chrome_slice *slice)
{
	struct chrome_whose w = { whose->pid, whose->thread->tid };
	size_t n = profile_n_columns(c->p);
	const struct profile_function *f;

	if (++c->n_slices > CHROME_MAX_SLICES) {
		c->n_left_out++;
	} else if (slice->frame > UINT32_MAX - n) {
		const char *event = column_of(c, UINT32_MAX - slice->frame)->name;

		chrome_writer_slice(&c->writer, w, slice->from_ns, slice->to_ns, event,
				    event);
	} else {
		f = profile_function(c->p, slice->frame);
		chrome_writer_slice(&c->writer, w, slice->from_ns, slice->to_ns, f->name,
				    f->image);
	}
}

static void set_source(struct chrome *c, size_t source)
{
	c->writer = (struct chrome_writer){ &c->j, profile_start_ns(c->p, source) };
}

/* The innermost frames that say what it is, and are no code. */
static size_t n_labels(const struct chrome *c, const uint32_t *frames, size_t n)
{
	uint32_t n_functions = profile_n_functions(c->p);
	size_t i = n;

	while (i && frames[i - 1] < n_functions &&
	       profile_function(c->p, frames[i - 1])->kind == IMAGE_LABEL)
		i--;
	return n - i;
}

/* Two calls behind each other are two, whoever makes them. */
static void add_piece(struct chrome *c, const struct chrome_span *piece)
{
	struct chrome_frames frames = {
		.at = (const uint32_t *)intern_get(c->stacks, piece->stack),
		.n = intern_len(c->stacks, piece->stack) / sizeof(uint32_t),
	};

	if (piece->rank == CHROME_SPAN_EACH)
		frames.n_own = n_labels(c, frames.at, frames.n);
	chrome_slices_add(&c->slices, piece, &frames);
}

static void put_thread(struct chrome *c, const struct chrome_sample *whose)
{
	const struct recording *r = recording_of(c, whose->column);

	set_source(c, column_of(c, whose->column)->source);
	chrome_writer_name(&c->writer, (struct chrome_whose){ whose->pid, 0 },
			   "process_name", recording_string(r, whose->process->comm));
	chrome_writer_name(&c->writer,
			   (struct chrome_whose){ whose->pid, whose->thread->tid },
			   "thread_name", recording_string(r, whose->thread->name));
	chrome_spans_lay(&c->spans);
	vec_each(piece, &c->spans.pieces)
		add_piece(c, piece);
	chrome_slices_finish(&c->slices);
	vec_each(slice, &c->slices.slices)
		put_slice(c, whose, slice);
	chrome_slices_clear(&c->slices);
	chrome_spans_clear(&c->spans);
}

static enum chrome_span_rank rank_of(const struct chrome *c, uint32_t column)
{
	if (track_is_each(c->p, column))
		return CHROME_SPAN_EACH;
	return track_kind_of(c->p, column) == TRACK_FROM ? CHROME_SPAN_WAIT
							 : CHROME_SPAN_SAMPLE;
}

/* A sample stands for more time than there was before the first. */
static void add_span(struct chrome *c, const struct chrome_sample *x)
{
	uint64_t start_ns = profile_start_ns(c->p, column_of(c, x->column)->source);
	uint64_t room_ns = x->time_ns > start_ns ? x->time_ns - start_ns : 0;
	struct chrome_span span = {
		.from_ns = x->time_ns - (x->weight < room_ns ? x->weight : room_ns),
		.to_ns = x->time_ns,
		.gap_ns = x->weight,
		.stack = x->stack,
		.rank = rank_of(c, x->column),
	};

	if (span.rank == CHROME_SPAN_EACH)
		span.gap_ns = CHROME_GAP_NS;
	chrome_spans_add(&c->spans, &span);
}

/* The innermost is a part of its name's, the others are who began it. */
static void describe_beside(struct chrome *c, const uint32_t *frames, size_t n,
			    size_t n_own)
{
	struct json *j = &c->j;

	if (n_own > 1)
		json_key_str(j, "of", profile_function(c->p, frames[n - 1])->name);
	json_key(j, "stack");
	json_array(j);
	for (size_t i = n - n_own; i--;)
		if (frames[i] < profile_n_functions(c->p))
			json_str(j, profile_function(c->p, frames[i])->name);
	json_array_end(j);
}

static void put_beside_threads(struct chrome *c, const struct chrome_sample *x)
{
	const uint32_t *frames = (const uint32_t *)intern_get(c->stacks, x->stack);
	size_t n = intern_len(c->stacks, x->stack) / sizeof(*frames);
	size_t n_own = n_labels(c, frames, n);
	const char *name = n_own ? profile_function(c->p, frames[n - n_own])->name
				 : column_of(c, x->column)->name;
	struct chrome_whose whose = { x->pid, x->thread->tid };

	if (++c->n_slices > CHROME_MAX_SLICES) {
		c->n_left_out++;
		return;
	}
	set_source(c, column_of(c, x->column)->source);
	chrome_writer_begin_beside(&c->writer, whose, c->n_slices, x->time_ns - x->weight,
				   name);
	describe_beside(c, frames, n, n_own);
	chrome_writer_end_beside(&c->writer, whose, c->n_slices, x->time_ns, name);
}

static void put_threads(struct chrome *c)
{
	for (size_t i = 0; i < c->samples.n; i++) {
		const struct chrome_sample *x = &c->samples.at[i];

		if (track_is_beside(c->p, x->column))
			put_beside_threads(c, x);
		else if (track_has_spans(c->p, x->column))
			add_span(c, x);
		if (i + 1 == c->samples.n || !is_same_thread(x, x + 1))
			put_thread(c, x);
	}
}

/* Counters. */

/* What a nanosecond a nanosecond is: so many threads. */
static void put_rate(struct chrome *c, const struct chrome_sample *whose,
		     uint64_t from_ns, uint64_t to_ns, uint64_t sum)
{
	const struct profile_column *x = column_of(c, whose->column);
	bool has_time = is_time(c, whose->column);
	own(freep) char *unit = xasprintf("%s/s", x->unit);
	double seconds = (double)(to_ns > from_ns ? to_ns - from_ns : 1) / 1e9;

	chrome_writer_counter(&c->writer, whose->pid, from_ns, x->name,
			      has_time ? "threads" : unit,
			      (double)sum / seconds / (has_time ? 1e9 : 1));
}

static uint64_t step_ns(const struct chrome *c)
{
	uint64_t from = UINT64_MAX, to = 0;

	vec_each(x, &c->samples) {
		from = x->time_ns < from ? x->time_ns : from;
		to = x->time_ns > to ? x->time_ns : to;
	}
	if (to < from || (to - from) / CHROME_COUNTER_STEPS < CHROME_COUNTER_MIN_NS)
		return CHROME_COUNTER_MIN_NS;
	return (to - from) / CHROME_COUNTER_STEPS;
}

/* Samples [i, end) are of one process and column; a value is of the time since the one
 * before, and 0 behind the last. */
static void put_counter(struct chrome *c, size_t i, size_t end, uint64_t step)
{
	const struct chrome_sample *whose = &c->samples.at[i];
	uint64_t from_ns, sum = 0;

	set_source(c, column_of(c, whose->column)->source);
	from_ns = c->writer.start_ns;
	for (; i < end; i++) {
		const struct chrome_sample *x = &c->samples.at[i];

		sum += x->weight;
		if (i + 1 < end &&
		    (x[1].time_ns == x->time_ns || x[1].time_ns < from_ns + step))
			continue;
		put_rate(c, whose, from_ns, x->time_ns, sum);
		from_ns = x->time_ns;
		sum = 0;
	}
	put_rate(c, whose, from_ns, from_ns, 0);
}

static void put_counters(struct chrome *c)
{
	uint64_t step = step_ns(c);

	for (size_t i = 0, end; i < c->samples.n; i = end) {
		const struct chrome_sample *x = &c->samples.at[i];

		for (end = i + 1; end < c->samples.n; end++)
			if (c->samples.at[end].pid != x->pid ||
			    c->samples.at[end].column != x->column)
				break;
		if (!track_has_spans(c->p, x->column) &&
		    !track_is_beside(c->p, x->column))
			put_counter(c, i, end, step);
	}
}

/* What is beside samples. */

static int put_heap(struct chrome *c, size_t source, struct err *e)
{
	const struct recording *r = profile_source(c->p, source);
	own(heap_rows_fini) struct heap_rows rows = { 0 };
	int rc = heap_rows_load(&rows, r, e);

	vec_each(row, &rows.of[HEAP_ROWS_COURSE]) {
		const struct model_process *p = recording_process(r, row->process);

		if (p)
			chrome_writer_counter(&c->writer, pid_of(source, p->pid),
					      row->time_ns, "heap", "bytes",
					      (double)row->values[1]);
	}
	return rc;
}

static void put_gauge(struct chrome *c, size_t source, const struct global_row *row,
		      const struct gauge_track *t)
{
	double value;

	if (gauge_tracks_value(t, row, &value))
		chrome_writer_counter(&c->writer, pid_of(source, 0),
				      gauge_tracks_is_now(t) ? row->to_ns : row->from_ns,
				      t->name, t->unit, value);
}

static int put_global(struct chrome *c, size_t source, struct err *e)
{
	const struct recording *r = profile_source(c->p, source);
	own(global_rows_fini) struct global_rows rows = { 0 };
	int rc = global_rows_load(&rows, r, e);

	if (rows.rows.n)
		chrome_writer_name(&c->writer, (struct chrome_whose){ pid_of(source, 0) },
				   "process_name", "all processes, and the machine");
	vec_each(row, &rows.rows) {
		const struct model_interval *v = recording_interval(r, row->interval);
		const char *cause = recording_string(r, v->cause);
		const char *name = recording_string(r, v->name);

		for (size_t i = 0; i < GAUGE_TRACKS_N; i++)
			put_gauge(c, source, row, &gauge_tracks[i]);
		if (*name)
			chrome_writer_mark(&c->writer, row->to_ns, name, cause);
	}
	return rc;
}

static int put_beside(struct chrome *c, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < profile_n_sources(c->p) && rc == 0; i++) {
		set_source(c, i);
		rc = put_heap(c, i, e);
		if (rc == 0)
			rc = put_global(c, i, e);
	}
	return rc;
}

static void put_other(struct chrome *c)
{
	json_key_str(&c->j, "displayTimeUnit", "ms");
	json_key(&c->j, "otherData");
	json_object(&c->j);
	json_key_str(&c->j, "exporter", "dwell");
	json_key_str(&c->j, "title", exporter_title(c->p, c->o));
	json_key_u64(&c->j, "left_out", c->n_left_out);
	json_object_end(&c->j);
}

static int chrome_write(const struct profile *p, const struct export_options *o,
			FILE *out, struct err *e)
{
	own(chrome_fini) struct chrome c = { .p = p, .o = o };
	int rc;

	c.stacks = intern_new();
	json_init(&c.j, out);
	rc = profile_each_sample(p, add_sample, &c, e);
	if (rc < 0)
		return rc;
	json_object(&c.j);
	json_key(&c.j, "traceEvents");
	json_array(&c.j);
	sort(&c, by_thread);
	put_threads(&c);
	sort(&c, by_process);
	put_counters(&c);
	rc = put_beside(&c, e);
	json_array_end(&c.j);
	put_other(&c);
	json_object_end(&c.j);
	return rc < 0 ? rc : exporter_finish(out, e);
}

const struct exporter export_chrome = {
	.name = "chrome",
	.suffix = "trace.json",
	.mime = "application/json",
	.summary = "a timeline for ui.perfetto.dev and chrome://tracing",
	.write = chrome_write,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/quality.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/profile_data.h"
#include "base/mem.h"

const struct quality_gap quality_gaps[QUALITY_N_GAPS] = {
	{ "not-followed", "child processes that could not be followed", true },
	{ "processes-without-ring", "processes without a buffer for samples", true },
	{ "threads-without-timer", "threads without a timer", true },
	{ "damaged-records", "damaged records from the program", true },
	{ "throttled", "times that the kernel throttled sampling", true },
	{ "unsampled-threads", "threads that ended before their first sample", true },
	{ "cpu-changes", "times that a CPU came or went, and up to 0.1 s of it each",
	  true },
	{ "shallow-cpus",
	  "CPUs where BPF could not copy the outer part of deep stacks, which end at "
	  "what "
	  "perf copies",
	  true },
	[QUALITY_GAP_RUNNING] = { "running-processes",
				  "processes that went on after the program had ended",
				  true },
	{ "kernel-not-observed", "time in the kernel, which was not permitted", false },
	{ "late-samples",
	  "samples taken 32 us or more after their time, as interrupts were off: they "
	  "count where these are turned on again",
	  true },
	{ "unnumbered-files",
	  "times that code was met of more files than can be told apart at a time: it "
	  "counts as of no file",
	  true },
	{ "unsized-calls", "I/O calls whose size and duration there was no room to keep",
	  true },
	{ "unmet-requests",
	  "requests of io_uring whose end there was no room to wait for", true },
	{ "untimed-waits", "waits whose duration there was no room to keep", true },
	{ "unbalanced-executions",
	  "executions of basic blocks that do not add up, as of what was killed", true },
	{ "unknown-edges", "ways between basic blocks whose counts could not be told",
	  true },
	{ "uncounted-entries", "pieces of code or children that counting had no room for",
	  true },
	{ "cut-counts",
	  "programs whose counts end early, as the file system was full that they are "
	  "kept in",
	  true },
	{ "unbegun-counts",
	  "programs or children that were ended before anything of them was counted",
	  true },
	{ "undecoded-blocks",
	  "basic blocks of code that could not be read: all of one counts at its first "
	  "instruction",
	  true },
	{ "lost-events",
	  "events that there was no room for: what is left may not be, and sums are too "
	  "low",
	  true },
	{ "unwritten-events",
	  "events, counts or readings that could not be written, as the disk was full or "
	  "the largest size was reached",
	  true },
	{ "restricted-processes",
	  "processes that forbade themselves the clock, and were not traced from there "
	  "on",
	  true },
	{ "unmatched-frees", "releases of memory that was not seen to be allocated",
	  true },
	{ "unseen-frees", "blocks whose release was not seen", true },
	{ "unmatched-ends", "ends of regions that had not begun", true },
	{ "unseen-begins", "ends of regions that had begun before, if at all", true },
	{ "cut-regions", "regions that ended with one around them", true },
	{ "unobserved-regions", "regions that there was no room for", true },
	{ "late-marks", "marks whose interval had ended already", true },
	{ "damaged-counts", "programs whose counts were damaged", true },
	{ "restricted-counts",
	  "processes that forbade themselves system calls and were not counted then",
	  true },
	{ "still-counted",
	  "processes that go on being counted, as the engine could not leave them: their "
	  "counts are those until then",
	  true },
};

/* The reason why the stacks below a root ended early; UNWIND_END: they did not. */
static unsigned root_reason(const struct input *s, uint32_t root)
{
	const struct model_location *l = &s->locations[s->stacks[root].location];

	if (recording_image(s->recording, l->image)->kind != IMAGE_TRUNCATED)
		return UNWIND_END;
	return l->offset && l->offset < UNWIND_N_STOPS ? (unsigned)l->offset
						       : UNWIND_NO_TABLE;
}

/* A stack inherits the reason of its outermost frame; parents come first. */
static void measure_truncated(struct quality *q, const struct input *s)
{
	own(freep) uint8_t *reason = xcalloc(s->n_stacks + 1, 1);

	for (uint32_t i = 1; i < s->n_stacks; i++) {
		const uint64_t *w = input_weights(s, i);
		uint32_t parent = s->stacks[i].parent;

		reason[i] = parent ? reason[parent] : (uint8_t)root_reason(s, i);
		for (uint32_t c = 0; w && reason[i] && c < s->n_columns; c++) {
			q->columns[s->first_column + c].truncated += w[c];
			q->columns[s->first_column + c].truncated_by[reason[i]] += w[c];
		}
	}
}

/* Weights without a name, by the symbolizer's image. */
struct unresolved {
	struct map row_of_image; /* row + 1 */
	VEC(uint32_t) functions; /* [row]: one of them */
	VEC(uint64_t) weights;	 /* [row * n_columns + column] */
};

static uint64_t *row_weights(struct unresolved *u, const struct profile *p,
			     uint32_t function)
{
	uint64_t *row =
		map_slot(&u->row_of_image, p->functions.at[function].sym_image, NULL);

	if (!*row) {
		*vec_push(&u->functions) = function;
		*row = u->functions.n;
		for (size_t c = 0; c < p->columns.n; c++)
			*vec_push(&u->weights) = 0;
	}
	return u->weights.at + (*row - 1) * p->columns.n;
}

/* Of the innermost frame that is code; NULL: there is none.  What a call was for, and of
 * which file or lock, are labels, and say nothing of who called. */
static const struct profile_function *innermost_code(const struct profile *p,
						     const struct input *s,
						     uint32_t stack, uint32_t *ret)
{
	for (; stack; stack = s->stacks[stack].parent) {
		uint32_t n, first = input_frames(s, stack, &n);

		if (!n)
			continue;
		*ret = p->frames.at[first + n - 1].own_function;
		if (p->functions.at[*ret].kind != IMAGE_LABEL)
			return &p->functions.at[*ret];
	}
	return NULL;
}

static void measure_unresolved(struct quality *q, struct unresolved *u,
			       const struct profile *p, const struct input *s)
{
	for (uint32_t i = 1; i < s->n_stacks; i++) {
		const uint64_t *w = input_weights(s, i);
		uint32_t id;
		const struct profile_function *f =
			w ? innermost_code(p, s, i, &id) : NULL;

		if (!f || f->is_resolved || f->kind == IMAGE_TRUNCATED)
			continue;

		uint64_t *row = row_weights(u, p, id);

		for (uint32_t c = 0; c < s->n_columns; c++) {
			q->columns[s->first_column + c].unresolved += w[c];
			row[s->first_column + c] += w[c];
		}
	}
}

static double share(const struct quality *q, const struct quality_image *i)
{
	uint64_t total = q->columns[i->column].total;

	return total ? (double)i->weight / (double)total : 0;
}

static int heaviest_first(const void *a, const void *b, void *q)
{
	double x = share(q, a), y = share(q, b);

	return x > y ? -1 : x < y;
}

/* Parts are told with their whole. */
static bool is_shown(const struct profile *p, size_t column)
{
	return p->columns.at[column].whole == MODEL_NONE;
}

static void take_images(struct quality *q, const struct unresolved *u,
			const struct profile *p)
{
	q->n_images = u->functions.n;
	q->images = xcalloc(q->n_images + 1, sizeof(*q->images));
	for (size_t i = 0; i < q->n_images; i++) {
		const struct profile_function *f = &p->functions.at[u->functions.at[i]];
		struct quality_image *to = &q->images[i];

		to->image = f->own_image;
		to->problem = symbolizer_image_problem(p->symbolizer, f->sym_image);
		for (size_t c = 0; c < q->n_columns; c++) {
			struct quality_image other = *to;

			other.column = c;
			other.weight = u->weights.at[i * q->n_columns + c];
			if (c == 0 || (is_shown(p, c) && share(q, &other) > share(q, to)))
				*to = other;
		}
	}
	qsort_r(q->images, q->n_images, sizeof(*q->images), heaviest_first, q);
}

static uint64_t fact(const struct recording *r, enum fact_kind kind, const char *name,
		     bool *ret_known)
{
	uint64_t v = 0;
	bool known = recording_find_fact(r, kind, name, MODEL_NONE, MODEL_NONE, &v);

	if (ret_known)
		*ret_known = known;
	return known ? v : 0;
}

/* Losses may be told in all or by event and process. */
static uint64_t sum_losses(const struct recording *r, const char *name)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < recording_n_facts(r); i++) {
		const struct model_fact *f = recording_fact(r, i);

		if (f->kind == FACT_LOSS &&
		    strcmp(recording_string(r, f->name), name) == 0)
			sum += f->value;
	}
	return sum;
}

static bool is_known_loss(const char *name)
{
	/* Shown elsewhere: among what was lost, and with the stacks themselves. */
	static const char *const others[] = { "lost-samples", "unwritten-samples",
					      "truncated-stacks" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	for (size_t i = 0; i < QUALITY_N_GAPS; i++)
		if (strcmp(name, quality_gaps[i].fact) == 0)
			return true;
	return false;
}

static void add_loss(struct quality_source *q, const char *name, uint64_t n)
{
	for (size_t i = 0; i < q->n_others; i++) {
		if (strcmp(q->others[i].name, name) != 0)
			continue;
		q->others[i].n += n;
		return;
	}
	q->others[q->n_others++] = (struct quality_loss){ name, n };
}

static void measure_other_losses(struct quality_source *q, const struct recording *r)
{
	q->others = xcalloc(recording_n_facts(r) + 1, sizeof(*q->others));
	for (uint32_t i = 0; i < recording_n_facts(r); i++) {
		const struct model_fact *f = recording_fact(r, i);
		const char *name = recording_string(r, f->name);

		if (f->kind == FACT_LOSS && f->value && !is_known_loss(name))
			add_loss(q, name, f->value);
	}
}

static bool rate_fact(const struct recording *r, const char *name, uint32_t event,
		      uint64_t *ret)
{
	return recording_find_fact(r, FACT_RATE, name, event, MODEL_NONE, ret);
}

/* What was to come follows from the clock itself, or from the intervals that a timer
 * says it missed. */
struct quality_rate quality_rate_of(const struct recording *r, uint32_t event)
{
	const struct model_event *ev = recording_event(r, event);
	struct quality_rate rate = { 0 }, unknown = { 0 };
	uint64_t counted, overruns;

	if (!ev || strcmp(recording_string(r, ev->unit), "ns") != 0 ||
	    !rate_fact(r, "requested-period", event, &rate.asked_ns) || !rate.asked_ns ||
	    !rate_fact(r, "delivered", event, &rate.delivered))
		return unknown;
	if (rate_fact(r, "counted", event, &counted))
		rate.expected = counted / rate.asked_ns;
	else if (rate_fact(r, "timer-overruns", MODEL_NONE, &overruns))
		rate.expected = rate.delivered + overruns;
	else
		return unknown;
	rate_fact(r, "timer-tick", MODEL_NONE, &rate.tick_ns);
	rate.is_throttled = sum_losses(r, "throttled") > 0;
	return rate;
}

/* 1 unless the event was off at times. */
static double measure_on_share(const struct recording *r, uint32_t event)
{
	uint64_t on_ns, of_ns;

	if (!rate_fact(r, "time-on", event, &on_ns) ||
	    !rate_fact(r, "time-of", event, &of_ns) || on_ns >= of_ns)
		return 1;
	return (double)on_ns / (double)of_ns;
}

static void measure_source(struct quality_source *q, const struct profile *p, size_t i)
{
	const struct input *s = &p->sources[i];
	const struct recording *r = s->recording;
	bool has_user, has_system;

	q->taken_samples = s->n_taken;
	q->lost_samples =
		sum_losses(r, "lost-samples") + sum_losses(r, "unwritten-samples");
	for (size_t g = 0; g < QUALITY_N_GAPS; g++)
		q->gaps[g] = sum_losses(r, quality_gaps[g].fact);
	measure_other_losses(q, r);
	q->self_cpu_ns = fact(r, FACT_SELF, "cpu-time", NULL);
	q->wall_ns = fact(r, FACT_TARGET, "wall-time", NULL);
	q->asleep_ns = fact(r, FACT_TARGET, "asleep-time", NULL);
	q->stolen_ns = fact(r, FACT_TARGET, "stolen-time", NULL);
	q->used_ns = fact(r, FACT_TARGET, "user-time", &has_user) +
		     fact(r, FACT_TARGET, "system-time", &has_system);
	q->damage = recording_damage(r);
	q->is_complete = recording_is_complete(r);
	q->n_bad_blocks = s->n_bad_blocks;
	q->bad_block = s->n_bad_blocks ? s->bad_block : NULL;
	for (uint32_t c = 0; c < s->n_columns && !p->filter; c++) {
		const struct profile_column *column = &p->columns.at[s->first_column + c];
		const struct model_event *ev = recording_event(r, column->event);

		if (!ev)
			continue;
		/* Of several experiments that sample CPU time the first is compared. */
		if (strcmp(recording_string(r, ev->name), "cpu-time") != 0 || q->has_cpu)
			continue;
		q->has_cpu = has_user && has_system;
		q->sampled_ns = column->total_weight;
		q->period_ns = column->period;
	}
}

static double measure_not_timed(const struct profile *p, size_t column)
{
	const struct input *s = &p->sources[p->columns.at[column].source];
	bool is_ideal = s->ideal_column != MODEL_NONE &&
			column == s->first_column + s->ideal_column;

	return is_ideal ? s->ideal_missing : 0;
}

void quality_measure(struct quality *ret, const struct profile *p)
{
	struct unresolved u = { 0 };

	*ret = (struct quality){
		.columns = xcalloc(p->columns.n + 1, sizeof(*ret->columns)),
		.sources = xcalloc(p->n_sources + 1, sizeof(*ret->sources)),
		.n_columns = p->columns.n,
		.n_sources = p->n_sources,
	};
	for (size_t c = 0; c < p->columns.n; c++) {
		const struct profile_column *column = &p->columns.at[c];

		ret->columns[c].total = column->total_weight;
		ret->columns[c].rate = quality_rate_of(
			p->sources[column->source].recording, column->event);
		ret->columns[c].not_timed_share = measure_not_timed(p, c);
		ret->columns[c].on_share = measure_on_share(
			p->sources[column->source].recording, column->event);
	}
	for (size_t i = 0; i < p->n_sources; i++) {
		measure_truncated(ret, &p->sources[i]);
		measure_unresolved(ret, &u, p, &p->sources[i]);
		measure_source(&ret->sources[i], p, i);
	}
	take_images(ret, &u, p);
	map_fini(&u.row_of_image);
	vec_fini(&u.functions);
	vec_fini(&u.weights);
}

void quality_fini(struct quality *q)
{
	for (size_t i = 0; i < q->n_sources; i++)
		free(q->sources[i].others);
	free(q->columns);
	free(q->sources);
	free(q->images);
	*q = (struct quality){ 0 };
}

static bool is_source_complete(const struct quality_source *s)
{
	for (size_t g = 0; g < QUALITY_N_GAPS; g++)
		if (s->gaps[g])
			return false;
	return !s->lost_samples && !s->n_others && !s->damage && s->is_complete &&
	       !s->n_bad_blocks;
}

bool quality_is_complete(const struct quality *q)
{
	for (size_t i = 0; i < q->n_sources; i++)
		if (!is_source_complete(&q->sources[i]))
			return false;
	for (size_t c = 0; c < q->n_columns; c++)
		if (q->columns[c].truncated || q->columns[c].unresolved)
			return false;
	return true;
}

bool quality_is_damaged(const struct quality *q)
{
	for (size_t i = 0; i < q->n_sources; i++)
		if (q->sources[i].damage || q->sources[i].n_bad_blocks)
			return true;
	return false;
}

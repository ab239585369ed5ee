/* SPDX-License-Identifier: Apache-2.0
 *
 * speedscope - the JSON that speedscope.app reads.
 *
 * One "sampled" profile per event and thread in the order of time, so that its
 * timeline means something; equal neighbours are joined.  A recording too long for a
 * browser becomes one profile per event of its calling contexts, the small ones merged.
 */
#include <string.h>

#include "base/intern.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "export/exporter.h"
#include "export/flame_tree.h"

/* Above these the profile would be slow to load or to choose from. */
#define SPEEDSCOPE_MAX_SAMPLES 500000
#define SPEEDSCOPE_MAX_LINES   500
#define SPEEDSCOPE_MAX_STACKS  50000

struct run { /* equal neighbours */
	uint32_t stack;
	uint64_t weight;
};

/* One profile of the output. */
struct line {
	uint32_t column;
	const struct model_thread *thread; /* NULL: all */
	const struct model_process *process;
	uint64_t total;
	VEC(struct run) runs;
};

struct speedscope {
	const struct profile *p;
	const struct export_options *o;
	struct intern *stacks; /* arrays of frame numbers, outermost first */
	struct map frame_of;   /* function -> frame number */
	VEC(uint32_t) frames;  /* the function of each */
	VEC(struct line) lines;
	struct map line_of; /* (thread, column) -> index into lines */
	size_t n_samples;
	bool is_too_long;
	double share; /* below which calling contexts were merged, or 0 */
	VEC(uint32_t) path;
	struct json j;
	struct buf label;
};

static void clear_lines(struct speedscope *s)
{
	vec_each(line, &s->lines) {
		vec_fini(&line->runs);
	}
	vec_clear(&s->lines);
	map_clear(&s->line_of);
}

static void speedscope_fini(struct speedscope *s)
{
	clear_lines(s);
	vec_fini(&s->lines);
	map_fini(&s->line_of);
	intern_free(s->stacks);
	map_fini(&s->frame_of);
	vec_fini(&s->frames);
	vec_fini(&s->path);
	buf_fini(&s->label);
}

static uint32_t frame_number(struct speedscope *s, uint32_t function)
{
	bool is_new;
	uint64_t *slot = map_slot(&s->frame_of, function, &is_new);

	if (is_new) {
		*slot = s->frames.n;
		*vec_push(&s->frames) = function;
	}
	return (uint32_t)*slot;
}

static uint32_t intern_path(struct speedscope *s)
{
	return intern_add(s->stacks, (const char *)s->path.at,
			  s->path.n * sizeof(*s->path.at));
}

static uint32_t stack_number(struct speedscope *s, const struct profile_frame *frames,
			     size_t n)
{
	vec_clear(&s->path);
	for (size_t i = 0; i < n; i++)
		*vec_push(&s->path) = frame_number(s, frames[i].function);
	if (n == 0) /* speedscope forgets the weight of a sample without frames */
		*vec_push(&s->path) = frame_number(s, FLAME_TREE_NOWHERE);
	return intern_path(s);
}

static struct line *find_line(struct speedscope *s, uint32_t column,
			      const struct model_thread *thread)
{
	bool is_new;
	uint64_t key = hash_pair((uintptr_t)thread, column);
	uint64_t *slot = map_slot(&s->line_of, key, &is_new);

	if (is_new) {
		struct line *line = vec_push(&s->lines);

		line->column = column;
		line->thread = thread;
		*slot = s->lines.n - 1;
	}
	return &s->lines.at[*slot];
}

static void add_run(struct line *line, uint32_t stack, uint64_t weight)
{
	line->total += weight;
	if (line->runs.n && line->runs.at[line->runs.n - 1].stack == stack)
		line->runs.at[line->runs.n - 1].weight += weight;
	else
		*vec_push(&line->runs) = (struct run){ stack, weight };
}

static bool is_wanted(const struct speedscope *s, size_t column)
{
	return !s->o->has_column || column == s->o->column;
}

static int add_sample(void *ctx, const struct profile_sample *x, unused struct err *e)
{
	struct speedscope *s = ctx;

	if (!is_wanted(s, x->column))
		return 0;
	if (++s->n_samples > SPEEDSCOPE_MAX_SAMPLES ||
	    s->lines.n > SPEEDSCOPE_MAX_LINES) {
		s->is_too_long = true;
		return 1;
	}

	struct line *line = find_line(s, x->column, x->thread);

	line->process = x->process;
	add_run(line, stack_number(s, x->frames, x->n_frames), x->weight);
	return 0;
}

/* What weighs something itself, as a stack of its own. */
static void add_node(struct speedscope *s, const struct flame_tree *t, size_t node)
{
	uint32_t stack;

	vec_clear(&s->path);
	for (size_t i = node; i; i = t->nodes.at[i].parent)
		*vec_push(&s->path) =
			frame_number(s, t->frames.at[t->nodes.at[i].frame].function);
	for (size_t i = 0; i < s->path.n / 2; i++) {
		uint32_t *a = &s->path.at[i], *b = &s->path.at[s->path.n - 1 - i], x = *a;

		*a = *b;
		*b = x;
	}
	stack = intern_path(s);
	for (size_t c = 0; c < t->n_columns; c++) {
		uint64_t self = t->self.at[node * t->n_columns + c];

		if (self)
			add_run(find_line(s, (uint32_t)(t->first_column + c), NULL),
				stack, self);
	}
}

static void add_tree(struct speedscope *s)
{
	size_t first, n = exporter_columns(s->p, s->o, &first);
	own(flame_tree_freep) struct flame_tree *t =
		flame_tree_fit(s->p, first, n, SPEEDSCOPE_MAX_STACKS);

	s->share = t->share;
	for (size_t i = 1; i < t->nodes.n; i++)
		add_node(s, t, i);
}

static const char *unit_name(const char *unit)
{
	if (strcmp(unit, "ns") == 0)
		return "nanoseconds";
	return strcmp(unit, "bytes") == 0 ? "bytes" : "none";
}

static void put_frame(struct speedscope *s, uint32_t function)
{
	json_object(&s->j);
	if (function == FLAME_TREE_NOWHERE) {
		json_key_str(&s->j, "name", "[no stack]");
	} else if (function == FLAME_TREE_SMALL) {
		json_key_str(&s->j, "name", "[small frames]");
	} else {
		const struct profile_function *f = profile_function(s->p, function);

		json_key_str(&s->j, "name", f->name);
		json_key_str(&s->j, "file", f->decl_file ? f->decl_file : f->image);
		if (f->decl_file && f->decl_line)
			json_key_u64(&s->j, "line", f->decl_line);
	}
	json_object_end(&s->j);
}

static void put_frames(struct speedscope *s)
{
	json_key(&s->j, "shared");
	json_object(&s->j);
	json_key(&s->j, "frames");
	json_array(&s->j);
	for (size_t i = 0; i < s->frames.n; i++)
		put_frame(s, s->frames.at[i]);
	json_array_end(&s->j);
	json_object_end(&s->j);
}

static void put_line_name(struct speedscope *s, const struct line *line)
{
	const char *event = exporter_column_label(s->p, line->column, &s->label);
	const struct recording *r =
		profile_source(s->p, profile_column(s->p, line->column)->source);
	own(freep) char *name = NULL;

	if (!line->thread && s->share > 0)
		name = xasprintf("%s, all threads, what is below %g %% merged", event,
				 100 * s->share);
	else if (!line->thread)
		name = xasprintf("%s, all threads", event);
	else
		name = xasprintf(
			"%s, %s %u/%u", event, recording_string(r, line->thread->name),
			line->process ? line->process->pid : 0, line->thread->tid);
	json_key_str(&s->j, "name", name);
}

static void put_stacks(struct speedscope *s, const struct line *line)
{
	json_key(&s->j, "samples");
	json_array(&s->j);
	for (size_t r = 0; r < line->runs.n; r++) {
		uint32_t stack = line->runs.at[r].stack;
		const uint32_t *path = (const uint32_t *)intern_get(s->stacks, stack);
		size_t n = intern_len(s->stacks, stack) / sizeof(*path);

		json_array(&s->j);
		for (size_t i = 0; i < n; i++)
			json_u64(&s->j, path[i]);
		json_array_end(&s->j);
	}
	json_array_end(&s->j);
}

static void put_line(struct speedscope *s, const struct line *line)
{
	json_object(&s->j);
	json_key_str(&s->j, "type", "sampled");
	put_line_name(s, line);
	json_key_str(&s->j, "unit", unit_name(profile_column(s->p, line->column)->unit));
	json_key_u64(&s->j, "startValue", 0);
	json_key_u64(&s->j, "endValue", line->total);
	put_stacks(s, line);
	json_key(&s->j, "weights");
	json_array(&s->j);
	for (size_t r = 0; r < line->runs.n; r++)
		json_u64(&s->j, line->runs.at[r].weight);
	json_array_end(&s->j);
	json_object_end(&s->j);
}

/* The heaviest is what a reader wants to see first. */
static int compare_lines(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return 0;
}

static void put_file(struct speedscope *s)
{
	json_object(&s->j);
	json_key_str(&s->j, "$schema",
		     "https://www.speedscope.app/file-format-schema.json");
	json_key_str(&s->j, "exporter", "dwell");
	json_key_str(&s->j, "name", exporter_title(s->p, s->o));
	json_key_u64(&s->j, "activeProfileIndex", 0);
	put_frames(s);
	json_key(&s->j, "profiles");
	json_array(&s->j);
	vec_each(line, &s->lines) {
		put_line(s, line);
	}
	json_array_end(&s->j);
	json_object_end(&s->j);
}

static size_t n_recorded(const struct recording *r)
{
	size_t sum = 0;

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		uint64_t from, to;
		size_t n;

		recording_sample_block_range(r, i, &from, &to, &n);
		sum += n;
	}
	return sum;
}

/* Whether there are clearly too many: no more than were recorded, no more than were
 * counted after the filter. */
static bool is_too_long(const struct speedscope *s)
{
	size_t first, n = exporter_columns(s->p, s->o, &first), recorded = 0;
	uint64_t counted = 0;

	for (size_t i = 0; i < profile_n_sources(s->p); i++)
		recorded += n_recorded(profile_source(s->p, i));
	for (size_t i = first; i < first + n; i++)
		if (profile_column(s->p, i)->event != MODEL_NONE)
			counted += profile_column(s->p, i)->total_count;
	return recorded > SPEEDSCOPE_MAX_SAMPLES && counted > SPEEDSCOPE_MAX_SAMPLES;
}

static int speedscope_write(const struct profile *p, const struct export_options *o,
			    FILE *out, struct err *e)
{
	own(speedscope_fini) struct speedscope s = { .p = p, .o = o };
	int rc;

	s.stacks = intern_new();
	json_init(&s.j, out);
	s.is_too_long = is_too_long(&s);
	rc = s.is_too_long ? 0 : profile_each_sample(p, add_sample, &s, e);
	if (rc < 0)
		return rc;
	if (s.is_too_long) {
		clear_lines(&s);
		add_tree(&s);
	}
	if (s.lines.n)
		qsort(s.lines.at, s.lines.n, sizeof(*s.lines.at), compare_lines);
	put_file(&s);
	return exporter_finish(out, e);
}

const struct exporter export_speedscope = {
	.name = "speedscope",
	.suffix = "speedscope.json",
	.mime = "application/json",
	.summary = "JSON for speedscope.app, in order of time",
	.write = speedscope_write,
};

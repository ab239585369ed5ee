/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/heap_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/global_rows.h"
#include "base/mem.h"
#include "store/gauge.h"

/* Processes of one recording that have samples that pass the filter. */
struct chosen {
	const struct profile *profile;
	size_t source;
	bool *of; /* by process */
};

static int choose(void *ctx, const struct profile_sample *s, struct err *e)
{
	const struct chosen *c = ctx;

	(void)e;
	if (s->thread && s->process &&
	    profile_column(c->profile, s->column)->source == c->source)
		c->of[s->thread->process] = true;
	return 0;
}

static int find_process(struct heap_timeline *t, const struct profile *p, size_t source,
			const struct heap_rows *rows, struct err *e)
{
	const struct recording *r = profile_source(p, source);
	own(freep) bool *of = xcalloc(recording_n_processes(r) + 1, sizeof(*of));
	struct chosen c = { p, source, of };
	int rc = profile_is_filtered(p) ? profile_each_sample(p, choose, &c, e) : 0;

	t->process = MODEL_NONE;
	vec_each(x, &rows->of[HEAP_ROWS_COURSE]) {
		if (x->process >= recording_n_processes(r) ||
		    (profile_is_filtered(p) && !of[x->process]) ||
		    (t->process != MODEL_NONE && x->values[0] <= t->most_bytes))
			continue;
		t->process = x->process;
		t->most_bytes = x->values[0];
	}
	return rc;
}

/* When it ended, or was last heard of. */
static uint64_t end_of(const struct heap_timeline *t, const struct recording *r,
		       const struct heap_rows *rows)
{
	uint64_t end_ns = recording_process(r, t->process)->end_ns;
	uint32_t n = recording_n_intervals(r);

	if (!end_ns && n)
		end_ns = recording_interval(r, n - 1)->to_ns;
	vec_each(x, &rows->of[HEAP_ROWS_COURSE])
		if (x->process == t->process && x->time_ns > end_ns)
			end_ns = x->time_ns;
	return end_ns;
}

static void add_lines(struct heap_timeline *t, uint64_t length_ns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*vec_push(&t->lines) = (struct heap_timeline_line){
			.from_ns = length_ns / n * i,
			.to_ns = i + 1 == n ? length_ns : length_ns / n * (i + 1),
		};
}

/* Where there is no point nothing changed: what was held before is held on. */
static void take_course(struct heap_timeline *t, const struct heap_rows *rows,
			uint64_t start_ns)
{
	const struct heap_row *x = rows->of[HEAP_ROWS_COURSE].at;
	const struct heap_row *end = x + rows->of[HEAP_ROWS_COURSE].n;
	uint64_t bytes = 0, blocks = 0, allocations = 0;
	bool is_over = false;

	while (x < end && x->process != t->process)
		x++;
	vec_each(line, &t->lines) {
		line->most_bytes = bytes;
		line->allocations = allocations;
		for (; x < end && x->process == t->process &&
		       x->time_ns <= start_ns + line->to_ns;
		     x++) {
			if (x->values[0] > line->most_bytes)
				line->most_bytes = x->values[0];
			bytes = x->values[1];
			blocks = x->values[2];
			allocations = x->values[4];
		}
		line->allocations = allocations - line->allocations;
		line->bytes = bytes;
		line->blocks = blocks;
		line->is_peak = !is_over && line->most_bytes == t->most_bytes;
		is_over = is_over || line->is_peak;
	}
}

static struct heap_timeline_line *line_at(struct heap_timeline *t, uint64_t time_ns)
{
	vec_each(line, &t->lines)
		if (time_ns <= line->to_ns)
			return line;
	return NULL;
}

/* The last one in a line is that at its end. */
static int take_resident(struct heap_timeline *t, const struct recording *r,
			 const struct model_process *process, struct err *e)
{
	own(global_rows_fini) struct global_rows g = { 0 };
	int rc = global_rows_load_processes(&g, r, e);

	vec_each(row, &g.rows) {
		struct heap_timeline_line *line =
			row->pid == process->pid && row->to_ns >= process->start_ns
				? line_at(t, row->to_ns - process->start_ns)
				: NULL;

		/* One that has ended, and was not waited for yet, has none. */
		if (!line || !row->values.of[GAUGE_RESIDENT_BYTES])
			continue;
		line->resident_bytes = row->values.of[GAUGE_RESIDENT_BYTES];
		line->has_resident = true;
		t->has_resident = true;
	}
	return rc;
}

bool heap_timeline_is_mark(const struct recording *r, const struct model_interval *v)
{
	const char *cause = recording_string(r, v->cause);

	return *recording_string(r, v->name) ||
	       (strcmp(cause, "timer") != 0 && strcmp(cause, "end") != 0);
}

static void take_marks(struct heap_timeline *t, const struct recording *r,
		       uint64_t start_ns, uint64_t length_ns)
{
	for (uint32_t i = 0; i < recording_n_intervals(r); i++) {
		const struct model_interval *v = recording_interval(r, i);
		const char *name = recording_string(r, v->name);

		if (!heap_timeline_is_mark(r, v) || v->to_ns < start_ns ||
		    v->to_ns - start_ns > length_ns)
			continue;
		*vec_push(&t->marks) = (struct heap_timeline_mark){
			v->to_ns - start_ns, i,
			*name ? name : recording_string(r, v->cause)
		};
	}
}

int heap_timeline_load(struct heap_timeline *t, const struct profile *p, size_t source,
		       const struct heap_rows *rows, size_t n_lines, struct err *e)
{
	const struct recording *r = profile_source(p, source);
	const struct model_process *process;
	uint64_t end_ns, length_ns;
	int rc = find_process(t, p, source, rows, e);

	if (rc < 0 || t->process == MODEL_NONE)
		return rc;
	if (!n_lines || n_lines > HEAP_TIMELINE_MAX)
		n_lines = HEAP_TIMELINE_MAX;
	process = recording_process(r, t->process);
	end_ns = end_of(t, r, rows);
	length_ns = end_ns > process->start_ns ? end_ns - process->start_ns : 0;
	add_lines(t, length_ns, n_lines);
	take_course(t, rows, process->start_ns);
	take_marks(t, r, process->start_ns, length_ns);
	return take_resident(t, r, process, e);
}

void heap_timeline_fini(struct heap_timeline *t)
{
	vec_fini(&t->lines);
	vec_fini(&t->marks);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/input.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"

#define FUNCTIONS_MAX (1u << 20) /* of one image */

/* A line at one place of the code: in a function, or where it was inlined. */
struct part {
	uint32_t file, line; /* file: id of paths */
	uint64_t place;
	uint64_t times;
};

struct making {
	struct coverage *c;
	const struct profile *p;
	size_t column;
	VEC(struct part) parts;
	struct map
		entries;   /* hash of image and address: executed at a function's start */
	struct map images; /* symbolizer's images that were looked at */
};

bool coverage_has(const struct profile *p, size_t column)
{
	const struct profile_column *c = profile_column(p, column);
	uint32_t event = input_counted_event(profile_source(p, c->source));

	return event != MODEL_NONE && c->event == event;
}

static void making_fini(struct making *m)
{
	vec_fini(&m->parts);
	map_fini(&m->entries);
	map_fini(&m->images);
}

void coverage_fini(struct coverage *c)
{
	vec_fini(&c->files);
	vec_fini(&c->lines);
	vec_fini(&c->functions);
	intern_free(c->paths);
	*c = (struct coverage){ 0 };
}

static void add_part(struct making *m, const char *file, uint32_t line, uint64_t place,
		     uint64_t times)
{
	if (file && *file && line)
		*vec_push(&m->parts) = (struct part){ intern_str(m->c->paths, file), line,
						      place, times };
}

/* What was executed. */

/* The same for all instructions of the innermost function's body that is inlined there.
 */
static uint64_t place_of(const struct profile_stack *s)
{
	uint64_t place = hash_pair(s->frames[0].build, s->frames[0].function);

	for (size_t i = 1; i < s->n; i++) {
		place = hash_pair(place, s->frames[i].function);
		place = hash_pair(place, (uint64_t)s->frames[i - 1].line << 32 |
						 s->frames[i - 1].column);
	}
	return place;
}

static int take_stack(void *ctx, const struct profile_stack *s, struct err *e)
{
	struct making *m = ctx;
	const struct profile_frame *inner = s->n ? &s->frames[s->n - 1] : NULL;
	uint64_t times = s->weights[m->column];

	(void)e;
	if (!inner || !times)
		return 0;
	add_part(m, inner->file, inner->line, place_of(s), times);
	*map_slot(&m->entries, hash_pair(s->frames[0].build, s->frames[0].address),
		  NULL) += times;
	return 0;
}

/* What there is. */

static void take_function(struct making *m, uint32_t image, const struct sym_function *f)
{
	const uint64_t *times;

	if (!f->decl_file || !f->decl_line || !f->size)
		return;
	times = map_find(&m->entries, hash_pair(image, f->start));
	*vec_push(&m->c->functions) =
		(struct coverage_function){ f->name,
					    intern_str(m->c->paths, f->decl_file),
					    f->decl_line, times ? *times : 0 };
}

static void take_lines(struct making *m, uint32_t image, uint64_t start, uint64_t end)
{
	own(freep) struct sym_line_row *rows = NULL;
	size_t n = 0;

	if (start >= end || symbolizer_lines(profile_symbolizer(m->p), image, start,
					     end - start, &rows, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		add_part(m, rows[i].file, rows[i].line, 0, 0);
}

static void take_image(struct making *m, uint32_t image)
{
	struct symbolizer *s = profile_symbolizer(m->p);
	own(freep) uint32_t *ids = NULL;
	uint64_t start = UINT64_MAX, end = 0;
	size_t n;

	if (symbolizer_image_source(s, image) != SYM_FROM_DEBUG_INFO)
		return;
	ids = xcalloc(FUNCTIONS_MAX, sizeof(*ids));
	n = symbolizer_find_functions(s, image, "", ids, FUNCTIONS_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct sym_function *f = symbolizer_function(s, ids[i]);

		take_function(m, image, f);
		if (f->size && f->decl_file && f->start < start)
			start = f->start;
		if (f->size && f->decl_file && f->start + f->size > end)
			end = f->start + f->size;
	}
	take_lines(m, image, start, end);
}

static void take_images(struct making *m)
{
	size_t source = profile_column(m->p, m->column)->source;
	const struct recording *r = profile_source(m->p, source);

	for (uint32_t i = 0; i < recording_n_images(r); i++) {
		uint32_t image = profile_sym_image(m->p, source, i);
		bool is_new = false;

		if (recording_image(r, i)->kind != IMAGE_ELF || image == MODEL_NONE)
			continue;
		map_slot(&m->images, image, &is_new);
		if (is_new)
			take_image(m, image);
	}
}

/* In order. */

static int by_place(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static void sum_lines(struct making *m)
{
	size_t n = m->parts.n;

	if (n)
		qsort(m->parts.at, n, sizeof(*m->parts.at), by_place);
	for (size_t i = 0, end; i < n; i = end) {
		const struct part *first = &m->parts.at[i];
		struct coverage_line *line = vec_push(&m->c->lines);
		uint64_t most = 0;

		*line = (struct coverage_line){ first->file, first->line, 0 };
		for (end = i; end < n && m->parts.at[end].file == first->file &&
			      m->parts.at[end].line == first->line;
		     end++) {
			const struct part *x = &m->parts.at[end];

			if (end > i && x->place != x[-1].place) {
				line->times += most;
				most = 0;
			}
			most = x->times > most ? x->times : most;
		}
		line->times += most;
	}
}

static int by_path(const void *a, const void *b, void *paths)
{
	return strcmp(intern_get(paths, *(const uint32_t *)a),
		      intern_get(paths, *(const uint32_t *)b));
}

static int by_file_of_line(const void *a, const void *b)
{
	const struct coverage_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int by_file_of_function(const void *a, const void *b)
{
	const struct coverage_function *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Files get numbers by their paths. */
static void order(struct coverage *c)
{
	uint32_t n = intern_count(c->paths);
	own(freep) uint32_t *ids = xcalloc((size_t)n + 1, sizeof(*ids));
	own(freep) uint32_t *index = xcalloc((size_t)n + 1, sizeof(*index));

	for (uint32_t i = 0; i < n; i++)
		ids[i] = i;
	qsort_r(ids, n, sizeof(*ids), by_path, c->paths);
	for (uint32_t i = 0; i < n; i++) {
		index[ids[i]] = i;
		*vec_push(&c->files) = intern_get(c->paths, ids[i]);
	}
	vec_each(line, &c->lines)
		line->file = index[line->file];
	vec_each(f, &c->functions)
		f->file = index[f->file];
	if (c->lines.n)
		qsort(c->lines.at, c->lines.n, sizeof(*c->lines.at), by_file_of_line);
	if (c->functions.n)
		qsort(c->functions.at, c->functions.n, sizeof(*c->functions.at),
		      by_file_of_function);
}

void coverage_make(struct coverage *ret, const struct profile *p, size_t column)
{
	own(making_fini) struct making m = { .c = ret, .p = p, .column = column };

	*ret = (struct coverage){ .paths = intern_new() };
	if (profile_each_stack(p, take_stack, &m, NULL) == 0 && profile_symbolizer(p))
		take_images(&m);
	sum_lines(&m);
	order(ret);
}

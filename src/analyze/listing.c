/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/listing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metrics.h"
#include "analyze/names.h"
#include "analyze/profile_data.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"

#define NEAR_BYTES 200 /* of a name: longer ones are not compared beyond */

/* Rows while they are found; the key of a row is a few numbers, interned as bytes. */
struct finder {
	const struct profile *p;
	const uint8_t
		*is_in_code; /* [frame]: its address is one of the function's image */
	struct intern *keys; /* id - 1 is the row */
	VEC(struct listing_row) rows;
	uint32_t *row_of_frame;
};

struct row_key {
	uint64_t a, b, c;
};

static uint32_t find_row(struct finder *f, struct row_key key, struct listing_row row)
{
	uint32_t id = intern_add(f->keys, (const char *)&key, sizeof(key)) - 1;

	if (id == f->rows.n)
		*vec_push(&f->rows) = row;
	return id;
}

/* Files are interned by the symbolizer: the pointer is the file. */
static uint32_t line_row(struct finder *f, const struct profile_frame *frame,
			 uint32_t function)
{
	uint32_t line = frame->file ? frame->line : 0;

	return find_row(f, (struct row_key){ (uintptr_t)frame->file, line, function },
			(struct listing_row){ .file = frame->file,
					      .line = line,
					      .address = frame->address,
					      .function = function });
}

static void find_lines(struct finder *f, uint32_t function)
{
	for (size_t i = 0; i < f->p->frames.n; i++) {
		const struct profile_frame *frame = &f->p->frames.at[i];

		if (frame->function == function)
			f->row_of_frame[i] = line_row(f, frame, MODEL_NONE);
	}
}

/* A location's frames follow each other, the function whose body it is first: what is
 * inlined there belongs to the same instruction, and the innermost says what it is. */
static void find_instructions(struct finder *f, uint32_t function)
{
	uint32_t row = MODEL_NONE;

	for (size_t i = 0; i < f->p->frames.n; i++) {
		const struct profile_frame *frame = &f->p->frames.at[i];
		struct row_key key = { frame->address, frame->is_return, 0 };

		if (!frame->is_inlined)
			row = frame->function != function || !f->is_in_code[i]
				      ? MODEL_NONE
				      : find_row(f, key,
						 (struct listing_row){
							 .address = frame->address,
							 .is_return = frame->is_return });
		f->row_of_frame[i] = row;
		if (row == MODEL_NONE)
			continue;
		f->rows.at[row].file = frame->file;
		f->rows.at[row].line = frame->line;
		f->rows.at[row].function =
			frame->is_inlined ? frame->function : MODEL_NONE;
	}
}

/* What was inlined right into a line of the function. */
static void find_inlined(struct finder *f, uint32_t function)
{
	for (size_t i = 1; i < f->p->frames.n; i++) {
		const struct profile_frame *frame = &f->p->frames.at[i];
		const struct profile_frame *outer = &f->p->frames.at[i - 1];

		if (frame->is_inlined && outer->function == function)
			f->row_of_frame[i] = line_row(f, outer, frame->function);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct listing_row *x = a, *y = b;
	int files = strcmp(x->file ? x->file : "", y->file ? y->file : "");

	if (files)
		return files;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->inclusive[0] > y->inclusive[0] ? -1 : 1;
}

static int by_address(const void *a, const void *b)
{
	const struct listing_row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (int)x->is_return - (int)y->is_return;
}

static void make_rows(struct listing_rows *ret, const struct profile *p,
		      const uint8_t *is_in_code, uint32_t function,
		      void (*find)(struct finder *, uint32_t),
		      int (*order)(const void *, const void *))
{
	struct finder f = { .p = p, .is_in_code = is_in_code, .keys = intern_new() };
	struct metrics m;
	size_t n = p->columns.n;

	f.row_of_frame = xcalloc(p->frames.n + 1, sizeof(uint32_t));
	for (size_t i = 0; i < p->frames.n; i++)
		f.row_of_frame[i] = MODEL_NONE;
	find(&f, function);
	metrics_sum(&m, p, f.row_of_frame, f.rows.n);
	*ret = (struct listing_rows){
		.n = f.rows.n,
		.rows = xcalloc(f.rows.n + 1, sizeof(*ret->rows)),
		.values = xcalloc(2 * f.rows.n * n + 1, sizeof(uint64_t)),
	};
	for (size_t i = 0; i < ret->n; i++) {
		ret->rows[i] = f.rows.at[i];
		ret->rows[i].exclusive = ret->values + 2 * i * n;
		ret->rows[i].inclusive = ret->values + (2 * i + 1) * n;
		memcpy(ret->rows[i].exclusive, m.exclusive + i * n, n * sizeof(uint64_t));
		memcpy(ret->rows[i].inclusive, m.inclusive + i * n, n * sizeof(uint64_t));
	}
	if (ret->n)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), order);
	metrics_fini(&m);
	intern_free(f.keys);
	vec_fini(&f.rows);
	free(f.row_of_frame);
}

/* Of one source: its frames in an image of the symbolizer. */
static void mark_frames(const struct profile *p, size_t source, uint32_t sym_image,
			uint8_t *is_in_code)
{
	const struct input *s = &p->sources[source];
	uint32_t n_images = recording_n_images(s->recording);
	own(freep) bool *is_it = xcalloc(n_images + 1, sizeof(bool));

	for (uint32_t i = 0; i < n_images; i++)
		is_it[i] = profile_sym_image(p, source, i) == sym_image;
	for (uint32_t k = 0; k < s->n_locations; k++)
		if (s->n_frames[k] && is_it[s->locations[k].image])
			memset(is_in_code + s->first_frame[k], 1, s->n_frames[k]);
}

static bool has_other_build(const struct profile *p, size_t source,
			    const uint8_t *is_in_code, uint32_t function)
{
	const struct input *s = &p->sources[source];

	for (uint32_t k = 0; k < s->n_locations; k++) {
		uint32_t i = s->first_frame[k];

		if (s->n_frames[k] && p->frames.at[i].function == function &&
		    !is_in_code[i])
			return true;
	}
	return false;
}

/* Any sampled place of the body tells how addresses and offsets are related. */
static void find_code_delta(struct listing *l, const struct profile *p,
			    const uint8_t *is_in_code, uint32_t function)
{
	for (size_t i = 0; i < p->n_sources && !l->has_code_delta; i++) {
		const struct input *s = &p->sources[i];

		for (uint32_t k = 0; k < s->n_locations; k++) {
			const struct profile_frame *f = &p->frames.at[s->first_frame[k]];

			if (!s->n_frames[k] || f->function != function ||
			    !is_in_code[s->first_frame[k]])
				continue;
			l->code_delta = f->address - s->locations[k].offset;
			l->has_code_delta = true;
			break;
		}
	}
}

void listing_make(struct listing *ret, const struct profile *p, uint32_t function)
{
	own(freep) uint8_t *is_in_code = xcalloc(p->frames.n + 1, 1);

	*ret = (struct listing){ .n_columns = p->columns.n };
	ret->has_other_build = xcalloc(p->n_sources + 1, sizeof(bool));
	for (size_t i = 0; i < p->n_sources; i++)
		mark_frames(p, i, p->functions.at[function].sym_image, is_in_code);
	for (size_t i = 0; i < p->n_sources; i++)
		ret->has_other_build[i] = has_other_build(p, i, is_in_code, function);
	make_rows(&ret->lines, p, is_in_code, function, find_lines, by_place);
	make_rows(&ret->instructions, p, is_in_code, function, find_instructions,
		  by_address);
	make_rows(&ret->inlined, p, is_in_code, function, find_inlined, by_place);
	find_code_delta(ret, p, is_in_code, function);
}

static void rows_fini(struct listing_rows *r)
{
	free(r->rows);
	free(r->values);
}

void listing_fini(struct listing *l)
{
	rows_fini(&l->lines);
	rows_fini(&l->instructions);
	rows_fini(&l->inlined);
	free(l->has_other_build);
	*l = (struct listing){ 0 };
}

static bool is_exactly(const struct profile_function *f, const char *name)
{
	return names_is_function(f->name, name) || strcmp(f->label, name) == 0 ||
	       (f->linkage && strcmp(f->linkage, name) == 0);
}

struct candidate {
	uint32_t id;
	size_t distance;       /* of its name from the one that was asked for */
	double own, inclusive; /* weights */
};

static int heaviest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	if (x->inclusive != y->inclusive)
		return x->inclusive > y->inclusive ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

/* Columns have units of their own: shares are added up. */
static double weight_of(const struct profile *p, const uint64_t *values, uint32_t id)
{
	size_t n = p->columns.n;
	double sum = 0;

	for (size_t c = 0; c < n; c++)
		if (p->columns.at[c].total_weight)
			sum += (double)values[id * n + c] /
			       (double)p->columns.at[c].total_weight;
	return sum;
}

/* One alone needs no weight. */
static void order_candidates(const struct profile *p, struct candidate *found, size_t n)
{
	struct metrics m;

	if (n < 2)
		return;
	metrics_sum(&m, p, NULL, 0);
	for (size_t i = 0; i < n; i++) {
		found[i].own = weight_of(p, m.exclusive, found[i].id);
		found[i].inclusive = weight_of(p, m.inclusive, found[i].id);
	}
	metrics_fini(&m);
	qsort(found, n, sizeof(*found), heaviest_first);
}

struct candidates {
	VEC(struct candidate) all;
	uint32_t *place_of; /* [function]: its place in `all`, + 1 */
};

static struct candidates candidates_among(const struct profile *p)
{
	return (struct candidates){
		.place_of = xcalloc(p->functions.n + 1, sizeof(uint32_t)),
	};
}

static void candidates_fini(struct candidates *c)
{
	vec_fini(&c->all);
	free(c->place_of);
}

/* What was matched to another function is meant by either name. */
static void add_candidate(struct candidates *to, const struct profile_function *f,
			  size_t distance)
{
	uint32_t *place = &to->place_of[f->same_as];

	if (!*place) {
		*vec_push(&to->all) =
			(struct candidate){ .id = f->same_as, .distance = distance };
		*place = (uint32_t)to->all.n;
	} else if (distance < to->all.at[*place - 1].distance) {
		to->all.at[*place - 1].distance = distance;
	}
}

/* "malloc" of "__GI___libc_malloc": inside, a C library calls what it offers otherwise.
 */
static const char *offered(const char *name)
{
	static const char *const before[] = { "__GI_", "__libc_" };

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		if (text_starts(name, before[i]))
			name += strlen(before[i]);
	return name + strspn(name, "_");
}

static bool is_offered(const struct profile_function *f, const char *name)
{
	return *offered(name) && strcmp(offered(f->name), offered(name)) == 0;
}

static bool has_word(const struct profile_function *f, const char *name)
{
	return names_is_word(f->name, name);
}

static bool has_part(const struct profile_function *f, const char *name)
{
	return name[0] && names_is_part(f->name, name);
}

/* A worse way to be meant counts where no function is by a better one. */
static bool (*const ways_to_mean[])(const struct profile_function *,
				    const char *) = { is_exactly, is_offered, has_word,
						      has_part };

static struct candidates candidates_of(const struct profile *p, const char *name)
{
	const size_t n_ways = sizeof(ways_to_mean) / sizeof(ways_to_mean[0]);
	struct candidates found = candidates_among(p);

	for (size_t way = 0; way < n_ways && !found.all.n; way++)
		for (uint32_t i = 0; i < p->functions.n; i++)
			if (ways_to_mean[way](&p->functions.at[i], name))
				add_candidate(&found, &p->functions.at[i], 0);
	return found;
}

static size_t take_candidates(const struct profile *p, struct candidates *found,
			      uint32_t **ret)
{
	size_t n = found->all.n;

	order_candidates(p, found->all.at, n);
	*ret = xcalloc(n + 1, sizeof(**ret));
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = found->all.at[i].id;
	candidates_fini(found);
	return n;
}

bool listing_means(const struct profile *p, const char *name, uint32_t function)
{
	struct candidates found = candidates_of(p, name);
	bool is_it = found.all.n == 1 && found.all.at[0].id == function;

	candidates_fini(&found);
	return is_it;
}

size_t listing_find(const struct profile *p, const char *name, uint32_t **ret)
{
	struct candidates found = candidates_of(p, name);

	return take_candidates(p, &found, ret);
}

static void lower(char *s)
{
	for (; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

static unsigned count_scopes(const char *name)
{
	unsigned n = 0;

	for (; (name = strstr(name, "::")); name += 2)
		n++;
	return n;
}

/* `name` is in lower case, of n_scopes; as many as `far` or more: it is another name. */
static size_t distance_from(const char *name, unsigned n_scopes, size_t far,
			    const struct profile_function *f)
{
	char typed[NEAR_BYTES];
	size_t d, n;

	lower(names_typed(typed, sizeof(typed), f->name, n_scopes));
	n = strlen(typed);
	d = n > strlen(name) + far ? far : text_distance(name, typed);
	return d < far ? d : far;
}

size_t listing_near(const struct profile *p, const char *name, uint32_t **ret)
{
	struct candidates found = candidates_among(p);
	char typed[NEAR_BYTES];
	unsigned n_scopes;
	size_t far;

	snprintf(typed, sizeof(typed), "%.*s", (int)names_without_parameters(name), name);
	lower(typed);
	n_scopes = count_scopes(typed);
	far = strlen(typed) / 3 + 1;
	for (uint32_t i = 0; i < p->functions.n; i++) {
		size_t d = distance_from(typed, n_scopes, far, &p->functions.at[i]);

		if (d < far)
			add_candidate(&found, &p->functions.at[i], d);
	}
	return take_candidates(p, &found, ret);
}

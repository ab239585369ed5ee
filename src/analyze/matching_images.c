/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/matching_data.h"
#include "base/mem.h"
#include "base/text.h"

#define SOME_SHARED 0.25 /* of the names: enough where more speaks for it */
#define MOST_SHARED 0.5	 /* enough alone */
#define MANY_SHARED 3	 /* names that must be the same then */

/* Two images that may be one. */
struct pair {
	uint32_t image, is;
	uint32_t n_shared, n_named;
	double share;
	bool is_guess, is_same_stem;
};

struct pairs {
	VEC(struct pair) all;
};

static bool is_missing(const struct matching *m, const struct matching_image *i)
{
	size_t n = 0;

	for (size_t s = 0; s < m->n_sources; s++)
		n += i->is_in[s];
	return n && n < m->n_sources && i->kind != IMAGE_TRUNCATED &&
	       i->kind != IMAGE_UNKNOWN && i->kind != IMAGE_LABEL &&
	       i->kind != IMAGE_ANON;
}

static bool is_disjoint(const struct matching *m, const struct matching_image *a,
			const struct matching_image *b)
{
	for (size_t s = 0; s < m->n_sources; s++)
		if (a->is_in[s] && b->is_in[s])
			return false;
	return true;
}

static bool has_function(const struct profile *p, const char *image, const char *name)
{
	uint64_t key = hash_pair(hash_bytes(image, strlen(image)),
				 hash_bytes(name, strlen(name)));

	return map_find(&p->functions_by_name, key);
}

/* Names of one image's functions that the other has too. */
static uint32_t count_shared(const struct matching *m, uint32_t image, uint32_t other)
{
	uint32_t n = 0;

	for (uint32_t i = m->images.at[image].first; i; i = m->next_of_image[i - 1]) {
		const struct profile_function *f = &m->p->functions.at[i - 1];

		n += f->is_resolved && !matching_is_generic(f->name) &&
		     has_function(m->p, m->images.at[other].name, f->name);
	}
	return n;
}

/* Names that are versions of one another are hardly chance; what two programs share
 * beside their names must be more.  On a whole machine programs of one language share a
 * run-time library's functions and are many: there names decide alone. */
static bool is_likely(struct pair *pair, const struct matching_image *a,
		      const struct matching_image *b)
{
	bool is_nameless = !a->n_named || !b->n_named;

	pair->is_same_stem = strcmp(a->stem, b->stem) == 0;
	pair->n_named = a->n_named < b->n_named ? a->n_named : b->n_named;
	pair->share = pair->n_named ? (double)pair->n_shared / pair->n_named : 0;
	pair->is_guess = !pair->is_same_stem || pair->share < SOME_SHARED;
	if (pair->is_same_stem)
		return is_nameless || pair->n_shared;
	if (a->is_program && b->is_program)
		return is_nameless || pair->share >= SOME_SHARED;
	return a->is_of_runs && b->is_of_runs && pair->share >= MOST_SHARED &&
	       pair->n_shared >= MANY_SHARED;
}

static void find_pairs(const struct matching *m, struct pairs *ret)
{
	for (uint32_t i = 0; i < m->images.n; i++) {
		const struct matching_image *a = &m->images.at[i];

		for (uint32_t k = i + 1; k < m->images.n; k++) {
			const struct matching_image *b = &m->images.at[k];
			struct pair pair = { .image = k, .is = i };

			if (a->kind != b->kind || !is_missing(m, a) ||
			    !is_missing(m, b) || !is_disjoint(m, a, b))
				continue;
			pair.n_shared = count_shared(m, i, k);
			if (is_likely(&pair, a, b) && (!pair.is_guess || m->may_guess))
				*vec_push(&ret->all) = pair;
		}
	}
}

static int likeliest_first(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->is_guess != y->is_guess)
		return x->is_guess ? 1 : -1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->n_shared != y->n_shared)
		return x->n_shared > y->n_shared ? -1 : 1;
	return x->is != y->is ? (x->is < y->is ? -1 : 1) : x->image < y->image ? -1 : 1;
}

static void unite(struct matching *m, const struct pair *pair)
{
	struct matching_image *image = &m->images.at[pair->image];
	struct matching_image *is = &m->images.at[pair->is];
	own(freep) char *how = NULL;
	char named[TEXT_MAX];

	if (image->same_as != pair->image || is->same_as != pair->is ||
	    !is_disjoint(m, image, is))
		return;
	if (pair->n_named)
		how = xasprintf("%u of %s %s called the same", pair->n_shared,
				text_number(named, pair->n_named, "functions"),
				pair->n_shared == 1 ? "is" : "are");
	image->same_as = pair->is;
	for (size_t s = 0; s < m->n_sources; s++)
		is->is_in[s] |= image->is_in[s];
	*vec_push(&m->p->matches) = (struct profile_match){
		.function = MODEL_NONE,
		.is = MODEL_NONE,
		.image = image->name,
		.is_image = is->name,
		.how = how		    ? arena_strdup(&m->p->strings, how)
		       : pair->is_same_stem ? "their names differ in the version only"
					    : "both are the program that was run",
		.is_guess = pair->is_guess,
	};
}

void matching_images_unite(struct matching *m)
{
	struct pairs pairs = { 0 };

	find_pairs(m, &pairs);
	if (pairs.all.n)
		qsort(pairs.all.at, pairs.all.n, sizeof(pairs.all.at[0]),
		      likeliest_first);
	vec_each(pair, &pairs.all)
		unite(m, pair);
	vec_fini(&pairs.all);
}

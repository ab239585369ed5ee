/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyze/matching_data.h"
#include "analyze/name_stem.h"
#include "analyze/names.h"
#include "base/mem.h"

/* Functions that are called the same by some measure. */
struct groups {
	struct map by_key; /* hash to the latest, + 1 */
	uint32_t *next;	   /* [function]: of the same hash, + 1 */
	char **texts;	   /* [function]: what is compared; NULL: not in a group */
};

static void groups_fini(struct groups *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(g->texts[i]);
	free(g->texts);
	free(g->next);
	map_fini(&g->by_key);
}

enum measure { NAME_AND_FILE, NAME, STEM };

static void put_text(const struct profile_function *f, enum measure measure,
		     struct buf *ret)
{
	if (measure == STEM)
		name_stem_function(f->name, ret);
	else
		buf_puts(ret, f->name);
	if (measure == NAME_AND_FILE && f->decl_file)
		buf_printf(ret, "\n%s", names_base(f->decl_file));
}

static void add(struct groups *g, const struct matching *m, uint32_t function,
		enum measure measure)
{
	uint32_t image = matching_image_root(m, m->image_of[function]);
	own(buf_fini) struct buf text = { 0 };

	put_text(&m->p->functions.at[function], measure, &text);

	uint64_t hash = hash_pair(image, hash_bytes(text.data, text.size));
	uint64_t *last = map_slot(&g->by_key, hash, NULL);

	g->texts[function] = xstrdup(buf_str(&text));
	g->next[function] = (uint32_t)*last;
	*last = function + UINT64_C(1);
}

static bool is_same(const struct groups *g, const struct matching *m, uint32_t a,
		    uint32_t b)
{
	return strcmp(g->texts[a], g->texts[b]) == 0 &&
	       matching_image_root(m, m->image_of[a]) ==
		       matching_image_root(m, m->image_of[b]);
}

/* The only function of the group that may be this one in another build; MODEL_NONE when
 * there are none or several. */
static uint32_t only_partner(const struct groups *g, const struct matching *m,
			     uint32_t first, uint32_t function)
{
	uint32_t found = MODEL_NONE;

	for (uint32_t at = first; at; at = g->next[at - 1]) {
		uint32_t other = at - 1;

		if (other == function || !matching_is_open(m, other) ||
		    !is_same(g, m, function, other) ||
		    !matching_may_be_one(m, function, other))
			continue;
		if (found != MODEL_NONE)
			return MODEL_NONE;
		found = other;
	}
	return found;
}

static bool is_earlier(const struct matching *m, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < m->n_sources; i++)
		if (m->is_in[a * m->n_sources + i] != m->is_in[b * m->n_sources + i])
			return m->is_in[a * m->n_sources + i];
	return a < b;
}

static void label_stem(struct matching *m, const struct groups *g, uint32_t function)
{
	struct profile_function *f = &m->p->functions.at[function];

	if (strcmp(f->label, g->texts[function]) != 0 && f->label == f->name)
		f->label = arena_strdup(&m->p->strings, g->texts[function]);
}

static const char *const reasons[] = {
	[NAME_AND_FILE] = NULL,
	[NAME] = "it is in another source file",
	[STEM] = "the compiler split or copied it",
};

static void unite_partners(struct matching *m, const struct groups *g, uint32_t first,
			   enum measure measure)
{
	for (uint32_t at = first; at; at = g->next[at - 1]) {
		uint32_t function = at - 1, other;

		if (!matching_is_open(m, function))
			continue;
		other = only_partner(g, m, first, function);
		if (other == MODEL_NONE || only_partner(g, m, first, other) != function ||
		    (measure == NAME && matching_has_namesake(m, function, other)))
			continue;
		if (is_earlier(m, other, function))
			matching_unite(m, function, other, reasons[measure], false);
		else
			matching_unite(m, other, function, reasons[measure], false);
		if (measure == STEM)
			label_stem(m, g,
				   m->p->functions.at[function].same_as == function
					   ? function
					   : other);
	}
}

/* The function itself, of which others in the group are pieces; MODEL_NONE when two
 * could be. */
static uint32_t whole_of(const struct matching *m, const struct groups *g, uint32_t first,
			 uint32_t piece)
{
	uint32_t found = MODEL_NONE;

	for (uint32_t at = first; at; at = g->next[at - 1]) {
		const struct profile_function *f = &m->p->functions.at[at - 1];

		if (f->same_as != at - 1 || !is_same(g, m, at - 1, piece) ||
		    strcmp(f->label, g->texts[at - 1]) != 0)
			continue;
		if (found != MODEL_NONE)
			return MODEL_NONE;
		found = at - 1;
	}
	return found;
}

/* A piece that one build has is part of the whole in the other. */
static void unite_pieces(struct matching *m, const struct groups *g, uint32_t first)
{
	for (uint32_t at = first; at; at = g->next[at - 1]) {
		uint32_t whole, piece = at - 1;

		if (!matching_is_open(m, piece))
			continue;
		whole = whole_of(m, g, first, piece);
		if (whole != MODEL_NONE && whole != piece &&
		    !matching_is_in_build(m, piece, whole))
			matching_unite(m, piece, whole, reasons[STEM], false);
	}
}

static void unite_by(struct matching *m, enum measure measure)
{
	size_t n = m->p->functions.n;
	struct groups g = { .next = xcalloc(n + 1, sizeof(uint32_t)),
			    .texts = xcalloc(n + 1, sizeof(char *)) };

	for (uint32_t i = 0; i < n; i++) {
		const struct profile_function *f = &m->p->functions.at[i];

		if (f->is_resolved && f->same_as == i &&
		    (measure == STEM || matching_is_open(m, i)))
			add(&g, m, i, measure);
	}
	for (size_t i = 0; i < g.by_key.cap; i++) {
		const struct map_entry *at = &g.by_key.at[i];

		if (!at->used)
			continue;
		unite_partners(m, &g, (uint32_t)at->value, measure);
		if (measure == STEM)
			unite_pieces(m, &g, (uint32_t)at->value);
	}
	groups_fini(&g, n);
}

void matching_names_unite(struct matching *m)
{
	unite_by(m, NAME_AND_FILE);
	unite_by(m, NAME);
	unite_by(m, STEM);
}

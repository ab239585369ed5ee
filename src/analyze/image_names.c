/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/image_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "base/mem.h"

struct file {
	const char *path, *base;
	uint32_t sym_image, source;
	uint32_t next; /* of the same hash, + 1; 0: none */
};

struct files {
	VEC(struct file) all;
	struct map by_base; /* hash of the last component to the latest, + 1 */
};

static void files_fini(struct files *f)
{
	vec_fini(&f->all);
	map_fini(&f->by_base);
}

static void add_file(struct files *f, const struct profile *p, uint32_t source,
		     uint32_t image)
{
	const struct recording *r = p->sources[source].recording;
	const struct model_image *m = recording_image(r, image);
	const char *path = recording_string(r, m->path), *base = names_base(path);
	uint64_t *last = map_slot(&f->by_base, hash_bytes(base, strlen(base)), NULL);

	if (m->kind != IMAGE_ELF)
		return;
	*vec_push(&f->all) = (struct file){
		.path = path,
		.base = base,
		.sym_image = profile_sym_image(p, source, image),
		.source = source,
		.next = (uint32_t)*last,
	};
	*last = f->all.n;
}

/* How much of an image was seen. */
struct usage {
	uint32_t source, image, n_locations;
};

static int compare_usages(const void *a, const void *b)
{
	const struct usage *x = a, *y = b;

	if (x->n_locations != y->n_locations)
		return x->n_locations > y->n_locations ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->image < y->image ? -1 : x->image > y->image;
}

/* Copies of one file are one image, which has the name of the copy that is met first: let
 * it be the one of which most was seen. */
static void meet_images(const struct profile *p)
{
	VEC(struct usage) used = { 0 };

	for (uint32_t i = 0; i < p->n_sources; i++) {
		const struct input *s = &p->sources[i];
		size_t first = used.n;

		for (uint32_t k = 0; k < recording_n_images(s->recording); k++)
			*vec_push(&used) = (struct usage){ i, k, 0 };
		for (uint32_t l = 0; l < s->n_locations; l++)
			used.at[first + s->locations[l].image].n_locations++;
	}
	if (used.n)
		qsort(used.at, used.n, sizeof(*used.at), compare_usages);
	for (size_t i = 0; i < used.n && used.at[i].n_locations; i++)
		profile_sym_image(p, used.at[i].source, used.at[i].image);
	vec_fini(&used);
}

/* What is mapped but has no sample needs no name. */
static void add_files(struct files *f, const struct profile *p, uint32_t source)
{
	const struct input *s = &p->sources[source];
	uint32_t n = recording_n_images(s->recording);
	own(freep) bool *is_used = xcalloc(n + 1, sizeof(bool));

	for (uint32_t l = 0; l < s->n_locations; l++)
		is_used[s->locations[l].image] = true;
	for (uint32_t i = 0; i < n; i++)
		if (is_used[i])
			add_file(f, p, source, i);
}

/* Another file, which the last component does not tell from this one. */
static bool is_namesake(const struct file *a, const struct file *b)
{
	return a->sym_image != b->sym_image && strcmp(a->base, b->base) == 0 &&
	       strcmp(a->path, b->path) != 0;
}

static const struct file *next_of(const struct files *f, const struct file *file)
{
	return file->next ? &f->all.at[file->next - 1] : NULL;
}

static bool has_namesake(const struct files *f, const struct file *first)
{
	for (const struct file *a = first; a; a = next_of(f, a))
		for (const struct file *b = next_of(f, a); b; b = next_of(f, b))
			if (a->source == b->source && is_namesake(a, b))
				return true;
	return false;
}

static bool ends_alike(const char *a, const char *b, size_t n)
{
	size_t a_n = strlen(a), b_n = strlen(b);

	return b_n >= n && strcmp(a + a_n - n, b + b_n - n) == 0 &&
	       (b_n == n || b[b_n - n - 1] == '/');
}

/* The fewest last components that no namesake has too. */
static const char *label_of(const struct files *f, const struct file *first,
			    const struct file *file)
{
	const char *label = file->base;
	bool is_shared = true;

	while (is_shared && label > file->path + 1) {
		size_t n;

		label--;
		while (label > file->path && label[-1] != '/')
			label--;
		n = strlen(label);
		is_shared = false;
		for (const struct file *b = first; b; b = next_of(f, b))
			is_shared |= is_namesake(file, b) &&
				     ends_alike(file->path, b->path, n);
	}
	return is_shared ? file->path : label;
}

static void label_all(struct profile *p, const struct files *f, const struct file *first)
{
	for (const struct file *a = first; a; a = next_of(f, a)) {
		uint64_t key = hash_bytes(a->path, strlen(a->path));

		*map_slot(&p->image_labels, key, NULL) =
			(uint64_t)(uintptr_t)label_of(f, first, a);
	}
}

void image_names_choose(struct profile *p)
{
	own(files_fini) struct files f = { 0 };

	meet_images(p);
	for (uint32_t i = 0; i < p->n_sources; i++)
		add_files(&f, p, i);
	for (size_t i = 0; i < f.by_base.cap; i++) {
		const struct map_entry *at = &f.by_base.at[i];

		if (at->used && at->value && has_namesake(&f, &f.all.at[at->value - 1]))
			label_all(p, &f, &f.all.at[at->value - 1]);
	}
}

const char *image_names_of(const struct profile *p, const char *path)
{
	const uint64_t *label =
		map_find(&p->image_labels, hash_bytes(path, strlen(path)));

	return label ? (const char *)(uintptr_t)*label : names_base(path);
}

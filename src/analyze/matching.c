/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/matching.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/matching_data.h"
#include "analyze/name_stem.h"
#include "analyze/names.h"
#include "base/mem.h"

static void matching_fini(struct matching *m)
{
	for (size_t i = 0; i < m->images.n; i++) {
		free(m->images.at[i].is_in);
		free(m->images.at[i].stem);
	}
	vec_fini(&m->images);
	free(m->is_in);
	free(m->build);
	free(m->image_of);
	free(m->next_of_image);
}

bool matching_is_generic(const char *name)
{
	static const char *const names[] = { "main",	     "_start", "_init", "_fini",
					     "start_thread", "clone",  "clone3" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The symbolizer's id of each image. */
static uint32_t *sym_images(const struct profile *p, size_t source)
{
	uint32_t n = recording_n_images(p->sources[source].recording);
	uint32_t *ids = xcalloc(n + 1, sizeof(*ids));

	for (uint32_t i = 0; i < n; i++)
		ids[i] = profile_sym_image(p, source, i);
	return ids;
}

/* The same, but a kernel, whose addresses are other ones each time, is the same build
 * when it says so. */
static uint32_t *builds_of(const struct matching *m, size_t source, struct map *kernels)
{
	const struct recording *r = m->p->sources[source].recording;
	uint32_t *builds = sym_images(m->p, source);

	for (uint32_t i = 0; i < recording_n_images(r); i++) {
		const struct model_image *image = recording_image(r, i);
		const char *path = recording_string(r, image->path);
		uint64_t id = hash_bytes(image->build_id, image->build_id_size);
		uint64_t *known;

		if (image->kind != IMAGE_KERNEL && image->kind != IMAGE_MODULE)
			continue;
		known = map_slot(kernels, hash_pair(id, hash_bytes(path, strlen(path))),
				 NULL);
		if (!*known)
			*known = builds[i] + UINT64_C(1);
		builds[i] = (uint32_t)*known - 1;
	}
	return builds;
}

/* Where a function is, some sample may be. */
static void find_functions(struct matching *m)
{
	struct profile *p = m->p;
	own(map_fini) struct map kernels = { 0 };

	m->is_in = xcalloc(p->functions.n * m->n_sources + 1, sizeof(bool));
	m->build = xcalloc(p->functions.n * m->n_sources + 1, sizeof(uint32_t));
	for (size_t i = 0; i < m->n_sources; i++) {
		const struct input *s = &p->sources[i];
		own(freep) uint32_t *builds = builds_of(m, i, &kernels);

		for (uint32_t l = 0; l < s->n_locations; l++)
			for (uint32_t k = 0; k < s->n_frames[l]; k++) {
				size_t frame = s->first_frame[l] + k;
				size_t f = p->frames.at[frame].function;

				m->is_in[f * m->n_sources + i] = true;
				m->build[f * m->n_sources + i] =
					builds[s->locations[l].image];
			}
	}
}

static uint32_t add_image(struct matching *m, const struct profile_function *f)
{
	for (uint32_t i = 0; i < m->images.n; i++)
		if (strcmp(m->images.at[i].name, f->image) == 0)
			return i;
	*vec_push(&m->images) = (struct matching_image){
		.name = f->image,
		.kind = f->kind,
		.is_in = xcalloc(m->n_sources, sizeof(bool)),
	};

	uint32_t id = (uint32_t)m->images.n - 1;
	own(buf_fini) struct buf stem = { 0 };

	name_stem_image(f->image, &stem);
	m->images.at[id].stem = xstrdup(buf_str(&stem));
	m->images.at[id].same_as = id;
	return id;
}

static void find_images(struct matching *m)
{
	struct profile *p = m->p;
	own(map_fini) struct map known = { 0 }; /* pointer of a name to image + 1 */

	m->image_of = xcalloc(p->functions.n + 1, sizeof(uint32_t));
	m->next_of_image = xcalloc(p->functions.n + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < p->functions.n; i++) {
		const struct profile_function *f = &p->functions.at[i];
		uint64_t *at = map_slot(&known, (uint64_t)(uintptr_t)f->image, NULL);

		if (!*at)
			*at = add_image(m, f) + UINT64_C(1);

		struct matching_image *image = &m->images.at[*at - 1];

		m->image_of[i] = (uint32_t)*at - 1;
		m->next_of_image[i] = image->first;
		image->first = i + 1;
		image->n_named += f->is_resolved && !matching_is_generic(f->name);
		for (size_t s = 0; s < m->n_sources; s++)
			image->is_in[s] |= m->is_in[i * m->n_sources + s];
	}
}

/* The command's own process goes on as others by exec. */
static bool is_first(const struct recording *r, uint32_t process)
{
	while (process && recording_process(r, process)->exec_of < process)
		process = recording_process(r, process)->exec_of;
	return process == 0;
}

static bool is_run_by(const struct recording *r, const char *image)
{
	for (uint32_t i = 0; i < recording_n_processes(r); i++) {
		const char *exe = recording_string(r, recording_process(r, i)->exe);

		if (is_first(r, i) && exe[0] && names_is_file(exe, image))
			return true;
	}
	return false;
}

static void find_programs(struct matching *m)
{
	for (size_t i = 0; i < m->images.n; i++) {
		struct matching_image *image = &m->images.at[i];

		image->is_of_runs = true;
		for (size_t s = 0; s < m->n_sources; s++) {
			const struct recording *r = m->p->sources[s].recording;
			bool is_run = recording_info(r, "command");

			if (!image->is_in[s])
				continue;
			image->is_of_runs &= is_run;
			image->is_program |= is_run && is_run_by(r, image->name);
		}
	}
}

uint32_t matching_root(const struct matching *m, uint32_t function)
{
	while (m->p->functions.at[function].same_as != function)
		function = m->p->functions.at[function].same_as;
	return function;
}

bool matching_is_open(const struct matching *m, uint32_t function)
{
	const bool *is_in = m->is_in + function * m->n_sources;
	size_t n = 0;

	for (size_t i = 0; i < m->n_sources; i++)
		n += is_in[i];
	return m->p->functions.at[function].same_as == function && n && n < m->n_sources;
}

uint32_t matching_image_root(const struct matching *m, uint32_t image)
{
	while (m->images.at[image].same_as != image)
		image = m->images.at[image].same_as;
	return image;
}

static const uint32_t *build_in(const struct matching *m, uint32_t function,
				size_t source)
{
	size_t at = function * m->n_sources + source;

	return m->is_in[at] ? &m->build[at] : NULL;
}

bool matching_may_be_one(const struct matching *m, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < m->n_sources; i++) {
		const uint32_t *build = build_in(m, a, i);

		for (size_t k = 0; build && k < m->n_sources; k++) {
			const uint32_t *other = build_in(m, b, k);

			if (other && (i == k || *other == *build))
				return false;
		}
	}
	return true;
}

static size_t count_symbols(const struct matching *m, uint32_t function, uint32_t build)
{
	const struct profile_function *f = &m->p->functions.at[function];

	if (!f->is_resolved)
		return 0;
	return symbolizer_count_symbols(m->p->symbolizer, build,
					f->linkage ? f->linkage : f->name);
}

static bool is_named_twice(const struct matching *m, uint32_t function)
{
	for (size_t i = 0; i < m->n_sources; i++) {
		const uint32_t *build = build_in(m, function, i);

		if (build && count_symbols(m, function, *build) > 1)
			return true;
	}
	return false;
}

bool matching_has_namesake(const struct matching *m, uint32_t a, uint32_t b)
{
	return is_named_twice(m, a) || is_named_twice(m, b);
}

bool matching_is_in_build(const struct matching *m, uint32_t function, uint32_t other)
{
	for (size_t i = 0; i < m->n_sources; i++) {
		const uint32_t *build = build_in(m, other, i);

		if (build && !build_in(m, function, i) &&
		    count_symbols(m, function, *build))
			return true;
	}
	return false;
}

/* Both names, where they do not say that they are one: "f ≈ g". */
static void label_guess(struct profile *p, struct profile_function *is,
			const struct profile_function *f)
{
	own(buf_fini) struct buf label = { 0 };

	if (is->label == is->name)
		name_stem_function(is->name, &label);
	else
		buf_puts(&label, is->label);
	buf_puts(&label, " ≈ ");
	name_stem_function(f->name, &label);
	is->label = arena_strdup(&p->strings, buf_str(&label));
}

void matching_unite(struct matching *m, uint32_t function, uint32_t is, const char *how,
		    bool is_guess)
{
	struct profile *p = m->p;
	struct profile_function *f = &p->functions.at[function];

	f->same_as = is;
	for (size_t i = 0; i < m->n_sources; i++) {
		const uint32_t *build = build_in(m, function, i);

		if (!build)
			continue;
		m->is_in[is * m->n_sources + i] = true;
		m->build[is * m->n_sources + i] = *build;
	}
	if (is_guess)
		label_guess(p, &p->functions.at[is], f);
	if (how)
		*vec_push(&p->matches) = (struct profile_match){
			.function = function,
			.is = is,
			.how = arena_strdup(&p->strings, how),
			.is_guess = is_guess,
		};
}

/* The function as a file of its own build has it: where it begins there. */
static const struct sym_function *own_function(const struct profile *p, uint32_t function,
					       uint32_t sym_image)
{
	uint64_t key = (uint64_t)function << 32 | sym_image;
	const uint64_t *id = map_find(&p->shared_by, key);

	return id ? symbolizer_function(p->symbolizer, (uint32_t)*id) : NULL;
}

/* A line is the same when it is as far below the first of its function. */
static void move_line(struct profile *p, struct profile_frame *f, uint32_t sym_image)
{
	const struct profile_function *to =
		&p->functions.at[p->functions.at[f->function].same_as];
	const struct sym_function *from = own_function(p, f->function, sym_image);

	if (!from || !from->decl_file || !to->decl_file || !f->file || !f->line ||
	    strcmp(from->decl_file, f->file) != 0)
		return;
	if (f->line >= from->decl_line && from->decl_line && to->decl_line)
		f->line += to->decl_line - from->decl_line;
	f->file = to->decl_file;
}

static void rewrite_frames(struct matching *m)
{
	struct profile *p = m->p;

	for (size_t i = 0; i < m->n_sources; i++) {
		const struct input *s = &p->sources[i];
		own(freep) uint32_t *builds = sym_images(p, i);

		for (uint32_t l = 0; l < s->n_locations; l++)
			for (uint32_t k = 0; k < s->n_frames[l]; k++) {
				struct profile_frame *f =
					&p->frames.at[s->first_frame[l] + k];

				move_line(p, f, builds[s->locations[l].image]);
				f->function = p->functions.at[f->function].same_as;
			}
	}
}

/* A chain of matches ends at the last; an image's name is that of the first. */
static void follow_matches(struct matching *m)
{
	struct profile *p = m->p;

	for (uint32_t i = 0; i < p->functions.n; i++) {
		struct profile_function *f = &p->functions.at[i];

		f->same_as = matching_root(m, i);
		f->is_later = !m->is_in[i * m->n_sources];
	}
	for (uint32_t i = 0; i < p->functions.n; i++) {
		uint32_t root = matching_image_root(m, m->image_of[i]);

		p->functions.at[i].image = m->images.at[root].name;
	}
}

void matching_apply(struct profile *p, bool may_guess)
{
	own(matching_fini) struct matching m = { .p = p,
						 .n_sources = p->n_sources,
						 .may_guess = may_guess };

	find_functions(&m);
	find_images(&m);
	find_programs(&m);
	matching_images_unite(&m);
	matching_names_unite(&m);
	if (may_guess)
		matching_shapes_unite(&m);
	follow_matches(&m);
	rewrite_frames(&m);
}

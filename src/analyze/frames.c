/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/image_names.h"
#include "analyze/names.h"
#include "base/mem.h"
#include "unwind/offline.h"

/* The locations of one image, as the symbolizer wants them. */
struct batch {
	uint32_t *locations; /* all used ones, sorted by image */
	uint32_t *ends;	     /* [image]: where its part ends */
	uint64_t *offsets;
	bool *is_return;
	struct sym_result *results;
};

static void batch_fini(struct batch *b)
{
	free(b->locations);
	free(b->ends);
	free(b->offsets);
	free(b->is_return);
	free(b->results);
}

static bool is_code(const struct input *s, const bool *is_used, uint32_t location)
{
	return (!is_used || is_used[location]) &&
	       !(s->locations[location].flags & LOCATION_VARIABLE);
}

/* A counting sort: locations of code by image, in the order of their ids. */
static void sort_locations(struct batch *b, const struct input *s, const bool *is_used)
{
	uint32_t n_images = recording_n_images(s->recording), total = 0;

	b->ends = xcalloc(n_images + 1, sizeof(*b->ends));
	for (uint32_t l = 0; l < s->n_locations; l++)
		if (is_code(s, is_used, l))
			b->ends[s->locations[l].image]++;
	for (uint32_t i = 0; i < n_images; i++) {
		uint32_t n = b->ends[i];

		b->ends[i] = total;
		total += n;
	}
	b->locations = xcalloc(total + 1, sizeof(*b->locations));
	b->offsets = xcalloc(total + 1, sizeof(*b->offsets));
	b->is_return = xcalloc(total + 1, sizeof(*b->is_return));
	b->results = xcalloc(total + 1, sizeof(*b->results));
	for (uint32_t l = 0; l < s->n_locations; l++) {
		const struct model_location *loc = &s->locations[l];

		if (!is_code(s, is_used, l))
			continue;

		uint32_t at = b->ends[loc->image]++;

		b->locations[at] = l;
		b->offsets[at] = loc->offset;
		b->is_return[at] = loc->flags & LOCATION_RETURN;
	}
}

/* The last process of each pid, + 1. */
static void map_pids(struct map *ret, const struct recording *r)
{
	for (uint32_t i = 0; i < recording_n_processes(r); i++)
		*map_slot(ret, recording_process(r, i)->pid, NULL) = i + UINT64_C(1);
}

/* JIT code is named by the program it ran in: the same program in two recordings is
 * one image, whatever its pid. */
static const char *short_name(struct profile *p, const struct input *s, uint32_t image,
			      uint32_t sym_image, struct map *pids)
{
	const struct model_image *m = recording_image(s->recording, image);
	/* Of several copies the one that was met first. */
	const char *path = symbolizer_image_path(p->symbolizer, sym_image);
	const uint64_t *process;
	char text[64];

	if (m->kind == IMAGE_LABEL)
		return arena_strdup(&p->strings, path);
	if (m->kind != IMAGE_JIT || path[0] != '[')
		return arena_strdup(&p->strings, image_names_of(p, path));
	if (!pids->n)
		map_pids(pids, s->recording);
	process = map_find(pids, m->pid);
	if (!process)
		return "[jit]";
	snprintf(text, sizeof(text), "[jit] %.40s",
		 recording_string(
			 s->recording,
			 recording_process(s->recording, (uint32_t)*process - 1)->comm));
	return arena_strdup(&p->strings, text);
}

static uint64_t name_key(const char *image, const char *name)
{
	return hash_pair(hash_bytes(image, strlen(image)),
			 hash_bytes(name, strlen(name)));
}

static uint64_t sharing_key(uint32_t function, uint32_t sym_image)
{
	return (uint64_t)function << 32 | sym_image;
}

/* Functions of one image that are called the same down to the linker's name are several:
 * static ones of C.  Else they read the same only, like the variants of a constructor,
 * and to people are one. */
static bool has_namesake(const struct profile *p, uint32_t id,
			 const struct sym_function *f)
{
	const uint64_t *known = map_find(&p->shared_by, sharing_key(id, f->image));
	const struct sym_function *other =
		known ? symbolizer_function(p->symbolizer, (uint32_t)*known) : NULL;

	return other && other->linkage && f->linkage &&
	       strcmp(other->linkage, f->linkage) == 0;
}

/* Whose name says all may move from file to file. */
static bool may_be_in(const struct sym_function *f, const char *file)
{
	bool is_mangled = f->linkage && strcmp(f->linkage, f->name) != 0;

	return is_mangled || !file || !f->decl_file ||
	       strcmp(names_base(file), names_base(f->decl_file)) == 0;
}

/* What is only known by its place is another thing in another file. */
static bool may_be_shared(const struct sym_function *f, uint32_t sym_image)
{
	return f->is_resolved || !f->start || f->image == sym_image;
}

/* Of several that it may be the one at its address, else the first. */
static uint32_t find_function(const struct profile *p, uint64_t key, const char *image,
			      const char *name, const struct sym_function *sym)
{
	const uint64_t *first = map_find(&p->functions_by_name, key);
	uint32_t found = MODEL_NONE;

	for (uint64_t id = first ? *first : 0; id; id = p->same_hash.at[id - 1]) {
		const struct profile_function *f = &p->functions.at[id - 1];

		if (strcmp(f->name, name) != 0 || strcmp(f->image, image) != 0 ||
		    !may_be_shared(sym, f->sym_image) ||
		    has_namesake(p, (uint32_t)id - 1, sym) ||
		    !may_be_in(sym, f->decl_file))
			continue;
		found = (uint32_t)id - 1;
		if (f->start && f->start == sym->start)
			break;
	}
	return found;
}

static void label_with_place(struct profile *p, struct profile_function *f)
{
	own(freep) char *label =
		f->decl_file
			? xasprintf("%s (%s:%u)", f->name, names_base(f->decl_file),
				    f->decl_line)
			: xasprintf("%s (0x%llx)", f->name, (unsigned long long)f->start);

	f->label = arena_strdup(&p->strings, label);
}

/* The newest function and those before it of the same name and image. */
static void tell_apart(struct profile *p)
{
	struct profile_function *f = &p->functions.at[p->functions.n - 1];

	if (!f->is_resolved)
		return;
	for (uint64_t id = p->same_hash.at[p->functions.n - 1]; id;
	     id = p->same_hash.at[id - 1]) {
		struct profile_function *other = &p->functions.at[id - 1];

		if (strcmp(f->name, other->name) != 0 ||
		    strcmp(f->image, other->image) != 0)
			continue;
		if (f->label == f->name)
			label_with_place(p, f);
		if (other->label == other->name)
			label_with_place(p, other);
	}
}

static uint32_t add_function(struct profile *p, uint64_t key, const char *image,
			     uint32_t sym_id, uint8_t kind)
{
	const struct sym_function *f = symbolizer_function(p->symbolizer, sym_id);
	uint64_t *first = map_slot(&p->functions_by_name, key, NULL);

	*vec_push(&p->functions) = (struct profile_function){
		.name = f->name,
		.label = f->name,
		.linkage = f->linkage,
		.image = image,
		.own_image = image,
		.image_path = symbolizer_image_path(p->symbolizer, f->image),
		.decl_file = f->decl_file,
		.decl_line = f->decl_line,
		.start = f->start,
		.size = f->size,
		.sym_image = f->image,
		.sym_function = sym_id,
		.kind = kind,
		.is_resolved = f->is_resolved,
	};
	p->functions.at[p->functions.n - 1].same_as = (uint32_t)p->functions.n - 1;
	*vec_push(&p->same_hash) = (uint32_t)*first;
	*first = p->functions.n;
	return (uint32_t)p->functions.n - 1;
}

/* Where stacks end early is called after why they do. */
static uint32_t truncated_function(struct profile *p, uint32_t sym_id, const char *image,
				   uint64_t reason)
{
	char name[100];

	if (!reason || reason >= UNWIND_N_STOPS)
		snprintf(name, sizeof(name), "%s", image);
	else
		snprintf(name, sizeof(name), "[truncated: %s]",
			 unwind_stop_text((enum unwind_stop)reason));

	const struct sym_function *sym = symbolizer_function(p->symbolizer, sym_id);
	uint64_t key = name_key(image, name);
	uint32_t id = find_function(p, key, image, name, sym);

	if (id == MODEL_NONE) {
		id = add_function(p, key, image, sym_id, IMAGE_TRUNCATED);
		p->functions.at[id].name = p->functions.at[id].label =
			arena_strdup(&p->strings, name);
	}
	return id;
}

static uint32_t function_of(struct profile *p, uint32_t sym_id, const char *image,
			    uint8_t kind)
{
	while (p->function_of_sym.n <= sym_id)
		*vec_push(&p->function_of_sym) = MODEL_NONE;
	if (p->function_of_sym.at[sym_id] != MODEL_NONE)
		return p->function_of_sym.at[sym_id];

	const struct sym_function *sym = symbolizer_function(p->symbolizer, sym_id);
	uint64_t key = name_key(image, sym->name);
	uint32_t id = find_function(p, key, image, sym->name, sym);

	if (id == MODEL_NONE) {
		id = add_function(p, key, image, sym_id, kind);
		tell_apart(p);
	}
	*map_slot(&p->shared_by, sharing_key(id, sym->image), NULL) = sym_id;
	p->function_of_sym.at[sym_id] = id;
	return id;
}

/* A kernel is another image in each recording, though its addresses are the same. */
static uint32_t build_of(const struct profile *p, uint32_t function, uint8_t kind,
			 uint32_t sym_image)
{
	bool is_kernel = kind == IMAGE_KERNEL || kind == IMAGE_MODULE;

	return is_kernel ? p->functions.at[function].sym_image : sym_image;
}

/* The symbolizer gives the innermost frame first; a stack is read from outside in. */
static void take_result(struct profile *p, struct input *s, uint32_t location,
			const struct sym_result *r, const char *image, uint32_t sym_image)
{
	const struct model_location *l = &s->locations[location];
	/* A variable stands in a stack for what is about it. */
	uint8_t kind = l->flags & LOCATION_VARIABLE
			       ? IMAGE_LABEL
			       : recording_image(s->recording, l->image)->kind;
	bool is_return = l->flags & LOCATION_RETURN;

	s->first_frame[location] = (uint32_t)p->frames.n;
	s->n_frames[location] = r->n_frames;
	for (uint32_t i = r->n_frames; i-- > 0;) {
		const struct sym_frame *f =
			symbolizer_frame(p->symbolizer, r->first_frame + i);
		uint32_t id = (uint32_t)p->frames.n;
		uint32_t function =
			kind == IMAGE_TRUNCATED
				? truncated_function(p, f->function, image, r->address)
				: function_of(p, f->function, image, kind);

		*vec_push(&p->frames) = (struct profile_frame){
			.id = id,
			.function = function,
			.own_function = function,
			.build = build_of(p, function, kind, sym_image),
			.line = f->line,
			.column = f->column,
			.file = f->file,
			.address = r->address,
			.is_inlined = f->is_inlined,
			.is_return = is_return,
		};
	}
}

static const char *image_name(struct profile *p, const struct input *s, uint32_t image,
			      uint32_t sym_image, struct map *pids)
{
	while (p->image_names.n <= sym_image)
		*vec_push(&p->image_names) = NULL;
	if (!p->image_names.at[sym_image])
		p->image_names.at[sym_image] = short_name(p, s, image, sym_image, pids);
	return p->image_names.at[sym_image];
}

static void resolve_variables(struct profile *p, struct input *s, const bool *is_used,
			      struct map *pids)
{
	for (uint32_t l = 0; l < s->n_locations; l++) {
		const struct model_location *loc = &s->locations[l];
		struct sym_result result;
		uint32_t sym;

		if ((is_used && !is_used[l]) || !(loc->flags & LOCATION_VARIABLE))
			continue;
		sym = profile_sym_image(p, (size_t)(s - p->sources), loc->image);
		symbolizer_variable(p->symbolizer, sym, loc->offset, &result);
		take_result(p, s, l, &result, image_name(p, s, loc->image, sym, pids),
			    sym);
	}
}

void frames_resolve(struct profile *p, struct input *s, const bool *is_used)
{
	uint32_t n_images = recording_n_images(s->recording), from = 0;
	own(batch_fini) struct batch b = { 0 };
	own(map_fini) struct map pids = { 0 };

	sort_locations(&b, s, is_used);
	for (uint32_t i = 0; i < n_images; from = b.ends[i++]) {
		uint32_t n = b.ends[i] - from;

		if (!n)
			continue;

		uint32_t sym = profile_sym_image(p, (size_t)(s - p->sources), i);
		const char *name = image_name(p, s, i, sym, &pids);

		symbolizer_resolve(p->symbolizer, sym, b.offsets + from,
				   b.is_return + from, n, b.results + from);
		for (uint32_t k = from; k < from + n; k++)
			take_result(p, s, b.locations[k], &b.results[k], name, sym);
	}
	resolve_variables(p, s, is_used, &pids);
}

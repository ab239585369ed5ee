/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/symbolizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "sym/function_table.h"
#include "sym/image.h"
#include "sym/image_ref.h"
#include "sym/source_file.h"

/* Calls of symbolizer_close_unused() that an image stays open for. */
#define UNUSED_MAX 12
/* Kept results; then they are forgotten, to be looked up anew. */
#define KEPT_MAX (1u << 20)

struct symbolizer {
	struct sym_options options;
	VEC(struct image *) images;
	struct map by_ref; /* hash of its reference -> image + 1 */
	struct function_table *functions;
	VEC(struct sym_result) kept; /* of options.keeps_places */
};

/* One address of a question: sorting these keeps the walks over tables sequential. */
struct lookup {
	uint64_t address;
	uint32_t index;
};

struct symbolizer *symbolizer_new(const struct sym_options *options)
{
	struct symbolizer *s = xcalloc(1, sizeof(*s));

	if (options)
		s->options = *options;
	s->functions = function_table_new(s->options.keep_mangled);
	return s;
}

static void close_image(struct image *im)
{
	if (im->is_open && im->ops)
		im->ops->close(im);
	im->is_open = false;
}

static void free_image(struct image *im)
{
	close_image(im);
	free((void *)im->ref.path);
	free((void *)im->ref.host_path);
	free((void *)im->ref.build_id);
	buf_fini(&im->problem);
	map_fini(&im->places);
	free(im);
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->images.n; i++)
		free_image(s->images.at[i]);
	vec_fini(&s->images);
	vec_fini(&s->kept);
	map_fini(&s->by_ref);
	function_table_free(s->functions);
	free(s);
}

void symbolizer_freep(struct symbolizer **s)
{
	symbolizer_free(*s);
}

static const struct image_ops *ops_of(enum sym_image_kind kind)
{
	static const struct image_ops *const ops[] = {
		[SYM_ELF] = &object_image_ops,	  [SYM_KERNEL] = &kernel_image_ops,
		[SYM_MODULE] = &kernel_image_ops, [SYM_VDSO] = &object_image_ops,
		[SYM_JIT] = &jit_image_ops,
	};

	return (size_t)kind < sizeof(ops) / sizeof(ops[0]) ? ops[kind] : NULL;
}

static struct image *add_image(struct symbolizer *s, const struct sym_image_ref *ref)
{
	struct image *im = xcalloc(1, sizeof(*im));

	im->ref = *ref;
	im->ref.path = xstrdup(ref->path ? ref->path : "");
	im->ref.host_path = xstrdup(ref->host_path ? ref->host_path : "");
	im->ref.build_id =
		ref->build_id_size ? xmemdup(ref->build_id, ref->build_id_size) : NULL;
	im->id = (uint32_t)s->images.n;
	im->ops = ops_of(ref->kind);
	im->options = &s->options;
	im->functions = s->functions;
	im->source = SYM_FROM_NOTHING;
	return *vec_push(&s->images) = im;
}

uint32_t symbolizer_image(struct symbolizer *s, const struct sym_image_ref *ref)
{
	/* Images that happen to hash alike step aside. */
	for (uint64_t hash = image_ref_hash(ref);; hash++) {
		uint64_t *slot = map_slot(&s->by_ref, hash, NULL);

		if (!*slot)
			*slot = add_image(s, ref)->id + UINT64_C(1);
		if (image_ref_is_same(&s->images.at[*slot - 1]->ref, ref))
			return (uint32_t)*slot - 1;
	}
}

static struct image *open_image(struct symbolizer *s, uint32_t id)
{
	struct image *im = id < s->images.n ? s->images.at[id] : NULL;

	if (im)
		im->n_unused = 0;
	if (im && !im->is_open) {
		im->is_open = im->is_known = true;
		buf_clear(&im->problem);
		if (im->ops)
			im->ops->open(im);
	}
	return im;
}

/* An image whose source and problem are known. */
static struct image *known_image(struct symbolizer *s, uint32_t id)
{
	bool is_known = id < s->images.n && s->images.at[id]->is_known;

	return is_known ? s->images.at[id] : open_image(s, id);
}

void symbolizer_close_images(struct symbolizer *s)
{
	for (size_t i = 0; i < s->images.n; i++)
		close_image(s->images.at[i]);
}

/* Compilers at run time put code where other code was. */
static bool is_changing(const struct image *im)
{
	return im->ref.kind == SYM_JIT;
}

void symbolizer_close_unused(struct symbolizer *s)
{
	for (size_t i = 0; i < s->images.n; i++) {
		struct image *im = s->images.at[i];

		if (im->is_open && (is_changing(im) || im->n_unused++ >= UNUSED_MAX))
			close_image(im);
	}
}

static int compare_lookups(const void *a, const void *b)
{
	const struct lookup *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* What stands for code that has no name. */
static uint32_t unnamed(struct image *im)
{
	const char *path = im->ref.path, *slash = strrchr(path, '/');
	own(freep) char *text = NULL;

	switch (im->ref.kind) {
	case SYM_ANON:
		return function_table_add_place(im->functions, im->id,
						"[anonymous code]");
	case SYM_UNKNOWN:
		return function_table_add_place(im->functions, im->id, "[unmapped]");
	case SYM_TRUNCATED:
		return function_table_add_place(im->functions, im->id, "[truncated]");
	case SYM_LABEL: /* whole: names of threads have slashes */
		return function_table_add_place(im->functions, im->id, path);
	default:
		break;
	}
	path = slash ? slash + 1 : path;
	text = xasprintf(*path == '[' ? "%s" : "[%s]", *path ? path : "unresolved");
	return function_table_add_place(im->functions, im->id, text);
}

/* Distinct addresses are resolved together, then spread over all that asked. */
static void resolve_sorted(struct image *im, const struct lookup *lookups, size_t n,
			   struct sym_result *ret)
{
	own(freep) uint64_t *addresses = xcalloc(n + 1, sizeof(*addresses));
	own(freep) struct image_place *places = xcalloc(n + 1, sizeof(*places));
	size_t n_distinct = 0;
	struct image_place nowhere = { 0 };

	for (size_t i = 0; i < n; i++)
		if (!n_distinct || addresses[n_distinct - 1] != lookups[i].address)
			addresses[n_distinct++] = lookups[i].address;
	im->ops->resolve(im, addresses, n_distinct, places);
	for (size_t i = 0, k = 0; i < n; i++) {
		while (addresses[k] != lookups[i].address)
			k++;
		if (!places[k].n_frames) {
			if (!nowhere.n_frames)
				nowhere = image_plain_place(im, unnamed(im));
			places[k] = nowhere;
		}
		ret[lookups[i].index].first_frame = places[k].first_frame;
		ret[lookups[i].index].n_frames = places[k].n_frames;
	}
}

static void look_up(struct symbolizer *s, uint32_t image, const uint64_t *offsets,
		    const bool *is_return, size_t n, struct sym_result *ret)
{
	struct image *im = open_image(s, image);
	own(freep) struct lookup *lookups = xcalloc(n + 1, sizeof(*lookups));
	size_t n_lookups = 0;

	for (size_t i = 0; im && i < n; i++) {
		uint64_t address = offsets[i];

		if (!im->ops ||
		    (im->ops->address && !im->ops->address(im, offsets[i], &address))) {
			struct image_place p = image_plain_place(im, unnamed(im));

			ret[i] = (struct sym_result){ p.first_frame, p.n_frames,
						      offsets[i] };
			continue;
		}
		ret[i].address = address;
		lookups[n_lookups++] =
			(struct lookup){ address - (is_return && is_return[i] && address),
					 (uint32_t)i };
	}
	if (!n_lookups)
		return;
	qsort(lookups, n_lookups, sizeof(*lookups), compare_lookups);
	resolve_sorted(im, lookups, n_lookups, ret);
}

static void forget_places(struct symbolizer *s)
{
	for (size_t i = 0; i < s->images.n; i++)
		map_clear(&s->images.at[i]->places);
	s->kept.n = 0;
}

/* Those that are not known yet, to be looked up together. */
struct unknown {
	uint64_t *offsets;
	bool *is_return;
	size_t *at; /* their places in the question */
	size_t n;
	struct sym_result *results;
};

static void unknown_fini(struct unknown *u)
{
	free(u->offsets);
	free(u->is_return);
	free(u->at);
	free(u->results);
}

static uint64_t place_key(uint64_t offset, bool is_return)
{
	return offset << 1 | is_return;
}

static void take_known(struct symbolizer *s, const struct image *im,
		       const uint64_t *offsets, const bool *is_return, size_t n,
		       struct sym_result *ret, struct unknown *u)
{
	for (size_t i = 0; i < n; i++) {
		bool is_call = is_return && is_return[i];
		const uint64_t *known =
			map_find(&im->places, place_key(offsets[i], is_call));

		if (known) {
			ret[i] = s->kept.at[*known];
			continue;
		}
		u->offsets[u->n] = offsets[i];
		u->is_return[u->n] = is_call;
		u->at[u->n++] = i;
	}
}

static void look_up_kept(struct symbolizer *s, struct image *im, const uint64_t *offsets,
			 const bool *is_return, size_t n, struct sym_result *ret)
{
	own(unknown_fini) struct unknown u = {
		.offsets = xcalloc(n + 1, sizeof(*u.offsets)),
		.is_return = xcalloc(n + 1, sizeof(*u.is_return)),
		.at = xcalloc(n + 1, sizeof(*u.at)),
		.results = xcalloc(n + 1, sizeof(*u.results)),
	};

	take_known(s, im, offsets, is_return, n, ret, &u);
	if (!u.n)
		return;
	if (s->kept.n + u.n > KEPT_MAX)
		forget_places(s);
	look_up(s, im->id, u.offsets, u.is_return, u.n, u.results);
	for (size_t i = 0; i < u.n; i++) {
		ret[u.at[i]] = u.results[i];
		*map_slot(&im->places, place_key(u.offsets[i], u.is_return[i]), NULL) =
			s->kept.n;
		*vec_push(&s->kept) = u.results[i];
	}
}

void symbolizer_resolve(struct symbolizer *s, uint32_t image, const uint64_t *offsets,
			const bool *is_return, size_t n, struct sym_result *ret)
{
	struct image *im = image < s->images.n ? s->images.at[image] : NULL;

	if (im && s->options.keeps_places && !is_changing(im))
		look_up_kept(s, im, offsets, is_return, n, ret);
	else
		look_up(s, image, offsets, is_return, n, ret);
}

void symbolizer_variable(struct symbolizer *s, uint32_t image, uint64_t address,
			 struct sym_result *ret)
{
	struct image *im = open_image(s, image);
	own(buf_fini) struct buf name = { 0 };
	struct image_place p;

	*ret = (struct sym_result){ .address = address };
	if (!im)
		return;
	if (!im->ops || !im->ops->variable || !im->ops->variable(im, address, &name)) {
		const char *slash = strrchr(im->ref.path, '/');

		buf_printf(&name, "[%s+0x%llx]", slash ? slash + 1 : im->ref.path,
			   (unsigned long long)address);
	}
	p = image_plain_place(
		im, function_table_add_place(im->functions, im->id, buf_str(&name)));
	ret->first_frame = p.first_frame;
	ret->n_frames = p.n_frames;
}

const struct sym_function *symbolizer_function(const struct symbolizer *s, uint32_t id)
{
	return function_table_get(s->functions, id);
}

uint32_t symbolizer_n_functions(const struct symbolizer *s)
{
	return function_table_count(s->functions);
}

const struct sym_frame *symbolizer_frame(const struct symbolizer *s, uint32_t i)
{
	return function_table_frame(s->functions, i);
}

enum sym_source symbolizer_image_source(struct symbolizer *s, uint32_t image)
{
	struct image *im = known_image(s, image);

	return im ? im->source : SYM_FROM_NOTHING;
}

unsigned symbolizer_machine(struct symbolizer *s, uint32_t image)
{
	struct image *im = open_image(s, image);
	unsigned machine = im && im->ops && im->ops->machine ? im->ops->machine(im) : 0;

	return machine ? machine : IMAGE_MACHINE_HERE;
}

const char *symbolizer_image_path(const struct symbolizer *s, uint32_t image)
{
	return image < s->images.n ? s->images.at[image]->ref.path : "";
}

const char *symbolizer_image_problem(struct symbolizer *s, uint32_t image)
{
	struct image *im = known_image(s, image);

	return im && im->problem.size ? buf_str(&im->problem) : NULL;
}

struct visit {
	const struct image *image;
	sym_file_fn *fn;
	void *ctx;
};

/* What was read from the recording bears the image's path, which may be another file
 * here: only what the disk has counts. */
static void visit_unless_kept(void *ctx, const char *kind, const char *name,
			      const char *path)
{
	const struct visit *v = ctx;
	const char *of_image = strcmp(kind, "split") == 0 ? name : NULL;
	own(buf_fini) struct buf kept = { 0 };

	if (!image_blob(v->image, kind, of_image, &kept))
		v->fn(v->ctx, kind, name, path);
}

void symbolizer_each_file(struct symbolizer *s, uint32_t image, sym_file_fn *visit,
			  void *ctx)
{
	struct image *im = open_image(s, image);
	struct visit v = { im, visit, ctx };

	if (im && im->ops && im->ops->each_file)
		im->ops->each_file(im, visit_unless_kept, &v);
}

size_t symbolizer_text(struct symbolizer *s, uint32_t image, struct sym_range **ret)
{
	struct image *im = open_image(s, image);

	return im && im->ops && im->ops->text ? im->ops->text(im, ret) : 0;
}

int symbolizer_code(struct symbolizer *s, uint32_t image, uint64_t address, size_t size,
		    struct buf *ret, struct err *e)
{
	struct image *im = open_image(s, image);

	if (!im || !im->ops || !im->ops->code)
		return err_set(e, ERR_UNSUPPORTED, "%s: its code is not at hand",
			       symbolizer_image_path(s, image));
	return im->ops->code(im, address, size, ret, e);
}

int symbolizer_lines(struct symbolizer *s, uint32_t image, uint64_t address, size_t size,
		     struct sym_line_row **ret, size_t *ret_n, struct err *e)
{
	struct image *im = open_image(s, image);

	if (!im || !im->ops || !im->ops->lines)
		return err_set(e, ERR_UNSUPPORTED, "%s: no line information",
			       symbolizer_image_path(s, image));
	return im->ops->lines(im, address, size, ret, ret_n, e);
}

int symbolizer_source(struct symbolizer *s, uint32_t image, const char *file,
		      struct buf *ret, struct err *e)
{
	struct image *im = open_image(s, image);

	if (!im)
		return err_set(e, ERR_USAGE, "no such image");
	return source_file_read(im, file, ret, e);
}

size_t symbolizer_count_symbols(struct symbolizer *s, uint32_t image, const char *name)
{
	struct image *im = open_image(s, image);

	return im && im->ops && im->ops->count_symbols ? im->ops->count_symbols(im, name)
						       : 0;
}

size_t symbolizer_find_functions(struct symbolizer *s, uint32_t image, const char *text,
				 uint32_t *ret_ids, size_t max)
{
	struct image *im = open_image(s, image);
	size_t n = 0;

	if (!im)
		return 0;
	if (im->ops && im->ops->enter_functions)
		im->ops->enter_functions(im, text);
	for (int is_part = 0; is_part < 2 && !n; is_part++) {
		for (uint32_t i = 0; i < symbolizer_n_functions(s) && n < max; i++) {
			const struct sym_function *f = symbolizer_function(s, i);

			if (f->image == image && (is_part ? strstr(f->name, text) != NULL
							  : strcmp(f->name, text) == 0))
				ret_ids[n++] = i;
		}
	}
	return n;
}

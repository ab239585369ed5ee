/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/blobs.h"

#include <string.h>

#include "analyze/profile_data.h"
#include "sym/image_ref.h"

static const char *const kind_names[] = {
	[BLOB_KALLSYMS] = "kallsyms", [BLOB_JIT_MAP] = "jit-map",
	[BLOB_JIT_DUMP] = "jit-dump", [BLOB_ELF] = "elf",
	[BLOB_DEBUG] = "debug",	      [BLOB_SOURCE] = "source",
	[BLOB_MODULES] = "modules",   [BLOB_ALTERNATE] = "alternate",
	[BLOB_SPLIT] = "split",	      [BLOB_PACKAGE] = "package",
};

const char *blobs_kind_name(uint8_t kind)
{
	return kind < sizeof(kind_names) / sizeof(kind_names[0]) ? kind_names[kind] : "";
}

/* Files of one kind that may be of the same image; image NULL: of none.  The symbols of
 * modules are among the kernel's. */
static uint64_t key_of(const char *kind, const struct sym_image_ref *image)
{
	uint64_t of_image = !image			 ? 0
			    : image_ref_is_kernel(image) ? 1
							 : image_ref_hash(image);

	return hash_pair(hash_bytes(kind, strlen(kind)), of_image);
}

static void index_one(struct profile *p, uint32_t source, uint32_t blob)
{
	const struct model_blob *b = recording_blob(p->sources[source].recording, blob);
	struct sym_image_ref ref = { 0 };
	uint64_t *first;

	if (b->image != MODEL_NONE)
		ref = profile_image_ref(p, source, b->image);
	first = map_slot(
		&p->blobs_by_key,
		key_of(blobs_kind_name(b->kind), b->image == MODEL_NONE ? NULL : &ref),
		NULL);
	*vec_push(&p->blobs) = (struct profile_blob){ source, blob, (uint32_t)*first };
	*first = p->blobs.n;
}

/* From the end, so that of several the first is found first. */
void blobs_index(struct profile *p)
{
	for (uint32_t i = (uint32_t)p->n_sources; i-- > 0;) {
		size_t n = recording_n_blobs(p->sources[i].recording);

		for (uint32_t k = (uint32_t)n; k-- > 0;)
			index_one(p, i, k);
	}
}

struct wanted {
	const struct sym_image_ref *image;
	const char *kind, *name; /* name NULL: any */
	bool is_own;		 /* in the image's recording, else in the others */
};

static bool is_wanted(const struct profile *p, const struct profile_blob *at,
		      const struct wanted *w)
{
	const struct recording *r = p->sources[at->source].recording;
	const struct model_blob *b = recording_blob(r, at->blob);

	if ((at->source == w->image->recording) != w->is_own ||
	    strcmp(blobs_kind_name(b->kind), w->kind) != 0 ||
	    (w->name && strcmp(recording_string(r, b->name), w->name) != 0))
		return false;
	if (b->image == MODEL_NONE)
		return true;

	struct sym_image_ref ref = profile_image_ref(p, at->source, b->image);

	return image_ref_is_kernel(&ref) ? image_ref_is_kernel(w->image)
					 : image_ref_is_same(&ref, w->image);
}

static const struct profile_blob *find(const struct profile *p, const struct wanted *w,
				       const struct sym_image_ref *image)
{
	const uint64_t *first = map_find(&p->blobs_by_key, key_of(w->kind, image));

	for (uint64_t i = first ? *first : 0; i; i = p->blobs.at[i - 1].next)
		if (is_wanted(p, &p->blobs.at[i - 1], w))
			return &p->blobs.at[i - 1];
	return NULL;
}

/* A recording that was made of several has the names that each of them kept. */
static bool join_names(const struct profile *p, const struct wanted *w, struct buf *ret)
{
	const uint64_t *first = map_find(&p->blobs_by_key, key_of(w->kind, w->image));
	own(buf_fini) struct buf one = { 0 };

	buf_clear(ret);
	for (uint64_t i = first ? *first : 0; i; i = p->blobs.at[i - 1].next) {
		const struct profile_blob *at = &p->blobs.at[i - 1];

		if (is_wanted(p, at, w) &&
		    recording_read_blob(p->sources[at->source].recording, at->blob, &one,
					NULL) == 0) {
			buf_add(ret, one.data, one.size);
			buf_u8(ret, '\n');
		}
	}
	return ret->size;
}

bool blobs_find(void *ctx, const struct sym_image_ref *image, const char *kind,
		const char *name, struct buf *ret)
{
	const struct profile *p = ctx;
	struct wanted w = { image, kind, name, true };
	const struct profile_blob *at;

	if (strcmp(kind, kind_names[BLOB_KALLSYMS]) == 0 && join_names(p, &w, ret))
		return true;
	at = find(p, &w, image);
	if (!at)
		at = find(p, &w, NULL);
	if (!at && image_ref_is_file(image)) {
		w.is_own = false;
		at = find(p, &w, image);
		at = at ? at : find(p, &w, NULL);
	}
	return at && recording_read_blob(p->sources[at->source].recording, at->blob, ret,
					 NULL) == 0;
}

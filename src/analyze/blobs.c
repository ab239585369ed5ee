/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/blobs.h"

#include <string.h>

#include "analyze/profile_data.h"

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

/* An image is the same by build-id, else by path; a JIT map by process. */
static bool is_image(const struct recording *r, uint32_t id,
		     const struct sym_image_ref *ref)
{
	const struct model_image *m = recording_image(r, id);

	if (!m || (unsigned)m->kind != (unsigned)ref->kind || m->pid != ref->pid)
		return false;
	if (ref->build_id_size || m->build_id_size)
		return ref->build_id_size == m->build_id_size &&
		       memcmp(ref->build_id, m->build_id, m->build_id_size) == 0;
	return strcmp(recording_string(r, m->path), ref->path) == 0;
}

bool blobs_find(void *ctx, const struct sym_image_ref *image, const char *kind,
		const char *name, struct buf *ret)
{
	const struct profile *p = ctx;

	for (size_t i = 0; i < p->n_sources; i++) {
		const struct recording *r = p->sources[i].recording;

		for (size_t k = 0; k < recording_n_blobs(r); k++) {
			const struct model_blob *b = recording_blob(r, k);

			if (strcmp(blobs_kind_name(b->kind), kind) != 0)
				continue;
			if (name && strcmp(recording_string(r, b->name), name) != 0)
				continue;
			if (b->image != MODEL_NONE && image &&
			    !is_image(r, b->image, image))
				continue;
			return recording_read_blob(r, k, ret, NULL) == 0;
		}
	}
	return false;
}

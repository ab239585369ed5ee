/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/image_ref.h"

#include <string.h>

#include "base/map.h"

bool image_ref_is_file(const struct sym_image_ref *ref)
{
	return ref->kind == SYM_ELF || ref->kind == SYM_VDSO;
}

bool image_ref_is_kernel(const struct sym_image_ref *ref)
{
	return ref->kind == SYM_KERNEL || ref->kind == SYM_MODULE;
}

static const char *path_of(const struct sym_image_ref *ref)
{
	return ref->path ? ref->path : "";
}

static bool has_same_id(const struct sym_image_ref *a, const struct sym_image_ref *b)
{
	return a->build_id_size == b->build_id_size &&
	       (!a->build_id_size ||
		memcmp(a->build_id, b->build_id, a->build_id_size) == 0);
}

bool image_ref_is_same(const struct sym_image_ref *a, const struct sym_image_ref *b)
{
	bool is_of_one = a->recording == b->recording;

	if (a->kind != b->kind || a->pid != b->pid || !has_same_id(a, b))
		return false;
	if (image_ref_is_file(a) && a->build_id_size)
		return true;
	if (strcmp(path_of(a), path_of(b)) != 0)
		return false;
	if (!image_ref_is_file(a))
		return is_of_one;
	return a->size_bytes == b->size_bytes && a->mtime_s == b->mtime_s &&
	       (a->size_bytes || is_of_one);
}

uint64_t image_ref_hash(const struct sym_image_ref *ref)
{
	const char *path = path_of(ref);
	uint64_t name = ref->build_id_size ? hash_bytes(ref->build_id, ref->build_id_size)
					   : hash_bytes(path, strlen(path));

	return hash_pair(name, (uint64_t)ref->pid << 8 | ref->kind);
}

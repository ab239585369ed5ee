/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_exes.h"

#include "collect/system_images.h"

/* A file that a recorder has met. */
struct met {
	uint64_t images; /* the recorder's, by their address */
	uint64_t image;
};

void system_exes_fini(struct system_exes *x)
{
	intern_free(x->paths);
	map_fini(&x->met);
	map_fini(&x->by_path);
	vec_fini(&x->all);
	*x = (struct system_exes){ 0 };
}

static uint32_t add(struct system_exes *x)
{
	*vec_push(&x->all) = 0;
	return (uint32_t)x->all.n;
}

/* Another one of that path may be known: both stay what they were. */
static uint32_t name(struct system_exes *x, uint32_t number, const char *path)
{
	uint32_t id;
	uint64_t *known;

	if (!x->paths)
		x->paths = intern_new();
	id = intern_str(x->paths, path);
	known = map_slot(&x->by_path, id, NULL);
	if (!*known)
		*known = number ? number : add(x);
	if (!number)
		number = (uint32_t)*known;
	x->all.at[number - 1] = id;
	return number;
}

uint32_t system_exes_number(struct system_exes *x, const struct system_images *images,
			    uint32_t image)
{
	struct met met = { (uintptr_t)images, image };
	uint64_t *number = map_slot(&x->met, hash_bytes(&met, sizeof(met)), NULL);
	const char *path;

	if (!image || (*number && x->all.at[*number - 1]))
		return (uint32_t)*number;
	path = system_images_path(images, image);
	if (path && *path)
		*number = name(x, (uint32_t)*number, path);
	else if (!*number)
		*number = add(x);
	return (uint32_t)*number;
}

const char *system_exes_path(const struct system_exes *x, uint32_t number)
{
	uint32_t id = number ? x->all.at[number - 1] : 0;

	return id ? intern_get(x->paths, id) : NULL;
}

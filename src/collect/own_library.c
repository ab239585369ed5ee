/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/own_library.h"

#include <string.h>

#include "base/text.h"
#include "collect/image_file.h"
#include "collect/inject_place.h"
#include "collect/pseudo_image.h"

#define NAMES "libdwell-" /* so they begin */

static bool is_ours(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && text_starts(slash + 1, NAMES);
}

enum own_library_code own_library_of(const struct image_file *file)
{
	return file->kind == IMAGE_VDSO ? OWN_LIBRARY_VDSO
	       : is_ours(file->name)	? OWN_LIBRARY_OURS
					: OWN_LIBRARY_NONE;
}

enum own_library_code own_library_at(uint64_t address)
{
	return address >= INJECT_PLACE_FIRST && address < INJECT_PLACE_END
		       ? OWN_LIBRARY_OURS
		       : OWN_LIBRARY_NONE;
}

size_t own_library_innermost(size_t n, own_library_whose *whose, void *ctx)
{
	size_t i = 0, n_ours;

	while (i < n && whose(ctx, i) == OWN_LIBRARY_VDSO)
		i++;
	n_ours = i;
	while (n_ours < n && whose(ctx, n_ours) == OWN_LIBRARY_OURS)
		n_ours++;
	return n_ours > i ? n_ours : 0;
}

uint32_t own_library_location(struct writer *w, uint32_t *image)
{
	return writer_location(w, pseudo_image(w, image, IMAGE_LABEL, "[dwell tracing]"),
			       0, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/segment_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/kernel_frames.h"
#include "collect/segment_maker.h"
#include "host/kernel.h"
#include "store/recording.h"
#include "store/tally.h"

/* Of the recording. */
struct addresses {
	VEC(uint64_t) all;
	uint32_t kernel; /* image, MODEL_NONE: none */
	bool has_module;
};

static bool is_of_this_boot(const struct recording *r)
{
	const char *boot = recording_info(r, SEGMENT_MAKER_BOOT);
	char now[KERNEL_BOOT_ID_MAX];

	return boot && kernel_boot_id(now) && strcmp(boot, now) == 0;
}

static bool has_symbols(const struct recording *r)
{
	for (size_t i = 0; i < recording_n_blobs(r); i++)
		if (recording_blob(r, i)->kind == BLOB_KALLSYMS)
			return true;
	return false;
}

static void gather(const struct recording *r, struct addresses *a)
{
	const struct model_location *l = recording_locations(r);

	a->kernel = MODEL_NONE;
	for (uint32_t i = 0; i < recording_n_images(r); i++)
		if (recording_image(r, i)->kind == IMAGE_KERNEL)
			a->kernel = i;
	for (uint32_t i = 0; i < recording_n_locations(r); i++) {
		const struct model_image *image = recording_image(r, l[i].image);

		if (image->kind != IMAGE_KERNEL && image->kind != IMAGE_MODULE)
			continue;
		a->has_module |= image->kind == IMAGE_MODULE;
		*vec_push(&a->all) = image->base + l[i].offset;
	}
}

static uint32_t image_in(struct tally *t, const struct recording *r, uint32_t image)
{
	struct model_image m = *recording_image(r, image);

	m.path = tally_string(t, recording_string(r, m.path));
	m.host_path = tally_string(t, recording_string(r, m.host_path));
	return tally_image(t, &m);
}

static void keep(struct tally *t, uint32_t image, const struct buf *symbols)
{
	tally_blob(t,
		   &(struct model_blob){ .kind = BLOB_KALLSYMS,
					 .name = tally_string(t, "kallsyms"),
					 .image = image,
					 .size_bytes = symbols->size },
		   symbols->data);
}

void segment_symbols_add(struct tally *t, const struct recording *r)
{
	struct addresses a = { 0 };
	struct buf symbols = { 0 };

	if (has_symbols(r) || !is_of_this_boot(r))
		return;
	gather(r, &a);
	if (a.kernel != MODEL_NONE && recording_image(r, a.kernel)->base && a.all.n)
		kernel_frames_select(a.all.at, a.all.n, a.has_module, &symbols);
	if (symbols.size)
		keep(t, image_in(t, r, a.kernel), &symbols);
	buf_fini(&symbols);
	vec_fini(&a.all);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes are an ELF file with whatever symbols, unwind table and debug information;
 * the whole symbolizer is asked about it, and always answers with whole objects. */
#include <string.h>

#include "ask_image.h"

struct input {
	const uint8_t *data;
	size_t size;
};

static bool give_elf(void *ctx, const struct sym_image_ref *image, const char *kind,
		     const char *name, struct buf *ret)
{
	const struct input *in = ctx;

	(void)image, (void)name;
	if (strcmp(kind, "elf") != 0)
		return false;
	buf_add(ret, in->data, in->size);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const no_dirs[] = { NULL };
	struct input in = { data, size };
	struct sym_options options = {
		.debug_dirs = no_dirs,
		.no_debuginfod = true,
		.blob = give_elf,
		.blob_ctx = &in,
	};
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "/nowhere/at/all" };
	struct symbolizer *s = symbolizer_new(&options);
	uint32_t image = symbolizer_image(s, &ref);

	ask_image_all(s, image, size);
	symbolizer_free(s);
	return 0;
}

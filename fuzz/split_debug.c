/* SPDX-License-Identifier: Apache-2.0 */
/* A little-endian size, an ELF file of that size, and behind it the file that part of
 * its debug information is in: .dwo, .dwp, or what dwz shares. */
#include <string.h>

#include "ask_image.h"
#include "base/reader.h"

struct input {
	const uint8_t *program, *companion;
	size_t program_size, companion_size;
	const char *kind; /* of the companion */
};

static bool give_file(void *ctx, const struct sym_image_ref *image, const char *kind,
		      const char *name, struct buf *ret)
{
	const struct input *in = ctx;

	(void)image, (void)name;
	if (strcmp(kind, "elf") == 0)
		buf_add(ret, in->program, in->program_size);
	else if (strcmp(kind, in->kind) == 0)
		buf_add(ret, in->companion, in->companion_size);
	else
		return false;
	return true;
}

static void ask(struct input *in)
{
	static const char *const no_dirs[] = { NULL };
	struct sym_options options = {
		.debug_dirs = no_dirs,
		.no_debuginfod = true,
		.blob = give_file,
		.blob_ctx = in,
	};
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = "nowhere" };
	struct symbolizer *s = symbolizer_new(&options);

	ask_image_all(s, symbolizer_image(s, &ref), in->program_size);
	symbolizer_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = { "split", "package", "alternate" };
	struct reader r = reader_over(data, size);
	uint32_t head = reader_u32le(&r);
	struct input in = { .program_size = head & 0xffffff };

	if (in.program_size > reader_left(&r))
		in.program_size = reader_left(&r);
	in.program = reader_bytes(&r, in.program_size);
	in.companion_size = reader_left(&r);
	in.companion = reader_bytes(&r, in.companion_size);
	in.kind = kinds[(head >> 24) % 3];
	if (!r.bad)
		ask(&in);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "named_images.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define FIRST_ADDRESS	  0x100000
#define KERNEL_BASE	  UINT64_C(0xffffffff81000000)
#define FUNCTION_BYTES	  0x100
#define PLACE_IN_FUNCTION 0x20

void named_images_fini(struct named_images *l)
{
	vec_each(m, &l->all) {
		vec_each(f, &m->functions)
			free(f->name);
		vec_fini(&m->functions);
		free(m->name);
	}
	vec_fini(&l->all);
}

void named_images_add_function(struct named_image *m, const char *name, uint64_t address,
			       uint64_t size)
{
	*vec_push(&m->functions) =
		(struct named_function){ xstrdup(name), address, size };
}

struct named_image *named_images_add(struct named_images *l, const char *name,
				     const struct model_image *m)
{
	struct named_image *image = vec_push(&l->all);

	image->name = xstrdup(name);
	image->id = writer_image(l->writer, m);
	image->kind = m->kind;
	image->pid = m->pid;
	return image;
}

struct named_image *named_images_find(struct named_images *l, const char *name)
{
	for (size_t i = l->all.n; i-- > 0;)
		if (strcmp(l->all.at[i].name, name) == 0)
			return &l->all.at[i];
	return NULL;
}

/* An image whose functions have names by a map inside the recording. */
static struct named_image *image_of_names(struct named_images *l, const char *path,
					  uint32_t pid)
{
	for (size_t i = 0; i < l->all.n; i++) {
		struct named_image *m = &l->all.at[i];

		if (strcmp(m->name, path) == 0 && (m->kind != IMAGE_JIT || m->pid == pid))
			return m;
	}
	if (strcmp(path, "[kernel]") == 0)
		return named_images_add(
			l, path,
			&(struct model_image){ .path = writer_string(l->writer, path),
					       .kind = IMAGE_KERNEL,
					       .base = KERNEL_BASE });
	return named_images_add(
		l, path,
		&(struct model_image){ .path = writer_string(l->writer, path),
				       .kind = IMAGE_JIT,
				       .pid = pid });
}

static uint64_t first_address(const struct named_image *m)
{
	/* Kernel offsets count from _stext, which is a symbol of its own. */
	return m->kind == IMAGE_KERNEL ? FUNCTION_BYTES : FIRST_ADDRESS;
}

static const struct named_function *find_function(struct named_image *m, const char *name)
{
	uint64_t end = first_address(m);

	vec_each(f, &m->functions) {
		if (strcmp(f->name, name) == 0)
			return f;
		if (f->address + f->size > end)
			end = f->address + f->size;
	}

	struct named_function *f = vec_push(&m->functions);

	*f = (struct named_function){ xstrdup(name), end, FUNCTION_BYTES };
	return f;
}

struct frame {
	char *name; /* without what the fields below say */
	uint64_t offset;
	bool has_offset, is_exact, is_under;
};

static struct frame parse_frame(char *s)
{
	struct frame f = { .name = s };
	size_t n = strlen(s);
	char *plus = strrchr(s, '+');
	char *end;

	if (n && s[n - 1] == '!') {
		f.is_exact = true;
		s[n - 1] = '\0';
	} else if (n && s[n - 1] == '^') {
		f.is_under = f.has_offset = true;
		s[n - 1] = '\0';
	}
	if (plus && isdigit((unsigned char)plus[1])) {
		f.offset = strtoull(plus + 1, &end, 0);
		f.has_offset = !*end;
		if (f.has_offset)
			*plus = '\0';
	}
	return f;
}

static uint32_t pseudo_image(struct named_images *l, const char *name, uint8_t kind)
{
	struct named_image *m = named_images_find(l, name);

	if (!m)
		m = named_images_add(
			l, name,
			&(struct model_image){ .path = writer_string(l->writer, name),
					       .kind = kind });
	return m->id;
}

static uint32_t function_location(struct named_images *l, struct named_image *m,
				  const char *name, const struct frame *f, uint32_t flags)
{
	uint64_t place = f->has_offset ? f->offset : PLACE_IN_FUNCTION;

	return writer_location(l->writer, m->id, find_function(m, name)->address + place,
			       flags);
}

static uint32_t frame_location(struct named_images *l, char *text, bool is_innermost,
			       uint32_t pid)
{
	struct frame f = parse_frame(text);
	uint32_t flags = f.is_under		      ? LOCATION_UNDER
			 : is_innermost || f.is_exact ? 0
						      : LOCATION_RETURN;
	char *bang = strchr(f.name, '!');
	char *kernel = strstr(f.name, "_[k]");
	struct named_image *m = named_images_find(l, f.name);
	unsigned reason;

	if (sscanf(f.name, "[truncated:%u]", &reason) == 1)
		return writer_location(l->writer,
				       pseudo_image(l, "[truncated]", IMAGE_TRUNCATED),
				       reason, 0);
	if (strcmp(f.name, "[unknown]") == 0)
		return writer_location(l->writer,
				       pseudo_image(l, "[unknown]", IMAGE_UNKNOWN),
				       f.offset, flags);
	if (m && f.has_offset)
		return writer_location(l->writer, m->id, f.offset, flags);
	if (kernel && !kernel[4]) {
		*kernel = '\0';
		m = image_of_names(l, "[kernel]", 0);
		return function_location(l, m, f.name, &f, flags);
	}
	if (bang) {
		*bang = '\0';
		m = image_of_names(l, f.name, pid);
		return function_location(l, m, bang + 1, &f, flags);
	}
	return function_location(l, image_of_names(l, "[jit]", pid), f.name, &f, flags);
}

uint32_t named_images_stack(struct named_images *l, const char *frames, uint32_t pid)
{
	own(freep) char *copy = xstrdup(frames);
	uint32_t stack = 0;
	char *save = NULL;

	if (strcmp(frames, "-") == 0)
		return 0;
	for (char *s = strtok_r(copy, ";", &save), *next; s; s = next) {
		next = strtok_r(NULL, ";", &save);
		stack = writer_stack(l->writer, stack, frame_location(l, s, !next, pid));
	}
	return stack;
}

uint32_t named_images_location(struct named_images *l, const char *frame, uint32_t pid)
{
	own(freep) char *copy = xstrdup(frame);

	return frame_location(l, copy, true, pid);
}

static void print_names(const struct named_image *m, struct buf *text)
{
	uint64_t end = 0;

	if (m->kind == IMAGE_KERNEL)
		buf_printf(text, "%016" PRIx64 " T _stext\n", KERNEL_BASE);
	for (size_t i = 0; i < m->functions.n; i++) {
		const struct named_function *f = &m->functions.at[i];

		end = f->address + f->size > end ? f->address + f->size : end;
		if (m->kind == IMAGE_KERNEL)
			buf_printf(text, "%016" PRIx64 " T %s\n",
				   KERNEL_BASE + f->address, f->name);
		else
			buf_printf(text, "%" PRIx64 " %" PRIx64 " %s\n", f->address,
				   f->size, f->name);
	}
	if (m->kind == IMAGE_KERNEL)
		buf_printf(text, "%016" PRIx64 " T _etext\n", KERNEL_BASE + end);
}

static int keep_names(struct named_images *l, const struct named_image *m, struct err *e)
{
	own(buf_fini) struct buf text = { 0 };
	char name[40] = "kallsyms";

	if (!m->functions.n)
		return 0;
	print_names(m, &text);
	if (m->kind != IMAGE_KERNEL)
		snprintf(name, sizeof(name), "perf-%u.map", m->pid);
	return writer_blob(l->writer,
			   &(struct model_blob){ .kind = m->kind == IMAGE_KERNEL
								 ? BLOB_KALLSYMS
								 : BLOB_JIT_MAP,
						 .name = writer_string(l->writer, name),
						 .image = m->id,
						 .size_bytes = text.size },
			   text.data, e);
}

int named_images_keep(struct named_images *l, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < l->all.n && rc == 0; i++)
		rc = keep_names(l, &l->all.at[i], e);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/kernel_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "host/kernel.h"
#include "host/kernel_cache.h"
#include "host/procfs.h"

#define KALLSYMS_MAX ((size_t)256 << 20)
#define MODULES_MAX  ((size_t)1 << 20)

struct module {
	uint64_t start, end;
	uint32_t image;
};

struct kernel_frames {
	struct writer *writer;
	struct kernel kernel;
	uint32_t image;
	bool is_read; /* reading names and addresses of the kernel waits for a use */
	VEC(struct module) modules;
	struct map seen; /* pc → 0 */
	bool has_seen_module;
};

struct kernel_frames *kernel_frames_new(struct writer *w)
{
	struct kernel_frames *k = xcalloc(1, sizeof(*k));

	k->writer = w;
	return k;
}

void kernel_frames_free(struct kernel_frames *k)
{
	if (!k)
		return;
	vec_fini(&k->modules);
	map_fini(&k->seen);
	free(k);
}

/* "name size refs users state 0xaddress": one line of /proc/modules. */
static void add_module(struct kernel_frames *k, char *line)
{
	char *save = NULL, *field[6] = { 0 };
	unsigned n = 0;

	for (char *f = strtok_r(line, " ", &save); f && n < 6;
	     f = strtok_r(NULL, " ", &save))
		field[n++] = f;
	if (n < 6)
		return;

	uint64_t size = strtoull(field[1], NULL, 10),
		 start = strtoull(field[5], NULL, 16);

	if (!start || !size || start + size < start)
		return;
	*vec_push(&k->modules) = (struct module){
		.start = start,
		.end = start + size,
		.image = writer_image(
			k->writer,
			&(struct model_image){ .path = writer_string(k->writer, field[0]),
					       .kind = IMAGE_MODULE,
					       .base = start,
					       .size_bytes = size }),
	};
}

static void read_modules(struct kernel_frames *k)
{
	struct buf text = { 0 };
	char *save = NULL;

	if (procfs_read("/proc/modules", MODULES_MAX, &text, NULL) == 0) {
		buf_u8(&text, 0);
		for (char *line = strtok_r((char *)text.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			add_module(k, line);
	}
	buf_fini(&text);
}

static void read_kernel(struct kernel_frames *k)
{
	struct model_image image = { .kind = IMAGE_KERNEL };

	k->is_read = true;
	kernel_read(&k->kernel);
	image.path = writer_string(k->writer, "[kernel]");
	image.base = k->kernel.stext;
	image.build_id_size = (uint8_t)k->kernel.build_id_size;
	memcpy(image.build_id, k->kernel.build_id, k->kernel.build_id_size);
	k->image = writer_image(k->writer, &image);
	read_modules(k);
}

uint32_t kernel_frames_location(struct kernel_frames *k, uint64_t pc, uint32_t flags)
{
	if (!k->is_read)
		read_kernel(k);
	map_slot(&k->seen, pc, NULL);
	for (size_t i = 0; i < k->modules.n; i++) {
		const struct module *m = &k->modules.at[i];

		if (pc - m->start < m->end - m->start) {
			k->has_seen_module = true;
			return writer_location(k->writer, m->image, pc - m->start, flags);
		}
	}
	return writer_location(k->writer, k->image, pc - k->kernel.stext, flags);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Modules come and go: their symbols are not in the cache. */
void kernel_frames_select(uint64_t *addrs, size_t n, bool has_module, struct buf *ret)
{
	struct buf all = { 0 };
	size_t kept = 0;

	qsort(addrs, n, sizeof(*addrs), compare_u64);
	for (size_t i = 0; i < n; i++)
		if (!kept || addrs[kept - 1] != addrs[i])
			addrs[kept++] = addrs[i];
	n = kept;
	if (!has_module && kernel_cache_select(addrs, n, ret, NULL) == 0)
		return;
	if (procfs_read("/proc/kallsyms", KALLSYMS_MAX, &all, NULL) == 0)
		kernel_select_symbols((char *)all.data, all.size, addrs, n, ret);
	buf_fini(&all);
}

int kernel_frames_keep_symbols(struct kernel_frames *k, struct err *e)
{
	struct buf some = { 0 };
	own(freep) uint64_t *addrs = xcalloc(k->seen.n + 1, sizeof(*addrs));
	size_t n = 0;
	int rc = 0;

	if (!k->seen.n || !k->kernel.stext)
		return 0;
	for (size_t i = 0; i < k->seen.cap; i++)
		if (k->seen.at[i].used)
			addrs[n++] = k->seen.at[i].key;
	kernel_frames_select(addrs, n, k->has_seen_module, &some);
	if (some.size)
		rc = writer_blob(k->writer,
				 &(struct model_blob){
					 .kind = BLOB_KALLSYMS,
					 .name = writer_string(k->writer, "kallsyms"),
					 .image = k->image,
					 .size_bytes = some.size },
				 some.data, e);
	buf_fini(&some);
	return rc;
}

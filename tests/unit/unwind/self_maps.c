/* SPDX-License-Identifier: Apache-2.0 */
#include "self_maps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

static struct unwind_image *open_image(const char *path, uint64_t start, uint64_t end)
{
	struct unwind_image *image = NULL;
	struct err e;
	int rc;

	if (strcmp(path, "[vdso]") == 0) {
		rc = unwind_image_over((const void *)start, end - start, path, &image,
				       &e);
	} else {
		own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

		rc = fd < 0 ? -1 : unwind_image_open(fd, path, &image, &e);
	}
	return rc < 0 ? NULL : image;
}

static struct unwind_image *find_image(const struct self_maps *m, const char *path)
{
	for (size_t i = 0; i < m->n; i++)
		if (path[0] && strcmp(m->names[i], path) == 0)
			return m->maps[i].image;
	return NULL;
}

void self_maps_read(struct self_maps *m)
{
	own(fclosep) FILE *f = fopen("/proc/self/maps", "re");
	char line[4096];

	*m = (struct self_maps){ 0 };
	while (f && fgets(line, sizeof(line), f)) {
		char perms[5], path[4000] = "";
		uint64_t start, end, off;

		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %3999[^\n]",
			   &start, &end, perms, &off, path) < 4 ||
		    perms[2] != 'x')
			continue;
		m->maps = xrealloc(m->maps, m->n + 1, sizeof(*m->maps));
		m->names = xrealloc(m->names, m->n + 1, sizeof(*m->names));

		struct unwind_image *image = find_image(m, path);

		if (!image && (path[0] == '/' || path[0] == '['))
			image = open_image(path, start, end);
		m->maps[m->n] = (struct unwind_map){ start, end, off, image, m->n };
		m->names[m->n++] = xstrdup(path);
	}
}

void self_maps_fini(struct self_maps *m)
{
	for (size_t i = 0; i < m->n; i++) {
		bool is_last = true;

		for (size_t k = i + 1; k < m->n; k++)
			is_last = is_last && m->maps[k].image != m->maps[i].image;
		if (is_last)
			unwind_image_free(m->maps[i].image);
		free(m->names[i]);
	}
	free(m->maps);
	free(m->names);
}

const struct unwind_map *self_maps_find(void *self_maps, uint64_t pc)
{
	const struct self_maps *m = self_maps;
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->maps[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && pc < m->maps[lo - 1].end ? &m->maps[lo - 1] : NULL;
}

const char *self_maps_where(const struct self_maps *m, uint64_t pc)
{
	static char text[300];
	const struct unwind_map *map = self_maps_find((void *)m, pc);
	const char *name = map ? m->names[map->user] : "?";
	const char *slash = strrchr(name, '/');

	snprintf(text, sizeof(text), "%.200s+0x%" PRIx64, slash ? slash + 1 : name,
		 map ? pc - map->start + map->file_offset : pc);
	return text;
}

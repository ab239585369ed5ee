/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sym/image.h"
#include "sym/jit_dump.h"
#include "sym/perf_map.h"

#define JIT_BYTES_MAX (1u << 30)

struct state {
	struct buf text; /* of the perf map, which borrows its names */
	struct jit_dump *dump;
	struct code_map *map; /* perf map; NULL when there is a dump */
};

static bool read_kept_or_live(struct image *im, const char *kind, const char *path,
			      struct buf *ret)
{
	if (image_blob(im, kind, NULL, ret))
		return true;
	buf_clear(ret);
	return image_read_file(path, JIT_BYTES_MAX, ret) && ret->size;
}

static bool open_dump(struct image *im, struct state *s)
{
	own(buf_fini) struct buf bytes = { 0 };
	struct err e = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/tmp/jit-%u.dump", im->ref.pid);
	if (!read_kept_or_live(im, "jit-dump", path, &bytes))
		return false;
	if (jit_dump_parse(&bytes, &s->dump, &e) < 0) {
		buf_puts(&im->problem, e.text);
		return false;
	}
	im->source = SYM_FROM_JITDUMP;
	return true;
}

static bool open_map(struct image *im, struct state *s)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", im->ref.pid);
	if (!read_kept_or_live(im, "jit-map", path, &s->text))
		return false;
	s->map = code_map_new();
	perf_map_parse(&s->text, s->map);
	code_map_finish(s->map);
	im->source = SYM_FROM_PERF_MAP;
	return code_map_count(s->map);
}

static void open_jit(struct image *im)
{
	struct state *s = xcalloc(1, sizeof(*s));

	im->state = s;
	im->source = SYM_FROM_NOTHING;
	if (open_dump(im, s) || open_map(im, s))
		return;
	im->source = SYM_FROM_NOTHING;
	if (!im->problem.size)
		buf_puts(&im->problem, "generated code without names: record with --jit, "
				       "or run node with --perf-basic-prof, java with "
				       "-XX:+DumpPerfMapAtExit");
}

static void close_jit(struct image *im)
{
	struct state *s = im->state;

	jit_dump_free(s->dump);
	code_map_free(s->map);
	buf_fini(&s->text);
	free(s);
}

/* Compilers write what they like; only what would not be one name is cut off. */
static const char *clean_name(const char *name, struct buf *text)
{
	static const char *const kinds[] = { "LazyCompile:", "Function:", "Script:",
					     "Eval:", "JS:" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i]);

		if (strncmp(name, kinds[i], n) != 0)
			continue;
		/* Then * ~ ^ +: the tier that compiled it, which changes as it runs. */
		name += n + strspn(name + n, "*~^+");
		break;
	}
	buf_clear(text);
	buf_puts(text, *name == ' ' ? "(anonymous)" : "");
	buf_puts(text, name);
	return buf_str(text);
}

static uint32_t enter(struct image *im, const struct code_piece *piece)
{
	own(buf_fini) struct buf text = { 0 };
	struct function_key key = {
		.image = im->id,
		.linkage = clean_name(piece->name, &text),
		.start = piece->start,
		.size = piece->size,
	};

	return function_table_add(im->functions, &key);
}

static const struct code_map *map_of(const struct state *s)
{
	return s->dump ? jit_dump_map(s->dump) : s->map;
}

static struct image_place place_of(struct image *im, const struct state *s,
				   const struct code_piece *piece, uint64_t address)
{
	struct sym_frame f = { .function = enter(im, piece) };
	struct jit_dump_line line;

	if (s->dump && jit_dump_find_line(s->dump, piece, address, &line)) {
		f.file = function_table_file(im->functions, line.file, strlen(line.file));
		f.line = line.line;
	}
	return (struct image_place){ function_table_add_frame(im->functions, &f), 1 };
}

static void jit_resolve(struct image *im, const uint64_t *addresses, size_t n,
			struct image_place *ret)
{
	const struct state *s = im->state;
	const struct code_map *map = map_of(s);

	for (size_t i = 0; i < n; i++) {
		const struct code_piece *piece =
			map ? code_map_find(map, addresses[i]) : NULL;

		ret[i] = piece ? place_of(im, s, piece, addresses[i])
			       : (struct image_place){ 0 };
	}
}

static int jit_code(struct image *im, uint64_t address, size_t size, struct buf *ret,
		    struct err *e)
{
	const struct state *s = im->state;
	const struct code_piece *piece =
		s->dump ? code_map_find(jit_dump_map(s->dump), address) : NULL;

	if (!piece || !jit_dump_code(s->dump, piece, address, size, ret))
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: generated code is kept only by a jitdump",
			       im->ref.path);
	return 0;
}

static void jit_enter_functions(struct image *im, const char *text)
{
	const struct code_map *map = map_of(im->state);

	for (size_t i = 0; map && i < code_map_count(map); i++)
		if (strstr(code_map_at(map, i)->name, text))
			enter(im, code_map_at(map, i));
}

const struct image_ops jit_image_ops = {
	.open = open_jit,
	.close = close_jit,
	.resolve = jit_resolve,
	.code = jit_code,
	.enter_functions = jit_enter_functions,
};

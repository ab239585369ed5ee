/* SPDX-License-Identifier: Apache-2.0 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/arena.h"
#include "base/inflate.h"
#include "base/mem.h"
#include "sym/debug_info.h"
#include "sym/demangle.h"
#include "sym/function_bounds.h"
#include "sym/image.h"
#include "sym/locate.h"
#include "sym/plt.h"
#include "sym/symtab.h"

#define VDSO_BYTES_MAX (64 * 1024)

struct state {
	struct locate_result files;
	struct object *mini; /* .gnu_debugdata */
	struct symtab *symbols;
	struct symtab *variables; /* NULL: nobody has asked yet */
	struct arena names;	  /* made up for the symbol table */
	struct debug_info *debug;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The vDSO of this process, when it is the one that was recorded. */
static struct object *own_vdso(const struct image *im)
{
	const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	own(buf_fini) struct buf bytes = { 0 };
	own(object_freep) struct object *o = NULL;
	struct object_bytes id;
	const ElfW(Ehdr) * header;
	size_t size;

	if (!base)
		return NULL;
	header = (const void *)base;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	if (size > VDSO_BYTES_MAX)
		return NULL;
	buf_add(&bytes, base, size);
	if (object_over(&bytes, im->ref.path, &o, NULL) < 0)
		return NULL;
	id = object_build_id(o);
	if (im->ref.build_id_size && (id.size != im->ref.build_id_size ||
				      memcmp(id.data, im->ref.build_id, id.size) != 0))
		return NULL;
	return steal(&o);
}

static void find_files(struct image *im, struct state *s)
{
	locate_image(im, &s->files);
	if (!s->files.binary && im->ref.kind == SYM_VDSO)
		s->files.binary = own_vdso(im);
}

static bool add_mini_debug(struct state *s)
{
	struct object_bytes packed = object_named(s->files.binary, ".gnu_debugdata");
	own(buf_fini) struct buf plain = { 0 };

	if (!packed.size)
		return false;
	plain.data = inflate_xz(packed.data, packed.size, &plain.size);
	plain.cap = plain.size;
	if (!plain.data ||
	    object_over(&plain, object_path(s->files.binary), &s->mini, NULL) < 0)
		return false;
	return symtab_add_section(s->symbols, s->mini, ".symtab") > 0;
}

static enum sym_source add_tables(struct state *s)
{
	struct object *binary = s->files.binary;
	size_t n = symtab_add_section(s->symbols, binary, ".symtab");

	if (!n && s->files.debug && s->files.debug != binary)
		n = symtab_add_section(s->symbols, s->files.debug, ".symtab");
	if (n)
		return SYM_FROM_SYMTAB;

	size_t dynamic = symtab_add_section(s->symbols, binary, ".dynsym");

	if (add_mini_debug(s))
		return SYM_FROM_MINI_DEBUG;
	return dynamic ? SYM_FROM_DYNSYM : SYM_FROM_NOTHING;
}

static enum sym_source read_symbols(struct state *s)
{
	struct object *binary = s->files.binary;
	enum sym_source source;

	s->symbols = symtab_new();
	symtab_add_ranges(s->symbols, binary);
	source = add_tables(s);
	plt_add_symbols(s->symbols, binary, &s->names);
	symtab_finish(s->symbols);
	if (source != SYM_FROM_SYMTAB &&
	    function_bounds_add(s->symbols, binary, &s->names)) {
		symtab_finish(s->symbols);
		if (source == SYM_FROM_NOTHING)
			source = SYM_FROM_BOUNDS;
	}
	return source;
}

static void open_debug(struct image *im, struct state *s)
{
	struct object *o = s->files.debug;

	if (!s->files.binary || !o || im->options->is_by_tables)
		return;
	s->debug = debug_info_open(o, locate_alternate(im, o), im, s->symbols);
	im->source = SYM_FROM_DEBUG_INFO;
}

static bool is_libc(const char *name)
{
	static const char *const names[] = { "libc.so.", "libm.so.", "ld-linux",
					     "libpthread" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void advise_debug(struct image *im, const char *server_problem)
{
	const char *path = im->ref.path, *remedy = "compile with -g";
	bool is_packaged = is_libc(base_name(path)) || strncmp(path, "/usr/", 5) == 0 ||
			   strncmp(path, "/lib", 4) == 0;

	if (is_packaged)
		remedy = is_libc(base_name(path)) ? "install libc6-dbg"
						  : "install its -dbg or -dbgsym package";
	buf_printf(&im->problem, "no debug information: %s", remedy);
	if (server_problem)
		buf_printf(&im->problem, " (%s)", server_problem);
	else if (is_packaged)
		buf_puts(&im->problem, " or set DEBUGINFOD_URLS");
}

/* What the user can do for names and lines. */
static void advise(struct image *im, const struct state *s)
{
	if (!s->files.binary && s->files.is_replaced)
		buf_printf(&im->problem,
			   "replaced since it was recorded (%s): keep the old file, or "
			   "archive the recording while it is there",
			   im->ref.build_id_size ? "the build-id differs"
						 : "its size or time differs");
	else if (!s->files.binary)
		buf_puts(&im->problem,
			 "not found: use the machine it was recorded on, archive the "
			 "recording there, or give its files as the sysroot");
	else if (im->ref.kind != SYM_VDSO)
		advise_debug(im, s->files.server_problem);
}

static void open_object(struct image *im)
{
	struct state *s = xcalloc(1, sizeof(*s));

	im->state = s;
	im->source = SYM_FROM_NOTHING;
	find_files(im, s);
	if (s->files.binary)
		im->source = read_symbols(s);
	open_debug(im, s);
	if (im->source != SYM_FROM_DEBUG_INFO)
		advise(im, s);
}

static void close_object(struct image *im)
{
	struct state *s = im->state;

	debug_info_free(s->debug);
	symtab_free(s->symbols);
	symtab_free(s->variables);
	object_free(s->mini);
	locate_fini(&s->files);
	arena_fini(&s->names);
	free(s);
}

static bool object_address(struct image *im, uint64_t offset, uint64_t *ret)
{
	const struct state *s = im->state;

	return s->files.binary && object_to_address(s->files.binary, offset, ret);
}

static uint32_t enter(struct image *im, const struct symtab_symbol *symbol)
{
	struct function_key key = {
		.image = im->id,
		.linkage = symbol->name,
		.start = symbol->address,
		.size = symbol->end - symbol->address,
		.identity = symbol->address,
	};

	if (function_bounds_is_synthetic(symbol->name))
		return function_table_add_bounds(im->functions, im->id, symbol->name,
						 key.start, key.size);
	return function_table_add(im->functions, &key);
}

static void object_resolve(struct image *im, const uint64_t *addresses, size_t n,
			   struct image_place *ret)
{
	const struct state *s = im->state;

	if (s->debug)
		debug_info_resolve(s->debug, addresses, n, ret);
	if (s->debug && debug_info_missing(s->debug) && !im->problem.size)
		buf_printf(&im->problem,
			   "split debug information is missing (%s): keep the .dwo "
			   "files or the .dwp next to the program",
			   debug_info_missing(s->debug));
	for (size_t i = 0; i < n; i++) {
		const struct symtab_symbol *symbol;

		if (ret[i].n_frames)
			continue;
		symbol = s->symbols ? symtab_find(s->symbols, addresses[i]) : NULL;
		ret[i] = symbol ? image_plain_place(im, enter(im, symbol))
				: (struct image_place){ 0 };
	}
}

static unsigned machine_of(struct image *im)
{
	const struct state *s = im->state;

	return s->files.binary ? object_machine(s->files.binary) : 0;
}

static void each_file(struct image *im, sym_file_fn *visit, void *ctx)
{
	const struct state *s = im->state;
	const struct object *binary = s->files.binary, *debug = s->files.debug;

	if (binary)
		visit(ctx, "elf", object_path(binary), object_path(binary));
	if (debug && debug != binary)
		visit(ctx, "debug", object_path(debug), object_path(debug));
	if (s->debug)
		debug_info_each_file(s->debug, visit, ctx);
}

static size_t object_text(struct image *im, struct sym_range **ret)
{
	const struct object *o = ((const struct state *)im->state)->files.binary;
	struct sym_range *ranges;
	size_t n = 0;

	if (!o)
		return 0;
	ranges = xcalloc(object_n_segments(o) + 1, sizeof(*ranges));
	for (size_t i = 0; i < object_n_segments(o); i++) {
		const struct object_segment *s = object_segment(o, i);
		uint64_t end = s->address + s->file_size;

		if (s->is_load && s->is_executable && end > s->address &&
		    (!n || s->address >= ranges[n - 1].end))
			ranges[n++] = (struct sym_range){ s->address, end };
	}
	if (n)
		*ret = ranges;
	else
		free(ranges);
	return n;
}

static int object_code(struct image *im, uint64_t address, size_t size, struct buf *ret,
		       struct err *e)
{
	const struct state *s = im->state;

	if (!s->files.binary)
		return err_set(e, ERR_UNSUPPORTED, "%s: %s", im->ref.path,
			       buf_str(&im->problem));
	if (!object_read(s->files.binary, address, size, ret))
		return err_set(e, ERR_FORMAT, "%s has no code at address 0x%llx",
			       object_path(s->files.binary), (unsigned long long)address);
	return 0;
}

static int object_lines(struct image *im, uint64_t address, size_t size,
			struct sym_line_row **ret, size_t *ret_n, struct err *e)
{
	const struct state *s = im->state;

	if (!s->debug)
		return err_set(e, ERR_UNSUPPORTED, "%s: %s", im->ref.path,
			       im->problem.size ? buf_str(&im->problem)
						: "no line information");
	*ret_n = debug_info_lines(s->debug, address, size, ret);
	return 0;
}

/* Readable names are made only to be compared; what matches is entered. */
static void object_enter_functions(struct image *im, const char *text)
{
	const struct state *s = im->state;
	size_t n_symbols = s->symbols ? symtab_count(s->symbols) : 0, n = 0;
	own(freep) uint64_t *addresses = xcalloc(n_symbols + 1, sizeof(*addresses));
	own(freep) struct image_place *places = xcalloc(n_symbols + 1, sizeof(*places));
	own(buf_fini) struct buf name = { 0 };

	for (size_t i = 0; i < n_symbols; i++) {
		const struct symtab_symbol *symbol = symtab_at(s->symbols, i);
		bool is_mangled = demangle_name(symbol->name, &name);

		if (strstr(is_mangled ? buf_str(&name) : symbol->name, text))
			addresses[n++] = symbol->address;
	}
	/* As samples there would be, so that each function is one id. */
	object_resolve(im, addresses, n, places);
}

static size_t object_count_symbols(struct image *im, const char *name)
{
	const struct state *s = im->state;
	size_t n_symbols = s->symbols ? symtab_count(s->symbols) : 0, n = 0;

	for (size_t i = 0; i < n_symbols; i++)
		n += strcmp(symtab_at(s->symbols, i)->name, name) == 0;
	return n;
}

static struct symtab *read_variables(const struct state *s)
{
	struct symtab *t = symtab_new();
	struct object *o = s->files.binary;

	if (o && !symtab_add_variables(t, o, ".symtab")) {
		if (s->files.debug && s->files.debug != o)
			symtab_add_variables(t, s->files.debug, ".symtab");
		symtab_add_variables(t, o, ".dynsym");
	}
	symtab_finish(t);
	return t;
}

static bool object_variable(struct image *im, uint64_t address, struct buf *ret)
{
	struct state *s = im->state;
	const struct symtab_symbol *symbol;

	if (!s->variables)
		s->variables = read_variables(s);
	symbol = symtab_find(s->variables, address);
	if (!symbol)
		return false;
	if (im->options->keep_mangled || !demangle_name(symbol->name, ret))
		buf_puts(ret, symbol->name);
	if (address > symbol->address)
		buf_printf(ret, "+0x%llx",
			   (unsigned long long)(address - symbol->address));
	return true;
}

const struct image_ops object_image_ops = {
	.open = open_object,
	.close = close_object,
	.address = object_address,
	.resolve = object_resolve,
	.machine = machine_of,
	.each_file = each_file,
	.text = object_text,
	.code = object_code,
	.lines = object_lines,
	.enter_functions = object_enter_functions,
	.variable = object_variable,
	.count_symbols = object_count_symbols,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/reader.h"
#include "sym/image.h"
#include "sym/kallsyms.h"

#define KALLSYMS_BYTES_MAX (256u << 20)
#define NOTES_BYTES_MAX	   (1u << 20)

/* The kernel image and each module read the list for themselves: a module's share of
 * it is small, and reports rarely name more than a few. */
struct state {
	struct kallsyms *kallsyms;
	const struct symtab *table;
	uint64_t base; /* of offset 0 in the addresses of kallsyms */
};

/* NT_GNU_BUILD_ID in /sys/kernel/notes. */
static bool is_running_kernel(const struct sym_image_ref *ref)
{
	own(buf_fini) struct buf notes = { 0 };
	struct reader r;

	if (!image_read_file("/sys/kernel/notes", NOTES_BYTES_MAX, &notes))
		return false;
	r = reader_over(notes.data, notes.size);
	while (reader_left(&r)) {
		uint32_t name_size = reader_u32le(&r), size = reader_u32le(&r);
		uint32_t type = reader_u32le(&r);
		const uint8_t *name = reader_bytes(&r, ((size_t)name_size + 3) & ~3ul);
		const uint8_t *id = reader_bytes(&r, ((size_t)size + 3) & ~3ul);

		if (!r.bad && type == 3 && name_size == 4 && memcmp(name, "GNU", 4) == 0)
			return size == ref->build_id_size &&
			       memcmp(id, ref->build_id, size) == 0;
	}
	return false;
}

/* "[ext4]" -> "ext4"; NULL for the kernel itself. */
static char *module_name(const struct image *im)
{
	const char *path = im->ref.path;
	size_t n = strlen(path);

	if (im->ref.kind != SYM_MODULE)
		return NULL;
	if (n > 2 && path[0] == '[' && path[n - 1] == ']')
		return xstrndup(path + 1, n - 2);
	return xstrdup(path);
}

/* Where a module begins according to /proc/modules: "name size refs deps state 0x…". */
static uint64_t module_base(const char *modules, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = modules; at && *at;) {
		const char *end = strchr(at, '\n');
		const char *hex = strstr(at, " 0x");

		if (strncmp(at, name, n) == 0 && at[n] == ' ' && hex &&
		    (!end || hex < end))
			return strtoull(hex, NULL, 16);
		at = end ? end + 1 : NULL;
	}
	return 0;
}

/* Addresses differ after a reboot (KASLR), offsets from the base do not. */
static uint64_t find_base(struct image *im, const struct kallsyms *k, const char *module,
			  bool is_recorded)
{
	own(buf_fini) struct buf modules = { 0 };
	uint64_t now = 0;

	if (!module)
		now = kallsyms_stext(k);
	else if (!is_recorded && image_read_file("/proc/modules", 1u << 20, &modules))
		now = module_base(buf_str(&modules), module);
	return now ? now : im->ref.base;
}

static bool read_kallsyms(struct image *im, struct buf *text, bool *is_recorded)
{
	*is_recorded = image_blob(im, "kallsyms", NULL, text);
	if (*is_recorded)
		return true;
	buf_clear(text);
	if (im->ref.kind == SYM_KERNEL && im->ref.build_id_size &&
	    !is_running_kernel(&im->ref)) {
		buf_puts(&im->problem,
			 "recorded on another kernel than the one running here: "
			 "report there, or record with archived kernel symbols");
		return false;
	}
	if (image_read_file("/proc/kallsyms", KALLSYMS_BYTES_MAX, text))
		return true;
	buf_puts(&im->problem, "cannot read /proc/kallsyms: is /proc mounted?");
	return false;
}

static void open_kernel(struct image *im)
{
	struct state *s = xcalloc(1, sizeof(*s));
	own(freep) char *module = module_name(im);
	own(buf_fini) struct buf text = { 0 };
	bool is_recorded;

	im->state = s;
	im->source = SYM_FROM_NOTHING;
	if (!read_kallsyms(im, &text, &is_recorded))
		return;
	s->kallsyms = kallsyms_over(&text);
	if (kallsyms_is_hidden(s->kallsyms)) {
		buf_puts(&im->problem, "kernel addresses are hidden: as root, or after "
				       "sysctl kernel.kptr_restrict=0, they have names");
		return;
	}
	s->table = kallsyms_table(s->kallsyms, module);
	if (!s->table || !symtab_count(s->table)) {
		buf_puts(&im->problem, module ? "the module is not loaded any more"
					      : "no kernel symbols in kallsyms");
		return;
	}
	s->base = find_base(im, s->kallsyms, module, is_recorded);
	im->source = SYM_FROM_KALLSYMS;
}

static void close_kernel(struct image *im)
{
	struct state *s = im->state;

	kallsyms_free(s->kallsyms);
	free(s);
}

static bool kernel_address(struct image *im, uint64_t offset, uint64_t *ret)
{
	const struct state *s = im->state;

	*ret = (s->base ? s->base : im->ref.base) + offset;
	return true;
}

static uint32_t enter(struct image *im, const struct symtab_symbol *symbol)
{
	return function_table_add(im->functions,
				  &(struct function_key){
					  .image = im->id,
					  .linkage = symbol->name,
					  .start = symbol->address,
					  .size = symbol->end - symbol->address,
					  .identity = symbol->address,
				  });
}

/* In the kernel's image, but not of its own code, nor of a module, which is an image
 * itself: BPF programs and the ways into them.  They come and go, and kallsyms does not
 * tell where one ends, so that each of their names might be that of a neighbour. */
static bool is_loaded(const struct image *im, const struct state *s, uint64_t address)
{
	return im->ref.kind == SYM_KERNEL && s->base &&
	       (address < s->base || address >= kallsyms_end(s->kallsyms));
}

static uint32_t enter_loaded(struct image *im)
{
	return function_table_add(im->functions, &(struct function_key){
							 .image = im->id,
							 .linkage = "[bpf]",
						 });
}

static struct image_place resolve_one(struct image *im, uint64_t address)
{
	const struct state *s = im->state;
	const struct symtab_symbol *symbol =
		s->table ? symtab_find(s->table, address) : NULL;

	if (symbol && !kallsyms_is_end(symbol->name))
		return image_plain_place(im, enter(im, symbol));
	if (s->table && is_loaded(im, s, address))
		return image_plain_place(im, enter_loaded(im));
	return (struct image_place){ 0 };
}

static void kernel_resolve(struct image *im, const uint64_t *addresses, size_t n,
			   struct image_place *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = resolve_one(im, addresses[i]);
}

static void kernel_enter_functions(struct image *im, const char *text)
{
	const struct state *s = im->state;

	for (size_t i = 0; s->table && i < symtab_count(s->table); i++)
		if (strstr(symtab_at(s->table, i)->name, text))
			enter(im, symtab_at(s->table, i));
}

static int kernel_code(struct image *im, uint64_t address, size_t size, struct buf *ret,
		       struct err *e)
{
	(void)address, (void)size, (void)ret;
	return err_set(e, ERR_UNSUPPORTED,
		       "%s: the kernel patches its code while it runs, so there are no "
		       "instructions to show",
		       im->ref.path);
}

const struct image_ops kernel_image_ops = {
	.open = open_kernel,
	.close = close_kernel,
	.address = kernel_address,
	.resolve = kernel_resolve,
	.code = kernel_code,
	.enter_functions = kernel_enter_functions,
};

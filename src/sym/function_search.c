/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/function_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "sym/demangle.h"
#include "sym/image.h"
#include "sym/locate.h"
#include "sym/object.h"
#include "sym/symtab.h"

#define NEAREST_MAX 3 /* letters */

struct function_search {
	struct locate_result files;
	struct symtab *symbols; /* unfinished: with all names of a function */
	VEC(struct function_search_hit) hits;
};

static int by_name(const void *a, const void *b)
{
	const struct function_search_hit *x = a, *y = b;
	int by = strcmp(x->name, y->name);

	if (by)
		return by;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_address(const void *a, const void *b)
{
	const struct function_search_hit *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void take_symbols(struct function_search *s)
{
	size_t n = 0;

	for (size_t i = 0; i < symtab_count(s->symbols); i++) {
		const struct symtab_symbol *y = symtab_at(s->symbols, i);
		uint64_t offset;

		if (object_to_offset(s->files.binary, y->address, &offset))
			*vec_push(&s->hits) =
				(struct function_search_hit){ y->name, y->address, y->end,
							      offset };
	}
	if (s->hits.n)
		qsort(s->hits.at, s->hits.n, sizeof(*s->hits.at), by_name);
	for (size_t i = 0; i < s->hits.n; i++) /* both tables have it */
		if (!i || by_name(&s->hits.at[i], &s->hits.at[n - 1]) != 0)
			s->hits.at[n++] = s->hits.at[i];
	s->hits.n = n;
}

static void read_symbols(struct function_search *s)
{
	s->symbols = symtab_new();
	symtab_add_ranges(s->symbols, s->files.binary);
	symtab_add_section(s->symbols, s->files.binary, ".symtab");
	symtab_add_section(s->symbols, s->files.binary, ".dynsym");
	if (s->files.debug && s->files.debug != s->files.binary)
		symtab_add_section(s->symbols, s->files.debug, ".symtab");
	take_symbols(s);
}

int function_search_open(const char *path, struct function_search **ret, struct err *e)
{
	own(function_search_freep) struct function_search *s = xcalloc(1, sizeof(*s));
	struct sym_options options = { .no_debuginfod = true };
	struct image im = { .ref = { .kind = SYM_ELF, .path = path },
			    .options = &options };
	own(object_freep) struct object *o = NULL;
	int rc = object_open(path, &o, e);

	if (rc < 0)
		return rc;
	locate_image(&im, &s->files);
	if (!s->files.binary)
		return err_set(e, ERR_FORMAT, "cannot read '%s'", path);
	read_symbols(s);
	*ret = steal(&s);
	return 0;
}

void function_search_free(struct function_search *s)
{
	if (!s)
		return;
	symtab_free(s->symbols);
	vec_fini(&s->hits);
	locate_fini(&s->files);
	free(s);
}

void function_search_freep(struct function_search **s)
{
	function_search_free(*s);
}

unsigned function_search_machine(const struct function_search *s)
{
	return object_machine(s->files.binary);
}

size_t function_search_count(const struct function_search *s)
{
	return s->hits.n;
}

struct function_search_hit function_search_at(const struct function_search *s, size_t i)
{
	return s->hits.at[i];
}

/* With the types of its arguments or without. */
static bool is_called(const char *linkage, const char *name)
{
	own(buf_fini) struct buf readable = { 0 };
	size_t n = strlen(name);

	if (strcmp(linkage, name) == 0)
		return true;
	if (linkage[0] != '_' || strstr(linkage, ".cold") ||
	    !demangle_name(linkage, &readable))
		return false;
	return strncmp(buf_str(&readable), name, n) == 0 &&
	       (!buf_str(&readable)[n] || buf_str(&readable)[n] == '(');
}

size_t function_search_find(const struct function_search *s, const char *name,
			    struct function_search_hit *ret, size_t max)
{
	VEC(struct function_search_hit) found = { 0 };
	size_t n = 0;

	vec_each(h, &s->hits)
		if (is_called(h->name, name))
			*vec_push(&found) = *h;
	if (found.n)
		qsort(found.at, found.n, sizeof(*found.at), by_address);
	for (size_t i = 0; i < found.n; i++) {
		if (i && found.at[i].address == found.at[i - 1].address)
			continue;
		if (n < max)
			ret[n] = found.at[i];
		n++;
	}
	vec_fini(&found);
	return n;
}

const char *function_search_nearest(const struct function_search *s, const char *name)
{
	const char *best = NULL;
	size_t least = NEAREST_MAX + 1;

	vec_each(h, &s->hits) {
		size_t d;

		if (h->name[0] != name[0])
			continue;
		d = text_distance(name, h->name);
		if (d < least) {
			least = d;
			best = h->name;
		}
	}
	return best;
}

size_t function_search_code(struct function_search *s,
			    const struct function_search_hit *hit, struct buf *ret)
{
	return object_read(s->files.binary, hit->address,
			   (size_t)(hit->end - hit->address), ret);
}

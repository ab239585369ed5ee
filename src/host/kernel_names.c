/* SPDX-License-Identifier: Apache-2.0 */
#include "host/kernel_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "host/kernel.h"

struct named {
	struct kernel_symbol symbol;
	uint64_t size; /* up to the next address, 0 unknown */
	size_t next;   /* 1 + index of another one of the same hash, 0: none */
};

struct kernel_names {
	VEC(struct named) all;
	struct map by_name; /* hash of the name → 1 + index */
};

static bool is_code(char type)
{
	return strchr("tTwW", type) != NULL;
}

/* The kernel's symbols ascend, and each module's among themselves. */
static void end_before(struct kernel_names *k, size_t first, uint64_t addr)
{
	for (size_t i = k->all.n; i > first && !k->all.at[i - 1].size; i--)
		if (k->all.at[i - 1].symbol.addr < addr)
			k->all.at[i - 1].size = addr - k->all.at[i - 1].symbol.addr;
}

static void add(struct kernel_names *k, const struct kernel_symbol *s)
{
	uint64_t *slot = map_slot(&k->by_name, hash_bytes(s->name, s->name_size), NULL);

	*vec_push(&k->all) = (struct named){ .symbol = *s, .next = (size_t)*slot };
	*slot = k->all.n;
}

struct kernel_names *kernel_names_new(const char *text, size_t size)
{
	struct kernel_names *k = xcalloc(1, sizeof(*k));
	const char *at = text;
	struct kernel_symbol s;

	while (kernel_next_symbol(&at, text + size, &s)) {
		/* several names of one address end together */
		end_before(k, k->all.n > 16 ? k->all.n - 16 : 0, s.addr);
		if (is_code(s.type) && s.addr)
			add(k, &s);
	}
	return k;
}

void kernel_names_free(struct kernel_names *k)
{
	if (!k)
		return;
	vec_fini(&k->all);
	map_fini(&k->by_name);
	free(k);
}

void kernel_names_freep(struct kernel_names **k)
{
	kernel_names_free(*k);
}

static bool is_text(const char *s, size_t size, const char *text)
{
	return strlen(text) == size && memcmp(s, text, size) == 0;
}

static bool is_of(const struct named *n, const struct proc_wait_kernel_frame *f)
{
	const struct kernel_symbol *s = &n->symbol;

	return is_text(s->name, s->name_size, f->name) &&
	       is_text(s->module ? s->module : "", s->module_size, f->module);
}

/* The only function of the name, of those with the size when sized. */
static const struct named *only_one(const struct kernel_names *k,
				    const struct proc_wait_kernel_frame *f, bool sized)
{
	uint64_t hash = hash_bytes(f->name, strlen(f->name));
	const uint64_t *first = map_find(&k->by_name, hash);
	const struct named *only = NULL;

	for (size_t i = first ? (size_t)*first : 0; i; i = k->all.at[i - 1].next) {
		const struct named *n = &k->all.at[i - 1];

		if (!is_of(n, f) || (sized && n->size != f->size))
			continue;
		if (only && only->symbol.addr != n->symbol.addr)
			return NULL;
		only = n;
	}
	return only;
}

bool kernel_names_find(const struct kernel_names *k,
		       const struct proc_wait_kernel_frame *f, uint64_t *ret_pc)
{
	const struct named *n = only_one(k, f, false);

	if (!n)
		n = only_one(k, f, true);
	if (!n || f->off >= f->size)
		return false;
	*ret_pc = n->symbol.addr + f->off;
	return true;
}

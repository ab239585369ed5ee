/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/function_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/vec.h"
#include "sym/demangle.h"

/* One linkage name that was seen, and the function it stands for: constructors have
 * several linkage names and one readable name. */
struct alias {
	const char *linkage;
	uint64_t identity;
	uint32_t image, function;
};

struct function_table {
	bool keep_mangled;
	struct arena strings;
	VEC(struct sym_function *) functions;
	VEC(uint64_t) identities; /* of each function */
	VEC(struct sym_frame) frames;
	VEC(struct alias) aliases;
	struct map by_linkage; /* hash -> alias + 1 */
	struct map by_name;    /* hash -> function + 1 */
	struct intern *files;
	struct buf text;
};

struct function_table *function_table_new(bool keep_mangled)
{
	struct function_table *t = xcalloc(1, sizeof(*t));

	t->keep_mangled = keep_mangled;
	t->files = intern_new();
	return t;
}

void function_table_free(struct function_table *t)
{
	if (!t)
		return;
	arena_fini(&t->strings);
	vec_fini(&t->functions);
	vec_fini(&t->identities);
	vec_fini(&t->frames);
	vec_fini(&t->aliases);
	map_fini(&t->by_linkage);
	map_fini(&t->by_name);
	intern_free(t->files);
	buf_fini(&t->text);
	free(t);
}

static uint64_t hash_key(const struct function_key *key, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name));

	return hash_pair(hash_pair(hash, key->image), key->identity);
}

/* The slot of the linkage name; keys that happen to hash alike step aside. */
static uint64_t *alias_slot(struct function_table *t, const struct function_key *key)
{
	for (uint64_t hash = hash_key(key, key->linkage);; hash++) {
		uint64_t *slot = map_slot(&t->by_linkage, hash, NULL);
		const struct alias *a = *slot ? &t->aliases.at[*slot - 1] : NULL;

		if (!a || (a->image == key->image && a->identity == key->identity &&
			   strcmp(a->linkage, key->linkage) == 0))
			return slot;
	}
}

static uint64_t *name_slot(struct function_table *t, const struct function_key *key,
			   const char *name)
{
	for (uint64_t hash = hash_key(key, name);; hash++) {
		uint64_t *slot = map_slot(&t->by_name, hash, NULL);
		uint32_t id = (uint32_t)*slot - 1;

		if (!*slot || (t->functions.at[id]->image == key->image &&
			       t->identities.at[id] == key->identity &&
			       strcmp(t->functions.at[id]->name, name) == 0))
			return slot;
	}
}

static uint32_t create(struct function_table *t, const struct function_key *key,
		       const char *name, const char *linkage)
{
	struct sym_function *f = arena_alloc(&t->strings, sizeof(*f));

	f->name = name == linkage ? linkage : arena_strdup(&t->strings, name);
	f->linkage = linkage;
	f->image = key->image;
	f->is_resolved = linkage;
	*vec_push(&t->functions) = f;
	*vec_push(&t->identities) = key->identity;
	return (uint32_t)t->functions.n - 1;
}

static void complete(struct sym_function *f, const struct function_key *key)
{
	if (!f->decl_file) {
		f->decl_file = key->decl_file;
		f->decl_line = key->decl_line;
	}
	if (!f->size && key->size) {
		f->start = key->start;
		f->size = key->size;
	}
}

static uint32_t find_or_create(struct function_table *t, const struct function_key *key)
{
	uint64_t *slot = alias_slot(t, key);
	const char *linkage, *name;

	if (*slot)
		return t->aliases.at[*slot - 1].function;
	linkage = name = arena_strdup(&t->strings, key->linkage);
	if (!t->keep_mangled && demangle_name(linkage, &t->text))
		name = buf_str(&t->text);

	uint64_t *same = name_slot(t, key, name);

	if (!*same)
		*same = create(t, key, name, linkage) + 1;
	*vec_push(&t->aliases) =
		(struct alias){ linkage, key->identity, key->image, (uint32_t)*same - 1 };
	*slot = t->aliases.n;
	return (uint32_t)*same - 1;
}

/* memcpy@@GLIBC_2.14 is memcpy to a reader; memcpy@plt is another function. */
static char *without_version(const char *linkage)
{
	const char *at = strchr(linkage, '@');

	if (!at || at == linkage || strcmp(at, "@plt") == 0)
		return NULL;
	return xstrndup(linkage, (size_t)(at - linkage));
}

uint32_t function_table_add(struct function_table *t, const struct function_key *key)
{
	own(freep) char *plain = without_version(key->linkage);
	struct function_key k = *key;
	uint32_t id;

	if (plain)
		k.linkage = plain;
	id = find_or_create(t, &k);
	complete(t->functions.at[id], &k);
	return id;
}

uint32_t function_table_add_place(struct function_table *t, uint32_t image,
				  const char *name)
{
	/* An identity no function has, so that a place never meets one of its name. */
	struct function_key key = { .image = image, .identity = UINT64_MAX };
	uint64_t *slot = name_slot(t, &key, name);

	if (!*slot)
		*slot = create(t, &key, name, NULL) + 1;
	return (uint32_t)*slot - 1;
}

uint32_t function_table_add_bounds(struct function_table *t, uint32_t image,
				   const char *name, uint64_t start, uint64_t size)
{
	uint32_t id = function_table_add_place(t, image, name);

	t->functions.at[id]->start = start;
	t->functions.at[id]->size = size;
	return id;
}

const struct sym_function *function_table_get(const struct function_table *t, uint32_t id)
{
	return id < t->functions.n ? t->functions.at[id] : NULL;
}

uint32_t function_table_count(const struct function_table *t)
{
	return (uint32_t)t->functions.n;
}

const char *function_table_file(struct function_table *t, const char *path, size_t n)
{
	return intern_get(t->files, intern_add(t->files, path, n));
}

uint32_t function_table_add_frame(struct function_table *t, const struct sym_frame *f)
{
	*vec_push(&t->frames) = *f;
	return (uint32_t)t->frames.n - 1;
}

const struct sym_frame *function_table_frame(const struct function_table *t, uint32_t i)
{
	return i < t->frames.n ? &t->frames.at[i] : NULL;
}

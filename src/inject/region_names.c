/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_names.h"

#include <string.h>

#include "bare/sys.h"
#include "inject/modules.h"
#include "inject/trace_runtime.h"
#include "inject/vdso.h"
#include "wire/tracer_regions.h"

#define NAMES_MAX     REGION_NAMES_MAX
#define FUNCTION_BITS 16
#define FUNCTIONS_MAX (1u << FUNCTION_BITS)
#define CHUNK_BYTES   (64 << 10)
#define NUMBER_MASK   (WIRE_REGIONS_COUNTER - 1)
/* Programs that make up names by the thousand wait for none of the others. */
#define BUCKET_BITS 12

/* Memory that is given back all at once.  What two threads take at once from a chunk's
 * end one of them takes from the next. */
struct chunk {
	struct chunk *before;
	size_t used;
	char bytes[CHUNK_BYTES - 2 * sizeof(size_t)];
};

static struct chunk *chunk;
static struct region_group *groups;
static struct region_name *buckets[1u << BUCKET_BITS];
static uint32_t n_names;
static struct region_group off;
static const struct region_name refused = { .group = &off, .name = "" };
static uintptr_t functions[FUNCTIONS_MAX];
/* For which ring each was told: trace_runtime.epoch. */
static uint32_t told_names[NAMES_MAX], told_functions[FUNCTIONS_MAX];

struct region_names region_names;

void region_names_begin(void)
{
	region_names.generation = (uint32_t)vdso_now_ns() | 1;
	region_names.by_number[0] = &refused;
}

void region_names_unmap(void)
{
	struct chunk *c = chunk;

	chunk = NULL;
	while (c) {
		struct chunk *before = c->before;

		sys_unmap(c, sizeof(*c));
		c = before;
	}
}

static void *take(size_t size)
{
	size = (size + 15) & ~(size_t)15;
	for (;;) {
		struct chunk *c = __atomic_load_n(&chunk, __ATOMIC_ACQUIRE), *more;
		size_t at = c ? __atomic_fetch_add(&c->used, size, __ATOMIC_RELAXED) : 0;

		if (c && at + size <= sizeof(c->bytes))
			return c->bytes + at;
		more = sys_map(sizeof(*more), MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (!more)
			return NULL;
		more->before = c;
		if (!__atomic_compare_exchange_n(&chunk, &c, more, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			sys_unmap(more, sizeof(*more));
	}
}

static size_t size_of(const char *name)
{
	size_t n = strlen(name);

	return n < WIRE_REGIONS_TEXT_MAX ? n : WIRE_REGIONS_TEXT_MAX;
}

static bool is_equal(const char *have, const char *want, size_t size)
{
	return strlen(have) == size && memcmp(have, want, size) == 0;
}

static struct region_group *find_group(const char *name, size_t size)
{
	struct region_group *g = __atomic_load_n(&groups, __ATOMIC_ACQUIRE);

	while (g && !is_equal(g->name, name, size))
		g = g->next;
	return g;
}

/* What two threads name at once may be there twice for a moment: each looks again when
 * another was faster. */
struct region_group *region_names_group(const char *name)
{
	size_t size = name ? size_of(name) : 0;
	struct region_group *g = find_group(name, size), *more = NULL;

	while (!g) {
		if (!more)
			more = take(sizeof(*more) + size + 1);
		if (!more)
			return NULL;
		more->is_on = 1;
		if (size)
			memcpy(more->name, name, size);
		more->name[size] = 0;
		more->next = __atomic_load_n(&groups, __ATOMIC_ACQUIRE);
		g = find_group(name, size);
		if (!g && __atomic_compare_exchange_n(&groups, &more->next, more, false,
						      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			g = more;
	}
	return g;
}

/* Where names are that may be this one: FNV-1a, the group's address first. */
static struct region_name **bucket_of(const struct region_group *group, const char *name,
				      size_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uintptr_t)group;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
	return &buckets[hash * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BUCKET_BITS)];
}

static struct region_name *find_name(struct region_name *const *bucket,
				     const struct region_group *group, const char *name,
				     size_t size)
{
	struct region_name *n = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);

	while (n && (n->group != group || !is_equal(n->name, name, size)))
		n = n->next;
	return n;
}

static struct region_name *make_name(struct region_group *group, const char *name,
				     size_t size)
{
	struct region_name *n = NULL;
	uint32_t number;

	if (__atomic_load_n(&n_names, __ATOMIC_RELAXED) < NAMES_MAX - 1)
		n = take(sizeof(*n) + size + 1);
	if (!n)
		return NULL;
	number = __atomic_add_fetch(&n_names, 1, __ATOMIC_RELAXED);
	if (number >= NAMES_MAX)
		return NULL;
	n->group = group;
	n->number = number;
	memcpy(n->name, name, size);
	n->name[size] = 0;
	region_names.by_number[number] = n;
	return n;
}

const struct region_name *region_names_find(const char *group_name, const char *name)
{
	struct region_group *group = region_names_group(group_name);
	size_t size = size_of(name);
	struct region_name **bucket, *n, *more = NULL;

	if (!group)
		return &refused;
	bucket = bucket_of(group, name, size);
	n = find_name(bucket, group, name, size);
	while (!n) {
		if (!more)
			more = make_name(group, name, size);
		if (!more)
			return &refused;
		more->next = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
		n = find_name(bucket, group, name, size);
		if (!n && __atomic_compare_exchange_n(bucket, &more->next, more, false,
						      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			n = more;
	}
	return n;
}

uint32_t region_names_function(const void *address)
{
	uintptr_t want = (uintptr_t)address;
	uint32_t i =
		(uint32_t)(want * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FUNCTION_BITS));

	for (uint32_t n = 0; n < FUNCTIONS_MAX; n++, i = (i + 1) % FUNCTIONS_MAX) {
		uintptr_t have = __atomic_load_n(&functions[i], __ATOMIC_RELAXED);

		if (!have &&
		    __atomic_compare_exchange_n(&functions[i], &have, want, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			have = want;
		if (have == want)
			return WIRE_REGIONS_FUNCTION | i;
	}
	return 0;
}

const char *region_names_text(uint32_t number)
{
	const struct region_name *n;

	if (number & WIRE_REGIONS_FUNCTION || (number & NUMBER_MASK) >= NAMES_MAX)
		return NULL;
	n = region_names.by_number[number & NUMBER_MASK];
	return n ? n->name : NULL;
}

const void *region_names_address(uint32_t number)
{
	if (!(number & WIRE_REGIONS_FUNCTION))
		return NULL;
	return (const void *)functions[number % FUNCTIONS_MAX];
}

static bool tell(uint32_t number)
{
	const char *text = region_names_text(number);
	uintptr_t address = (uintptr_t)region_names_address(number);
	struct wire_regions_name r = { .region = number, .address = address };

	if (address && !modules_tell(&trace_runtime.ring, &address, 1))
		return false;
	return trace_runtime_write(WIRE_REGIONS_NAME, &r, sizeof(r), text,
				   text ? strlen(text) : 0);
}

/* As the name itself the first time that any number of it is: a counter's has its own. */
bool region_names_tell(uint32_t number)
{
	bool is_function = number & WIRE_REGIONS_FUNCTION;
	uint32_t *told = is_function ? &told_functions[number % FUNCTIONS_MAX]
				     : &told_names[(number & NUMBER_MASK) % NAMES_MAX];
	uint32_t epoch = (uint32_t)trace_runtime.epoch;

	if (__atomic_load_n(told, __ATOMIC_RELAXED) == epoch)
		return true;
	if (!tell(is_function ? number : number & NUMBER_MASK))
		return false;
	__atomic_store_n(told, epoch, __ATOMIC_RELEASE);
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"

struct finding {
	const struct profile *p;
	size_t column;
	struct map index; /* of the functions to the position + 1 */
	VEC(struct wait) waits;
};

bool waits_is_column(const struct profile_column *c)
{
	return strcmp(c->name, "blocked-time") == 0;
}

static const struct profile_function *function_at(const struct finding *f,
						  const struct profile_stack *s, size_t i)
{
	return profile_function(f->p, s->frames[i].function);
}

static bool is_kernel(const struct profile_function *f)
{
	return f->kind == IMAGE_KERNEL || f->kind == IMAGE_MODULE;
}

/* The C library wraps system calls in layers that nobody called by name: what was called
 * is pthread_cond_wait, not __futex_abstimed_wait_common64. */
static bool is_libc(const struct profile_function *f)
{
	static const char *const names[] = { "libc.so", "libc-2", "libpthread" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(f->image, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Its callers tell more: that a thread waits, and for what kind of thing, is known. */
static bool is_sync_call(const char *name)
{
	static const char *const starts[] = {
		"pthread_cond_",
		"pthread_mutex_",
		"pthread_rwlock_",
		"pthread_barrier_",
		"pthread_spin_",
		"pthread_join",
		"pthread_timedjoin",
		"pthread_clockjoin",
		"sem_",
		"new_sem_",
		"mtx_",
		"cnd_",
		"thrd_join",
	};

	name += strspn(name, "_");
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (text_starts(name, starts[i]))
			return true;
	return false;
}

/* Where a stack ends early nobody knows who called. */
size_t waits_layers(const struct profile *p, const uint32_t *functions, size_t n)
{
	size_t n_libc = 0;

	while (n_libc < n && is_libc(profile_function(p, functions[n_libc])))
		n_libc++;
	if (!n_libc || n_libc == n ||
	    profile_function(p, functions[n_libc])->kind == IMAGE_TRUNCATED)
		return 0;
	return n_libc - !is_sync_call(profile_function(p, functions[n_libc - 1])->name);
}

static void add(struct finding *f, uint32_t function, uint32_t caller, uint64_t weight)
{
	uint64_t *at = map_slot(&f->index, (uint64_t)function << 32 | caller, NULL);

	if (!*at) {
		*vec_push(&f->waits) = (struct wait){ function, caller, 0 };
		*at = f->waits.n;
	}
	f->waits.at[*at - 1].weight += weight;
}

static int add_stack(void *ctx, const struct profile_stack *s, unused struct err *e)
{
	struct finding *f = ctx;
	uint64_t weight = s->weights[f->column];
	size_t at = s->n, caller;

	while (at && is_kernel(function_at(f, s, at - 1)))
		at--;
	if (!weight || !at || function_at(f, s, at - 1)->kind == IMAGE_TRUNCATED)
		return 0;
	for (caller = at - 1; caller; caller--)
		if (strcmp(function_at(f, s, caller - 1)->image,
			   function_at(f, s, at - 1)->image) != 0)
			break;
	if (caller && is_libc(function_at(f, s, at - 1)))
		at = caller + 1;
	add(f, s->frames[at - 1].function,
	    caller ? s->frames[caller - 1].function : MODEL_NONE, weight);
	return 0;
}

static int heaviest_first(const void *va, const void *vb)
{
	const struct wait *a = va, *b = vb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

size_t waits_find(const struct profile *p, size_t column, struct wait **ret)
{
	struct finding f = { .p = p, .column = column };
	/* The callback does not fail. */
	int rc unused = profile_each_stack(p, add_stack, &f, NULL);

	if (f.waits.n)
		qsort(f.waits.at, f.waits.n, sizeof(*f.waits.at), heaviest_first);
	map_fini(&f.index);
	*ret = f.waits.at;
	return f.waits.n;
}

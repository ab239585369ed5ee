/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "collect/count_common.h"
#include "collect/count_layers.h"

/* Files whose children do not come, as they were killed too early: more than that are
 * not waited for. */
#define WAITING_MAX 256

/* Of programs with fewer blocks all is read for each child, and so it is where nearly as
 * many as that, or as a quarter of all, are the child's alone. */
#define COMMON_LEAST 1024u
/* Blocks, of 0.2 KB each. */
#define COMMON_MAX 2000000u

struct count_base {
	struct count_file_id id;
	int fd;
	struct count_window own, whole;
	struct count_layers layers;
	struct count_base *below;    /* in which it begins, or NULL */
	struct count_common *common; /* or NULL */
	uint32_t n_users;	     /* children not read yet, files that begin here */
	uint32_t n_met, n_forks;     /* children */
	bool is_waiting;
};

static uint64_t key_of(const struct count_file_id *id)
{
	return hash_pair(id->time_ns, (uint64_t)id->number << 32 | id->pid) + id->part;
}

static bool is_same(const struct count_file_id *a, const struct count_file_id *b)
{
	return a->time_ns == b->time_ns && a->pid == b->pid && a->number == b->number &&
	       a->part == b->part;
}

static struct count_base *find(const struct count_bases *b,
			       const struct count_file_id *id)
{
	const uint64_t *at = map_find(&b->of_id, key_of(id));
	struct count_base *x = at ? (struct count_base *)(uintptr_t)*at : NULL;

	return x && is_same(&x->id, id) ? x : NULL;
}

static bool read_header(int fd, struct count_file_header *ret)
{
	return fd >= 0 && pread(fd, ret, sizeof(*ret), 0) == sizeof(*ret) &&
	       ret->magic == COUNT_FILE_MAGIC && ret->version == COUNT_FILE_VERSION;
}

/* The others stay in their order. */
static void remove_from(struct count_base **at, size_t *n, const struct count_base *x)
{
	size_t i = 0;

	while (i < *n && at[i] != x)
		i++;
	if (i == *n)
		return;
	--*n;
	memmove(&at[i], &at[i + 1], (*n - i) * sizeof(*at));
}

/* Nobody asks for it any more. */
static bool is_done(const struct count_base *x)
{
	return x->is_waiting && !x->n_users && x->n_met >= x->n_forks;
}

static void forget_common(struct count_bases *b, struct count_base *x)
{
	if (!x->common)
		return;
	remove_from(b->indexed.at, &b->indexed.n, x);
	b->n_indexed -= count_common_there(x->common)->n_blocks;
	count_common_free(x->common);
	x->common = NULL;
}

static void drop(struct count_bases *b, struct count_base *x)
{
	while (x) {
		struct count_base *below = x->below;

		map_remove(&b->of_id, key_of(&x->id));
		remove_from(b->waiting.at, &b->waiting.n, x);
		forget_common(b, x);
		close(x->fd);
		free(x);
		if (below)
			below->n_users--;
		x = below && is_done(below) ? below : NULL;
	}
}

void count_bases_fini(struct count_bases *b)
{
	for (size_t i = 0; i < b->of_id.cap; i++)
		if (b->of_id.at[i].used) {
			struct count_base *x =
				(struct count_base *)(uintptr_t)b->of_id.at[i].value;

			count_common_free(x->common);
			close(x->fd);
			free(x);
		}
	map_fini(&b->of_id);
	vec_fini(&b->waiting);
	vec_fini(&b->indexed);
}

static struct count_base *take(struct count_bases *b, const struct count_directory *d,
			       const struct count_file_id *id, unsigned depth);

/* The file f, if it is the one of that id; it owns fd. */
static struct count_base *add(struct count_bases *b, const struct count_directory *d,
			      int fd, const struct count_file_header *h, unsigned depth)
{
	struct count_base *x = xcalloc(1, sizeof(*x)), *below = NULL;

	if (h->base.id.time_ns)
		below = take(b, d, &h->base.id, depth + 1);
	*x = (struct count_base){ .id = h->id, .fd = fd, .below = below };
	count_window_over(&x->fd, &x->own);
	if (below)
		below->n_users++;
	if (!count_layers_over(&x->own, count_base_window(below), &x->layers,
			       &x->whole) ||
	    find(b, &h->id)) {
		close(fd);
		free(x);
		if (below)
			below->n_users--;
		return NULL;
	}
	*map_slot(&b->of_id, key_of(&x->id), NULL) = (uint64_t)(uintptr_t)x;
	return x;
}

/* By its name, if it is not known. */
static struct count_base *take(struct count_bases *b, const struct count_directory *d,
			       const struct count_file_id *id, unsigned depth)
{
	const struct count_directory_file f = { id->pid, id->number, id->part };
	struct count_base *x = find(b, id);
	struct count_file_header h;
	int fd;

	if (x || depth > COUNT_FILE_DEPTH_MAX)
		return x;
	fd = count_directory_open(d, f);
	if (!read_header(fd, &h) || !is_same(&h.id, id)) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	return add(b, d, fd, &h, depth);
}

struct count_base *count_bases_meet(struct count_bases *b,
				    const struct count_directory *d,
				    struct count_directory_file f)
{
	own(closep) int fd = count_directory_open(d, f);
	struct count_file_header h;
	struct count_base *x;

	if (!read_header(fd, &h) || !h.base.id.time_ns)
		return NULL;
	x = take(b, d, &h.base.id, 0);
	if (x) {
		x->n_users++;
		x->n_met++;
	}
	return x;
}

void count_bases_leave(struct count_bases *b, struct count_base *base)
{
	if (!base)
		return;
	base->n_users--;
	if (is_done(base))
		drop(b, base);
}

/* Of those that nobody else needs. */
static void forget_oldest(struct count_bases *b)
{
	for (size_t i = 0; b->waiting.n > WAITING_MAX && i < b->waiting.n; i++)
		if (!b->waiting.at[i]->n_users) {
			drop(b, b->waiting.at[i]);
			return;
		}
}

void count_bases_keep(struct count_bases *b, const struct count_directory *d,
		      struct count_directory_file f)
{
	own(closep) int fd = count_directory_open(d, f);
	struct count_file_header h;
	struct count_base *x;

	if (!read_header(fd, &h) || !h.n_forks)
		return;
	x = take(b, d, &h.id, 0);
	if (!x || x->is_waiting)
		return;
	x->n_forks = h.n_forks;
	x->is_waiting = true;
	*vec_push(&b->waiting) = x;
	if (is_done(x))
		drop(b, x);
	forget_oldest(b);
}

const struct count_window *count_base_window(const struct count_base *base)
{
	return base ? &base->whole : NULL;
}

/* What is common. */

static uint32_t lower(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool is_within(const struct count_file_base *x,
		      const struct count_file_base *limit)
{
	return x->images_bytes <= limit->images_bytes && x->n_blocks <= limit->n_blocks &&
	       x->n_pairs <= limit->n_pairs && x->n_returns <= limit->n_returns;
}

/* The nearest that is known, of those that base begins in. */
static struct count_common *find_common(const struct count_base *base,
					const struct count_file_base *there)
{
	struct count_file_base limit = *there;

	for (const struct count_base *x = base; x; x = x->below) {
		const struct count_file_base *below = &x->layers.there;

		if (x->common && is_within(count_common_there(x->common), &limit))
			return x->common;
		limit.images_bytes = lower(limit.images_bytes, below->images_bytes);
		limit.n_blocks = lower(limit.n_blocks, below->n_blocks);
		limit.n_pairs = lower(limit.n_pairs, below->n_pairs);
		limit.n_returns = lower(limit.n_returns, below->n_returns);
	}
	return NULL;
}

static bool is_worth_while(const struct count_common *c,
			   const struct count_file_base *there)
{
	uint32_t n_own = there->n_blocks - count_common_there(c)->n_blocks;

	return n_own < COMMON_LEAST || n_own < there->n_blocks / 4;
}

struct count_common *count_bases_common(struct count_bases *b, struct count_base *base,
					const struct count_file_base *there)
{
	struct count_common *c = base ? find_common(base, there) : NULL;

	if (c && is_worth_while(c, there))
		return c;
	/* for one child alone it would be read twice */
	if (!base || there->n_blocks < COMMON_LEAST || base->n_met < 2 ||
	    (base->common && !is_within(count_common_there(base->common), there)) ||
	    count_common_read(&base->whole, there, &c, NULL) < 0)
		return NULL;
	forget_common(b, base);
	while (b->indexed.n && b->n_indexed + there->n_blocks > COMMON_MAX)
		forget_common(b, b->indexed.at[0]);
	base->common = c;
	b->n_indexed += there->n_blocks;
	*vec_push(&b->indexed) = base;
	return c;
}

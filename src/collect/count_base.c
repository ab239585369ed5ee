/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "collect/count_layers.h"

/* Files whose children do not come, as they were killed too early: more than that are
 * not waited for. */
#define WAITING_MAX 256

struct count_base {
	struct count_file_id id;
	int fd;
	struct count_window own, whole;
	struct count_layers layers;
	struct count_base *below; /* in which it begins, or NULL */
	uint32_t n_users;	  /* children not read yet, files that begin here */
	uint32_t n_met, n_forks;  /* children */
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

/* Nobody asks for it any more. */
static bool is_done(const struct count_base *x)
{
	return x->is_waiting && !x->n_users && x->n_met >= x->n_forks;
}

static void drop(struct count_bases *b, struct count_base *x)
{
	while (x) {
		struct count_base *below = x->below;

		map_remove(&b->of_id, key_of(&x->id));
		for (size_t i = 0; i < b->waiting.n; i++)
			if (b->waiting.at[i] == x) {
				memmove(&b->waiting.at[i], &b->waiting.at[i + 1],
					(--b->waiting.n - i) * sizeof(x));
				break;
			}
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

			close(x->fd);
			free(x);
		}
	map_fini(&b->of_id);
	vec_fini(&b->waiting);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/accesses.h"

#include <stdlib.h>

#include "base/distinct.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/writer.h"

#define LINE_BITS 6 /* of an address: those of a line, of a page */
#define PAGE_BITS 12
#define MAX_ROWS  16384 /* instructions; others are not kept */
#define N_STRIDES 4

struct stride {
	int64_t by;
	uint64_t times;
};

struct row {
	uint32_t process, location;
	uint64_t samples, sums[ACCESS_N_WHATS]; /* of those that have no value */
	uint64_t low, high;
	struct stride strides[N_STRIDES];
	struct distinct lines, pages;
};

struct accesses {
	struct map row_of; /* of process and location: row */
	VEC(struct row) rows;
};

/* What one instruction accessed on a path. */
struct passes {
	const struct forward_path *path;
	uint64_t ip;
	uint32_t count; /* samples */
	struct row *row;
};

struct accesses *accesses_new(void)
{
	return xcalloc(1, sizeof(struct accesses));
}

void accesses_free(struct accesses *a)
{
	if (!a)
		return;
	map_fini(&a->row_of);
	vec_fini(&a->rows);
	free(a);
}

/* NULL: there is no room. */
static struct row *row_of(struct accesses *a, uint32_t process, uint32_t location)
{
	uint64_t key = (uint64_t)process << 32 | location;
	const uint64_t *have = map_find(&a->row_of, key);

	if (have)
		return &a->rows.at[*have];
	if (a->rows.n == MAX_ROWS)
		return NULL;
	*map_slot(&a->row_of, key, NULL) = a->rows.n;
	*vec_push(&a->rows) = (struct row){ .process = process,
					    .location = location,
					    .low = UINT64_MAX };
	return &a->rows.at[a->rows.n - 1];
}

/* Those that come often stay: who is new takes the place of the rarest, and its times, so
 * that none is told too rare. */
static void take_stride(struct row *r, int64_t by, uint32_t count)
{
	struct stride *least = r->strides;

	for (struct stride *s = r->strides; s < r->strides + N_STRIDES; s++) {
		if (s->times && s->by == by) {
			s->times += count;
			return;
		}
		if (s->times < least->times)
			least = s;
	}
	least->by = by;
	least->times += count;
}

/* From one pass to the next. */
static void take_again(struct row *r, uint64_t before, uint64_t now, uint32_t count)
{
	bool is_known = before && now;

	r->sums[ACCESS_AGAIN] += count;
	if (!is_known || before >> LINE_BITS != now >> LINE_BITS)
		r->sums[ACCESS_OTHER_LINE] += count;
	if (!is_known || before >> PAGE_BITS != now >> PAGE_BITS)
		r->sums[ACCESS_OTHER_PAGE] += count;
	if (is_known)
		take_stride(r, (int64_t)(now - before), count);
}

/* Was the place there before pass i, as far as these bits tell? */
static bool was_there(const struct passes *p, unsigned i, unsigned bits)
{
	const struct forward_access *at = p->path->accesses;

	for (unsigned k = 0; k < i; k++)
		if (at[k].ip == p->ip && at[k].addr &&
		    at[k].addr >> bits == at[i].addr >> bits)
			return true;
	return false;
}

/* Each place counts once of a sample, however often it came there. */
static void take_place(const struct passes *p, unsigned i, unsigned bits,
		       struct distinct *to)
{
	uint32_t hash = distinct_hash(p->path->accesses[i].addr >> bits);

	if (distinct_keeps(to, hash) && !was_there(p, i, bits))
		distinct_add(to, hash, p->count);
}

static void take_known(const struct passes *p, unsigned i)
{
	struct row *r = p->row;
	uint64_t addr = p->path->accesses[i].addr;

	r->low = addr < r->low ? addr : r->low;
	r->high = addr > r->high ? addr : r->high;
	take_place(p, i, LINE_BITS, &r->lines);
	take_place(p, i, PAGE_BITS, &r->pages);
}

/* Would the way have gone on, had more been known? */
static bool is_cut_off(const struct forward_path *path)
{
	return path->end != FORWARD_LIMIT && path->n_accesses < FORWARD_MAX_ACCESSES;
}

static void take_passes(const struct passes *p, unsigned first)
{
	const struct forward_path *path = p->path;
	struct row *r = p->row;
	bool is_met = false;
	unsigned last = first;

	for (unsigned i = first; i < path->n_accesses; i++) {
		uint64_t addr = path->accesses[i].addr;

		if (path->accesses[i].ip != p->ip)
			continue;
		if (i > first)
			take_again(r, path->accesses[last].addr, addr, p->count);
		r->sums[addr ? ACCESS_MET : ACCESS_UNKNOWN] += p->count;
		if (addr)
			take_known(p, i);
		is_met |= addr != 0;
		last = i;
	}
	r->samples += is_met ? p->count : 0;
	if (is_cut_off(path))
		r->sums[ACCESS_LAST] += p->count;
}

static bool is_first(const struct forward_path *path, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (path->accesses[k].ip == path->accesses[i].ip)
			return false;
	return true;
}

void accesses_take(struct accesses *a, uint32_t process, const struct forward_path *path,
		   uint32_t count, accesses_location_fn *location, void *ctx)
{
	for (unsigned i = 0; i < path->n_accesses; i++) {
		struct passes p = { path, path->accesses[i].ip, count, NULL };

		if (!is_first(path, i))
			continue;
		p.row = row_of(a, process, location(ctx, p.ip));
		if (p.row)
			take_passes(&p, i);
	}
}

/* Into the recording. */

static void put(struct writer *w, const struct row *r, enum model_access_what what,
		uint64_t value, uint64_t times)
{
	if (times)
		writer_access(w, &(struct model_access){ r->process, r->location, what,
							 value, times });
}

static void put_distinct(struct writer *w, const struct row *r,
			 enum model_access_what what, const struct distinct *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		put(w, r, what, d->kept[i].hash, d->kept[i].times);
}

static void put_row(struct writer *w, const struct row *r)
{
	put(w, r, ACCESS_MET, r->samples, r->sums[ACCESS_MET]);
	for (unsigned what = ACCESS_MET + 1; what < ACCESS_N_WHATS; what++)
		put(w, r, what, 0, r->sums[what]);
	put_distinct(w, r, ACCESS_LINE, &r->lines);
	put_distinct(w, r, ACCESS_PAGE, &r->pages);
	for (unsigned i = 0; i < N_STRIDES; i++)
		put(w, r, ACCESS_STRIDE,
		    (uint64_t)r->strides[i].by << 1 ^ (uint64_t)(r->strides[i].by >> 63),
		    r->strides[i].times);
	if (r->low <= r->high) {
		put(w, r, ACCESS_LOWEST, r->low, 1);
		put(w, r, ACCESS_HIGHEST, r->high, 1);
	}
}

void accesses_write(struct accesses *a, struct writer *w)
{
	vec_each(r, &a->rows)
		put_row(w, r);
	map_clear(&a->row_of);
	vec_clear(&a->rows);
}

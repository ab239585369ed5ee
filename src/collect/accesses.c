/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/accesses.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/access_place.h"

#define LINE_BITS 6 /* of an address: those of a line, of a page */
#define PAGE_BITS 12
#define MAX_ROWS  16384 /* instructions: then they are to be written */
#define N_STRIDES 4	/* are followed, of those that there is room for */

struct row {
	uint32_t process, location;
	struct access_place place;
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
	struct access_place *place;
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

bool accesses_are_full(const struct accesses *a)
{
	return a->rows.n >= MAX_ROWS;
}

static struct row *row_of(struct accesses *a, uint32_t process, uint32_t location)
{
	uint64_t key = (uint64_t)process << 32 | location;
	const uint64_t *have = map_find(&a->row_of, key);

	if (have)
		return &a->rows.at[*have];
	*map_slot(&a->row_of, key, NULL) = a->rows.n;

	struct row *r = vec_push(&a->rows);

	r->process = process;
	r->location = location;
	access_place_init(&r->place);
	return r;
}

/* Those that come often stay: who is new takes the place of the rarest, and its times, so
 * that none is told too rare. */
static void take_stride(struct access_place *r, int64_t by, uint32_t count)
{
	struct access_place_stride *least = r->strides;

	for (struct access_place_stride *s = r->strides; s < r->strides + N_STRIDES;
	     s++) {
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
static void take_again(struct access_place *r, uint64_t before, uint64_t now,
		       uint32_t count)
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
	struct access_place *r = p->place;
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
	struct access_place *r = p->place;
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
		p.place = &row_of(a, process, location(ctx, p.ip))->place;
		take_passes(&p, i);
	}
}

void accesses_write(struct accesses *a, struct writer *w)
{
	vec_each(r, &a->rows)
		access_place_write(&r->place, r->process, r->location, w);
	map_clear(&a->row_of);
	vec_clear(&a->rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/sync_ledger.h"

#include <stdlib.h>

#include "base/mem.h"

void sync_ledger_fini(struct sync_ledger *l)
{
	vec_each(lock, &l->locks)
		free(lock->releases);
	vec_fini(&l->locks);
	vec_fini(&l->sites);
	vec_fini(&l->debts);
	map_fini(&l->lock_of);
	map_fini(&l->site_of);
	map_fini(&l->debt_of);
}

bool sync_ledger_is_lock(enum wire_tracer_sync what)
{
	return what == WIRE_TRACER_MUTEX || what == WIRE_TRACER_RWLOCK_READ ||
	       what == WIRE_TRACER_RWLOCK_WRITE || what == WIRE_TRACER_SPIN;
}

uint64_t sync_ledger_least(unsigned step)
{
	return step ? UINT64_C(1) << (step - 1) : 0;
}

static unsigned step_of(uint64_t ns)
{
	unsigned step = ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;

	return step < SYNC_LEDGER_STEPS ? step : SYNC_LEDGER_STEPS - 1;
}

static uint32_t lock_of(struct sync_ledger *l, uint64_t address)
{
	bool is_new;
	uint64_t *i = map_slot(&l->lock_of, address, &is_new);

	if (is_new) {
		*i = l->locks.n;
		*vec_push(&l->locks) = (struct sync_lock){ .address = address };
	}
	return (uint32_t)*i;
}

void sync_ledger_release(struct sync_ledger *l, uint64_t time_ns, uint64_t address,
			 uint32_t stack)
{
	uint32_t i = lock_of(l, address);
	struct sync_lock *lock = &l->locks.at[i];

	if (!lock->releases)
		lock->releases = xcalloc(SYNC_LEDGER_RELEASES, sizeof(*lock->releases));
	lock->releases[lock->n_releases++ % SYNC_LEDGER_RELEASES] =
		(struct sync_release){ time_ns, stack };
}

/* Of keys that happen to hash alike the later one steps aside. */
static struct sync_site *site_of(struct sync_ledger *l, uint32_t stack, uint32_t lock,
				 enum wire_tracer_sync what)
{
	for (uint64_t key = hash_pair((uint64_t)stack << 32 | lock, what);; key++) {
		bool is_new;
		uint64_t *i = map_slot(&l->site_of, key, &is_new);
		struct sync_site *s;

		if (is_new) {
			*i = l->sites.n;
			*vec_push(&l->sites) = (struct sync_site){ .stack = stack,
								   .lock = lock,
								   .what = what };
		}
		s = &l->sites.at[*i];
		if (s->stack == stack && s->lock == lock && s->what == what)
			return s;
	}
}

static void charge(struct sync_ledger *l, uint32_t site, uint32_t stack, uint64_t n,
		   uint64_t ns)
{
	bool is_new;
	uint64_t *i = map_slot(&l->debt_of, (uint64_t)site << 32 | stack, &is_new);

	if (is_new) {
		*i = l->debts.n;
		*vec_push(&l->debts) = (struct sync_debt){ .site = site, .stack = stack };
	}
	l->debts.at[*i].n += n;
	l->debts.at[*i].ns += ns;
}

static const struct sync_release *release_at(const struct sync_lock *lock, uint64_t i)
{
	return &lock->releases[i % SYNC_LEDGER_RELEASES];
}

/* The first release that is remembered and later than a time. */
static uint64_t first_since(const struct sync_lock *lock, uint64_t time_ns)
{
	uint64_t i = lock->n_releases;

	while (i && lock->n_releases - i < SYNC_LEDGER_RELEASES &&
	       release_at(lock, i - 1)->time_ns > time_ns)
		i--;
	return i;
}

/* What was before the oldest release that is remembered is nobody's. */
static void charge_holders(struct sync_ledger *l, uint32_t site,
			   const struct sync_wait *w, const struct sync_lock *lock)
{
	uint64_t from_ns = w->time_ns - w->waited_ns, i = first_since(lock, from_ns);
	bool is_cut = lock->n_releases - i == SYNC_LEDGER_RELEASES &&
		      lock->n_releases > SYNC_LEDGER_RELEASES;

	if (is_cut)
		from_ns = release_at(lock, i++)->time_ns;
	for (; i < lock->n_releases; i++) {
		bool is_last = i + 1 == lock->n_releases;
		const struct sync_release *r = release_at(lock, i);
		uint64_t to_ns =
			is_last || r->time_ns > w->time_ns ? w->time_ns : r->time_ns;

		charge(l, site, r->stack, is_last, to_ns > from_ns ? to_ns - from_ns : 0);
		if (to_ns > from_ns)
			from_ns = to_ns;
	}
}

static void charge_waker(struct sync_ledger *l, uint32_t site, const struct sync_wait *w,
			 const struct sync_lock *lock)
{
	if (first_since(lock, w->time_ns - w->waited_ns) < lock->n_releases)
		charge(l, site, release_at(lock, lock->n_releases - 1)->stack, 1,
		       w->waited_ns);
}

void sync_ledger_wait(struct sync_ledger *l, const struct sync_wait *w)
{
	uint32_t lock = lock_of(l, w->address);
	struct sync_site *s = site_of(l, w->stack, lock, w->what);
	uint32_t site = (uint32_t)(s - l->sites.at);

	s->n++;
	s->ns += w->waited_ns;
	s->steps[step_of(w->waited_ns)]++;
	l->n_waits++;
	if (sync_ledger_is_lock(w->what))
		charge_holders(l, site, w, &l->locks.at[lock]);
	else
		charge_waker(l, site, w, &l->locks.at[lock]);
}

bool sync_ledger_was_released(const struct sync_ledger *l, uint64_t address,
			      uint64_t since_ns)
{
	const uint64_t *i = map_find(&l->lock_of, address);

	return i && first_since(&l->locks.at[*i], since_ns) < l->locks.at[*i].n_releases;
}

void sync_ledger_wait_on(struct sync_ledger *l, const struct sync_wait *w)
{
	site_of(l, w->stack, lock_of(l, w->address), w->what)->ns += w->waited_ns;
}

void sync_ledger_clear(struct sync_ledger *l)
{
	l->sites.n = l->debts.n = 0;
	map_clear(&l->site_of);
	map_clear(&l->debt_of);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_delivered.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"

struct copy {
	uint64_t version;
	uint64_t ns, wait_ns;
	uint32_t count, n_waits;
};

struct slot {
	struct copy copies[2];
};

_Static_assert(sizeof(struct slot) == SYSTEM_DELIVERED_BYTES, "a cache line");

#define N_BYTES (STATE_RECORD_SUMS_MAX * sizeof(struct slot))

struct system_delivered {
	struct slot *slots;
	uint64_t version;
};

int system_delivered_make(struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "delivered", sizeof(uint32_t),
				sizeof(struct slot), STATE_RECORD_SUMS_MAX, &o);

	return fd < 0 ? err_os(e, "cannot create a BPF map") : fd;
}

/* What was put by one who did not come to say that it is true. */
static void scrub(struct system_delivered *d)
{
	for (uint32_t i = 0; i < STATE_RECORD_SUMS_MAX; i++)
		for (unsigned k = 0; k < 2; k++)
			if (d->slots[i].copies[k].version > d->version)
				d->slots[i].copies[k] = (struct copy){ 0 };
}

int system_delivered_new(int fd, uint64_t version, struct system_delivered **ret,
			 struct err *e)
{
	own(system_delivered_freep) struct system_delivered *d = xcalloc(1, sizeof(*d));
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *at = mmap(NULL, N_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (at == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	d->slots = at;
	d->version = version;
	if (fd >= 0)
		scrub(d);
	*ret = steal(&d);
	return 0;
}

void system_delivered_free(struct system_delivered *d)
{
	if (!d)
		return;
	if (d->slots)
		munmap(d->slots, N_BYTES);
	free(d);
}

void system_delivered_freep(struct system_delivered **d)
{
	system_delivered_free(*d);
}

/* The one that is true. */
static unsigned current(const struct system_delivered *d, const struct slot *s)
{
	uint64_t a = s->copies[0].version, b = s->copies[1].version;

	if (b > d->version)
		return 0;
	return a > d->version || b > a;
}

void system_delivered_get(const struct system_delivered *d, uint32_t slot,
			  struct state_record_sum *ret)
{
	const struct slot *s = &d->slots[slot];
	const struct copy *c = &s->copies[current(d, s)];

	*ret = (struct state_record_sum){ .ns = c->ns,
					  .wait_ns = c->wait_ns,
					  .count = c->count,
					  .n_waits = c->n_waits };
}

/* It is of no version that is true before anything else of it is written. */
void system_delivered_put(struct system_delivered *d, uint32_t slot,
			  const struct state_record_sum *sum)
{
	struct slot *s = &d->slots[slot];
	struct copy *c = &s->copies[!current(d, s)];

	__atomic_store_n(&c->version, d->version + 1, __ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	c->ns = sum->ns;
	c->wait_ns = sum->wait_ns;
	c->count = sum->count;
	c->n_waits = sum->n_waits;
}

void system_delivered_clear(struct system_delivered *d, uint32_t slot)
{
	d->slots[slot] = (struct slot){ 0 };
}

uint64_t system_delivered_next(const struct system_delivered *d)
{
	return d->version + 1;
}

void system_delivered_commit(struct system_delivered *d)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	d->version++;
}

void system_delivered_rest(const struct system_delivered *d, uint32_t slot,
			   const struct state_record_sum *sum,
			   struct state_record_sum *ret)
{
	struct state_record_sum was;

	system_delivered_get(d, slot, &was);
	*ret = (struct state_record_sum){ .ns = sum->ns - was.ns,
					  .wait_ns = sum->wait_ns - was.wait_ns,
					  .count = sum->count - was.count,
					  .n_waits = sum->n_waits - was.n_waits };
}

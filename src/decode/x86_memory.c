/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_memory.h"

#include <stddef.h>

void x86_memory_init(struct x86_memory *m, x86_memory_read_fn *read,
		     x86_memory_read_fn *constant, void *ctx)
{
	m->read = read;
	m->constant = constant;
	m->ctx = ctx;
	m->is_lost = !read;
	m->n_stores = 0;
}

/* Addresses may go round. */
static bool overlaps(const struct x86_memory_store *s, uint64_t addr, uint64_t bytes)
{
	return addr - s->addr < s->bytes || s->addr - addr < bytes;
}

/* The last store to any of these, before stores[n]. */
static const struct x86_memory_store *last_store(const struct x86_memory *m, unsigned n,
						 uint64_t addr, uint64_t bytes)
{
	while (n--)
		if (overlaps(&m->stores[n], addr, bytes))
			return &m->stores[n];
	return NULL;
}

static bool read_first(const struct x86_memory *m, uint64_t addr, void *to,
		       unsigned bytes)
{
	if (!m->is_lost && m->read(m->ctx, addr, to, bytes))
		return true;
	return m->constant && m->constant(m->ctx, addr, to, bytes);
}

static struct x86_value load_first(const struct x86_memory *m, uint64_t addr,
				   unsigned bytes)
{
	uint8_t b[8];
	uint64_t v = 0;

	if (!read_first(m, addr, b, bytes))
		return (struct x86_value){ 0, 0 };
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)b[i] << 8 * i;
	return x86_alu_known(v, bytes);
}

/* bytes of what s stored, from addr on, which is within it. */
static struct x86_value stored(const struct x86_memory_store *s, uint64_t addr,
			       unsigned bytes)
{
	uint64_t at = addr - s->addr;
	struct x86_value v = { 0, 0 };

	if (at < 8) {
		v.bits = s->value.bits >> 8 * at;
		v.known = s->value.known >> 8 * at;
	}
	return x86_alu_part(v, bytes);
}

static struct x86_value load_byte(const struct x86_memory *m, uint64_t addr)
{
	const struct x86_memory_store *s = last_store(m, m->n_stores, addr, 1);

	return s ? stored(s, addr, 1) : load_first(m, addr, 1);
}

struct x86_value x86_memory_load(const struct x86_memory *m, struct x86_value addr,
				 unsigned bytes)
{
	const struct x86_memory_store *s;
	struct x86_value v = { 0, 0 };

	if (!x86_alu_is_known(addr, 8))
		return v;
	s = last_store(m, m->n_stores, addr.bits, bytes);
	if (!s)
		return load_first(m, addr.bits, bytes);
	if (addr.bits - s->addr < s->bytes && s->bytes - (addr.bits - s->addr) >= bytes)
		return stored(s, addr.bits, bytes);
	for (unsigned i = 0; i < bytes; i++) {
		struct x86_value byte = load_byte(m, addr.bits + i);

		v.bits |= byte.bits << 8 * i;
		v.known |= byte.known << 8 * i;
	}
	return v;
}

static void add(struct x86_memory *m, uint64_t addr, uint64_t bytes,
		struct x86_value value)
{
	unsigned n = m->n_stores;

	/* what is stored to again and again has room once */
	while (n && m->stores[n - 1].addr == addr && m->stores[n - 1].bytes <= bytes)
		n--;
	if (n == X86_MEMORY_N_STORES) {
		m->is_lost = true;
		n = 0;
	}
	m->stores[n] = (struct x86_memory_store){ addr, bytes, value };
	m->n_stores = n + 1;
}

void x86_memory_store(struct x86_memory *m, struct x86_value addr, unsigned bytes,
		      struct x86_value value)
{
	if (x86_alu_is_known(addr, 8))
		add(m, addr.bits, bytes, x86_alu_part(value, bytes));
	else
		x86_memory_lose(m);
}

void x86_memory_spoil(struct x86_memory *m, struct x86_value addr, uint64_t bytes)
{
	if (!bytes)
		return;
	if (x86_alu_is_known(addr, 8))
		add(m, addr.bits, bytes, (struct x86_value){ 0, 0 });
	else
		x86_memory_lose(m);
}

void x86_memory_lose(struct x86_memory *m)
{
	m->is_lost = true;
	m->n_stores = 0;
}

bool x86_memory_is_changed(const struct x86_memory *m, uint64_t addr, uint64_t bytes)
{
	return last_store(m, m->n_stores, addr, bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/path_memory.h"

#include <stddef.h>

void path_memory_init(struct path_memory *m, path_memory_read_fn *read,
		      path_memory_read_fn *constant, void *ctx)
{
	m->read = read;
	m->constant = constant;
	m->ctx = ctx;
	m->is_lost = !read;
	m->n_stores = 0;
}

/* Addresses may go round. */
static bool overlaps(const struct path_memory_store *s, uint64_t addr, uint64_t bytes)
{
	return addr - s->addr < s->bytes || s->addr - addr < bytes;
}

/* The last store to any of these, before stores[n]. */
static const struct path_memory_store *last_store(const struct path_memory *m, unsigned n,
						  uint64_t addr, uint64_t bytes)
{
	while (n--)
		if (overlaps(&m->stores[n], addr, bytes))
			return &m->stores[n];
	return NULL;
}

static bool read_first(const struct path_memory *m, uint64_t addr, void *to,
		       unsigned bytes)
{
	if (!m->is_lost && m->read(m->ctx, addr, to, bytes))
		return true;
	return m->constant && m->constant(m->ctx, addr, to, bytes);
}

static struct known_bits load_first(const struct path_memory *m, uint64_t addr,
				    unsigned bytes)
{
	uint8_t b[8];
	uint64_t v = 0;

	if (!read_first(m, addr, b, bytes))
		return (struct known_bits){ 0, 0 };
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)b[i] << 8 * i;
	return known_bits_of(v, bytes);
}

/* bytes of what s stored, from addr on, which is within it. */
static struct known_bits stored(const struct path_memory_store *s, uint64_t addr,
				unsigned bytes)
{
	uint64_t at = addr - s->addr;
	struct known_bits v = { 0, 0 };

	if (at < 8) {
		v.bits = s->value.bits >> 8 * at;
		v.known = s->value.known >> 8 * at;
	}
	return known_bits_part(v, bytes);
}

static struct known_bits load_byte(const struct path_memory *m, uint64_t addr)
{
	const struct path_memory_store *s = last_store(m, m->n_stores, addr, 1);

	return s ? stored(s, addr, 1) : load_first(m, addr, 1);
}

struct known_bits path_memory_load(const struct path_memory *m, struct known_bits addr,
				   unsigned bytes)
{
	const struct path_memory_store *s;
	struct known_bits v = { 0, 0 };

	if (!known_bits_is_whole(addr, 8))
		return v;
	s = last_store(m, m->n_stores, addr.bits, bytes);
	if (!s)
		return load_first(m, addr.bits, bytes);
	if (addr.bits - s->addr < s->bytes && s->bytes - (addr.bits - s->addr) >= bytes)
		return stored(s, addr.bits, bytes);
	for (unsigned i = 0; i < bytes; i++) {
		struct known_bits byte = load_byte(m, addr.bits + i);

		v.bits |= byte.bits << 8 * i;
		v.known |= byte.known << 8 * i;
	}
	return v;
}

static void add(struct path_memory *m, uint64_t addr, uint64_t bytes,
		struct known_bits value)
{
	unsigned n = m->n_stores;

	/* what is stored to again and again has room once */
	while (n && m->stores[n - 1].addr == addr && m->stores[n - 1].bytes <= bytes)
		n--;
	if (n == PATH_MEMORY_N_STORES) {
		m->is_lost = true;
		n = 0;
	}
	m->stores[n] = (struct path_memory_store){ addr, bytes, value };
	m->n_stores = n + 1;
}

void path_memory_store(struct path_memory *m, struct known_bits addr, unsigned bytes,
		       struct known_bits value)
{
	if (known_bits_is_whole(addr, 8))
		add(m, addr.bits, bytes, known_bits_part(value, bytes));
	else
		path_memory_lose(m);
}

void path_memory_spoil(struct path_memory *m, struct known_bits addr, uint64_t bytes)
{
	if (!bytes)
		return;
	if (known_bits_is_whole(addr, 8))
		add(m, addr.bits, bytes, (struct known_bits){ 0, 0 });
	else
		path_memory_lose(m);
}

void path_memory_lose(struct path_memory *m)
{
	m->is_lost = true;
	m->n_stores = 0;
}

bool path_memory_is_changed(const struct path_memory *m, uint64_t addr, uint64_t bytes)
{
	return last_store(m, m->n_stores, addr, bytes);
}

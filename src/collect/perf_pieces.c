/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/reader.h"

void perf_pieces_init(struct perf_pieces *p, uint32_t n_cpus)
{
	*p = (struct perf_pieces){ .n_cpus = n_cpus };
	p->cpus = xcalloc(n_cpus, sizeof(*p->cpus));
}

void perf_pieces_fini(struct perf_pieces *p)
{
	for (uint32_t i = 0; i < p->n_cpus; i++)
		buf_fini(&p->cpus[i].bytes);
	free(p->cpus);
	*p = (struct perf_pieces){ 0 };
}

void perf_pieces_take(struct perf_pieces *p, uint32_t cpu, const void *piece, size_t size)
{
	struct reader r = reader_over(piece, size);
	uint64_t addr = reader_u64le(&r), n = reader_u64le(&r);

	reader_skip(&r, sizeof(uint64_t)); /* the program's own */

	const uint8_t *bytes = reader_bytes(&r, n <= size ? (size_t)n : SIZE_MAX);

	if (r.bad || cpu >= p->n_cpus)
		return;

	struct perf_pieces_cpu *c = &p->cpus[cpu];

	if (c->bytes.size && addr != c->addr + c->bytes.size)
		buf_clear(&c->bytes);
	if (!c->bytes.size)
		c->addr = addr;
	buf_add(&c->bytes, bytes, (size_t)n);
}

void perf_pieces_forget(struct perf_pieces *p)
{
	for (uint32_t i = 0; i < p->n_cpus; i++)
		buf_clear(&p->cpus[i].bytes);
}

bool perf_pieces_begin(struct perf_pieces *p, uint32_t cpu, uint64_t addr)
{
	p->current = NULL;
	if (cpu < p->n_cpus && p->cpus[cpu].bytes.size && p->cpus[cpu].addr == addr)
		p->current = &p->cpus[cpu];
	return p->current != NULL;
}

bool perf_pieces_read(void *ctx, uint64_t addr, uint64_t *ret)
{
	const struct perf_pieces *p = ctx;
	const struct perf_pieces_cpu *c = p->current;
	uint64_t off = c ? addr - c->addr : 0;

	if (!c || off >= c->bytes.size || c->bytes.size - off < sizeof(*ret))
		return false;
	memcpy(ret, c->bytes.data + off, sizeof(*ret));
	return true;
}

void perf_pieces_end(struct perf_pieces *p, uint32_t cpu)
{
	p->current = NULL;
	if (cpu < p->n_cpus)
		buf_clear(&p->cpus[cpu].bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

int perf_ring_map(struct perf_ring *r, int fd, size_t max_bytes, size_t min_bytes,
		  struct err *e)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);

	*r = (struct perf_ring){ 0 };
	for (size_t size = max_bytes; size >= min_bytes && size >= page_size; size /= 2) {
		void *p = mmap(NULL, page_size + size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       fd, 0);

		if (p == MAP_FAILED)
			continue;
		r->page = p;
		r->data = (uint8_t *)p + page_size;
		r->size = size;
		r->wrapped = xcalloc(1, UINT16_MAX + 1);
		return 0;
	}
	return err_os(e,
		      "cannot map a ring of %zu bytes (see kernel.perf_event_mlock_kb "
		      "and 'ulimit -l')",
		      min_bytes);
}

void perf_ring_unmap(struct perf_ring *r)
{
	if (!r->page)
		return;
	munmap(r->page, (size_t)(r->data - (uint8_t *)r->page) + r->size);
	free(r->wrapped);
	*r = (struct perf_ring){ 0 };
}

void perf_ring_refresh(struct perf_ring *r)
{
	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

size_t perf_ring_used(const struct perf_ring *r)
{
	return (size_t)(r->head - r->tail);
}

static void copy_out(const struct perf_ring *r, void *to, uint64_t from, size_t n)
{
	size_t at = (size_t)(from & (r->size - 1)), first = r->size - at;

	if (first > n)
		first = n;
	memcpy(to, r->data + at, first);
	memcpy((uint8_t *)to + first, r->data, n - first);
}

const void *perf_ring_peek(struct perf_ring *r, size_t *ret_size)
{
	struct perf_event_header h;
	size_t left = perf_ring_used(r), at = (size_t)(r->tail & (r->size - 1));

	if (left < sizeof(h))
		return NULL;
	copy_out(r, &h, r->tail, sizeof(h));
	if (h.size < sizeof(h) || h.size > left) {
		perf_ring_advance(r, left); /* cannot be: skip rather than loop */
		return NULL;
	}
	*ret_size = h.size;
	if (at + h.size <= r->size)
		return r->data + at;
	copy_out(r, r->wrapped, r->tail, h.size);
	return r->wrapped;
}

void perf_ring_advance(struct perf_ring *r, size_t size)
{
	r->tail += size;
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

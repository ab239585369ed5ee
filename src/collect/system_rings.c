/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"

struct system_rings {
	struct system_sink sink;
	struct ring_buffer *rings;
};

static int handle(void *ctx, void *data, size_t size)
{
	const struct system_sink *sink = &((struct system_rings *)ctx)->sink;
	const struct stack_record_count *c = data;
	const struct stack_record *r = data;
	const struct stack_record_image *i = data;

	/* The kernel's side made it: sizes are as they were written. */
	if (size < sizeof(uint64_t))
		return 0;
	if (c->kind == STACK_RECORD_COUNT && size >= sizeof(*c))
		sink->count(sink->ctx, c->table & 1, c->key, c->count);
	else if (c->kind == STACK_RECORD_STACK &&
		 size >= offsetof(struct stack_record, frames) &&
		 size >= offsetof(struct stack_record, frames) +
				 8 * ((size_t)r->n_kernel + r->n_user))
		sink->stack(sink->ctx, r);
	else if (c->kind == STACK_RECORD_IMAGE &&
		 size >= offsetof(struct stack_record_image, path) &&
		 size >= offsetof(struct stack_record_image, path) + i->path_bytes)
		sink->image(sink->ctx, data);
	else if (c->kind == STACK_RECORD_PAIR &&
		 size >= sizeof(struct stack_record_pair) && sink->pair)
		sink->pair(sink->ctx, data);
	return 0;
}

static int add_ring(struct system_rings *r, int map_fd, uint32_t cpu, size_t bytes,
		    struct err *e)
{
	own(closep) int fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, (uint32_t)bytes, NULL);
	int rc = 0;

	if (fd < 0)
		return err_os(e, "cannot create a BPF ring");
	if (bpf_map_update_elem(map_fd, &cpu, &fd, BPF_ANY) < 0)
		return err_os(e, "cannot add a BPF ring");
	if (!r->rings)
		r->rings = ring_buffer__new(fd, handle, r, NULL);
	else
		rc = ring_buffer__add(r->rings, fd, handle, r);
	if (!r->rings || rc < 0)
		return err_os(e, "cannot map a BPF ring");
	return 0;
}

int system_rings_new(int map_fd, const struct cpus *cpus, size_t bytes,
		     const struct system_sink *sink, struct system_rings **ret,
		     struct err *e)
{
	own(system_rings_freep) struct system_rings *r = xcalloc(1, sizeof(*r));
	int rc = 0;

	r->sink = *sink;
	for (size_t i = 0; rc == 0 && i < cpus->ids.n; i++)
		rc = add_ring(r, map_fd, cpus->ids.at[i], bytes, e);
	if (rc < 0)
		return rc;
	*ret = steal(&r);
	return 0;
}

void system_rings_free(struct system_rings *r)
{
	if (!r)
		return;
	ring_buffer__free(r->rings);
	free(r);
}

void system_rings_freep(struct system_rings **r)
{
	system_rings_free(*r);
}

int system_rings_fd(const struct system_rings *r)
{
	return ring_buffer__epoll_fd(r->rings);
}

void system_rings_fetch(struct system_rings *r)
{
	ring_buffer__consume(r->rings);
}

static int be_quiet(unused enum libbpf_print_level level, unused const char *format,
		    unused va_list args)
{
	return 0;
}

void system_rings_silence_libbpf(void)
{
	libbpf_set_print(be_quiet);
}

void system_rings_sum_stats(const struct stack_record_stats *stats, uint32_t n_cpus,
			    struct stack_record_stats *ret)
{
	*ret = (struct stack_record_stats){ 0 };
	for (uint32_t c = 0; c < n_cpus; c++) {
		const uint64_t *from = (const uint64_t *)&stats[c];
		uint64_t *to = (uint64_t *)ret;

		for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++)
			to[i] += from[i];
	}
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * go_forward - any code with any registers and memory, walked over by an architecture's
 * walk: the path is within its limits and its branches are on it, the same with the same,
 * and what is told with less known is told with more.
 *
 * Header only: each target is one program.
 */
#ifndef DWELL_FUZZ_GO_FORWARD_H
#define DWELL_FUZZ_GO_FORWARD_H

#include <stdlib.h>
#include <string.h>

#include "decode/forward.h"

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

#define AT	  0x400000 /* the code, which is memory, too */
#define HEAD_SIZE 8
#define N_INSNS	  300

struct go_forward {
	forward_fn *walk;
	uint32_t regs, flags; /* that it knows */
};

struct input {
	const uint8_t *bytes;
	size_t size;
};

static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	const struct input *in = ctx;
	uint64_t at = addr - AT;
	size_t n;

	if (at >= in->size)
		return 0;
	n = in->size - at < FORWARD_CODE_BYTES ? in->size - at : FORWARD_CODE_BYTES;
	memcpy(to, in->bytes + at, n);
	return (unsigned)n;
}

static bool read_memory(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	const struct input *in = ctx;
	uint64_t at = addr - AT;

	check(bytes >= 1 && bytes <= 8);
	if (at > in->size || in->size - at < bytes)
		return false;
	memcpy(to, in->bytes + at, bytes);
	return true;
}

static void check_path(const struct go_forward *g, const struct forward_path *p,
		       const struct forward_limits *limits)
{
	check(p->n_insns <= limits->n_insns && p->n_branches <= limits->n_branches);
	check(p->n_branches <= p->n_insns + 1);
	check(p->end <= FORWARD_AT_STRANGER);
	check(!(p->last.known_flags & ~g->flags));
	check(!(p->last.known_regs & ~g->regs));
	check(!(p->last.flags & ~(uint64_t)p->last.known_flags));
	check(p->n_accesses <= FORWARD_MAX_ACCESSES && p->n_accesses <= p->n_insns + 1);
	for (unsigned i = 0; i < p->n_branches; i++) {
		const struct forward_branch *b = &p->branches[i];

		check(b->way == FORWARD_UNKNOWN || b->way == FORWARD_TAKEN ||
		      b->way == FORWARD_NOT_TAKEN);
		check(b->way != FORWARD_UNKNOWN ||
		      (i + 1 == p->n_branches && p->end == FORWARD_AT_BRANCH));
	}
}

/* As far as both go, with whatever each of them knows, they go the same way. */
static void check_both(const struct forward_path *p, const struct forward_path *q)
{
	for (unsigned i = 0; i < p->n_branches && i < q->n_branches; i++) {
		const struct forward_branch *a = &p->branches[i];
		const struct forward_branch *b = &q->branches[i];

		check(a->addr == b->addr && a->kind == b->kind);
		check(a->way == FORWARD_UNKNOWN || b->way == FORWARD_UNKNOWN ||
		      (a->way == b->way && a->to == b->to));
	}
	for (unsigned i = 0; i < p->n_accesses && i < q->n_accesses; i++) {
		const struct forward_access *a = &p->accesses[i];
		const struct forward_access *b = &q->accesses[i];

		check(a->ip == b->ip);
		check(!a->addr || !b->addr || a->addr == b->addr);
	}
}

/* Code and stack are near, so that there is something to read and to overwrite. */
static void fill(const struct go_forward *g, const uint8_t *head,
		 struct forward_state *ret)
{
	uint64_t x;

	memcpy(&x, head, sizeof(x));
	x |= 1;
	ret->ip = AT;
	ret->flags = x >> 3;
	ret->known_flags = g->flags;
	ret->known_regs = g->regs;
	for (unsigned i = 0; i < FORWARD_N_REGS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		ret->regs[i] = x & 3 ? AT + (x >> 40 & 127) : x >> (x >> 58);
	}
}

static int go_forward(const struct go_forward *g, const uint8_t *data, size_t size)
{
	struct forward_limits limits = { .n_insns = N_INSNS, .n_branches = 20 };
	struct forward_path all, less, again;
	struct forward_state from;
	struct input in;
	struct forward_source source = { read_code, read_memory, NULL, &in };

	if (size < HEAD_SIZE)
		return 0;
	in = (struct input){ data + HEAD_SIZE, size - HEAD_SIZE };
	limits.is_in_function = data[0] & 1;
	fill(g, data, &from);
	g->walk(&from, &source, &limits, &all);
	check_path(g, &all, &limits);
	g->walk(&from, &source, &limits, &again);
	check(again.n_insns == all.n_insns && again.last.ip == all.last.ip);
	from.known_regs = g->regs & (uint32_t)(data[1] | data[2] << 8) * 0x10001u;
	from.known_flags = g->flags & (uint32_t)data[3] * 0x01010101u;
	g->walk(&from, &source, &limits, &less);
	check_path(g, &less, &limits);
	check_both(&less, &all);
	source.read = NULL;
	g->walk(&from, &source, &limits, &again);
	check_path(g, &again, &limits);
	check_both(&again, &less);
	/* To these the code stores all the same, so there is nothing to compare with. */
	source.constant = read_memory;
	g->walk(&from, &source, &limits, &again);
	check_path(g, &again, &limits);
	return 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * count_reader - a file of counts as a hostile process could leave it.  It is sparse: the
 * input is pieces [table, offset in it lo, hi, size lo, hi] of what was written.
 */
#include "collect/count_reader.h"

#include <stdlib.h>
#include <string.h>

#include "collect/count_common.h"
#include "collect/count_insns.h"

#define PIECES_MAX 64

struct piece {
	uint64_t off, size;
	const uint8_t *bytes;
};

struct pieces {
	struct piece at[PIECES_MAX];
	size_t n;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t table_off(uint8_t table)
{
	static const uint64_t offs[] = {
		0,
		COUNT_FILE_IMAGES_OFF,
		COUNT_FILE_BLOCKS_OFF,
		COUNT_FILE_PAIRS_OFF,
		COUNT_FILE_RETURNS_OFF,
		COUNT_FILE_EXTRAS_OFF,
	};
	const uint8_t n = sizeof(offs) / sizeof(offs[0]);

	return table < n ? offs[table]
			 : COUNT_FILE_COUNTERS_OFF + COUNT_FILE_THREAD_SKIP +
				   (table - n) * COUNT_FILE_THREAD_BYTES;
}

static void take_pieces(struct pieces *p, const uint8_t *data, size_t size)
{
	while (size >= 5 && p->n < PIECES_MAX) {
		uint64_t n = data[3] | (uint64_t)data[4] << 8;

		n = n < size - 5 ? n : size - 5;
		p->at[p->n++] = (struct piece){ .off = table_off(data[0]) + data[1] +
						       ((uint64_t)data[2] << 8),
						.size = n,
						.bytes = data + 5 };
		data += 5 + n;
		size -= 5 + n;
	}
}

static bool next(void *ctx, uint64_t at, struct count_extent *ret)
{
	const struct pieces *p = ctx;
	bool is_found = false;

	for (size_t i = 0; i < p->n; i++) {
		uint64_t end = p->at[i].off + p->at[i].size;
		uint64_t from = p->at[i].off > at ? p->at[i].off : at;

		if (end <= at || (is_found && from >= ret->from))
			continue;
		*ret = (struct count_extent){ from, end };
		is_found = true;
	}
	return is_found;
}

static bool read_pieces(void *ctx, uint64_t off, void *to, size_t n)
{
	const struct pieces *p = ctx;

	memset(to, 0, n);
	for (size_t i = 0; i < p->n; i++) {
		const struct piece *x = &p->at[i];
		uint64_t from = x->off > off ? x->off : off;
		uint64_t end = x->off + x->size < off + n ? x->off + x->size : off + n;

		if (from < end)
			memcpy((uint8_t *)to + (from - off), x->bytes + (from - x->off),
			       end - from);
	}
	return true;
}

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_blocks(const struct count_reader *r)
{
	const struct count_flow_input *in = &r->flow;

	for (size_t i = 1; i < in->n_blocks; i++) {
		const struct count_file_block *b = &in->blocks[i];

		check(b->n_insns && b->n_insns <= b->size_bytes &&
		      b->image <= r->n_images && b->inside < in->n_counters);
		check(b->image == r->n_images ||
		      b->addr - r->images[b->image].start < r->images[b->image].size);
	}
	for (size_t i = 0; i < r->n_images; i++)
		check(r->images[i].path && strlen(r->images[i].path) < (1 << 16));
}

static void check_insn(void *ctx, uint32_t off, uint64_t n)
{
	const struct count_file_block *b = ctx;

	check(off < b->size_bytes && n);
}

/* Of code that is what the input happens to be. */
static void check_insns(const struct count_reader *r, const struct count_flow *flow,
			const uint8_t *data, size_t size)
{
	struct count_insns insns;

	count_insns_init(&insns, &r->flow);
	for (size_t i = 1; i < r->flow.n_blocks; i++) {
		const struct count_file_block *b = &r->flow.blocks[i];

		count_insns_each(&insns, (uint32_t)i, b, flow->blocks[i].n,
				 b->size_bytes <= size ? data + size - b->size_bytes
						       : NULL,
				 check_insn, (void *)b);
	}
	count_insns_fini(&insns);
}

/* As if a part of the tables were its parent's: what does not add up is the same. */
static void check_child(const struct count_window *w, const struct count_reader *r,
			const struct count_flow *flow, uint32_t part)
{
	const struct count_file_base there = {
		.n_blocks = (uint32_t)r->flow.n_blocks * part / 2,
		.n_pairs = (uint32_t)r->flow.n_pairs * part / 2,
		.n_returns = (uint32_t)r->flow.n_returns * part / 2,
	};
	struct count_common *common;
	struct count_reader child;
	struct count_flow less;

	if (!there.n_blocks || count_common_read(w, &there, &common, NULL) < 0)
		return;
	if (count_reader_open_child(w, common, &child, NULL) == 0) {
		check_blocks(&child);
		check(child.flow.n_blocks <= r->flow.n_blocks);
		count_flow_solve(&child.flow, &less);
		check(less.n_unbalanced == flow->n_unbalanced &&
		      less.n_unknown <= flow->n_unknown);
		count_flow_fini(&less);
		count_reader_fini(&child);
	}
	count_common_free(common);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pieces pieces = { 0 };
	const struct count_window w = { .ctx = &pieces,
					.size = COUNT_FILE_BYTES,
					.next = next,
					.read = read_pieces };
	struct count_reader r;
	struct count_flow flow;
	struct err e = { 0 };

	take_pieces(&pieces, data, size);
	if (count_reader_open(&w, &r, &e) < 0) {
		check(e.text[0]);
		return 0;
	}
	check_blocks(&r);
	count_flow_solve(&r.flow, &flow);
	check_insns(&r, &flow, data, size);
	for (uint32_t part = 0; part < 3; part++)
		check_child(&w, &r, &flow, part);
	count_flow_fini(&flow);
	count_reader_fini(&r);
	return 0;
}

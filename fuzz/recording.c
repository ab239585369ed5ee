/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of any bytes: refused with a text, or all of it can be read and every id
 * in it is in range.  Each input is tried as it is and with its checksums put right, as
 * otherwise nothing would get behind them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/block_header.h"
#include "store/format.h"
#include "store/recording.h"
#include "store/tally_merge.h"

#define SEALED_RAW_BYTES (1u << 16) /* clearing megabytes finds nothing */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_text(const struct err *e)
{
	check(e->text[0] && !strchr(e->text, '\n'));
}

static void check_dictionaries(const struct recording *r)
{
	const struct model_location *locations = recording_locations(r);
	const struct model_stack *stacks = recording_stacks(r);

	for (uint32_t i = 0; i < recording_n_locations(r); i++)
		check(locations[i].image < recording_n_images(r));
	for (uint32_t i = 1; i < recording_n_stacks(r); i++)
		check(stacks[i].parent < i &&
		      stacks[i].location < recording_n_locations(r));
	for (uint32_t i = 0; i < recording_n_threads(r); i++)
		check(recording_process(r, recording_thread(r, i)->process));
	for (uint32_t i = 0; i < recording_n_mappings(r); i++)
		check(recording_process(r, recording_mapping(r, i)->process) &&
		      recording_image(r, recording_mapping(r, i)->image));
	for (size_t i = 0; i < recording_info_count(r); i++) {
		const char *key = NULL, *value = NULL;

		recording_info_at(r, i, &key, &value);
		check(key && value);
	}
	check(!recording_image(r, recording_n_images(r)));
}

static void check_samples(const struct recording *r, unsigned columns)
{
	own(sample_block_fini) struct sample_block b = { 0 };

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		struct err e = { 0 };

		if (recording_read_samples(r, i, columns, &b, &e) < 0) {
			check_text(&e);
			check(b.n == 0);
			continue;
		}
		check(!!(columns & SAMPLE_STACK) == !!b.stack);
		for (size_t k = 0; b.stack && k < b.n; k++)
			check(b.stack[k] < recording_n_stacks(r));
		for (size_t k = 0; b.event && k < b.n; k++)
			check(b.event[k] < recording_n_events(r));
		for (size_t k = 0; b.thread && k < b.n; k++)
			check(b.thread[k] < recording_n_threads(r));
	}
}

static int check_trace(void *ctx, const struct model_trace *t, struct err *e)
{
	const struct recording *r = ctx;

	(void)e;
	check(recording_trace_type(r, t->trace_type) != NULL);
	check(t->stack < recording_n_stacks(r) && t->thread < recording_n_threads(r));
	return 0;
}

static int check_basic_block(void *ctx, uint32_t id, const struct model_basic_block *b,
			     struct err *e)
{
	const struct recording *r = ctx;

	(void)e;
	check(id < recording_n_basic_blocks(r) && b->process < recording_n_processes(r) &&
	      b->location < recording_n_locations(r));
	return 0;
}

static int check_edge(void *ctx, const struct model_edge *edge, struct err *e)
{
	const struct recording *r = ctx;

	(void)e;
	check(edge->block < recording_n_basic_blocks(r));
	check(edge->location == MODEL_NONE || edge->location < recording_n_locations(r));
	return 0;
}

static int check_direction(void *ctx, const struct model_direction *d, struct err *e)
{
	const struct recording *r = ctx;

	(void)e;
	check(d->process < recording_n_processes(r) &&
	      d->location < recording_n_locations(r));
	check(d->to == MODEL_NONE || d->to < recording_n_locations(r));
	return 0;
}

static int check_anchor(void *ctx, const struct model_anchor *a, struct err *e)
{
	const struct recording *r = ctx;

	(void)e;
	check(a->process < recording_n_processes(r));
	check(a->location == MODEL_NONE || a->location < recording_n_locations(r));
	return 0;
}

static int check_anchor_way(void *ctx, const struct model_anchor_way *w, struct err *e)
{
	const struct recording *r = ctx;

	(void)e;
	check(w->process < recording_n_processes(r) &&
	      w->behind < recording_n_locations(r));
	check(w->to == MODEL_NONE || w->to < recording_n_locations(r));
	return 0;
}

static void check_recording(const char *path)
{
	own(recording_freep) struct recording *r = NULL;
	own(buf_fini) struct buf blob = { 0 };
	struct err e = { 0 };
	uint64_t time_ns, next_ns;

	if (recording_open(path, &r, &e) < 0) {
		check_text(&e);
		check(!r);
		return;
	}
	check(recording_is_complete(r) || recording_damage(r));
	check(!recording_has_interim(r, &time_ns, &next_ns) || !recording_is_complete(r));
	check_dictionaries(r);
	check_samples(r, SAMPLE_ALL);
	check_samples(r, SAMPLE_STACK | SAMPLE_WEIGHT);
	if (recording_each_trace(r, check_trace, r, &e) < 0)
		check_text(&e);
	if (recording_each_basic_block(r, check_basic_block, r, &e) < 0)
		check_text(&e);
	if (recording_each_edge(r, check_edge, r, &e) < 0)
		check_text(&e);
	if (recording_each_direction(r, check_direction, r, &e) < 0)
		check_text(&e);
	if (recording_each_anchor(r, check_anchor, r, &e) < 0)
		check_text(&e);
	if (recording_each_anchor_way(r, check_anchor_way, r, &e) < 0)
		check_text(&e);
	for (size_t i = 0; i < recording_n_blobs(r); i++)
		if (recording_read_blob(r, i, &blob, &e) == 0)
			check(blob.size == recording_blob(r, i)->size_bytes);
}

/* A part of it, of which the index says where it is. */
static void check_part(const char *path)
{
	const struct recording_part part = { .image = "a" };
	own(recording_freep) struct recording *r = NULL;
	struct err e = { 0 };

	if (recording_open_part(path, &part, &r, &e) < 0) {
		check_text(&e);
		check(!r);
		return;
	}
	check_dictionaries(r);
	check_samples(r, SAMPLE_ALL);
}

/* With itself: what comes out is a recording without damage of twice the samples. */
static void check_merge(const char *path)
{
	own(tally_merge_freep) struct tally_merge *m = tally_merge_new();
	own(recording_freep) struct recording *r = NULL;
	char merged[40];
	struct err e = { 0 };
	int rc = 0;

	snprintf(merged, sizeof(merged), "/tmp/fuzz-merged.%d", (int)getpid());
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = tally_merge_add(m, path, &e);
	if (rc == 0)
		rc = tally_merge_write(m, merged, NULL, &e);
	if (rc < 0)
		check_text(&e);
	else
		check(recording_open(merged, &r, &e) == 0 && !recording_damage(r));
	unlink(merged);
}

/* Bytes become a chain of blocks with right checksums, sizes cut to what is there. */
static void seal_blocks(uint8_t *data, size_t off, size_t size, bool is_inner);

/* And blocks inside of interim sums, whose checksums are those of outer ones then. */
static void seal_inner(uint8_t *payload, size_t size)
{
	size_t head = size ? payload[0] : 0;

	if (head < 0x80 && size > head)
		seal_blocks(payload + 1 + head, 0, size - 1 - head, true);
}

static void seal_blocks(uint8_t *data, size_t off, size_t size, bool is_inner)
{
	while (size - off >= BLOCK_HEADER_BYTES) {
		struct block_header h;
		size_t left = size - off - BLOCK_HEADER_BYTES;
		uint8_t *payload = data + off + BLOCK_HEADER_BYTES;

		memcpy(&h.kind, data + off + 4, 2);
		memcpy(&h.flags, data + off + 6, 2);
		memcpy(&h.stored_size, data + off + 8, 4);
		memcpy(&h.raw_size, data + off + 12, 4);
		h.kind %= FORMAT_N_KINDS + 1;
		h.flags &= FORMAT_ZSTD;
		h.stored_size = h.stored_size < left ? h.stored_size : (uint32_t)left;
		if (h.raw_size <= FORMAT_BLOCK_MAX) /* else refused as it is */
			h.raw_size %= SEALED_RAW_BYTES;
		if (h.kind == FORMAT_INTERIM && !is_inner) {
			h.flags = 0;
			seal_inner(payload, h.stored_size);
		}
		h.payload_crc = crc32c(0, payload, h.stored_size);
		block_header_encode(&h, off, data + off);
		off += BLOCK_HEADER_BYTES + h.stored_size;
	}
}

static void seal(uint8_t *data, size_t size)
{
	if (size < FORMAT_HEADER_BYTES)
		return;
	format_header_encode(data);
	seal_blocks(data, FORMAT_HEADER_BYTES, size, false);
}

static void try_bytes(const uint8_t *data, size_t size)
{
	own(closep) int fd = memfd_create("recording", MFD_CLOEXEC);
	char path[40];

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_recording(path);
	check_part(path);
	check_merge(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(freep) uint8_t *copy = xmemdup(data, size);

	try_bytes(data, size);
	seal(copy, size);
	try_bytes(copy, size);
	return 0;
}

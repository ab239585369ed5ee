/* SPDX-License-Identifier: Apache-2.0
 * A file of the counting engine as text: each block's file, its offset there, its size,
 * its instructions, how often it was entered and not left at once; and at last what does
 * not add up. With -e the ways out of blocks that were taken: the block as before, the
 * kind of its last instruction, the file and offset where the way leads, how often. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "collect/count_flow.h"

static uint8_t *map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) != 0)
		exit(2);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

static bool is_file(const uint8_t *file)
{
	const struct count_file_header *h = (const struct count_file_header *)file;

	return h && h->magic == COUNT_FILE_MAGIC && h->version == COUNT_FILE_VERSION;
}

/* The file beside path that another one names. */
static uint8_t *map_named(const char *path, const struct count_file_id *id)
{
	int n = (int)(strstr(strrchr(path, '/'), ".") - path);
	char name[4096], part[16] = "";

	if (id->part)
		snprintf(part, sizeof(part), ".%" PRIu32, id->part);
	snprintf(name, sizeof(name), "%.*s.%" PRIu32 ".%" PRIu32 "%s", n, path, id->pid,
		 id->number, part);
	return map(name);
}

/* With what it has in common with its parent's, and that with its own, and so on. */
static uint8_t *map_whole(const char *path)
{
	uint8_t *file = map(path), *base = NULL;
	const struct count_file_header *h = (const struct count_file_header *)file;

	if (!is_file(file))
		return NULL;
	for (struct count_file_base b = h->base; b.id.time_ns;) {
		const struct count_file_header *bh;

		base = map_named(path, &b.id);
		bh = (const struct count_file_header *)base;
		if (!is_file(base) || bh->id.time_ns != b.id.time_ns)
			exit(3);

		const struct {
			uint64_t off, from, to;
		} tables[] = {
			{ COUNT_FILE_IMAGES_OFF, bh->base.images_bytes, b.images_bytes },
			{ COUNT_FILE_BLOCKS_OFF,
			  bh->base.n_blocks * sizeof(struct count_file_block),
			  b.n_blocks * sizeof(struct count_file_block) },
			{ COUNT_FILE_PAIRS_OFF,
			  bh->base.n_pairs * sizeof(struct count_file_pair),
			  b.n_pairs * sizeof(struct count_file_pair) },
			{ COUNT_FILE_RETURNS_OFF,
			  bh->base.n_returns * sizeof(struct count_file_return),
			  b.n_returns * sizeof(struct count_file_return) },
		};

		for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
			memcpy(file + tables[i].off + tables[i].from,
			       base + tables[i].off + tables[i].from,
			       tables[i].to - tables[i].from);
		b = bh->base;
	}
	return file;
}

/* And those whose last call did not come back. */
static struct count_file_extra *all_extras(const uint8_t *file,
					   const struct count_file_header *h, size_t *n)
{
	const struct count_file_block *blocks =
		(const struct count_file_block *)(file + COUNT_FILE_BLOCKS_OFF);
	struct count_file_extra *all = calloc(h->n_extras + h->n_threads, sizeof(*all));

	*n = h->n_extras;
	if (all)
		memcpy(all, file + COUNT_FILE_EXTRAS_OFF, *n * sizeof(*all));
	for (uint32_t i = 0; all && i < h->n_threads; i++) {
		uint64_t b =
			((const uint64_t *)(file + COUNT_FILE_COUNTERS_OFF +
					    i * COUNT_FILE_THREAD_BYTES +
					    COUNT_FILE_THREAD_SKIP))[COUNT_FILE_CALL];

		if (b && b < h->n_blocks)
			all[(*n)++] = (struct count_file_extra){
				.addr = blocks[b].addr + blocks[b].size_bytes,
				.block = (uint32_t)b,
				.kind = COUNT_EXTRA_LEAVE,
				.n = 1,
			};
	}
	return all;
}

static uint64_t *sum_of_threads(const uint8_t *file, const struct count_file_header *h)
{
	uint64_t *sum = calloc(h->n_counters, sizeof(*sum));

	for (uint32_t i = 0; sum && i < h->n_threads; i++) {
		const uint64_t *one = (const uint64_t *)(file + COUNT_FILE_COUNTERS_OFF +
							 i * COUNT_FILE_THREAD_BYTES +
							 COUNT_FILE_THREAD_SKIP);

		for (uint32_t k = 0; k < h->n_counters; k++)
			sum[k] += one[k];
	}
	return sum;
}

static const struct count_file_image *image_of(const uint8_t *file, uint32_t off)
{
	return (const struct count_file_image *)(file + COUNT_FILE_IMAGES_OFF + off);
}

/* The last that was there, or NULL. */
static const struct count_file_image *image_at(const uint8_t *file, uint64_t addr)
{
	const struct count_file_header *h = (const struct count_file_header *)file;
	const struct count_file_image *found = NULL;

	for (uint32_t off = 0; off < h->images_bytes;) {
		const struct count_file_image *i = image_of(file, off);

		if (addr - i->start < i->size)
			found = i;
		off += ((uint32_t)sizeof(*i) + i->path_bytes + 7) & ~7u;
	}
	return found;
}

static void print_place(const struct count_file_image *i, uint64_t addr)
{
	printf("%s %" PRIx64 " ", i && i->path[0] ? i->path : "-",
	       i ? addr - i->start + i->off : addr);
}

/* By signals, and where the engine began anew. */
static int64_t left_at_once(const struct count_flow_input *in, uint32_t block)
{
	int64_t n = 0;

	for (size_t i = 0; i < in->n_extras; i++)
		if (in->extras[i].kind == COUNT_EXTRA_LEAVE &&
		    in->extras[i].block == block &&
		    in->extras[i].addr == in->blocks[block].addr)
			n += (int64_t)in->extras[i].n;
	return n;
}

static void print_blocks(const uint8_t *file, const struct count_flow_input *in,
			 const struct count_flow *flow)
{
	for (uint32_t i = 1; i < in->n_blocks; i++) {
		const struct count_file_block *b = &in->blocks[i];

		print_place(image_of(file, b->image), b->addr);
		printf("%u %u %" PRId64 "\n", b->size_bytes, b->n_insns,
		       flow->blocks[i].n - left_at_once(in, i));
	}
}

static void print_way(const uint8_t *file, const struct count_file_block *b,
		      uint64_t target, int64_t n)
{
	static const char *const kinds[] = { "on",	"branch",  "jump",   "call",
					     "jump-to", "call-to", "return", "syscall" };

	if (!n || b->end >= COUNT_END_STOP)
		return;
	print_place(image_of(file, b->image), b->addr);
	printf("%u %s ", b->size_bytes, kinds[b->end]);
	print_place(image_at(file, target), target);
	printf("%" PRId64 "\n", n);
}

static void print_ways(const uint8_t *file, const struct count_flow_input *in,
		       const struct count_flow *flow)
{
	for (uint32_t i = 1; i < in->n_blocks; i++) {
		const struct count_file_block *b = &in->blocks[i];

		print_way(file, b, b->addr + b->size_bytes, flow->blocks[i].on);
		if (b->end != COUNT_END_RETURN)
			print_way(file, b, b->target, flow->blocks[i].to);
	}
	for (size_t i = 0; i < in->n_pairs; i++)
		if (in->pairs[i].block < in->n_blocks)
			print_way(file, &in->blocks[in->pairs[i].block],
				  in->pairs[i].target,
				  (int64_t)in->counters[in->pairs[i].counter]);
}

int main(int argc, char **argv)
{
	bool is_of_ways = argc == 3 && strcmp(argv[1], "-e") == 0;
	const uint8_t *file = argc == 2 || is_of_ways ? map_whole(argv[argc - 1]) : NULL;
	const struct count_file_header *h = (const struct count_file_header *)file;
	struct count_flow flow;

	if (!h)
		return 2;

	size_t n_extras;
	struct count_file_extra *extras = all_extras(file, h, &n_extras);
	uint64_t *counters = sum_of_threads(file, h);
	struct count_flow_input in = {
		.blocks = (const struct count_file_block *)(file + COUNT_FILE_BLOCKS_OFF),
		.pairs = (const struct count_file_pair *)(file + COUNT_FILE_PAIRS_OFF),
		.extras = extras,
		.counters = counters,
		.n_blocks = h->n_blocks,
		.n_pairs = h->n_pairs,
		.returns =
			(const struct count_file_return *)(file + COUNT_FILE_RETURNS_OFF),
		.n_returns = h->n_returns,
		.n_extras = n_extras,
		.n_counters = h->n_counters,
	};

	count_flow_solve(&in, &flow);
	(is_of_ways ? print_ways : print_blocks)(file, &in, &flow);
	printf("wrong %" PRIu64 " %" PRIu64 "\n", flow.n_unbalanced, flow.n_unknown);
	count_flow_fini(&flow);
	free(counters);
	free(extras);
	return 0;
}

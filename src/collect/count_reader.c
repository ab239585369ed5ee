/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/reader.h"
#include "base/vec.h"
#include "collect/count_common.h"

/* Read at a time. */
#define CHUNK_COUNTERS (16 * COUNT_READER_CHUNK)

struct parse {
	const struct count_window *window;
	struct count_file_header header;
	struct count_reader *r;
	/* What is known of it, or NULL, and how much that is. */
	const struct count_reader *known;
	struct count_file_base there;
	VEC(struct count_reader_image) images;
	uint8_t *touched; /* by chunk of counters, or NULL; borrowed */
};

static void parse_fini(struct parse *p)
{
	vec_fini(&p->images);
}

void count_reader_fini(struct count_reader *r)
{
	for (size_t i = 0; i < sizeof(r->tables) / sizeof(r->tables[0]); i++)
		free(r->tables[i]);
	free((void *)r->images);
	count_places_fini(&r->flow.places);
	map_fini(&r->index_of_image);
	*r = (struct count_reader){ 0 };
}

static int damaged(struct err *e, const char *what, uint64_t i)
{
	return err_set(e, ERR_FORMAT, "damaged counts: %s %" PRIu64, what, i);
}

static int check_header(const struct parse *p, struct err *e)
{
	const struct count_file_header *h = &p->header;
	const struct {
		const char *name;
		uint32_t n, max;
	} limits[] = {
		{ "bytes of images", h->images_bytes, COUNT_FILE_IMAGES_BYTES },
		{ "blocks", h->n_blocks, COUNT_FILE_BLOCKS_MAX },
		{ "pairs", h->n_pairs, COUNT_FILE_PAIRS_MAX },
		{ "returns", h->n_returns, COUNT_FILE_RETURNS_MAX },
		{ "extras", h->n_extras, COUNT_FILE_EXTRAS_MAX },
		{ "counters", h->n_counters, COUNT_FILE_COUNTERS_MAX },
		{ "threads", h->n_threads, COUNT_FILE_THREADS_MAX },
		{ "nests", h->n_nests, COUNT_FILE_NESTS_MAX },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].n > limits[i].max)
			return err_set(e, ERR_FORMAT, "damaged counts: %" PRIu32 " %s",
				       limits[i].n, limits[i].name);
	if (h->images_bytes < p->there.images_bytes || h->n_blocks < p->there.n_blocks ||
	    h->n_pairs < p->there.n_pairs || h->n_returns < p->there.n_returns)
		return err_set(e, ERR_FORMAT, "damaged counts: less than the parent's");
	return 0;
}

static int read_header(struct parse *p, struct err *e)
{
	struct count_file_header *h = &p->header;

	if (p->window->size < sizeof(*h) ||
	    !p->window->read(p->window->ctx, 0, h, sizeof(*h)) || !h->magic)
		return err_set(e, ERR_UNSUPPORTED, "nothing is counted yet");
	if (h->magic != COUNT_FILE_MAGIC)
		return err_set(e, ERR_FORMAT, "no file of counts");
	if (h->version != COUNT_FILE_VERSION)
		return err_set(e, ERR_FORMAT, "counts of version %" PRIu32, h->version);
	return check_header(p, e);
}

/* What is said to be there was written, so memory follows what the file really has.  Of
 * bytes the first n_read are read already. */
static int read_table(struct parse *p, enum count_reader_table table, uint64_t off,
		      uint64_t bytes, uint64_t n_read, struct err *e)
{
	void **to = &p->r->tables[table];

	off += n_read;
	bytes -= n_read;
	if (!count_window_is_whole(p->window, off, bytes))
		return damaged(e, "a hole behind byte", off);
	*to = xcalloc(1, bytes + 1);
	if (bytes && !p->window->read(p->window->ctx, off, *to, bytes))
		return damaged(e, "cannot read byte", off);
	return 0;
}

/* Images. */

static void read_image(struct parse *p, struct reader *r)
{
	uint64_t at = reader_offset(r);
	uint64_t from_first = p->there.images_bytes + at;
	struct count_reader_image image;
	uint32_t path_bytes;

	image.start = reader_u64le(r);
	image.size = reader_u64le(r);
	image.off = reader_u64le(r);
	image.inode = reader_u64le(r);
	image.device_major = reader_u32le(r);
	image.device_minor = reader_u32le(r);
	path_bytes = reader_u32le(r);
	image.path = (const char *)reader_bytes(r, path_bytes);
	/* As the engine counts: the padding of the struct is behind the path. */
	reader_seek(r, (at + sizeof(struct count_file_image) + path_bytes + 7) &
			       ~UINT64_C(7));
	if (r->bad || !path_bytes || image.path[path_bytes - 1] ||
	    memchr(image.path, 0, path_bytes - 1) ||
	    image.start + image.size < image.start ||
	    image.off + image.size < image.off) {
		r->bad = true;
		return;
	}
	*map_slot(&p->r->index_of_image, from_first, NULL) = p->images.n;
	*vec_push(&p->images) = image;
}

static void take_known_images(struct parse *p)
{
	for (size_t i = 0; p->known && i < p->known->n_images; i++)
		*vec_push(&p->images) = p->known->images[i];
}

static int read_images(struct parse *p, struct err *e)
{
	uint32_t bytes = p->header.images_bytes, there = p->there.images_bytes;
	int rc =
		read_table(p, COUNT_READER_PATHS, COUNT_FILE_IMAGES_OFF, bytes, there, e);
	struct reader r;

	if (rc < 0)
		return rc;
	take_known_images(p);
	r = reader_over(p->r->tables[COUNT_READER_PATHS], bytes - there);
	while (reader_left(&r))
		read_image(p, &r);
	if (r.bad)
		return damaged(e, "image", p->images.n);
	p->r->n_images = p->images.n;
	p->r->images = p->images.at;
	p->images.at = NULL;
	return 0;
}

/* Blocks. */

/* n_images: in none that is known. */
static uint32_t image_of(const struct parse *p, uint32_t told, uint64_t addr)
{
	const struct map *index = told < p->there.images_bytes ? &p->known->index_of_image
							       : &p->r->index_of_image;
	const uint64_t *i = map_find(index, told);
	const struct count_reader_image *image = i ? &p->r->images[*i] : NULL;

	return image && addr - image->start < image->size ? (uint32_t)*i
							  : (uint32_t)p->r->n_images;
}

static bool is_sound(const struct parse *p, const struct count_file_block *b)
{
	uint32_t n = p->header.n_counters;

	return !b->n_insns == (b->end == COUNT_END_ENTER) &&
	       b->n_insns <= b->size_bytes && b->end <= COUNT_END_ENTER &&
	       b->nest < p->header.n_nests && b->entered < p->header.n_nests &&
	       b->counted_at <= b->size_bytes &&
	       b->addr + b->size_bytes - !!b->n_insns >= b->addr && b->inside < n &&
	       b->on < n && b->to < n;
}

static int check_blocks(struct parse *p, struct err *e)
{
	struct count_file_block *blocks = p->r->tables[COUNT_READER_BLOCKS];
	uint32_t n = p->header.n_blocks - p->there.n_blocks;
	uint32_t first = !p->there.n_blocks; /* none has number 0 */

	/* Its place was taken, but the process was killed before it was written. */
	if (n > first && !blocks[n - 1].size_bytes && !blocks[n - 1].entered)
		n--;
	for (uint32_t i = first; i < n; i++) {
		if (!is_sound(p, &blocks[i]))
			return damaged(e, "block", p->there.n_blocks + i);
		blocks[i].image = image_of(p, blocks[i].image, blocks[i].addr);
	}
	p->r->flow.blocks = blocks;
	p->r->flow.n_blocks = n;
	return 0;
}

static int read_blocks(struct parse *p, struct err *e)
{
	uint32_t n = p->header.n_blocks, there = p->there.n_blocks;
	int rc;

	/* Number 0 is not written alone. */
	if (n <= 1)
		return 0;
	rc = read_table(p, COUNT_READER_BLOCKS, COUNT_FILE_BLOCKS_OFF,
			n * sizeof(struct count_file_block),
			there * sizeof(struct count_file_block), e);
	return rc < 0 ? rc : check_blocks(p, e);
}

/* By its number, of all. */
static const struct count_file_block *block_at(const struct parse *p, uint64_t i)
{
	uint32_t there = p->there.n_blocks;

	if (i < there)
		return &p->known->flow.blocks[i];
	return i - there < p->r->flow.n_blocks ? &p->r->flow.blocks[i - there] : NULL;
}

/* Nests. */

static int read_nests(struct parse *p, struct err *e)
{
	const struct count_file_nest *all = p->header.nests;
	uint32_t n = p->header.n_nests;

	if (!n)
		return damaged(e, "nest", 0);
	for (uint32_t i = 1; i < n; i++)
		if (all[i].parent >= i || all[i].function >= COUNT_FILE_FUNCTIONS_MAX)
			return damaged(e, "nest", i);
	p->r->n_nests = n;
	memcpy(p->r->nests, all, sizeof(p->r->nests));
	for (uint32_t i = 1; i < n; i++)
		p->r->nests[i].image = image_of(p, all[i].image, all[i].entry);
	return 0;
}

/* What refers to blocks: 0 stands for none. */

static int read_pairs(struct parse *p, struct err *e)
{
	uint32_t n = p->header.n_pairs - p->there.n_pairs;
	int rc = read_table(p, COUNT_READER_PAIRS, COUNT_FILE_PAIRS_OFF,
			    p->header.n_pairs * sizeof(struct count_file_pair),
			    p->there.n_pairs * sizeof(struct count_file_pair), e);
	const struct count_file_pair *pairs = p->r->tables[COUNT_READER_PAIRS];

	for (uint32_t i = 0; i < n && rc == 0; i++)
		if (pairs[i].block >= p->header.n_blocks ||
		    pairs[i].counter >= p->header.n_counters)
			rc = damaged(e, "pair", i);
	p->r->flow.pairs = pairs;
	p->r->flow.n_pairs = n;
	return rc;
}

static int read_returns(struct parse *p, struct err *e)
{
	uint32_t n = p->header.n_returns - p->there.n_returns;
	int rc = read_table(p, COUNT_READER_RETURNS, COUNT_FILE_RETURNS_OFF,
			    p->header.n_returns * sizeof(struct count_file_return),
			    p->there.n_returns * sizeof(struct count_file_return), e);
	const struct count_file_return *returns = p->r->tables[COUNT_READER_RETURNS];

	for (uint32_t i = 0; i < n && rc == 0; i++)
		if (returns[i].block >= p->header.n_blocks ||
		    returns[i].counter >= p->header.n_counters)
			rc = damaged(e, "return", i);
	p->r->flow.returns = returns;
	p->r->flow.n_returns = n;
	return rc;
}

static int read_extras(struct parse *p, struct err *e)
{
	uint32_t n = p->header.n_extras;
	int rc = read_table(p, COUNT_READER_EXTRAS, COUNT_FILE_EXTRAS_OFF,
			    n * sizeof(struct count_file_extra), 0, e);
	const struct count_file_extra *extras = p->r->tables[COUNT_READER_EXTRAS];

	for (uint32_t i = 0; i < n && rc == 0; i++)
		if (extras[i].block >= p->header.n_blocks ||
		    extras[i].kind > COUNT_EXTRA_LEAVE ||
		    extras[i].nest >= p->header.n_nests)
			rc = damaged(e, "extra", i);
	p->r->flow.extras = extras;
	p->r->flow.n_extras = n;
	return rc;
}

/* Counters. */

/* In the place of a counter: the block whose system call the thread did not come back
 * from. */
static bool end_thread(struct parse *p, uint64_t block)
{
	struct count_flow_input *in = &p->r->flow;
	const struct count_file_block *b = block_at(p, block);
	struct count_file_extra *all;

	if (!block)
		return true;
	if (!b)
		return false;
	all = xrealloc(p->r->tables[COUNT_READER_EXTRAS], in->n_extras + 1, sizeof(*all));
	all[in->n_extras++] = (struct count_file_extra){
		.addr = b->addr + b->size_bytes,
		.block = (uint32_t)block,
		.kind = COUNT_EXTRA_LEAVE,
		.n = 1,
	};
	p->r->tables[COUNT_READER_EXTRAS] = all;
	in->extras = all;
	return true;
}

static void note_touched(struct parse *p, uint64_t from, size_t n)
{
	for (uint64_t i = from / COUNT_READER_CHUNK;
	     p->touched && i <= (from + n - 1) / COUNT_READER_CHUNK; i++)
		p->touched[i] = 1;
}

static bool add_range(struct parse *p, uint64_t first, struct count_extent x)
{
	own(freep) uint64_t *chunk = xcalloc(CHUNK_COUNTERS, sizeof(*chunk));
	uint64_t *sums = p->r->tables[COUNT_READER_COUNTERS];

	while (x.from < x.to) {
		size_t n = (x.to - x.from) / 8;

		n = n < CHUNK_COUNTERS ? n : CHUNK_COUNTERS;
		if (!p->window->read(p->window->ctx, x.from, chunk, n * 8))
			return false;
		if (x.from == first) {
			if (!end_thread(p, chunk[COUNT_FILE_CALL]))
				return false;
			chunk[COUNT_FILE_CALL] = 0;
		}
		for (size_t i = 0; i < n; i++)
			sums[(x.from - first) / 8 + i] += chunk[i];
		note_touched(p, (x.from - first) / 8, n);
		x.from += n * 8;
	}
	return true;
}

/* Of an extent what are counters of the thread in which it begins; *ret_next is where to
 * look on. */
static struct count_extent counters_in(const struct parse *p, struct count_extent x,
				       uint64_t *ret_first, uint64_t *ret_next)
{
	uint64_t thread = (x.from - COUNT_FILE_COUNTERS_OFF) / COUNT_FILE_THREAD_BYTES;
	uint64_t begin = COUNT_FILE_COUNTERS_OFF + thread * COUNT_FILE_THREAD_BYTES;
	uint64_t first = begin + COUNT_FILE_THREAD_SKIP;
	uint64_t last = first + p->header.n_counters * UINT64_C(8);

	*ret_first = first;
	*ret_next = x.to < last ? x.to : begin + COUNT_FILE_THREAD_BYTES;
	return (struct count_extent){
		.from = x.from < first ? first : x.from & ~UINT64_C(7),
		.to = x.to < last ? (x.to + 7) & ~UINT64_C(7) : last,
	};
}

static int read_counters(struct parse *p, struct err *e)
{
	uint64_t at = COUNT_FILE_COUNTERS_OFF, first;
	uint64_t end = at + p->header.n_threads * COUNT_FILE_THREAD_BYTES;
	struct count_extent x;

	p->r->tables[COUNT_READER_COUNTERS] =
		xcalloc((size_t)p->header.n_counters + 1, sizeof(uint64_t));
	if (end > p->window->size)
		return damaged(e, "cut before byte", end);
	while (at < end && p->window->next(p->window->ctx, at, &x) && x.from < end) {
		x = counters_in(p, x, &first, &at);
		if (x.from < x.to && !add_range(p, first, x))
			return damaged(e, "cannot read what begins at byte", x.from);
	}
	p->r->flow.counters = p->r->tables[COUNT_READER_COUNTERS];
	p->r->flow.n_counters = p->header.n_counters;
	return 0;
}

static int open_with(struct parse *p, struct count_reader *ret, struct err *e)
{
	static int (*const steps[])(struct parse * p, struct err * e) = {
		read_header, read_images,  read_nests,	read_blocks,
		read_pairs,  read_returns, read_extras, read_counters,
	};
	own(count_reader_fini) struct count_reader r = { 0 };
	int rc = 0;

	p->r = &r;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && rc == 0; i++)
		rc = steps[i](p, e);
	if (rc < 0)
		return rc;
	r.pid = p->header.pid;
	r.n_threads = p->header.n_threads;
	r.n_lost = p->header.n_lost;
	r.is_cut = p->header.is_cut;
	r.is_left = p->header.is_left;
	memcpy(r.name, p->header.name, sizeof(r.name) - 1);
	*ret = r;
	r = (struct count_reader){ 0 };
	return 0;
}

int count_reader_open(const struct count_window *w, struct count_reader *ret,
		      struct err *e)
{
	own(parse_fini) struct parse p = { .window = w };

	return open_with(&p, ret, e);
}

int count_reader_open_rest(const struct count_window *w, const struct count_reader *known,
			   const struct count_file_base *there, uint8_t *touched,
			   struct count_reader *ret, struct err *e)
{
	own(parse_fini) struct parse p = {
		.window = w, .known = known, .there = *there, .touched = touched
	};

	return open_with(&p, ret, e);
}

int count_reader_open_child(const struct count_window *w, struct count_common *common,
			    struct count_reader *ret, struct err *e)
{
	own(freep) uint8_t *touched = xcalloc(COUNT_READER_CHUNKS, sizeof(*touched));
	own(count_reader_fini) struct count_reader r = { 0 };
	int rc = count_reader_open_rest(w, count_common_tables(common),
					count_common_there(common), touched, &r, e);

	if (rc == 0)
		rc = count_common_complete(common, touched, &r, e);
	if (rc < 0)
		return rc;
	*ret = r;
	r = (struct count_reader){ 0 };
	return 0;
}

void *count_reader_own(struct count_reader *r, enum count_reader_table table, void *p)
{
	free(r->tables[table]);
	r->tables[table] = p;
	return p;
}

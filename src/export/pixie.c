/* SPDX-License-Identifier: Apache-2.0
 *
 * pixie - how often each basic block was executed, as pixie(1) of MIPS and Digital wrote
 * it.
 *
 * Two files for each image: .Addrs says where blocks begin, .Counts how often each was
 * executed, in the 64-bit form of Digital UNIX; docs/bbcounts.md has every byte.  These
 * have no room for what is not certain: where samples were estimated from, .Ranges is
 * there, too, and .Branches, for people and scripts.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/block_counts.h"
#include "analyze/names.h"
#include "base/mem.h"
#include "base/text.h"
#include "export/exporter.h"

#define ADDRS_MAGIC  0x0f0e0010
#define COUNTS_MAGIC 0x0f0e0a11 /* counts of 64 bits */
#define CODE_CHUNK   (1u << 20) /* whole words */

struct names {
	VEC(char *) all; /* by image */
};

static void names_fini(struct names *n)
{
	vec_each(name, &n->all)
		free(*name);
	vec_fini(&n->all);
}

static bool is_taken(const struct names *n, const char *name)
{
	vec_each(other, &n->all)
		if (strcmp(*other, name) == 0)
			return true;
	return false;
}

/* Without directories, as pixie names them; a namesake gets a number. */
static const char *choose_name(struct names *n, const char *path)
{
	char *name = xstrdup(names_base(path));

	for (size_t i = 2; is_taken(n, name); i++) {
		free(name);
		name = xasprintf("%s.%zu", names_base(path), i);
	}
	return *vec_push(&n->all) = name;
}

/* What tells another build's counts: of the code, a word after the other. */
static uint32_t add_code(uint32_t hash, struct buf *code)
{
	while (code->size % 4)
		buf_u8(code, 0);
	for (size_t i = 0; i < code->size; i += 4) {
		const uint8_t *b = code->data + i;
		uint32_t word = (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 |
				(uint32_t)b[1] << 8 | b[0];

		hash = (hash << 5 | hash >> 27) ^ word;
	}
	return hash;
}

static int hash_code(struct symbolizer *s, const struct block_counts_image *image,
		     uint32_t *ret, struct err *e)
{
	own(buf_fini) struct buf code = { 0 };
	uint32_t hash = 0;

	for (size_t i = 0; i < image->n_text; i++) {
		const struct sym_range *r = &image->text[i];

		for (uint64_t at = r->start, n; at < r->end; at += n) {
			int rc;

			n = r->end - at < CODE_CHUNK ? r->end - at : CODE_CHUNK;
			buf_clear(&code);
			rc = symbolizer_code(s, image->image, at, n, &code, e);
			if (rc < 0)
				return rc;
			hash = add_code(hash, &code);
		}
	}
	*ret = hash;
	return 0;
}

static int write_file(struct export_sink *sink, const char *name, const char *suffix,
		      const struct buf *bytes, struct err *e)
{
	own(freep) char *file = xasprintf("%s%s", name, suffix);
	own(fclosep) FILE *out = NULL;
	int rc = sink->open(sink, file, &out, e);

	if (rc < 0)
		return rc;
	fwrite(bytes->data, 1, bytes->size, out);
	rc = exporter_finish(out, e);
	return rc < 0 ? err_in(e, rc, file) : 0;
}

/* "1f0 120 350 1000": where a block begins, at least, the number in .Counts, at most. */
static int write_ranges(struct export_sink *sink, const char *name,
			const struct block_counts_image *image, struct err *e)
{
	own(buf_fini) struct buf text = { 0 };
	uint64_t start = image->text[0].start;

	buf_puts(&text, "# How often each block was executed, estimated from samples: "
			"confidence low.\n# Where samples landed in none of a function, "
			"it has 0, executed or not.\n# offset low estimate high\n");
	for (size_t i = 0; i < image->tiles.all.n; i++)
		buf_printf(&text, "%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			   image->tiles.all.at[i].start - start,
			   image->low.all.at[i].times, image->tiles.all.at[i].times,
			   image->high.all.at[i].times);
	return write_file(sink, name, ".Ranges", &text, e);
}

/* "1f0 0.9712 35": where a branch is, which share of it was taken, and how many passages
 * samples told. */
static int write_branches(struct export_sink *sink, const char *name,
			  const struct block_counts_image *image, struct err *e)
{
	own(buf_fini) struct buf text = { 0 };

	buf_puts(&text,
		 "# Which share of each conditional branch was taken, estimated "
		 "from samples, of functions that have some.\n# offset taken seen\n");
	vec_each(b, &image->branches)
		buf_printf(&text, "%" PRIx64 " %.4f %" PRIu64 "\n",
			   b->address - image->text[0].start, b->taken, b->n_seen);
	return write_file(sink, name, ".Branches", &text, e);
}

static int write_estimated(struct export_sink *sink, const char *name,
			   const struct block_counts_image *image, struct err *e)
{
	int rc = write_ranges(sink, name, image, e);

	return rc < 0 ? rc : write_branches(sink, name, image, e);
}

static int write_pair(struct export_sink *sink, const char *name,
		      const struct block_counts_image *image, uint32_t hash,
		      struct err *e)
{
	own(buf_fini) struct buf addrs = { 0 }, counts = { 0 };
	uint64_t start = image->text[0].start, end = image->text[image->n_text - 1].end;
	int rc;

	buf_u32le(&addrs, ADDRS_MAGIC);
	buf_u32le(&addrs, hash);
	buf_u32le(&counts, COUNTS_MAGIC);
	buf_u32le(&counts, hash);
	vec_each(tile, &image->tiles.all) {
		buf_u32le(&addrs, (uint32_t)(tile->start - start));
		buf_u64le(&counts, tile->times);
	}
	buf_u32le(&addrs, (uint32_t)(end - start));
	rc = write_file(sink, name, ".Addrs", &addrs, e);
	if (rc == 0)
		rc = write_file(sink, name, ".Counts", &counts, e);
	return rc < 0 || !image->low.all.n ? rc : write_estimated(sink, name, image, e);
}

static int write_image(struct export_sink *sink, const struct profile *p,
		       const struct block_counts_image *image, struct names *names,
		       struct err *e)
{
	struct err why = { 0 };
	uint32_t hash;
	int rc = 0;

	if (image->text[image->n_text - 1].end - image->text[0].start > UINT32_MAX)
		rc = err_set(&why, ERR_LIMIT, "%s: its code is larger than 4 GB",
			     image->path);
	if (rc == 0)
		rc = hash_code(profile_symbolizer(p), image, &hash, &why);
	if (rc == 0)
		return write_pair(sink, choose_name(names, image->path), image, hash, e);
	sink->leave_out(sink, why.text);
	return 0;
}

static void tell_left_out(struct export_sink *sink, const struct block_counts *c,
			  const char *what)
{
	vec_each(left, &c->left_out) {
		char n[TEXT_MAX];
		own(freep) char *text =
			xasprintf("%s of %s: %s", text_number(n, left->n, what),
				  left->path, left->why);

		sink->leave_out(sink, text);
	}
}

static int write_images(struct export_sink *sink, const struct profile *p,
			const struct block_counts *c, struct err *e)
{
	own(names_fini) struct names names = { 0 };
	int rc = 0;

	vec_each(image, &c->images)
		if (rc == 0)
			rc = write_image(sink, p, image, &names, e);
	return rc;
}

static int write_counts(struct export_sink *sink, const struct profile *p, size_t source,
			struct err *e)
{
	own(block_counts_fini) struct block_counts c = { 0 };
	int rc = block_counts_make(&c, p, source, e);

	if (rc < 0)
		return rc;
	tell_left_out(sink, &c, "instructions");
	return write_images(sink, p, &c, e);
}

static int write_estimates(struct export_sink *sink, const struct profile *p,
			   struct err *e)
{
	own(block_counts_fini) struct block_counts c = { 0 };
	int rc = block_counts_estimate(&c, p, e);

	if (rc < 0)
		return rc;
	tell_left_out(sink, &c, "samples");
	if (c.images.n)
		sink->tell(sink, "these are no counts but estimates from samples, with "
				 "confidence low: .Ranges has from what to what each may "
				 "be; 'dwell run -e bbcounts' counts exactly");
	return write_images(sink, p, &c, e);
}

static bool is_counted(const struct profile *p, size_t source)
{
	return recording_n_basic_blocks(profile_source(p, source));
}

static int pixie_write(const struct profile *p, const struct export_options *o,
		       struct export_sink *sink, struct err *e)
{
	size_t column, source;

	if (!exporter_columns(p, o, &column))
		return 0;
	if (profile_is_filtered(p))
		return err_set(e, ERR_UNSUPPORTED,
			       "pixie tells of all code, and what a filter leaves out "
			       "would be there as never executed: leave --filter out");
	source = profile_column(p, column)->source;
	if (is_counted(p, source))
		return write_counts(sink, p, source, e);
	for (size_t i = 0; i < profile_n_sources(p); i++)
		if (is_counted(p, i))
			return err_set(e, ERR_USAGE,
				       "%s has exact counts, which estimates cannot add "
				       "to: export it alone",
				       recording_path(profile_source(p, i)));
	if (!block_counts_may_estimate(p))
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has neither basic blocks nor samples of cpu-time: "
			       "record with 'dwell run -e bbcounts'",
			       recording_path(profile_source(p, source)));
	return write_estimates(sink, p, e);
}

const struct exporter export_pixie = {
	.name = "pixie",
	.suffix = "pixie",
	.mime = "inode/directory",
	.summary = "how often each basic block was executed, counted or estimated, a "
		   "directory of .Addrs and .Counts",
	.is_one_event = true,
	.write_files = pixie_write,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * A tally as a recording.  The blocks of locations and samples are of one image each, or
 * of a few neighbouring small ones, and the index says which.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/tally_data.h"
#include "store/writer_data.h"

/* Images with fewer rows share a block with their neighbours: a block of its own takes a
 * hundred bytes. */
#define SMALL_ROWS 512

/* Rows of a block of stacks: who wants a few of them reads no more than that. */
#define STACK_ROWS (1u << 14)

struct tally_output {
	const struct tally *t;
	struct tally_order o;
	struct writer *w;
	VEC(struct model_location) locations;
	VEC(struct model_stack) stacks;
};

static void output_fini(struct tally_output *out)
{
	tally_order_fini(&out->o);
	writer_free(out->w);
	vec_fini(&out->locations);
	vec_fini(&out->stacks);
}

static uint32_t text(struct tally_output *out, uint32_t id)
{
	return writer_strn(out->w, intern_get(out->t->strings, id),
			   intern_len(out->t->strings, id));
}

static const void *item(const struct tally_output *out, enum format_kind kind,
			uint32_t id)
{
	return record_list_get(&out->t->lists[kind], id);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_infos(struct tally_output *out)
{
	const struct tally *t = out->t;
	own(freep) const char **keys = xcalloc(t->infos.n + 1, sizeof(*keys));

	for (uint32_t i = 0; i < t->infos.n; i++)
		keys[i] = intern_get(t->info_keys, i + 1);
	qsort(keys, t->infos.n, sizeof(*keys), compare_texts);
	for (uint32_t i = 0; i < t->infos.n; i++)
		writer_info(out->w, keys[i], tally_info_get(t, keys[i]));
}

static void put_images(struct tally_output *out)
{
	vec_each(id, &out->o.images) {
		struct model_image m =
			*(const struct model_image *)item(out, FORMAT_IMAGES, *id);

		m.path = text(out, m.path);
		m.host_path = text(out, m.host_path);

		uint32_t rank unused = writer_image(out->w, &m);

		assert(rank == out->o.image[*id]);
	}
}

static void put_processes(struct tally_output *out)
{
	vec_each(id, &out->o.processes) {
		struct model_process p =
			*(const struct model_process *)item(out, FORMAT_PROCESSES, *id);

		p.comm = text(out, p.comm);
		p.exe = text(out, p.exe);
		p.cmdline = text(out, p.cmdline);
		p.note = text(out, p.note);
		p.cgroup = text(out, p.cgroup);
		p.host = text(out, p.host);
		p.epoch = text(out, p.epoch);
		writer_process(out->w, &p);
	}
	vec_each(id, &out->o.threads) {
		struct model_thread t =
			*(const struct model_thread *)item(out, FORMAT_THREADS, *id);

		t.process = out->o.process[t.process];
		t.name = text(out, t.name);
		writer_thread(out->w, &t);
	}
}

static void put_events(struct tally_output *out)
{
	vec_each(id, &out->o.events) {
		struct model_event ev =
			*(const struct model_event *)item(out, FORMAT_EVENTS, *id);

		ev.name = text(out, ev.name);
		ev.unit = text(out, ev.unit);
		ev.experiment = text(out, ev.experiment);
		ev.source = text(out, ev.source);
		ev.description = text(out, ev.description);
		writer_event(out->w, &ev);
	}
}

struct named_fact {
	struct model_fact fact; /* with written ids */
	const char *name;
};

static int compare_facts(const void *a, const void *b)
{
	const struct named_fact *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (x->fact.kind != y->fact.kind)
		return x->fact.kind < y->fact.kind ? -1 : 1;
	if (order)
		return order;
	if (x->fact.event != y->fact.event)
		return x->fact.event < y->fact.event ? -1 : 1;
	return x->fact.process < y->fact.process ? -1 : 1;
}

static void put_facts(struct tally_output *out)
{
	const uint32_t n = out->t->lists[FORMAT_FACTS].n;
	own(freep) struct named_fact *facts = xcalloc(n + 1, sizeof(*facts));

	for (uint32_t i = 0; i < n; i++) {
		struct model_fact f =
			*(const struct model_fact *)item(out, FORMAT_FACTS, i);

		facts[i].name = intern_get(out->t->strings, f.name);
		if (f.event != MODEL_NONE)
			f.event = out->o.event[f.event];
		if (f.process != MODEL_NONE)
			f.process = out->o.process[f.process];
		facts[i].fact = f;
	}
	qsort(facts, n, sizeof(*facts), compare_facts);
	for (uint32_t i = 0; i < n; i++) {
		facts[i].fact.name = text(out, facts[i].fact.name);
		facts[i].fact.unit = text(out, facts[i].fact.unit);
		writer_fact(out->w, &facts[i].fact);
	}
}

static int compare_blobs(const void *a, const void *b, void *ctx)
{
	const struct tally_output *out = ctx;
	const struct tally_blob *x = &out->t->blobs.at[*(const uint32_t *)a];
	const struct tally_blob *y = &out->t->blobs.at[*(const uint32_t *)b];
	int order = strcmp(intern_get(out->t->strings, x->blob.name),
			   intern_get(out->t->strings, y->blob.name));

	if (x->blob.kind != y->blob.kind)
		return x->blob.kind < y->blob.kind ? -1 : 1;
	if (order)
		return order;
	if (x->blob.size_bytes != y->blob.size_bytes)
		return x->blob.size_bytes < y->blob.size_bytes ? -1 : 1;
	return memcmp(x->data, y->data, (size_t)x->blob.size_bytes);
}

static int put_blobs(struct tally_output *out, struct err *e)
{
	const size_t n = out->t->blobs.n;
	own(freep) uint32_t *order = xcalloc(n + 1, sizeof(*order));
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_blobs, out);
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct tally_blob *b = &out->t->blobs.at[order[i]];
		struct model_blob blob = b->blob;

		blob.name = text(out, blob.name);
		if (blob.image != MODEL_NONE)
			blob.image = out->o.image[blob.image];
		rc = writer_blob(out->w, &blob, b->data, e);
	}
	return rc;
}

/* The rows from `from` on that make a block: of one image, or of several small ones.
 * image(i) is the rank of row i's. */
static size_t rows_of_block(const struct tally_output *out, size_t from, size_t n,
			    uint32_t (*image)(const struct tally_output *out, size_t i))
{
	size_t end = from;

	while (end < n && end - from < SAMPLE_BATCH_MAX) {
		size_t next = end + 1;

		while (next < n && next - from < SAMPLE_BATCH_MAX &&
		       image(out, next) == image(out, end))
			next++;
		if (end > from && next - from > SMALL_ROWS)
			break; /* a large one begins its own */
		end = next;
		if (end - from >= SMALL_ROWS)
			break;
	}
	return end - from;
}

static uint32_t location_image(const struct tally_output *out, size_t i)
{
	return out->locations.at[i].image;
}

static int put_locations(struct tally_output *out, struct err *e)
{
	const size_t n = out->o.locations.n;
	int rc = 0;

	vec_reserve(&out->locations, n + 1);
	vec_each(id, &out->o.locations) {
		struct model_location l = out->t->locations.all.at[*id];

		l.image = out->o.image[l.image];
		*vec_push(&out->locations) = l;
	}
	for (size_t i = 0, rows; i < n && rc == 0; i += rows) {
		rows = rows_of_block(out, i, n, location_image);

		struct format_summary summary = {
			.n = rows,
			.first = i,
			.first_image = location_image(out, i) + 1,
			.last_image = location_image(out, i + rows - 1) + 1,
		};

		rc = writer_append_locations(out->w, out->locations.at + i, &summary, e);
	}
	return rc;
}

/* Levels from the row before to the parent: depth first the parent is above it. */
static void count_ups(const struct tally_output *out, uint32_t *ups)
{
	for (size_t i = 0; i < out->stacks.n; i++) {
		uint32_t at = (uint32_t)i;

		while (at != out->stacks.at[i].parent) {
			at = out->stacks.at[at - 1].parent;
			ups[i]++;
		}
	}
}

/* The row before a block and its callers, outermost first: with them a reader needs no
 * other block to know the stacks of this one. */
static void encode_spine(const struct tally_output *out, uint32_t id, struct buf *spine)
{
	VEC(uint32_t) ids = { 0 };
	uint32_t last = 0;

	buf_clear(spine);
	for (; id; id = out->stacks.at[id - 1].parent)
		*vec_push(&ids) = id;
	buf_uleb(spine, ids.n);
	for (size_t i = ids.n; i-- > 0;) {
		buf_uleb(spine, ids.at[i] - last);
		buf_uleb(spine, out->stacks.at[ids.at[i] - 1].location);
		last = ids.at[i];
	}
	vec_fini(&ids);
}

static int put_stacks(struct tally_output *out, struct err *e)
{
	own(buf_fini) struct buf spine = { 0 };
	const size_t n = out->o.stacks.n;
	own(freep) uint32_t *ups = xcalloc(n + 1, sizeof(*ups));
	int rc = 0;

	vec_reserve(&out->stacks, n + 1);
	vec_each(id, &out->o.stacks) {
		const struct model_stack *s = &out->t->stacks.fresh.at[*id - 1];

		*vec_push(&out->stacks) = (struct model_stack){
			.parent = out->o.stack[s->parent],
			.location = out->o.location[s->location],
		};
	}

	count_ups(out, ups);
	for (size_t i = 0, rows; i < n && rc == 0; i += rows) {
		rows = n - i < STACK_ROWS ? n - i : STACK_ROWS;

		struct format_summary summary = { .n = rows, .first = i + 1 };

		encode_spine(out, (uint32_t)i, &spine);
		rc = writer_append_stacks(out->w, out->stacks.at + i, ups + i, &spine,
					  &summary, (uint32_t)out->o.locations.n, e);
	}
	return rc;
}

static uint32_t row_event(const struct tally_output *out, size_t i)
{
	const struct tally_row *row = &out->t->rows.at[out->o.rows.at[i]];

	return out->o.event[out->t->groups.at[row->group].event];
}

static uint32_t row_image(const struct tally_output *out, size_t i)
{
	uint32_t image =
		tally_leaf_image(out->t, out->t->rows.at[out->o.rows.at[i]].stack);

	return image == MODEL_NONE ? MODEL_NONE : out->o.image[image];
}

static void put_sample(struct tally_output *out, uint32_t row)
{
	const struct tally_row *r = &out->t->rows.at[row];
	const struct tally_group *g = &out->t->groups.at[r->group];
	const struct model_sample s = {
		.weight = tally_row_weight(out->t, row),
		.event = out->o.event[g->event],
		.thread = out->o.thread[g->thread],
		.cpu = g->cpu,
		.stack = out->o.stack[r->stack],
		.count = r->count,
	};

	*vec_push(&out->w->samples.rows) = s;
}

/* Rows of one event, in blocks by image. */
static int put_samples(struct tally_output *out, size_t from, size_t end, struct err *e)
{
	struct sample_batch *batch = &out->w->samples;
	int rc = 0;

	batch->of_event = row_event(out, from) + 1;
	for (size_t i = from, rows; i < end && rc == 0; i += rows) {
		rows = rows_of_block(out, i, end, row_image);
		batch->first_image = row_image(out, i) + 1; /* of none: 0 */
		batch->last_image = row_image(out, i + rows - 1) + 1;
		for (size_t k = i; k < i + rows; k++)
			put_sample(out, out->o.rows.at[k]);
		rc = writer_append_samples(out->w, e);
	}
	return rc;
}

static int put_data(struct tally_output *out, struct err *e)
{
	const size_t n = out->o.rows.n;
	int rc = put_locations(out, e);

	if (rc == 0)
		rc = put_stacks(out, e);
	for (size_t i = 0, end; i < n && rc == 0; i = end) {
		end = i + 1;
		while (end < n && row_event(out, end) == row_event(out, i))
			end++;
		rc = put_samples(out, i, end, e);
	}
	return rc;
}

int tally_write(const struct tally *t, const char *path,
		const struct tally_write_options *o, struct err *e)
{
	const struct writer_options options = {
		.no_time = true,
		.level = o ? o->level : 0,
		.uid = o ? o->uid : 0,
		.gid = o ? o->gid : 0,
		.has_owner = o && o->has_owner,
	};
	own(output_fini) struct tally_output out = { .t = t };
	int rc = writer_create(path, &options, &out.w, e);

	if (rc < 0)
		return rc;
	tally_order_init(&out.o, t);
	put_infos(&out);
	put_images(&out);
	put_processes(&out);
	put_events(&out);
	put_facts(&out);
	rc = put_blobs(&out, e);
	if (rc == 0)
		rc = writer_flush(out.w, e);
	if (rc == 0)
		rc = put_data(&out, e);
	return rc == 0 ? writer_close(steal(&out.w), e) : rc;
}

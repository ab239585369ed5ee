/* SPDX-License-Identifier: Apache-2.0
 *
 * A tally as a recording.  The blocks of locations and samples are of one image each, or
 * of a few neighbouring small ones, and the index says which.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/block_cut.h"
#include "store/row_stream.h"
#include "store/stack_stream.h"
#include "store/tally_data.h"
#include "store/writer_data.h"

void tally_output_fini(struct tally_output *out)
{
	tally_order_fini(&out->o);
	writer_free(out->w);
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

static int put_locations(struct tally_output *out, struct err *e)
{
	const size_t n = out->o.locations.n;
	own(freep) struct model_location *locations = xcalloc(n + 1, sizeof(*locations));
	own(freep) uint32_t *images = xcalloc(n + 1, sizeof(*images));
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		locations[i] = out->t->locations.all.at[out->o.locations.at[i]];
		locations[i].image = images[i] = out->o.image[locations[i].image];
	}
	for (size_t i = 0, rows; i < n && rc == 0; i += rows) {
		rows = block_cut(images + i, n - i);

		struct format_summary summary = {
			.n = rows,
			.first = i,
			.first_image = images[i] + 1,
			.last_image = images[i + rows - 1] + 1,
		};

		rc = writer_append_locations(out->w, locations + i, &summary, e);
	}
	return rc;
}

static int put_stacks(struct tally_output *out, struct err *e)
{
	const struct tally_order *o = &out->o;
	own(stack_stream_fini) struct stack_stream stream = {
		.writer = out->w,
		.n_locations = (uint32_t)o->locations.n,
	};
	own(freep) uint32_t *depth = xcalloc(o->stacks.n + 1, sizeof(*depth));
	int rc = 0;

	for (uint32_t i = 0; i < o->stacks.n && rc == 0; i++) {
		const struct model_stack *s =
			&out->t->stacks.fresh.at[o->stacks.at[i] - 1];

		depth[i + 1] = depth[o->stack[s->parent]] + 1;
		rc = stack_stream_add(&stream, depth[i + 1], o->location[s->location], e);
	}
	return rc == 0 ? stack_stream_end(&stream, e) : rc;
}

static int put_row(struct tally_output *out, struct row_stream *stream, uint32_t row,
		   struct err *e)
{
	const struct tally_row *r = &out->t->rows.at[row];
	const struct tally_group *g = &out->t->groups.at[r->group];
	uint32_t image = tally_leaf_image(out->t, r->stack);

	return row_stream_add(stream,
			      &(struct model_sample){
				      .weight = tally_row_weight(out->t, row),
				      .event = out->o.event[g->event],
				      .thread = out->o.thread[g->thread],
				      .cpu = g->cpu,
				      .stack = out->o.stack[r->stack],
				      .count = r->count,
			      },
			      image == MODEL_NONE ? MODEL_NONE : out->o.image[image], e);
}

static int put_rows(struct tally_output *out, struct err *e)
{
	own(row_stream_fini) struct row_stream stream = { .writer = out->w };
	int rc = 0;

	for (size_t i = 0; i < out->o.rows.n && rc == 0; i++)
		rc = put_row(out, &stream, out->o.rows.at[i], e);
	return rc == 0 ? row_stream_end(&stream, e) : rc;
}

int tally_output_begin(struct tally_output *out, const char *path,
		       const struct tally_write_options *o, struct err *e)
{
	const struct writer_options options = {
		.no_time = true,
		.level = o ? o->level : 0,
		.uid = o ? o->uid : 0,
		.gid = o ? o->gid : 0,
		.has_owner = o && o->has_owner,
	};
	int rc = writer_create(path, &options, &out->w, e);

	if (rc < 0)
		return rc;
	put_infos(out);
	put_images(out);
	put_processes(out);
	put_events(out);
	put_facts(out);
	rc = put_blobs(out, e);
	if (rc == 0)
		rc = writer_flush(out->w, e);
	if (rc == 0)
		rc = put_locations(out, e);
	if (rc == 0)
		tally_code_write(out);
	return rc;
}

int tally_write(const struct tally *t, const char *path,
		const struct tally_write_options *o, struct err *e)
{
	own(tally_output_fini) struct tally_output out = { .t = t };
	int rc;

	tally_order_init(&out.o, t);
	rc = tally_output_begin(&out, path, o, e);
	if (rc == 0)
		rc = put_stacks(&out, e);
	if (rc == 0)
		rc = put_rows(&out, e);
	return rc == 0 ? writer_close(steal(&out.w), e) : rc;
}

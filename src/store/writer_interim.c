/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "store/sums_mark.h"
#include "store/writer_data.h"

void writer_interim_fini(struct writer_interim *x)
{
	sample_batch_fini(&x->samples);
	trace_batch_fini(&x->traces);
	buf_fini(&x->facts);
	buf_fini(&x->payload);
	buf_fini(&x->mark);
}

static void nest_block(struct writer *w, enum format_kind kind, const struct buf *payload)
{
	struct writer_interim *x = &w->interim;

	if (!x->failure.code)
		(void)!block_sink_nest(&w->sink, &x->payload, interim_head_bytes(), kind,
				       payload, &x->failure);
}

/* The payload under construction as a block inside. */
static void nest(struct writer *w, enum format_kind kind, const struct buf *payload)
{
	struct writer_interim *x = &w->interim;

	if (!x->is_marked) {
		sums_mark_encode(&(struct sums_mark){ .number = x->origin }, &x->mark);
		nest_block(w, FORMAT_SUMS_MARK, &x->mark);
		x->is_marked = true;
	}
	nest_block(w, kind, payload);
}

static void nest_samples(struct writer *w)
{
	struct format_summary summary = { 0 };

	if (!w->interim.samples.rows.n)
		return;
	buf_clear(&w->payload);
	sample_batch_encode(&w->interim.samples, &w->sink.squeeze, &w->payload, &summary);
	nest(w, FORMAT_SAMPLES, &w->payload);
	sample_batch_clear(&w->interim.samples);
}

static void nest_traces(struct writer *w)
{
	struct format_summary summary;

	if (!w->interim.traces.rows.n)
		return;
	buf_clear(&w->payload);
	trace_batch_encode(&w->interim.traces, &w->sink.squeeze, &w->payload, &summary);
	nest(w, FORMAT_TRACES, &w->payload);
	trace_batch_clear(&w->interim.traces);
}

static void nest_facts(struct writer *w)
{
	if (w->interim.facts.size)
		nest(w, FORMAT_FACTS, &w->interim.facts);
	buf_clear(&w->interim.facts);
	w->interim.n_facts = 0;
}

void writer_interim_sample(struct writer *w, const struct model_sample *s)
{
	sample_batch_add(&w->interim.samples, s);
	if (sample_batch_is_full(&w->interim.samples))
		nest_samples(w);
}

void writer_interim_trace(struct writer *w, const struct model_trace *t,
			  unsigned n_values)
{
	trace_batch_add(&w->interim.traces, t, n_values);
	if (trace_batch_is_full(&w->interim.traces))
		nest_traces(w);
}

void writer_interim_fact(struct writer *w, const struct model_fact *fact)
{
	struct writer_interim *x = &w->interim;

	layout_encode(w->lists[FORMAT_FACTS].layout, x->n_facts++, fact, &x->facts);
	if (x->facts.size >= WRITER_CHUNK_BYTES)
		nest_facts(w);
}

static void nest_all(struct writer *w)
{
	nest_samples(w);
	nest_traces(w);
	nest_facts(w);
}

uint32_t writer_interim_of(struct writer *w, uint32_t number)
{
	struct writer_interim *x = &w->interim;

	assert(x->is_open && number <= x->n_origins);
	nest_all(w);
	x->origin = number ? number : ++x->n_origins;
	x->is_marked = false;
	return x->origin;
}

bool writer_interim_begin(struct writer *w)
{
	struct writer_interim *x = &w->interim;

	if (w->has_failed || w->is_full || w->options.is_patient)
		return false;
	x->is_open = true;
	x->origin = 0;
	x->is_marked = false;
	x->failure = (struct err){ 0 };
	x->samples.is_merged = w->options.no_time;
	interim_begin(&x->payload);
	return true;
}

int writer_interim_end(struct writer *w, uint64_t time_ns, uint64_t next_ns,
		       struct err *e)
{
	struct writer_interim *x = &w->interim;
	int rc;

	assert(x->is_open);
	nest_all(w);
	x->is_open = false;
	/* They refer only to what is there. */
	rc = writer_flush(w, e);
	if (rc == 0 && x->failure.code) {
		if (e)
			*e = x->failure;
		rc = x->failure.code;
	}
	if (rc == 0 && w->is_full)
		rc = err_set(e, ERR_LIMIT, "'%s' reached its largest size",
			     w->sink.file.path);
	if (rc < 0)
		return rc;
	x->head = (struct interim){ .generation = x->head.generation + 1,
				    .time_ns = time_ns,
				    .next_ns = next_ns };
	interim_put(&x->payload, &x->head);
	return block_sink_put_interim(&w->sink, &x->payload, w->options.max_bytes, e);
}

void writer_interim_drop(struct writer *w)
{
	w->interim.is_open = false;
	if (w->sink.interim.size && writer_flush(w, NULL) < 0)
		return; /* with what it says */
	block_sink_drop_interim(&w->sink);
}

static void mark(struct writer *w, const struct sums_mark *m)
{
	/* Where data has no place, the last sums are not there. */
	if (writer_flush_blocks(w, NULL) < 0 || w->is_full)
		return;
	sums_mark_encode(m, &w->payload);
	if (writer_append(w, FORMAT_SUMS_MARK, NULL, true, NULL) < 0)
		return; /* kept in w->failure */
}

void writer_last_sums_begin(struct writer *w, uint32_t number)
{
	mark(w, &(struct sums_mark){ .number = number });
}

void writer_last_sums_end(struct writer *w, uint32_t number)
{
	mark(w, &(struct sums_mark){ .number = number, .is_end = true });
}

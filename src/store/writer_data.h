/* SPDX-License-Identifier: Apache-2.0
 *
 * writer_data - the inside of a writer, shared by its parts.
 *
 * writer.c takes things in, writer_flush.c makes blocks of them, writer_interim.c keeps
 * apart what is not the last word, writer_continue.c begins with what a recording has
 * already.
 */
#ifndef DWELL_STORE_WRITER_DATA_H
#define DWELL_STORE_WRITER_DATA_H

#include "base/intern.h"
#include "base/vec.h"
#include "store/block_sink.h"
#include "store/code_batch.h"
#include "store/interim.h"
#include "store/location_table.h"
#include "store/record_list.h"
#include "store/sample_batch.h"
#include "store/stack_table.h"
#include "store/trace_batch.h"
#include "store/writer.h"

#define WRITER_CHUNK_BYTES (1u << 20) /* of records and strings per block */
/* Kept free below max_bytes, or of a disk, for the closing facts, names and index. */
#define WRITER_CLOSING_BYTES  (64u << 10)
#define WRITER_N_RECORD_KINDS 9

struct writer_interim {
	bool is_open;
	uint32_t n_origins, origin; /* 0: nobody's */
	bool is_marked;		    /* the payload says whose its last block is */
	struct err failure;	    /* of what is inside */
	struct sample_batch samples;
	struct trace_batch traces;
	struct buf facts, payload, mark;
	uint32_t n_facts;
	struct interim head; /* of the last one */
};

struct writer {
	struct writer_options options;
	struct block_sink sink;
	struct intern *strings, *image_keys, *fact_keys;
	uint32_t n_strings_written;
	struct record_list lists[FORMAT_N_KINDS];
	struct location_table locations;
	struct stack_table stacks;
	struct sample_batch samples;
	struct trace_batch traces;
	struct code_batch basic_blocks, edges, directions, accesses, anchors, gauges,
		anchor_ways;
	struct writer_interim interim;
	uint32_t n_basic_blocks; /* all, written or not */
	uint64_t n_locations;	 /* written */
	struct buf infos, payload, key;
	VEC(uint64_t) column;
	uint64_t began_ns; /* when the first tick saw unwritten data; 0: none did */
	bool has_flushed;
	uint64_t lost_samples, lost_traces;
	struct err failure;
	bool has_failed, is_full;
};

/* Written in this order, so that a block refers only to what is before it. */
extern const enum format_kind writer_record_kinds[WRITER_N_RECORD_KINDS];

struct writer *writer_new(const struct writer_options *options);
/* Nobody asks for those again that were written. */
void writer_settle_records(struct writer *w, enum format_kind kind);
/* The payload under construction as a block; keeps the first failure. */
must_use int writer_append(struct writer *w, enum format_kind kind,
			   const struct format_summary *summary, bool is_dense,
			   struct err *e);
/* Blocks of what the caller has numbered; of locations summary says how many, from which
 * id on, and of which images. */
must_use int writer_append_locations(struct writer *w, const struct model_location *rows,
				     const struct format_summary *summary, struct err *e);
/* ups: how many levels above the row before each one's parent is, and spine: what that
 * row hangs from; or both NULL. */
must_use int writer_append_stacks(struct writer *w, const struct model_stack *rows,
				  const uint32_t *ups, const struct buf *spine,
				  const struct format_summary *summary,
				  uint32_t n_locations, struct err *e);
must_use int writer_append_samples(struct writer *w, struct err *e); /* the batch */
/* What is small and explains the rest: also written when there is no room for data. */
must_use int writer_append_explanations(struct writer *w, struct err *e);
/* All that was taken so far as blocks, which may wait. */
must_use int writer_flush_blocks(struct writer *w, struct err *e);
/* Of sums that are not the last word. */
void writer_interim_sample(struct writer *w, const struct model_sample *s);
void writer_interim_trace(struct writer *w, const struct model_trace *t,
			  unsigned n_values);
void writer_interim_fact(struct writer *w, const struct model_fact *fact);
void writer_interim_fini(struct writer_interim *x);
/* The failure that was kept, as a result. */
int writer_failure(const struct writer *w, struct err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * tally_data - the inside of a tally, shared by its parts.
 *
 * tally.c and tally_code.c take things in, tally_add.c whole recordings, tally_order.c
 * finds the order in which tally_write.c writes.  tally_merge.c merges what these have
 * written.
 */
#ifndef DWELL_STORE_TALLY_DATA_H
#define DWELL_STORE_TALLY_DATA_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"
#include "store/location_table.h"
#include "store/record_list.h"
#include "store/stack_table.h"
#include "store/tally.h"
#include "store/tally_code.h"

#define TALLY_N_LISTS 5

/* What samples are counted by, beside the stack. */
struct tally_group {
	uint32_t event, thread, cpu;
};

/* 12 bytes, as there may be millions.  A weight that is not count x period is beside. */
struct tally_row {
	uint32_t group, stack, count;
};

struct tally_blob {
	struct model_blob blob;
	uint8_t *data;
};

struct tally {
	struct intern *strings;
	/* Content to id + 1, of the lists and of groups. */
	struct intern *keys[FORMAT_N_KINDS], *group_keys, *info_keys, *blob_keys;
	struct record_list lists[FORMAT_N_KINDS];
	struct location_table locations;
	struct stack_table stacks; /* never settled: fresh has all */
	VEC(struct tally_group) groups;
	VEC(struct tally_row) rows;
	VEC(uint64_t) periods; /* by event: what it was first said to be */
	/* By row, what its weight is more than count x that (modulo 2^64); empty: 0 for
	 * all. */
	VEC(uint64_t) extra;
	uint32_t *slots; /* row + 1, 0: free */
	size_t cap;	 /* of slots, a power of two, or 0 */
	uint64_t n_samples;
	VEC(const char *) infos; /* by info key - 1 */
	VEC(struct tally_blob) blobs;
	struct tally_code code;
	struct buf key;
	struct tally_group last_group; /* of the sample before, mostly this one's, too */
	uint32_t last_group_id;	       /* + 1, 0: none */
};

extern const enum format_kind tally_lists[TALLY_N_LISTS];

/* Ids of a recording to those of the tally. */
struct tally_translation {
	uint32_t *image, *process, *thread, *event, *location;
};

void tally_translation_fini(struct tally_translation *to);
/* Everything of it but stacks and samples. */
must_use int tally_add_front(struct tally *t, const struct recording *r,
			     struct tally_translation *ret, struct err *e);

struct tally_ids {
	uint32_t *at;
	size_t n, cap;
};

/* Places in the written file: what is not written has MODEL_NONE. */
struct tally_order {
	uint32_t *image, *process, *thread, *event; /* rank by id */
	uint32_t *location, *stack;		    /* rank by id; stack 0 is 0 */
	/* ids by rank */
	struct tally_ids images, processes, threads, events, locations, stacks;
	struct tally_ids rows; /* by event, image of the innermost frame, thread, stack */
};

void tally_order_init(struct tally_order *o, const struct tally *t);
/* Of a tally without stacks and rows: all that there is, is written. */
void tally_order_init_front(struct tally_order *o, const struct tally *t);
void tally_order_fini(struct tally_order *o);

struct writer;

/* A tally on its way into a file; set t and the order of o. */
struct tally_output {
	const struct tally *t;
	struct tally_order o;
	struct writer *w;
};

/* All but stacks and rows is written. */
must_use int tally_output_begin(struct tally_output *out, const char *path,
				const struct tally_write_options *o, struct err *e);
void tally_output_fini(struct tally_output *out);

/* The image of a stack's innermost frame; MODEL_NONE of the empty stack. */
uint32_t tally_leaf_image(const struct tally *t, uint32_t stack);
uint64_t tally_row_weight(const struct tally *t, uint32_t row);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * system_code - the files of code that BPF programs meet, and what they walk stacks by.
 *
 * Files have numbers, images, rows, and perhaps processes that are told apart: each is a
 * module of its own, and each set of programs has one of each.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_CODE_H
#define DWELL_COLLECT_SYSTEM_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/recorder.h"
#include "collect/system_apart.h"
#include "collect/system_images.h"
#include "collect/system_numbers.h"
#include "collect/system_rows.h"

/* Of programs that are loaded, borrowed. */
struct system_code_maps {
	struct system_rows_maps rows;
	struct system_numbers_maps numbers;
	int apart;
	const uint32_t *n_unnumbered; /* times that a file could not be numbered */
};

/* Of a skeleton: each has a type of its own, with maps of the same names. */
#define SYSTEM_CODE_MAPS(k)                                                              \
	((struct system_code_maps){                                                      \
		.rows = { .pools = bpf_map__fd((k)->maps.pools),                         \
			  .rules = bpf_map__fd((k)->maps.rules),                         \
			  .images = bpf_map__fd((k)->maps.images) },                     \
		.numbers = { .files = bpf_map__fd((k)->maps.mapping_files),              \
			     .images = bpf_map__fd((k)->maps.images),                    \
			     .offers = bpf_map__fd((k)->maps.mapping_offers),            \
			     .n_given = &(k)->data->mapping_next_image,                  \
			     .n_taken = &(k)->bss->mapping_n_taken,                      \
			     .n_offered = &(k)->bss->mapping_n_offered },                \
		.apart = bpf_map__fd((k)->maps.apart_images),                            \
		.n_unnumbered = &(k)->bss->mapping_n_unnumbered,                         \
	})

struct system_code_settings {
	struct system_code_maps maps;
	bool is_taken;			  /* what another left in them is gone on with */
	const struct path_choice *chosen; /* or NULL */
	struct symbol_store *symbols;	  /* or NULL */
	size_t first_bytes;		  /* of rows, as system_rows_new() has them */
};

/* Not to be moved. */
struct system_code {
	struct system_rows *rows;
	struct system_images *images;
	struct system_numbers *numbers;
	struct system_apart *apart; /* or NULL */
	const uint32_t *n_unnumbered;
};

/* c: zeros, and whatever comes of it is to be released. */
must_use int system_code_open(struct system_code *c, const struct system_code_settings *x,
			      struct err *e);
void system_code_fini(struct system_code *c);

/* A program's word of a file. */
void system_code_meet(struct system_code *c, const struct stack_record_image *r);
/* To be called now and then, when what was told is drained. */
void system_code_tick(struct system_code *c, uint64_t now_ns);

void system_code_status(const struct system_code *c, struct recorder_counted *ret);

#endif

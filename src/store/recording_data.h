/* SPDX-License-Identifier: Apache-2.0
 *
 * recording_data - the inside of an open recording, shared by its parts.
 *
 * recording.c opens all of it and answers, recording_interim.c knows what a killed
 * recorder had not written yet, recording_part.c and recording_front.c open a part.
 */
#ifndef DWELL_STORE_RECORDING_DATA_H
#define DWELL_STORE_RECORDING_DATA_H

#include "base/vec.h"
#include "store/block_list.h"
#include "store/block_source.h"
#include "store/damage.h"
#include "store/dictionary.h"
#include "store/interim.h"
#include "store/recording.h"
#include "store/sums_mark.h"

struct data_block {
	uint64_t offset;
	struct format_summary summary;
};

struct piece_place {
	uint64_t block_off; /* of its block in the file */
	uint64_t offset;    /* of its first byte in the blob */
	uint32_t blob, raw_size;
};

struct recording {
	struct block_source source;
	struct block_list list;
	struct damage damage;
	const char *damage_line;
	struct dictionary dictionary;
	struct interim interim;	 /* generation 0: none */
	struct sums_marks marks; /* where there is one */
	bool has_untold;	 /* some of it is not in the chain */
	VEC(struct data_block) samples;
	VEC(struct data_block) traces;
	VEC(struct data_block) basic_blocks;
	VEC(struct data_block) edges;
	VEC(struct data_block) directions;
	VEC(struct data_block) accesses;
	VEC(struct data_block) anchors;
	VEC(struct data_block) anchor_ways;
	VEC(struct data_block) gauges;
	VEC(struct piece_place) pieces; /* by blob, then offset */
	struct buf stored, raw;		/* while loading */
	uint64_t n_read_bytes;		/* of blocks, to open it */
};

/* Reads, verifies and takes one block; what is wrong with it is noted.  An error is the
 * system's. */
must_use int recording_load_block(struct recording *r, const struct format_entry *b,
				  struct err *e);
/* Are blocks of this kind loaded? */
bool recording_wants(unsigned kind);
/* Of one whose blocks are listed, and have not been loaded yet. */
must_use int recording_find_interim(struct recording *r, struct err *e);
/* When they have been. */
must_use int recording_load_interim(struct recording *r, struct err *e);
void recording_tell_interim(struct recording *r);
/* Opens all of a recording that ended in order but its stacks and samples, which are
 * known by where they are.  ERR_FORMAT: it is damaged, or did not end in order. */
must_use int recording_open_front(const char *path, struct recording **ret,
				  struct err *e);
/* The memory of its dictionaries is released; how much was in them stays known. */
void recording_forget(struct recording *r);
/* After the last block. */
void recording_settle(struct recording *r);

#endif

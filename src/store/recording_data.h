/* SPDX-License-Identifier: Apache-2.0
 *
 * recording_data - the inside of an open recording, shared by its parts.
 *
 * recording.c opens all of it and answers, recording_part.c opens a part.
 */
#ifndef DWELL_STORE_RECORDING_DATA_H
#define DWELL_STORE_RECORDING_DATA_H

#include "base/vec.h"
#include "store/block_list.h"
#include "store/block_source.h"
#include "store/damage.h"
#include "store/dictionary.h"
#include "store/recording.h"

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
	VEC(struct data_block) samples;
	VEC(struct data_block) traces;
	VEC(struct piece_place) pieces; /* by blob, then offset */
	struct buf stored, raw;		/* while loading */
	uint64_t n_read_bytes;		/* of blocks, to open it */
};

/* Reads, verifies and takes one block; what is wrong with it is noted.  An error is the
 * system's. */
must_use int recording_load_block(struct recording *r, const struct format_entry *b,
				  struct err *e);
/* After the last block. */
void recording_settle(struct recording *r);

#endif

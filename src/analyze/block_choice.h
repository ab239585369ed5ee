/* SPDX-License-Identifier: Apache-2.0
 *
 * block_choice - which basic blocks and ways between them a profile's filter lets pass.
 *
 * A filter chooses samples, and where every instruction was counted each is one of its
 * process.  So a block is chosen by its first instruction, and a way out of it by its
 * last, which goes it.
 */
#ifndef DWELL_ANALYZE_BLOCK_CHOICE_H
#define DWELL_ANALYZE_BLOCK_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/vec.h"

/* An instruction that a process executed. */
struct block_choice_place {
	uint32_t process, image;
	uint64_t off;
	bool passes;
};

struct block_choice {
	const struct recording *recording;
	bool is_all;			       /* there is no filter */
	VEC(struct block_choice_place) places; /* in order */
};

/* Borrows the profile's recording.  An error where counted instructions are not among
 * what was asked for, or the filter divides a block. */
must_use int block_choice_make(struct block_choice *ret, const struct profile *p,
			       size_t source, struct err *e);
void block_choice_fini(struct block_choice *c);

bool block_choice_has_begin(const struct block_choice *c,
			    const struct model_basic_block *b);
bool block_choice_has_end(const struct block_choice *c,
			  const struct model_basic_block *b);

#endif

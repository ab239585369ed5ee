/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_words - the words of memory in which a program may count what it does, as they
 * are while it stands.
 *
 * Those around the end of its stack, those near what its registers point to, and those
 * that its code names by their address.  No page is asked for that it did not name
 * itself in one of these ways.
 */
#ifndef DWELL_COLLECT_ANCHOR_WORDS_H
#define DWELL_COLLECT_ANCHOR_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "collect/count_attach.h"

/* Within a page. */
struct anchor_words_area {
	uint64_t addr;
	size_t first, n; /* of the values */
};

struct anchor_words {
	VEC(struct anchor_words_area) areas; /* by address, apart from each other */
	VEC(uint64_t) values;
};

/* Addresses of words. */
struct anchor_words_named {
	VEC(uint64_t) at;
};

void anchor_words_fini(struct anchor_words *w);
void anchor_words_clear(struct anchor_words *w);

/* Of where it stands, and of what is named; without those that cannot be read. */
void anchor_words_take(struct anchor_words *w, const struct count_stand *stand,
		       const struct anchor_words_named *named);
/* The same words as those of another time. */
void anchor_words_take_as(struct anchor_words *w, const struct anchor_words *other,
			  pid_t pid);
/* False: it was not taken. */
bool anchor_words_find(const struct anchor_words *w, uint64_t addr, uint64_t *ret);

/* Adds the words that an instruction's bytes name by an address of their own: of so many
 * bytes of code that begin at addr. */
void anchor_words_name(struct anchor_words_named *to, const uint8_t *code, size_t bytes,
		       uint64_t addr);

#endif

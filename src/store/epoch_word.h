/* SPDX-License-Identifier: Apache-2.0
 *
 * epoch_word - a word of the user's that names epochs of a host.
 *
 * A number; a negative one counts from the newest, which is -1 or "last"; a range A..B of
 * these, open where one is missing; or a label.
 */
#ifndef DWELL_STORE_EPOCH_WORD_H
#define DWELL_STORE_EPOCH_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* label: NULL: it has none. */
struct epoch_word_epoch {
	uint32_t number;
	size_t n_newer; /* of the same host */
	const char *label;
};

bool epoch_word_names(const char *word, const struct epoch_word_epoch *epoch);

#endif

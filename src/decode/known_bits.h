/* SPDX-License-Identifier: Apache-2.0
 *
 * known_bits - numbers of which some bits may not be known.
 *
 * Of a size of 1 to 8 bytes they are neither set nor known beyond it.  Freestanding, no
 * state.
 */
#ifndef DWELL_DECODE_KNOWN_BITS_H
#define DWELL_DECODE_KNOWN_BITS_H

#include <stdbool.h>
#include <stdint.h>

struct known_bits {
	uint64_t bits; /* 0 where they are not known */
	uint64_t known;
};

uint64_t known_bits_mask(unsigned bytes);
struct known_bits known_bits_of(uint64_t bits, unsigned bytes);
struct known_bits known_bits_part(struct known_bits v, unsigned bytes);
/* Are all known? */
bool known_bits_is_whole(struct known_bits v, unsigned bytes);
/* Plain bits, with their sign as a number of 8 bytes. */
uint64_t known_bits_signed(uint64_t v, unsigned bytes);
struct known_bits known_bits_sign_extend(struct known_bits v, unsigned from, unsigned to);
/* What is the same in both. */
struct known_bits known_bits_either(struct known_bits a, struct known_bits b);
/* The greatest number that it may be. */
uint64_t known_bits_largest(struct known_bits v, unsigned bytes);
/* Those below the lowest that is not known: of sums and products what is known if this is
 * known of all their parts. */
uint64_t known_bits_from_below(uint64_t known);

#endif

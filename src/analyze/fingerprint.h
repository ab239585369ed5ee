/* SPDX-License-Identifier: Apache-2.0
 *
 * fingerprint - what of a function's code is left when it is built anew.
 *
 * Registers, addresses and the order of blocks are not.  What is done, instructions in
 * threes, stays from version to version with the same options; the numbers in it
 * (constants, places in structures) stay whatever the options are.
 */
#ifndef DWELL_ANALYZE_FINGERPRINT_H
#define DWELL_ANALYZE_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fingerprint {
	uint64_t *runs, *numbers; /* sorted; numbers are distinct */
	size_t n_runs, n_numbers;
};

void fingerprint_take(struct fingerprint *ret, unsigned machine, const uint8_t *code,
		      size_t size);
void fingerprint_fini(struct fingerprint *f);

struct fingerprint_likeness {
	double runs, numbers;  /* what both have, by what either has */
	size_t n_numbers;      /* that both have */
	bool has_code;	       /* of both */
	bool is_same, is_like; /* enough by itself; enough where more speaks for it */
};

struct fingerprint_likeness fingerprint_compare(const struct fingerprint *a,
						const struct fingerprint *b);
/* Of two sorted lists: what both have, by what either has; how many both have. */
double fingerprint_share(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
			 size_t *ret_n);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_bits - instructions about single bits: bt and its like, scans, BMI.
 *
 * Parts of x86_execute.  What comes with newer processors is taken for what it is there,
 * as programs do that have it.  Freestanding.
 */
#ifndef DWELL_DECODE_X86_BITS_H
#define DWELL_DECODE_X86_BITS_H

#include <stdbool.h>

struct x86_step;

/* bt, bts, btr, btc; false: it is none. */
bool x86_bits_test(struct x86_step *s);
/* bsf, bsr, tzcnt, lzcnt, popcnt; false, and nothing is done: it is none. */
bool x86_bits_count(struct x86_step *s);
/* Those of general registers that have a VEX prefix; false as before. */
bool x86_bits_vex(struct x86_step *s);

#endif

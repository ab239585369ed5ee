/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_flags - the arithmetic flags that an instruction depends on and sets.
 *
 * Errs to the safe side for whoever asks whether flags are still needed: never too few
 * that are read, never too many that are set.  Freestanding.
 */
#ifndef DWELL_DECODE_X86_FLAGS_H
#define DWELL_DECODE_X86_FLAGS_H

#include <stdint.h>

struct x86_op;

enum x86_flag {
	X86_FLAG_C = 1,
	X86_FLAG_P = 2,
	X86_FLAG_A = 4,
	X86_FLAG_Z = 8,
	X86_FLAG_S = 16,
	X86_FLAG_O = 32,
	X86_FLAGS_ALL = 63,
};

struct x86_flags {
	uint8_t read;
	uint8_t set; /* whatever they were before; also to what no manual defines */
};

struct x86_flags x86_flags_of(const struct x86_op *op);

#endif

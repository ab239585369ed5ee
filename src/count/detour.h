/* SPDX-License-Identifier: Apache-2.0
 *
 * detour - instructions of the program that cannot be copied as they are.
 *
 * Their operand is too far from the translation, or in the segment that is the engine's
 * own (gs).  Its address is computed into a register that is put aside meanwhile; flags
 * stay.  A mark in the code tells how far all of it could be undone.
 */
#ifndef DWELL_COUNT_DETOUR_H
#define DWELL_COUNT_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

struct emit;
struct x86_op;

struct detour {
	uint8_t bytes;	 /* all of it */
	uint8_t own_off; /* up to here nothing was done but to registers put aside */
	uint8_t program_bytes; /* of the program's instruction */
};

/* False: a copy of the instruction at from does the same at to. */
bool detour_is_needed(const struct x86_op *op, uint64_t from, const uint8_t *to);

/* False: there is none for it. */
bool detour_is_possible(const struct x86_op *op);
void detour_emit(struct emit *e, const struct x86_op *op, uint64_t from);

/* Of an indirect jump or call: where it goes, into rcx. */
void detour_emit_target(struct emit *e, const struct x86_op *op, uint64_t from);

/* False: none begins at code. */
bool detour_read(const uint8_t *code, struct detour *ret);

/* Of one that begins at start and was executed up to code: registers as they were. */
void detour_undo(const uint8_t *start, const uint8_t *code, const uint64_t *spill,
		 uint64_t *regs);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * jit_dump - the binary log of a JIT compiler (jit-PID.dump): code with its bytes,
 * lines and moves.
 *
 * Records are applied in the order of their times; where code replaced other code the
 * later holds.  The format is Linux tools/perf/Documentation/jitdump-specification.
 */
#ifndef DWELL_SYM_JIT_DUMP_H
#define DWELL_SYM_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "sym/code_map.h"

struct jit_dump;

struct jit_dump_line {
	const char *file;
	uint32_t line;
};

/* Takes the bytes over.  What precedes damage is kept. */
must_use int jit_dump_parse(struct buf *bytes, struct jit_dump **ret, struct err *e);
void jit_dump_free(struct jit_dump *d);
void jit_dump_freep(struct jit_dump **d);

const struct code_map *jit_dump_map(const struct jit_dump *d);
/* Line of an address inside a piece of the map. */
bool jit_dump_find_line(const struct jit_dump *d, const struct code_piece *piece,
			uint64_t address, struct jit_dump_line *ret);
/* Appends the machine code from the address on, at most to the end of the piece. */
bool jit_dump_code(const struct jit_dump *d, const struct code_piece *piece,
		   uint64_t address, size_t size, struct buf *ret);

#endif

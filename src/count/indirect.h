/* SPDX-License-Identifier: Apache-2.0
 *
 * indirect - jumps, calls and returns to where a register or memory says.
 *
 * Return addresses on the program's stack are its own.  A return looks for its
 * translation by some bits of the address; what it finds there compares all of it, and
 * within a chosen function looks whether that is left.  An
 * indirect jump or call compares its target with the first few that it ever had; with
 * more than those it looks them up in a table.  Each pair of a jump or call and its
 * target has a counter.
 */
#ifndef DWELL_COUNT_INDIRECT_H
#define DWELL_COUNT_INDIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct code_unit;
struct context;
struct emit;
struct link;

void indirect_init(void);
void indirect_clear(void);
bool indirect_has_room(void);

/* Returns to addr come to the engine, but those that leave the nest; with flags as they
 * are if those are needed there. */
void indirect_expect(uint32_t nest, uint64_t addr);

void indirect_push_return(struct code_unit *u, struct emit *e, uint64_t addr);
void indirect_emit_return(struct code_unit *u, struct emit *e, uint32_t nest,
			  const struct block *b);

/* Where returns to addr arrive: on behind it when it is theirs.  From being published on
 * threads execute it, and what is behind it. */
void indirect_emit_return_check(struct code_unit *u, struct emit *e, uint32_t nest,
				uint64_t addr);
void indirect_publish_return(uint32_t nest, uint64_t addr, const void *check);

/* The jump or call that ends b, whose number is block. */
void indirect_emit_site(struct code_unit *u, struct emit *e, uint32_t block,
			const struct block *b);

/* Where to go on for a context that left by such a link. */
const void *indirect_return(struct context *c, const struct link *l);
const void *indirect_go(struct context *c, const struct link *l);
const void *indirect_unwind(struct context *c, const struct link *l);

#endif

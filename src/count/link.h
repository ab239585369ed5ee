/* SPDX-License-Identifier: Apache-2.0
 *
 * link - where translated code comes back to the engine, and why.
 *
 * Most of them only the first time: then the code behind is known and the way there is
 * made direct, by one store into the code.
 */
#ifndef DWELL_COUNT_LINK_H
#define DWELL_COUNT_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/count_control.h"

struct code_unit;

#define LINK_SYSCALL_BYTES COUNT_CONTROL_CALL_BYTES

enum link_kind {
	LINK_CODE,	    /* on at addr */
	LINK_SYSCALL,	    /* make it, then on at addr */
	LINK_INT80,	    /* the same, of a 32-bit program's kind */
	LINK_RETURN,	    /* a return whose slot knows no such address */
	LINK_RETURN_MORE,   /* a return that takes more from the stack than its address */
	LINK_SITE,	    /* an indirect jump or call to where it did not go before */
	LINK_PAIR,	    /* the same where the table of pairs was asked */
	LINK_UNWIND,	    /* an indirect jump behind a change of stacks */
	LINK_UNWIND_RETURN, /* a return behind one */
	LINK_NATIVE,	    /* the instruction at addr is not translated */
	LINK_CANNOT,	    /* the same, and it must not be executed natively */
};

struct link {
	enum link_kind kind;
	uint32_t number; /* of the site, the block that is left, or more bytes of the
			    stack */
	uint64_t addr;
	uint8_t *from; /* the distance to change, or NULL */
};

/* Code that leaves for the engine. */
const uint8_t *link_leave(struct code_unit *u, struct link l);

const struct link *link_get(uint64_t i);

void link_clear(void);
bool link_has_room(void);

/* The distance at from leads to code from now on. */
void link_to(uint8_t *from, const void *code);

/* Code within reach of the unit that goes to code anywhere. */
const uint8_t *link_far(struct code_unit *u, const void *code);

#endif

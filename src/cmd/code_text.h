/* SPDX-License-Identifier: Apache-2.0
 *
 * code_text - a function's instructions as text, with the names of what they refer to.
 */
#ifndef DWELL_CMD_CODE_TEXT_H
#define DWELL_CMD_CODE_TEXT_H

#include "analyze/profile.h"
#include "insn/disasm.h"

struct code_text {
	const struct profile *profile;
	const struct profile_function *function;
	/* Link-time address minus stored offset, in the function's own code. */
	uint64_t delta;
	bool has_delta;
	bool leaves_own_name_out; /* of places in the function: "+0x2c" */
	struct disasm *disasm;
};

must_use int code_text_init(struct code_text *ret, const struct profile *p,
			    uint32_t function, bool is_intel, struct err *e);
void code_text_fini(struct code_text *c);

#endif

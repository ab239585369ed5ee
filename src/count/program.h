/* SPDX-License-Identifier: Apache-2.0
 *
 * program - an executable and its interpreter, brought into memory as the kernel does it.
 */
#ifndef DWELL_COUNT_PROGRAM_H
#define DWELL_COUNT_PROGRAM_H

#include <stdint.h>

struct program {
	uint64_t entry; /* of the interpreter, if there is one */
	uint64_t own_entry;
	uint64_t headers, n_headers;
	uint64_t interpreter_base;
	uint64_t code_start, code_end, data_start, data_end, break_start;
};

/* Ends the process with a message when it cannot be executed. */
void program_load(struct program *p, const char *path, uint64_t random);

#endif

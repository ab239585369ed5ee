/* SPDX-License-Identifier: Apache-2.0
 *
 * core_kernel - small loops of known instructions, and how long this core takes for them.
 *
 * Their code is there to be read, too: so a machine model can be asked about the same.
 */
#ifndef DWELL_HOST_CORE_KERNEL_H
#define DWELL_HOST_CORE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct core_kernel {
	const char *what;	   /* "integer additions, one after the other" */
	const uint8_t *code, *end; /* of what is repeated, without the loop around it */
	unsigned n;		   /* times that it says what in there */
	void (*run)(uint64_t n_turns, void *memory);
};

size_t core_kernel_count(void);
/* The first takes one cycle for each of its operations on every core. */
const struct core_kernel *core_kernel_at(size_t i);
/* Cycles of each kernel's operations, [core_kernel_count()], by the first one's; takes
 * some tens of milliseconds.  Who else uses the core makes it more. */
void core_kernel_measure(double *cycles);

#endif

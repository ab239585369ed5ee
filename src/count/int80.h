/* SPDX-License-Identifier: Apache-2.0
 *
 * int80 - system calls of 32-bit programs, which others can make as well.
 *
 * Those that the engine has to do with, and those that may wait, are the same ones by
 * other numbers.  The rest are the kernel's, as they are.
 */
#ifndef DWELL_COUNT_INT80_H
#define DWELL_COUNT_INT80_H

#include <stdbool.h>
#include <stdint.h>

struct context;

/* The registers become those of the same call as others make it; false: there is none. */
bool int80_translate(uint64_t *regs);

/* The kernel's answer to what has no other number. */
long int80_call(const struct context *c);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * memory_limit - what the program may have of memory, beside what the engine has
 * reserved.
 *
 * The kernel's limits are that much higher than those that the program sets and sees.
 */
#ifndef DWELL_COUNT_MEMORY_LIMIT_H
#define DWELL_COUNT_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct context;

/* are_raised: by who executed this.  Aborts when limits cannot be raised. */
void memory_limit_begin(bool are_raised);

/* Those of the process include what the engine needs. */
bool memory_limit_is_raised(void);

/* So much more would be too much of addresses; the kernel, who sees the engine's as well,
 * would give it. */
bool memory_limit_refuses(uint64_t bytes);

/* As the program has set them, and again as the engine needs them. */
void memory_limit_give_back(void);
void memory_limit_take_again(void);

/* Calls of the program: setrlimit, getrlimit, prlimit64 and mlockall, and brk. */
long memory_limit_set(struct context *c);
long memory_limit_get(struct context *c);
long memory_limit_change(struct context *c);
long memory_limit_lock(struct context *c);
long memory_limit_break(struct context *c);

#endif

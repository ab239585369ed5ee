/* SPDX-License-Identifier: Apache-2.0
 *
 * nest - which of the chosen functions a thread is in, one within the other.
 *
 * Code is translated once for each nest that it is executed in, with counters of its own.
 * So what is executed under a function is counted apart, exactly, and where none is
 * chosen nothing is added.  A thread changes its nest where it enters a chosen function
 * that it is not in, and back when the stack has returned to that entry's caller: its
 * pointer comes to the entry's again.  Other stacks, of coroutines, are of the nest in
 * which they are changed to.
 *
 * All but the thread's own under the engine's lock, or by the only thread.
 */
#ifndef DWELL_COUNT_NEST_H
#define DWELL_COUNT_NEST_H

#include <stdbool.h>
#include <stdint.h>

struct context;

/* What the flags say, see wire/count_flags.h. */
void nest_choose(const char *flags);

/* Code that was mapped from a file, open as fd or, if that is negative, at a path; image:
 * as blocks name it. */
struct count_file_image;
void nest_add_code(int fd, const char *path, const struct count_file_image *where,
		   uint32_t image);

/* Where code at addr is executed that is gone to in the nest: another one where a chosen
 * function begins. */
uint32_t nest_entered(uint32_t nest, uint64_t addr);

/* Images are called otherwise from now on. */
void nest_rename(uint32_t (*name)(uint32_t image));

unsigned nest_depth(uint32_t nest);
uint32_t nest_parent(uint32_t nest);

/* The thread's. */

/* Its stack's pointer is at a return address that it goes to, or was set to sp: is_set.
 */
void nest_return(struct context *c, uint64_t sp, bool is_set);

/* A handler begins on a stack of its own, which says nothing of the functions; and
 * returns to sp, in the nest that was interrupted. */
void nest_hide(struct context *c, uint64_t stack, uint64_t stack_end);
void nest_resume(struct context *c, uint32_t nest, uint64_t sp);

/* A thread that goes on with what another's stack has, or with none. */
void nest_inherit(struct context *child, const struct context *parent, bool has_stack);

#endif

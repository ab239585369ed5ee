/* SPDX-License-Identifier: Apache-2.0
 *
 * reserve - address space that takes memory only where it is touched.
 *
 * The engine's tables are of fixed addresses and grow into what they reserve, so nothing
 * ever moves under a thread that reads them.
 */
#ifndef DWELL_COUNT_RESERVE_H
#define DWELL_COUNT_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed; aborts when there is none.  Filled from its beginning. */
void *reserve(size_t bytes);

/* The same for what is used here and there from the start. */
void *reserve_scattered(size_t bytes);

/* Nothing but the space, for what is mapped there: no data of the process's, of which
 * there may be a limit. */
void *reserve_space(size_t bytes);

/* At addr or, if that is taken, NULL. */
void *reserve_at(uint64_t addr, size_t bytes, int prot);

/* What is in it is forgotten, and its memory given back: zeroed again. */
void reserve_clear(void *p, size_t bytes);

/* What only makes things faster, and is not said where a filter of the program's calls
 * may have the process die of it. */
void reserve_advise(void *p, size_t bytes, int advice);

/* Not needed any more. */
void reserve_release(void *p, size_t bytes);

/* How much there is of it now. */
uint64_t reserve_bytes(void);

/* Nobody uses it for some time: children by fork have none of it, the kernel has nothing
 * to fill in (mlockall), and whoever goes there by mistake is stopped.  And the other way
 * round, but not where it was locked: all would be filled in.  False: it is neither. */
bool reserve_rest(void);
bool reserve_wake(void);
bool reserve_keep_from_children(uint64_t addr, uint64_t bytes, bool are_kept);

/* All that there is, for who is to remove it. */
struct count_control;
void reserve_tell(struct count_control *k);

#endif

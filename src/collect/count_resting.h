/* SPDX-License-Identifier: Apache-2.0
 *
 * count_resting - counting engines that stay in processes between two visits, with what
 * they know of the program's code.
 */
#ifndef DWELL_COLLECT_COUNT_RESTING_H
#define DWELL_COLLECT_COUNT_RESTING_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"
#include "collect/count_attach.h"

/* At a time: they take memory. */
#define COUNT_RESTING_MAX 16

struct count_resting {
	VEC(struct count_attached) at; /* who has rested for longest comes first */
};

/* False: the process may not have so many addresses as the engine reserves. */
bool count_resting_may(pid_t pid);
void count_resting_add(struct count_resting *r, const struct count_attached *a);
/* Taken out, with its memory as it is; false: none is there. */
bool count_resting_take(struct count_resting *r, pid_t pid, struct count_attached *ret);
/* It is still there. */
bool count_resting_has(const struct count_resting *r, pid_t pid);
/* Those go whose process has limited its addresses since. */
void count_resting_check(struct count_resting *r);
/* All go. */
void count_resting_end(struct count_resting *r);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_copies - processes that have what a recorder has put into others: these
 * themselves, and children that were made with it, be their parents still there or not.
 *
 * Any process may be one: what it has at the places of the library tells.
 */
#ifndef DWELL_COLLECT_INJECT_COPIES_H
#define DWELL_COLLECT_INJECT_COPIES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "wire/injected.h"

struct inject_copy {
	pid_t pid;
	uint64_t first_pid; /* that it was put into */
	uint64_t at;	    /* the place */
};

struct inject_copies {
	VEC(struct inject_copy) of;
};

void inject_copies_fini(struct inject_copies *c);

/* Is what a process has of that recorder (owner_pid and owner_start)? */
bool inject_copies_is_of(const struct wire_injected *by,
			 const struct wire_injected *head);
/* All whose calls come by what is of that recorder, as they are while it looks: each
 * process is looked at once. */
must_use int inject_copies_find(const struct wire_injected *by, struct inject_copies *ret,
				struct err *e);
/* Is it led by this process, as one of those or as long as it is in the memory of one? */
bool inject_copies_is_led(pid_t pid);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * foreseen - the files that a program will map first, mapped here before it begins, or
 * what one that runs has mapped.
 *
 * Its executable, the interpreter of a script, and the libraries that this process itself
 * was begun with: the dynamic linker, libc.  What else a program needs is met when it
 * comes.
 */
#ifndef DWELL_COLLECT_FORESEEN_H
#define DWELL_COLLECT_FORESEEN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"
#include "base/vec.h"

struct foreseen {
	VEC(uint64_t) at;   /* an address in each that is mapped as code */
	VEC(void *) mapped; /* a page each */
};

/* program: as it is given to execvp(); path: where it is looked for, ended by colons, or
 * NULL.  What cannot be found is left out.  f begins with zeros. */
void foreseen_map(struct foreseen *f, const char *program, const char *path);
/* Before that: what a list for LD_PRELOAD names as well; NULL: nothing. */
void foreseen_preload(struct foreseen *f, const char *list);
/* Of a process that runs already what it has mapped, at its own addresses. */
void foreseen_take(struct foreseen *f, pid_t pid);
void foreseen_fini(struct foreseen *f);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_vtables - where a process has tables of virtual functions.
 *
 * An object of several base classes is pointed to at one of them, which begins within it
 * by a pointer to a table as the object itself does.  What counts as a table is what does
 * for valgrind's memcheck: part of a file that begins with two pointers to code of files,
 * zeroes aside.
 */
#ifndef DWELL_COLLECT_HEAP_VTABLES_H
#define DWELL_COLLECT_HEAP_VTABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "collect/heap_ranges.h"
#include "collect/heap_roots.h"

/* Zero-initialise, release with heap_vtables_fini(). */
struct heap_vtables {
	struct heap_ranges files, code; /* mapped, ascending */
	struct map known;		/* address → is one there? */
};

void heap_vtables_fini(struct heap_vtables *t);
must_use int heap_vtables_read(struct heap_vtables *t, pid_t pid, struct err *e);
/* The same of a text as /proc/PID/maps is. */
void heap_vtables_of_text(struct heap_vtables *t, const char *text, size_t size);
bool heap_vtables_has(struct heap_vtables *t, uint64_t address, heap_roots_read_fn *read,
		      void *ctx);

#endif

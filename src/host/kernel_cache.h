/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_cache - the kernel's own symbols, kept for as long as it runs.
 *
 * Making the text of /proc/kallsyms costs the kernel 40 to 70 ms, more than recording a
 * program for a minute.  So the first recording since boot keeps the functions outside of
 * modules in the user's cache directory, readable by that user only.
 */
#ifndef DWELL_HOST_KERNEL_CACHE_H
#define DWELL_HOST_KERNEL_CACHE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

/* Lines as in /proc/kallsyms, ascending by address: of functions of the kernel without
 * its modules.  A cache that cannot be used or written is no error. */
must_use int kernel_cache_symbols(struct buf *ret, struct err *e);
/* The same with the cache's file named (NULL: none), for tests. */
must_use int kernel_cache_symbols_in(const char *path, const char *boot_id,
				     const char *kallsyms, struct buf *ret,
				     struct err *e);

#endif

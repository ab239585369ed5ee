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

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

/* As kernel_select_symbols() of the functions of the kernel without its modules; addrs
 * ascend.  A cache that cannot be used or written is no error. */
must_use int kernel_cache_select(const uint64_t *addrs, size_t n, struct buf *ret,
				 struct err *e);
/* The same with the files named (path NULL: no cache), for tests. */
must_use int kernel_cache_select_in(const char *path, const char *boot_id,
				    const char *kallsyms, const uint64_t *addrs, size_t n,
				    struct buf *ret, struct err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * mem - allocation that does not fail.
 *
 * Aborts with one line when memory is exhausted.  Legitimate only because every
 * size taken from input is first bounded by the bytes that are left or by a stated
 * limit (STYLE: errors and memory).  Never used in src/inject.
 */
#ifndef DWELL_BASE_MEM_H
#define DWELL_BASE_MEM_H

#include <stddef.h>

void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
void *xmemdup(const void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n); /* at most n bytes, always terminated */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * intern - byte strings to dense ids, each string kept once.
 *
 * Id 0 is always the empty string.  Strings are terminated and never move.
 */
#ifndef DWELL_BASE_INTERN_H
#define DWELL_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *in);
void intern_freep(struct intern **in);

uint32_t intern_add(struct intern *in, const char *s, size_t n);
uint32_t intern_str(struct intern *in, const char *s); /* NULL counts as "" */
/* The id, or UINT32_MAX when the string was never added. */
uint32_t intern_find(const struct intern *in, const char *s, size_t n);
const char *intern_get(const struct intern *in, uint32_t id); /* "" when unknown */
size_t intern_len(const struct intern *in, uint32_t id);
uint32_t intern_count(const struct intern *in);
size_t intern_bytes(const struct intern *in); /* the memory it has */

#endif

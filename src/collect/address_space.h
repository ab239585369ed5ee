/* SPDX-License-Identifier: Apache-2.0
 *
 * address_space - the executable mappings of a process, sorted by address.
 *
 * Shared between a parent and its forked children until one of them changes it, so that
 * following a fork costs a counter.  A mapping's `user` is the tracker's image.
 */
#ifndef DWELL_COLLECT_ADDRESS_SPACE_H
#define DWELL_COLLECT_ADDRESS_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "unwind/offline.h"

struct address_space;

struct address_space *address_space_new(void);
struct address_space *address_space_ref(struct address_space *s);
void address_space_unref(struct address_space *s); /* NULL ok */

/* The same mappings, to be changed: s itself when nobody else has it, else a copy that
 * takes over the reference. */
struct address_space *address_space_writable(struct address_space *s);

/* Replaces whatever it overlaps. */
void address_space_add(struct address_space *s, const struct unwind_map *map);
struct unwind_map *address_space_find(struct address_space *s, uint64_t pc);
size_t address_space_count(const struct address_space *s);
const struct unwind_map *address_space_at(const struct address_space *s, size_t i);
/* Changes with every address_space_add(), never the same in two spaces. */
uint64_t address_space_version(const struct address_space *s);

#endif

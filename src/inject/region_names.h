/* SPDX-License-Identifier: Apache-2.0
 *
 * region_names - the regions that the process has named, and the functions that have told
 * of themselves, by number (wire/tracer_regions.h).
 *
 * Names are copied and stay.  Without a lock, as a handler may interrupt anything here.
 */
#ifndef DWELL_INJECT_REGION_NAMES_H
#define DWELL_INJECT_REGION_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region_group {
	struct region_group *next;
	uint32_t is_on;
	char name[];
};

struct region_name {
	struct region_name *next;
	struct region_group *group;
	uint32_t number; /* 0: it was refused */
	char name[];
};

#define REGION_NAMES_MAX (1u << 16)

struct region_names {
	uint32_t generation; /* another whenever all begins anew */
	const struct region_name *by_number[REGION_NAMES_MAX];
};

extern struct region_names region_names;

/* Once in a program image, or each time that a recorder comes to one that runs. */
void region_names_begin(void);
/* All of it goes: no thread is about to use it. */
void region_names_unmap(void);

/* What the program may keep of a name, beyond us: of an earlier time it says nothing. */
static inline uint64_t region_names_handle(const struct region_name *n)
{
	return (uint64_t)region_names.generation << 32 | n->number;
}

/* NULL: it is of an earlier time. */
static inline const struct region_name *region_names_of(uint64_t handle)
{
	return __builtin_expect(handle >> 32 == region_names.generation, 1)
		       ? region_names.by_number[handle % REGION_NAMES_MAX]
		       : NULL;
}

/* NULL: there is no memory. */
struct region_group *region_names_group(const char *name);
/* One of a group that is always off: there is no memory, or there are too many. */
const struct region_name *region_names_find(const char *group, const char *name);
/* 0: there are too many. */
uint32_t region_names_function(const void *address);

/* Of a number: NULL where it is a function or nothing; of a counter its name. */
const char *region_names_text(uint32_t number);
const void *region_names_address(uint32_t number);
/* Tell the recorder what the number stands for, unless it was told. */
bool region_names_tell(uint32_t number);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * alias - files that the program has in its memory more than once, and shared, so that
 * code can be written at one address and executed at another.
 *
 * Only of those that can be written or executed.  All of it under the engine's lock.
 */
#ifndef DWELL_COUNT_ALIAS_H
#define DWELL_COUNT_ALIAS_H

#include <stdbool.h>
#include <stdint.h>

struct alias {
	uint64_t start, end;
	uint64_t off; /* in the file */
	uint64_t device, inode;
	uint32_t prot;
};

/* Somewhere a file is executed of which that is known. */
bool alias_is_any(void);

/* A file is there now, and all that was there is not: remove it first. */
void alias_add(const struct alias *a);

/* None is known of. */
void alias_clear(void);

/* By what is open; nothing where that cannot be asked. */
void alias_add_fd(uint64_t start, uint64_t end, uint32_t prot, int fd, uint64_t off);

/* Each returns false if none was there. */
bool alias_remove(uint64_t start, uint64_t end);
bool alias_protect(uint64_t start, uint64_t end, uint32_t prot);

/* What is at addr, up to its end; false: none. */
bool alias_find(uint64_t addr, struct alias *ret);

/* The other pieces of memory with the same bytes as a piece, which have such a right. */
void alias_each(uint64_t start, uint64_t end, uint32_t prot,
		void (*what)(uint64_t start, uint64_t end, uint32_t prot));

/* All that can be executed and is of what is open. */
void alias_each_of_fd(int fd, void (*what)(uint64_t start, uint64_t end, uint32_t prot));

#endif

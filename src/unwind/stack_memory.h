/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_memory - the words a walk may read: a window, and a guarded way beyond it.
 *
 * Freestanding.  Offline the window is the copied stack; in the target it is the stack
 * itself.  Whatever lies outside goes through read(), which must not fault.
 */
#ifndef DWELL_UNWIND_STACK_MEMORY_H
#define DWELL_UNWIND_STACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct stack_memory {
	const uint8_t *bytes;
	uint64_t addr, size;				       /* of bytes[0]; how many */
	bool (*read)(void *ctx, uint64_t addr, uint64_t *ret); /* or NULL */
	void *ctx;
};

static inline bool stack_memory_word(const struct stack_memory *m, uint64_t addr,
				     uint64_t *ret)
{
	uint64_t off = addr - m->addr;

	if (__builtin_expect(off < m->size && m->size - off >= 8, 1)) {
		memcpy(ret, m->bytes + off, 8);
		return true;
	}
	return m->read && m->read(m->ctx, addr, ret);
}

#endif

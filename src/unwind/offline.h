/* SPDX-License-Identifier: Apache-2.0
 *
 * offline - walk another thread's stack from copied registers and stack bytes.
 *
 * The caller owns the address space: it finds the mapping of a pc; each mapping
 * carries the unwind_image of its file (shared by build-id between processes).
 * Nothing here allocates per walk.  One thread per unwind_image at a time.
 */
#ifndef DWELL_UNWIND_OFFLINE_H
#define DWELL_UNWIND_OFFLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "unwind/registers.h"
#include "unwind/stop.h"

/* The copied stack, and optionally a way to read what is not in it: code is read from
 * its file, but code in memory is only looked at with read(). */
struct unwind_memory {
	const uint8_t *stack;
	uint64_t stack_addr; /* address of stack[0] */
	size_t stack_size;
	bool (*read)(void *ctx, uint64_t addr, uint64_t *ret); /* or NULL */
	void *ctx;
	/* NULL, or where to put the last frame's stack pointer: that of the outermost one
	 * of a complete walk. */
	uint64_t *end;
};

/* The unwind information of one file; lookups are cached inside. */
struct unwind_image;

/* Reads .eh_frame_hdr, .eh_frame, .debug_frame (also of .gnu_debugdata) and the PT_LOADs
 * of an ELF file; fd is borrowed (a duplicate is kept for reading code).  A file without
 * any table still opens: its frames are walked by frame pointers. */
must_use int unwind_image_open(int fd, const char *name, struct unwind_image **ret,
			       struct err *e);
/* The same from bytes (vDSO, archives); borrowed until freed. */
must_use int unwind_image_over(const void *elf, size_t size, const char *name,
			       struct unwind_image **ret, struct err *e);
void unwind_image_free(struct unwind_image *image);
void unwind_image_freep(struct unwind_image **image);

struct unwind_map {
	uint64_t start, end, file_offset;
	struct unwind_image *image; /* NULL: JIT or anonymous code, frame pointers only */
	uint64_t user;		    /* the caller's */
};

typedef const struct unwind_map *unwind_find_map_fn(void *ctx, uint64_t pc);

struct unwind_frame {
	uint64_t pc;
	const struct unwind_map *map; /* NULL: no mapping */
	bool is_return; /* pc is a return address, not an interrupted instruction */
};

/* Innermost first; returns the number of frames (at least 1). */
size_t unwind_offline(const struct unwind_regs *regs, const struct unwind_memory *memory,
		      unwind_find_map_fn *find_map, void *ctx,
		      struct unwind_frame *frames, size_t max,
		      enum unwind_stop *ret_stop);

/* Text of a reason, for reports: "copied stack too short". */
const char *unwind_stop_text(enum unwind_stop stop);

#endif

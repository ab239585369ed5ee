/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_frames - addresses in the kernel as locations of its image.
 *
 * Remembers which addresses were seen, so that at the end their symbols can be kept in
 * the recording: a kernel's addresses mean nothing after the next boot.
 */
#ifndef DWELL_COLLECT_KERNEL_FRAMES_H
#define DWELL_COLLECT_KERNEL_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "store/writer.h"

struct kernel_frames;

struct kernel_frames *kernel_frames_new(struct writer *w);
void kernel_frames_free(struct kernel_frames *k);

/* Location id in the recording; flags: enum location_flag. */
uint32_t kernel_frames_location(struct kernel_frames *k, uint64_t pc, uint32_t flags);
/* Store the symbols of what was seen; nothing when nothing was, or when they are hidden
 * from this user. */
must_use int kernel_frames_keep_symbols(struct kernel_frames *k, struct err *e);
/* The lines of /proc/kallsyms that the addresses fall into; sorts them. */
void kernel_frames_select(uint64_t *addrs, size_t n, bool has_module, struct buf *ret);

#endif

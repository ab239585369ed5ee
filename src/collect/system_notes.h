/* SPDX-License-Identifier: Apache-2.0
 *
 * system_notes - what is known of the files behind numbers, in a map of the kernel.
 *
 * The kernel's side tells of a file once.  Who goes on after this process was killed
 * finds there what files the numbers in its stacks are.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_NOTES_H
#define DWELL_COLLECT_SYSTEM_NOTES_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/image_file.h"

struct system_notes;

/* fd: the map of an earlier one, which is then ours, or -1. */
must_use int system_notes_new(int fd, struct system_notes **ret, struct err *e);
void system_notes_free(struct system_notes *n);
void system_notes_freep(struct system_notes **n);

int system_notes_fd(const struct system_notes *n);

/* What cannot be kept will have no name, nothing else. */
void system_notes_put(struct system_notes *n, uint32_t image, const struct image_file *f);
void system_notes_remove(struct system_notes *n, uint32_t image);
/* Each that can be read; the file is the callee's. */
void system_notes_each(const struct system_notes *n,
		       void (*found)(void *ctx, uint32_t image, struct image_file *f),
		       void *ctx);

#endif

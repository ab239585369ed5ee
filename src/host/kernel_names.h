/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_names - addresses of the kernel's functions by name.
 *
 * For texts in which the kernel names its frames instead of giving their addresses.  A
 * name that several functions share is told apart by their sizes, or not at all.
 */
#ifndef DWELL_HOST_KERNEL_NAMES_H
#define DWELL_HOST_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "host/proc_wait.h"

struct kernel_names;

/* Of the text of /proc/kallsyms, borrowed. */
struct kernel_names *kernel_names_new(const char *text, size_t size);
void kernel_names_free(struct kernel_names *k);
void kernel_names_freep(struct kernel_names **k);

/* False: there is none, or more than one could be it. */
bool kernel_names_find(const struct kernel_names *k,
		       const struct proc_wait_kernel_frame *frame, uint64_t *ret_pc);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * steady_memory - memory of running processes that does not change for a while.
 *
 * Whoever wants to know what was there when a sample was taken can look only later.  What
 * was the same at two looks with the sample in between, some time apart, has most likely
 * been the same then: programs that an interpreter goes over, tables, trees.  What was
 * seen to change is believed only after it has been steady for longer.  Pages are kept, a
 * fixed number of them, and looked at again from time to time: so most words have been
 * seen before they are asked for.  Each word is believed by itself, as counters are
 * beside what never changes.
 */
#ifndef DWELL_COLLECT_STEADY_MEMORY_H
#define DWELL_COLLECT_STEADY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"

struct steady_memory;

/* Copies what is at addr at present; how much of it, as proc_wait_memory() does. */
typedef size_t steady_memory_look_fn(pid_t pid, uint64_t addr, void *to, size_t size);

struct steady_memory *steady_memory_new(steady_memory_look_fn *look);
void steady_memory_free(struct steady_memory *m); /* NULL ok */
void steady_memory_freep(struct steady_memory **m);

/* What is read is to be of then_ns; it is now_ns, by the same clock, and there are as
 * many looks as one sample may cost. */
void steady_memory_begin(struct steady_memory *m, uint64_t then_ns, uint64_t now_ns);
/* process: what the pid is at present, as long as it executes the same program; up to 8
 * bytes.  False: nobody knows what was there. */
bool steady_memory_read(struct steady_memory *m, uint32_t process, pid_t pid,
			uint64_t addr, void *to, unsigned bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * count_remote - memory of another process, and system calls that a stopped thread of it
 * makes for us.
 */
#ifndef DWELL_COLLECT_COUNT_REMOTE_H
#define DWELL_COLLECT_COUNT_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/count_tracee.h"
#include "wire/count_control.h"

bool count_remote_read(pid_t pid, uint64_t addr, void *to, size_t bytes);
bool count_remote_write(pid_t pid, uint64_t addr, const void *from, size_t bytes);

/* With its signals blocked.  site: of an instruction that makes a system call.  Registers
 * are others afterwards.  What the kernel says, or -ESRCH when it has ended. */
long count_remote_call(struct count_tracee *t, uint64_t site, long number, uint64_t a,
		       uint64_t b, uint64_t c, uint64_t d);

/* Runs from registers until the 64 bits at word are not 0, which is told in a system
 * call, and stands behind that.  False: it has ended. */
bool count_remote_run(struct count_tracee *t, const struct user_regs_struct *from,
		      uint64_t word);

/* As that, but told in passing, and it stands wherever it is then.  False also: it
 * stands, but the word is 0 still, after that time or as what it executes fails. */
bool count_remote_run_through(struct count_tracee *t, const struct user_regs_struct *from,
			      uint64_t word, uint64_t limit_ns);

/* Registers for a thread that is to go on natively; the rest stays, the base of gs with
 * it. */
void count_remote_put(struct user_regs_struct *to, const struct count_control_regs *from);
void count_remote_take(const struct user_regs_struct *from,
		       struct count_control_regs *to);

/* Where a system call is made in the text of code, 0: nowhere. */
uint64_t count_remote_find_call(const uint8_t *code, size_t bytes, uint64_t at);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * proc_wait - where a blocked thread waits, as /proc tells without touching it.
 *
 * The kernel gives the stack pointer and the pc with which the thread entered it, no
 * other register.  Whoever reads the stack as well asks proc_wait_still() afterwards
 * whether the thread stood all the while.
 */
#ifndef DWELL_HOST_PROC_WAIT_H
#define DWELL_HOST_PROC_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

struct proc_wait {
	uint64_t sp, pc;
	uint64_t n_switches; /* how often it has left a CPU */
};

/* The text of /proc/PID/task/TID/syscall.  False: it runs, or is none of a program. */
bool proc_wait_parse_syscall(const char *text, uint64_t *ret_sp, uint64_t *ret_pc);
/* The text of /proc/PID/task/TID/status. */
bool proc_wait_parse_switches(const char *text, uint64_t *ret);

/* ERR_UNSUPPORTED: the thread is not blocked. */
must_use int proc_wait_read(pid_t pid, pid_t tid, struct proc_wait *ret, struct err *e);
/* Has it not run since? */
bool proc_wait_still(pid_t pid, pid_t tid, const struct proc_wait *w);

/* Copies memory of a process, up to the first page that cannot be read; returns how much
 * that was. */
size_t proc_wait_memory(pid_t pid, uint64_t addr, void *to, size_t size);

struct proc_wait_kernel_frame {
	char name[128], module[64]; /* module "": the kernel itself */
	uint64_t off, size;	    /* in the function, and of it */
};

/* The next line of /proc/PID/task/TID/stack, "[<0>] name+0x1/0x2 [module]"; false at the
 * end.  A line that is none gives an empty name. */
bool proc_wait_next_kernel_frame(const char **text, struct proc_wait_kernel_frame *ret);

#endif

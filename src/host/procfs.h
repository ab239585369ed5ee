/* SPDX-License-Identifier: Apache-2.0
 *
 * procfs - what /proc tells of processes and threads.
 *
 * A process may vanish between any two calls: that is an error like any other, and
 * callers take it for granted.
 */
#ifndef DWELL_HOST_PROCFS_H
#define DWELL_HOST_PROCFS_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"

/* A whole file into memory, at most max bytes. */
must_use int procfs_read(const char *path, size_t max, struct buf *ret, struct err *e);
/* A short file as a terminated string, cut at cap. */
must_use int procfs_read_text(const char *path, char *s, size_t cap, struct err *e);
/* /proc/PID/status, of a process or a thread. */
#define PROCFS_STATUS_BYTES 8192
must_use int procfs_status(pid_t pid, char ret[static PROCFS_STATUS_BYTES],
			   struct err *e);
must_use int procfs_read_i64(const char *path, int64_t *ret, struct err *e);

struct procfs_stat {
	char comm[64];
	char state;
	bool is_ending; /* nothing of its program is executed any more */
	bool is_killed; /* it will not be, as soon as it has a CPU; until is_ending */
	uint32_t ppid;
	uint64_t user_ns, system_ns; /* CPU time */
	uint64_t start_ns;	     /* since boot */
};

/* The text of /proc/PID/stat or of a task's. */
must_use int procfs_parse_stat(const char *text, struct procfs_stat *ret, struct err *e);
must_use int procfs_stat(pid_t pid, struct procfs_stat *ret, struct err *e);
must_use int procfs_task_stat(pid_t pid, pid_t tid, struct procfs_stat *ret,
			      struct err *e);

/* CPU time of this machine that its hypervisor gave to others, since boot and of all
 * CPUs, by the text of /proc/stat. */
must_use int procfs_parse_stolen_ns(const char *text, uint64_t *ret, struct err *e);
must_use int procfs_stolen_ns(uint64_t *ret, struct err *e);

struct procfs_ids {
	VEC(pid_t) ids;
};

void procfs_ids_fini(struct procfs_ids *ids);
must_use int procfs_processes(struct procfs_ids *ret, struct err *e);
/* And not another thread of one. */
bool procfs_is_process(pid_t id);
/* The process's children, their children and so on, as they are while it looks; not those
 * that have ended. */
must_use int procfs_descendants(pid_t pid, struct procfs_ids *ret, struct err *e);
must_use int procfs_tasks(pid_t pid, struct procfs_ids *ret, struct err *e);
/* Ended or about to, with memory no more, though perhaps nobody has waited for it yet; a
 * first thread may end before the others do. */
bool procfs_has_ended(pid_t pid);
/* The same, or will as soon as each of its threads has a CPU to end with: what ends a
 * process tells all of them at once, and some may be gone long before others. */
bool procfs_is_ending(pid_t pid);
/* The process of a thread. */
must_use int procfs_process_of(pid_t tid, pid_t *ret, struct err *e);

/* Arguments joined by spaces; "" of a kernel thread. */
must_use int procfs_cmdline(pid_t pid, char *s, size_t cap, struct err *e);
must_use int procfs_exe(pid_t pid, char *s, size_t cap, struct err *e);

#endif

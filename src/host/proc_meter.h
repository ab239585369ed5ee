/* SPDX-License-Identifier: Apache-2.0
 *
 * proc_meter - what /proc counts of a process, of a thread and of the machine.
 *
 * Parsers of texts, and reads of them.  A process may vanish between any two: that is an
 * error like any other.
 */
#ifndef DWELL_HOST_PROC_METER_H
#define DWELL_HOST_PROC_METER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

/* With the children that it waited for, but for what is now. */
struct proc_meter_process {
	uint64_t user_ns, system_ns;
	uint64_t children_ns; /* of both, what those used */
	uint64_t minor_faults, major_faults;
	uint64_t n_threads, resident_bytes; /* now */
};

/* With the children that it waited for. */
struct proc_meter_io {
	uint64_t read_bytes, written_bytes;	      /* by calls */
	uint64_t disk_read_bytes, disk_written_bytes; /* from and to devices */
};

struct proc_meter_thread {
	uint64_t ready_ns; /* it had no CPU though it could run */
	uint64_t n_turns;  /* on a CPU */
};

/* Times are of all CPUs, since the start. */
struct proc_meter_machine {
	uint64_t busy_ns, idle_ns, disk_wait_ns, stolen_ns;
};

/* /proc/PID/stat, /proc/PID/io, /proc/PID/task/TID/schedstat, /proc/stat. */
must_use int proc_meter_parse_process(const char *text, struct proc_meter_process *ret,
				      struct err *e);
must_use int proc_meter_parse_io(const char *text, struct proc_meter_io *ret,
				 struct err *e);
must_use int proc_meter_parse_thread(const char *text, struct proc_meter_thread *ret,
				     struct err *e);
must_use int proc_meter_parse_machine(const char *text, struct proc_meter_machine *ret,
				      struct err *e);
/* /proc/loadavg in hundredths, and what /proc/meminfo says can be had. */
must_use int proc_meter_parse_load(const char *text, uint64_t *ret, struct err *e);
must_use int proc_meter_parse_available(const char *text, uint64_t *ret_bytes,
					struct err *e);

must_use int proc_meter_process(pid_t pid, struct proc_meter_process *ret, struct err *e);
/* Only of our own processes, unless we are root. */
must_use int proc_meter_io(pid_t pid, struct proc_meter_io *ret, struct err *e);
must_use int proc_meter_thread(pid_t pid, pid_t tid, struct proc_meter_thread *ret,
			       struct err *e);
must_use int proc_meter_machine(struct proc_meter_machine *ret, struct err *e);
must_use int proc_meter_load(uint64_t *ret, struct err *e);
must_use int proc_meter_available(uint64_t *ret_bytes, struct err *e);

#endif

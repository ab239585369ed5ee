/* SPDX-License-Identifier: Apache-2.0
 *
 * privilege - what this user may observe, and what would allow more.
 */
#ifndef DWELL_HOST_PRIVILEGE_H
#define DWELL_HOST_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct privilege {
	int64_t paranoid;      /* kernel.perf_event_paranoid; 4 when there is no file */
	int64_t kptr_restrict; /* kernel.kptr_restrict */
	int64_t mlock_kb;      /* kernel.perf_event_mlock_kb, per CPU and user */
	bool may_perfmon;      /* CAP_PERFMON or CAP_SYS_ADMIN */
	bool may_ptrace;       /* CAP_SYS_PTRACE */
	bool may_lock;	       /* CAP_IPC_LOCK */
	bool is_root;
};

void privilege_read(struct privilege *p);

enum privilege_level {
	PRIVILEGE_OWN_USER,   /* own processes, user mode */
	PRIVILEGE_OWN_KERNEL, /* own processes, their time in the kernel too */
	PRIVILEGE_MACHINE,    /* every process on a CPU */
};

/* Why perf_event_open is refused at that level, and what to do; 0 when it is allowed
 * as far as settings tell. */
must_use int privilege_check(const struct privilege *p, enum privilege_level level,
			     struct err *e);

/* The capabilities that observing the whole machine takes, bit by bit, where
 * kernel.perf_event_paranoid is that. */
uint64_t privilege_observer_caps(int64_t paranoid);
/* Give up, for good, every capability but those; what is started later gets none.  For
 * root. */
must_use int privilege_drop_to_observer(struct err *e);

#endif

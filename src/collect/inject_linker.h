/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_linker - where a running process' dynamic linker says what it has loaded.
 */
#ifndef DWELL_COLLECT_INJECT_LINKER_H
#define DWELL_COLLECT_INJECT_LINKER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/inject_memory.h"

/* ret: of its struct r_debug.  ERR_UNSUPPORTED: it has no dynamic linker. */
must_use int inject_linker_find(pid_t pid, const struct inject_memory *m, uint64_t *ret,
				struct err *e);

#endif

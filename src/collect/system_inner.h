/* SPDX-License-Identifier: Apache-2.0
 *
 * system_inner - maps within a map of BPF programs.
 */
#ifndef DWELL_COLLECT_SYSTEM_INNER_H
#define DWELL_COLLECT_SYSTEM_INNER_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

/* Put maps into the places; each stays the caller's, too.  The kernel waits until no
 * program can have what was there before, 10 ms and more: for all of them together, if it
 * can, and for each otherwise. */
must_use int system_inner_put(int map_fd, const uint32_t *places, const int *fds,
			      uint32_t n, struct err *e);

#endif

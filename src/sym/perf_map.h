/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_map - the text a JIT compiler leaves in /tmp/perf-PID.map: "start size name".
 *
 * Numbers are hexadecimal without prefix; later lines hold over earlier ones.
 */
#ifndef DWELL_SYM_PERF_MAP_H
#define DWELL_SYM_PERF_MAP_H

#include "base/buf.h"
#include "sym/code_map.h"

/* Adds every line that can be read; terminates the names inside the text, which must
 * outlive the map.  Returns how many. */
size_t perf_map_parse(struct buf *text, struct code_map *map);

#endif

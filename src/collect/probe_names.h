/* SPDX-License-Identifier: Apache-2.0
 *
 * probe_names - what stands in stacks for what happened there.
 */
#ifndef DWELL_COLLECT_PROBE_NAMES_H
#define DWELL_COLLECT_PROBE_NAMES_H

#include <stdint.h>

#include "collect/system_counts.h"

/* "[syscall read]" by a label of wire/probe_record.h; "" of 0. */
void probe_names_call(uint32_t label, char ret[SYSTEM_COUNTS_LABEL_MAX]);
/* "[ENOENT]" by the second number of a pair. */
void probe_names_error(uint64_t second, char ret[SYSTEM_COUNTS_LABEL_MAX]);

#endif

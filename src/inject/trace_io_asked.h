/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_io_asked - how many bytes a call asks for, and how many it has read or written.
 */
#ifndef DWELL_INJECT_TRACE_IO_ASKED_H
#define DWELL_INJECT_TRACE_IO_ASKED_H

#include <stdint.h>

#include "wire/io_record.h"

/* Of a call that has returned *result, which becomes bytes if it is not; negative: it has
 * failed. */
uint64_t trace_io_asked(enum io_record_asks asks, const long *arguments, long *result);

#endif

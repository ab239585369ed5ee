/* SPDX-License-Identifier: Apache-2.0
 *
 * io_calls - the system calls that are I/O: what each does with which descriptor.
 */
#ifndef DWELL_COLLECT_IO_CALLS_H
#define DWELL_COLLECT_IO_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/io_record.h"

/* By their numbers on this machine, of 64-bit or of 32-bit programs. */
void io_calls_number(struct io_record_call ret[IO_RECORD_CALLS_MAX], bool is_32bit);
/* By the index in a label, which is above 0: "read"; NULL: there is none. */
const char *io_calls_name(uint32_t index);
/* enum io_record_event */
uint8_t io_calls_event(uint32_t index);

/* The indices of requests of io_uring (collect/io_requests) are from here on. */
#define IO_CALLS_REQUESTS 128

static inline bool io_calls_is_request(uint32_t index)
{
	return index >= IO_CALLS_REQUESTS;
}

/* "[syscall read]", "[io_uring read]". */
void io_calls_label(uint32_t index, char *ret, size_t cap);

#endif

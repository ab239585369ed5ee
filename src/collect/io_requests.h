/* SPDX-License-Identifier: Apache-2.0
 *
 * io_requests - the operations of io_uring that are I/O: what each does with which file,
 * and whether this kernel tells of them.
 */
#ifndef DWELL_COLLECT_IO_REQUESTS_H
#define DWELL_COLLECT_IO_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/io_record.h"

struct btf;

/* By their numbers.  Their indices are from one on. */
void io_requests_number(struct io_record_request ret[IO_RECORD_REQUESTS_MAX],
			uint8_t first);
/* By the index in a label, less the first: "read_fixed"; NULL: there is none. */
const char *io_requests_name(uint32_t i);

/* How the kernel tells of requests. */
struct io_requests_told {
	const char
		*submit; /* the tracepoint; NULL: it does not, in a way that is known */
	bool is_completion_told; /* as what the ring shows of it */
};

/* kernel: its types; NULL: nothing is known of them. */
void io_requests_told(const struct btf *kernel, struct io_requests_told *ret);

#endif

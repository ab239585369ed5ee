/* SPDX-License-Identifier: Apache-2.0
 *
 * io_steps - what the steps of sizes and durations of I/O are called in recordings.
 */
#ifndef DWELL_COLLECT_IO_STEPS_H
#define DWELL_COLLECT_IO_STEPS_H

#include "wire/io_record.h"

#define IO_STEPS_NAME_MAX 40

/* Each by the least that is in it: "[from 4096 bytes]", "[from 128 ns]". */
struct io_steps {
	char sizes[IO_RECORD_SIZES][IO_STEPS_NAME_MAX];
	char times[IO_RECORD_TIMES][IO_STEPS_NAME_MAX];
};

void io_steps_name(struct io_steps *ret);

#endif

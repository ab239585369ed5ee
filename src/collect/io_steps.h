/* SPDX-License-Identifier: Apache-2.0
 *
 * io_steps - the steps of sizes and durations of I/O and waits: taken from the kernel,
 * and what they are called in recordings.
 */
#ifndef DWELL_COLLECT_IO_STEPS_H
#define DWELL_COLLECT_IO_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "wire/io_record.h"

#define IO_STEPS_NAME_MAX 40

/* Each by the least that is in it: "[from 4096 bytes]", "[from 128 ns]". */
struct io_steps {
	char sizes[IO_RECORD_SIZES][IO_STEPS_NAME_MAX];
	char times[IO_RECORD_TIMES][IO_STEPS_NAME_MAX];
};

void io_steps_name(struct io_steps *ret);
/* From where the kernel counts them, which begin again at 0. */
void io_steps_take(uint32_t *ret, uint32_t *at, size_t n);

#endif

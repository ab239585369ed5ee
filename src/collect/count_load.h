/* SPDX-License-Identifier: Apache-2.0
 *
 * count_load - where the parts of the counting engine go in a process's memory.
 */
#ifndef DWELL_COLLECT_COUNT_LOAD_H
#define DWELL_COLLECT_COUNT_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

#define COUNT_LOAD_PARTS_MAX 8

/* Offsets are from where the engine is put. */
struct count_load_part {
	uint64_t off, bytes; /* in memory: whole pages */
	uint64_t at;	     /* in memory: what the file has */
	const uint8_t *data;
	size_t data_bytes;
	bool is_exec;
};

struct count_load {
	uint64_t bytes, entry;
	struct count_load_part parts[COUNT_LOAD_PARTS_MAX];
	size_t n_parts;
};

/* Of a program that can be anywhere; points into it. */
must_use int count_load_parse(const uint8_t *program, size_t size, struct count_load *ret,
			      struct err *e);

#endif

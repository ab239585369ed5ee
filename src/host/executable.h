/* SPDX-License-Identifier: Apache-2.0
 *
 * executable - what a file is that is being mapped or run, from its ELF headers.
 */
#ifndef DWELL_HOST_EXECUTABLE_H
#define DWELL_HOST_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

#define EXECUTABLE_BUILD_ID_MAX 32

#define EXECUTABLE_LOADS_MAX 8

/* What is loaded, as far as there is room for it. */
struct executable_load {
	uint64_t offset, addr, size; /* in the file, as it was linked, in memory */
};

struct executable {
	bool is_64bit, is_native; /* native: this machine's architecture */
	bool is_static;		  /* a program without a dynamic linker */
	bool is_setid;	/* runs as another user or group, or with capabilities */
	bool has_marks; /* of its own making, by include/dwell.h */
	uint8_t build_id[EXECUTABLE_BUILD_ID_MAX];
	size_t build_id_size;  /* 0: none */
	uint32_t layout;       /* a checksum of where in the file what is loaded is */
	uint64_t entry_offset; /* in the file, of the first instruction; 0: none */
	uint64_t size_bytes, inode;
	int64_t mtime_s;
	struct executable_load loads[EXECUTABLE_LOADS_MAX];
	size_t n_loads;
};

/* fd is borrowed.  ERR_FORMAT when it is no ELF file; size, inode and mtime are set
 * also then. */
must_use int executable_probe(int fd, struct executable *ret, struct err *e);

/* The entry code of a program has no unwind table, and needs none: a stack that ends
 * there is complete. */
#define EXECUTABLE_ENTRY_BYTES 128

static inline bool executable_is_entry(uint64_t entry_offset, uint64_t offset)
{
	return entry_offset && offset - entry_offset < EXECUTABLE_ENTRY_BYTES;
}

/* Data that is loaded from, or behind, an offset in the file: where it was linked to be.
 */
bool executable_data_address(const struct executable *x, uint64_t offset, uint64_t *ret);
/* The first offset that is behind all of it. */
uint64_t executable_data_end(const struct executable *x);

#endif

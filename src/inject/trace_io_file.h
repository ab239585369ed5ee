/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_io_file - which file a descriptor is of.
 *
 * It is asked for again and again, as nobody sees all of what makes descriptors others'
 * (trace_descriptors).
 * A file is its inode, as the kernel's side of I/O has it (collect/bpf/files.bpf.h): what
 * has none of its own is its kind, and a socket is another one when it is connected.
 * Reentrant; takes no memory that it keeps.
 */
#ifndef DWELL_INJECT_TRACE_IO_FILE_H
#define DWELL_INJECT_TRACE_IO_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct trace_io_file {
	uint64_t id;	/* told; or WIRE_TRACER_IO_NO_FILE or _UNASKED */
	bool may_block; /* for as long as somebody else likes */
};

struct trace_io_file trace_io_file_of(int fd);
/* One that waits for its other end while it is opened (a FIFO); or none.  The path may be
 * anything, and is beneath the directory. */
struct trace_io_file trace_io_file_waits(int directory, const char *path);
/* The id of one that has just been opened, which may have the inode of one that is gone.
 */
uint64_t trace_io_file_opened(int fd);
/* The id of a path that could not be opened; it may be anything. */
uint64_t trace_io_file_unopened(const char *path);

#endif

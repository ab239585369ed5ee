/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * kernel_requests - what the programs look at of io_uring in the kernel, as kernel does
 * of all else.
 */
#ifndef DWELL_COLLECT_BPF_KERNEL_REQUESTS_BPF_H
#define DWELL_COLLECT_BPF_KERNEL_REQUESTS_BPF_H

#include "collect/bpf/kernel.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* A request of an io_uring, which begins with what its operation makes of it. */
struct io_cqe {
	uint64_t user_data;
	int fd;
};

struct io_kiocb {
	uint8_t opcode;
	uint32_t flags; /* the first of them, as programs give them */
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
};

struct io_rw {
	uint64_t addr;
	uint32_t len;
};

struct io_sr_msg {
	void *umsg;
	int len;
	uint16_t flags;
};

struct io_splice {
	uint64_t len;
	int splice_fd_in;
	unsigned int flags;
};

struct io_close {
	int fd;
	uint32_t file_slot;
};

struct io_open {
	struct filename *filename;
};

struct filename {
	const char *uptr;
};

/* What a ring shows of a completion. */
struct io_uring_cqe {
	uint64_t user_data;
	int32_t res;
};

/* Files that are registered with a ring: a pointer with flags in its lowest bits. */
struct io_rsrc_node {
	unsigned long file_ptr;
};

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};

struct io_file_table {
	struct io_rsrc_data data;
};

struct io_ring_ctx {
	struct io_file_table file_table;
};

/* Up to 6.12. */
struct io_fixed_file {
	unsigned long file_ptr;
};

struct io_file_table___6_12 {
	struct io_fixed_file *files;
};

struct io_ring_ctx___6_12 {
	struct io_file_table___6_12 file_table;
	unsigned int nr_user_files;
};

#pragma clang attribute pop

#endif

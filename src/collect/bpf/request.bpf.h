/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * request - what a request of an io_uring is about: its file, and how many bytes it asks
 * for.
 *
 * The kernel's struct of it begins with what its operation has made of the entry of the
 * ring, which is gone.
 */
#ifndef DWELL_COLLECT_BPF_REQUEST_BPF_H
#define DWELL_COLLECT_BPF_REQUEST_BPF_H

#include "collect/bpf/asked.bpf.h"
#include "collect/bpf/files.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/kernel_requests.bpf.h"
#include "collect/bpf/unopened.bpf.h"
#include "wire/io_record.h"

/* Flags of a request and of what is spliced; bits below the address of a struct file. */
#define REQUEST_FIXED_FILE	1u
#define REQUEST_SPLICE_FIXED	(1u << 31)
#define REQUEST_FIXED_FILE_BITS 7u

#define REQUEST_READ(req, type, member) KERNEL_READ(struct type, req, member)

/* Of a table of a ring's own; before Linux 6.13 it was another one. */
static __always_inline uint64_t request_registered(struct io_kiocb *req, uint32_t i)
{
	struct io_ring_ctx *ring = KERNEL_READ(struct io_kiocb, req, ctx);
	struct io_ring_ctx___6_12 *older = (void *)ring;
	struct io_rsrc_node *node = NULL;
	struct io_fixed_file *file;
	uint64_t at = 0;

	if (bpf_core_field_exists(ring->file_table.data.nodes)) {
		if (i >= BPF_CORE_READ(ring, file_table.data.nr))
			return 0;
		bpf_probe_read_kernel(&node, sizeof(node),
				      BPF_CORE_READ(ring, file_table.data.nodes) + i);
		at = node ? BPF_CORE_READ(node, file_ptr) : 0;
	} else if (bpf_core_field_exists(older->file_table.files)) {
		if (i >= BPF_CORE_READ(older, nr_user_files))
			return 0;
		file = BPF_CORE_READ(older, file_table.files);
		bpf_probe_read_kernel(&at, sizeof(at), file + i);
	}
	return at & ~(uint64_t)REQUEST_FIXED_FILE_BITS;
}

static __always_inline uint32_t request_descriptor(struct io_kiocb *req, uint32_t fd,
						   bool is_registered)
{
	return is_registered ? files_number_of(request_registered(req, fd))
			     : files_number(fd);
}

static __always_inline uint32_t request_first(struct io_kiocb *req)
{
	uint32_t fd = KERNEL_READ(struct io_kiocb, req, cqe.fd);

	return request_descriptor(
		req, fd, KERNEL_READ(struct io_kiocb, req, flags) & REQUEST_FIXED_FILE);
}

static __always_inline uint32_t request_spliced(struct io_kiocb *req)
{
	return request_descriptor(req, REQUEST_READ(req, io_splice, splice_fd_in),
				  REQUEST_READ(req, io_splice, flags) &
					  REQUEST_SPLICE_FIXED);
}

/* A slot of the ring's table is one more. */
static __always_inline uint32_t request_closed(struct io_kiocb *req)
{
	uint32_t slot = REQUEST_READ(req, io_close, file_slot);

	return slot ? request_descriptor(req, slot - 1, true)
		    : files_number(REQUEST_READ(req, io_close, fd));
}

/* What will be opened is its path, as the program gives it. */
static __always_inline uint32_t request_opened(struct io_kiocb *req)
{
	struct io_open *open = (void *)req;

	return unopened_number((uint64_t)BPF_CORE_READ(open, filename, uptr));
}

/* Not static: verified by itself, once. */
__noinline uint32_t request_file(uint64_t at, uint32_t file)
{
	struct io_kiocb *req = (void *)at;

	switch (file) {
	case IO_RECORD_REQUEST_FIRST:
		return request_first(req);
	case IO_RECORD_REQUEST_SPLICED:
		return request_spliced(req);
	case IO_RECORD_REQUEST_CLOSED:
		return request_closed(req);
	case IO_RECORD_REQUEST_OPENED:
		return request_opened(req);
	default:
		return IO_RECORD_NO_FILE;
	}
}

/* Bytes.  Not static: verified by itself, once. */
__noinline uint64_t request_asked(uint64_t at, uint32_t asks)
{
	struct io_kiocb *req = (void *)at;
	bool is_32bit = registers_call_is_32bit(bpf_get_current_task_btf());

	switch (asks) {
	case IO_RECORD_REQUEST_ASKS_BYTES:
		return REQUEST_READ(req, io_rw, len);
	case IO_RECORD_REQUEST_ASKS_PARTS:
		return asked_parts(REQUEST_READ(req, io_rw, addr),
				   REQUEST_READ(req, io_rw, len), is_32bit);
	case IO_RECORD_REQUEST_ASKS_PACKET:
		return (uint32_t)REQUEST_READ(req, io_sr_msg, len);
	case IO_RECORD_REQUEST_ASKS_MESSAGE:
		return asked_message(
			(uint64_t)BPF_CORE_READ((struct io_sr_msg *)req, umsg), is_32bit);
	case IO_RECORD_REQUEST_ASKS_SPLICED:
		return REQUEST_READ(req, io_splice, len);
	default:
		return 0;
	}
}

#endif

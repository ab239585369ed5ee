/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_requests.h"

#include <bpf/btf.h>
#include <stddef.h>
#include <string.h>

#define READ(file, asks, shots)                                                          \
	IO_RECORD_READ, IO_RECORD_REQUEST_##file, IO_RECORD_REQUEST_ASKS_##asks,         \
		IO_RECORD_REQUEST_##shots
#define WRITE(asks)                                                                      \
	IO_RECORD_WRITE, IO_RECORD_REQUEST_FIRST, IO_RECORD_REQUEST_ASKS_##asks,         \
		IO_RECORD_REQUEST_ONCE
#define OTHER(file, shots)                                                               \
	IO_RECORD_OTHER, IO_RECORD_REQUEST_##file, IO_RECORD_REQUEST_ASKS_NONE,          \
		IO_RECORD_REQUEST_##shots

/* By number; which calls are I/O (collect/io_calls) as requests are, too. */
static const struct {
	const char *name;
	uint8_t event, file, asks, shots;
} operations[] = {
	[1] = { "readv", READ(FIRST, PARTS, ONCE) },
	[2] = { "writev", WRITE(PARTS) },
	[3] = { "fsync", OTHER(FIRST, ONCE) },
	[4] = { "read_fixed", READ(FIRST, BYTES, ONCE) },
	[5] = { "write_fixed", WRITE(BYTES) },
	[8] = { "sync_file_range", OTHER(FIRST, ONCE) },
	[9] = { "sendmsg", WRITE(MESSAGE) },
	[10] = { "recvmsg", READ(FIRST, MESSAGE, SHOTS_ASKED) },
	[13] = { "accept", OTHER(FIRST, SHOTS) },
	[16] = { "connect", OTHER(FIRST, ONCE) },
	[17] = { "fallocate", OTHER(FIRST, ONCE) },
	[18] = { "openat", OTHER(OPENED, ONCE) },
	[19] = { "close", OTHER(CLOSED, ONCE) },
	[22] = { "read", READ(FIRST, BYTES, ONCE) },
	[23] = { "write", WRITE(BYTES) },
	[24] = { "fadvise", OTHER(FIRST, ONCE) },
	[26] = { "send", WRITE(PACKET) },
	[27] = { "recv", READ(FIRST, PACKET, SHOTS_ASKED) },
	[28] = { "openat2", OTHER(OPENED, ONCE) },
	[30] = { "splice", READ(SPLICED, SPLICED, ONCE) },
	[33] = { "tee", READ(SPLICED, SPLICED, ONCE) },
	[34] = { "shutdown", OTHER(FIRST, ONCE) },
	[45] = { "socket", OTHER(NO_FILE, ONCE) },
	[46] = { "uring_cmd", OTHER(FIRST, ONCE) },
	[47] = { "send_zc", WRITE(PACKET) },
	[48] = { "sendmsg_zc", WRITE(MESSAGE) },
	[49] = { "read_multishot", READ(FIRST, NONE, SHOTS) },
	[54] = { "fixed_fd_install", OTHER(FIRST, ONCE) },
	[55] = { "ftruncate", OTHER(FIRST, ONCE) },
	[58] = { "recv_zc", READ(FIRST, NONE, SHOTS) },
	[60] = { "readv_fixed", READ(FIRST, PARTS, ONCE) },
	[61] = { "writev_fixed", WRITE(PARTS) },
	[62] = { "pipe", OTHER(NO_FILE, ONCE) },
};

#define N_OPERATIONS (sizeof(operations) / sizeof(operations[0]))

_Static_assert(N_OPERATIONS <= IO_RECORD_REQUESTS_MAX, "each has a place");

void io_requests_number(struct io_record_request ret[IO_RECORD_REQUESTS_MAX],
			uint8_t first)
{
	memset(ret, 0, IO_RECORD_REQUESTS_MAX * sizeof(*ret));
	for (size_t i = 0; i < N_OPERATIONS; i++)
		if (operations[i].name)
			ret[i] = (struct io_record_request){
				.index = (uint8_t)(first + i),
				.event = operations[i].event,
				.file = operations[i].file,
				.asks = operations[i].asks,
				.shots = operations[i].shots,
			};
}

const char *io_requests_name(uint32_t i)
{
	return i < N_OPERATIONS ? operations[i].name : NULL;
}

/* What the kernel tells. */

/* The arguments of a tracepoint, behind the program's own; NULL: there is no such one. */
static const struct btf_type *arguments_of(const struct btf *btf, const char *tracepoint)
{
	int32_t id = btf__find_by_name_kind(btf, tracepoint, BTF_KIND_TYPEDEF);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

/* Does the argument, from 0 on, point to a struct of that name? */
static bool points_to(const struct btf *btf, const struct btf_type *arguments, unsigned i,
		      const char *name)
{
	const struct btf_type *t;

	if (!arguments || i + 1 >= btf_vlen(arguments))
		return false;
	t = btf__type_by_id(btf, btf_params(arguments)[i + 1].type);
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_struct(t) &&
	       strcmp(btf__name_by_offset(btf, t->name_off), name) == 0;
}

/* Since Linux 6.3, and the name before. */
static const char *submit_of(const struct btf *btf)
{
	static const struct {
		const char *name, *type;
	} names[] = {
		{ "io_uring_submit_req", "btf_trace_io_uring_submit_req" },
		{ "io_uring_submit_sqe", "btf_trace_io_uring_submit_sqe" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (points_to(btf, arguments_of(btf, names[i].type), 0, "io_kiocb"))
			return names[i].name;
	return NULL;
}

void io_requests_told(const struct btf *kernel, struct io_requests_told *ret)
{
	*ret = (struct io_requests_told){ 0 };
	if (!kernel)
		return;
	if (arguments_of(kernel, "btf_trace_io_uring_complete") &&
	    arguments_of(kernel, "btf_trace_io_uring_cqe_overflow"))
		ret->submit = submit_of(kernel);
	ret->is_completion_told =
		points_to(kernel, arguments_of(kernel, "btf_trace_io_uring_complete"), 2,
			  "io_uring_cqe");
}

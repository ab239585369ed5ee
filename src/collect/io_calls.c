/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_calls.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "collect/io_requests.h"
#include "host/syscall_name.h"

#define READ(file, asks)  IO_RECORD_READ, IO_RECORD_##file, IO_RECORD_ASKS_##asks
#define WRITE(file, asks) IO_RECORD_WRITE, IO_RECORD_##file, IO_RECORD_ASKS_##asks
#define OTHER(file)	  IO_RECORD_OTHER, IO_RECORD_##file, IO_RECORD_ASKS_NONE

/* What goes from one file to another is read from the first. */
static const struct {
	const char *name;
	uint8_t event, file, asks;
} calls[] = {
	{ "read", READ(FIRST, THIRD) },
	{ "pread64", READ(FIRST, THIRD) },
	{ "readv", READ(FIRST, PARTS) },
	{ "preadv", READ(FIRST, PARTS) },
	{ "preadv2", READ(FIRST, PARTS) },
	{ "recv", READ(FIRST, THIRD) },
	{ "recvfrom", READ(FIRST, THIRD) },
	{ "recvmsg", READ(FIRST, MESSAGE) },
	{ "recvmmsg", READ(FIRST, MESSAGES) },
	{ "recvmmsg_time64", READ(FIRST, MESSAGES) },
	{ "write", WRITE(FIRST, THIRD) },
	{ "pwrite64", WRITE(FIRST, THIRD) },
	{ "writev", WRITE(FIRST, PARTS) },
	{ "pwritev", WRITE(FIRST, PARTS) },
	{ "pwritev2", WRITE(FIRST, PARTS) },
	{ "send", WRITE(FIRST, THIRD) },
	{ "sendto", WRITE(FIRST, THIRD) },
	{ "sendmsg", WRITE(FIRST, MESSAGE) },
	{ "sendmmsg", WRITE(FIRST, MESSAGES) },
	{ "vmsplice", WRITE(FIRST, PARTS) },
	{ "sendfile", READ(SECOND, FOURTH) },
	{ "sendfile64", READ(SECOND, FOURTH) },
	{ "splice", READ(FIRST, FIFTH) },
	{ "copy_file_range", READ(FIRST, FIFTH) },
	{ "tee", READ(FIRST, THIRD) },
	{ "open", OTHER(OPENED_FIRST) },
	{ "openat", OTHER(OPENED_SECOND) },
	{ "openat2", OTHER(OPENED_SECOND) },
	{ "open_by_handle_at", OTHER(RETURNED) },
	{ "creat", OTHER(OPENED_FIRST) },
	{ "memfd_create", OTHER(RETURNED) },
	{ "close", OTHER(FIRST) },
	{ "close_range", OTHER(NO_FILE_AT) },
	{ "dup", OTHER(FIRST) },
	{ "dup2", OTHER(FIRST) },
	{ "dup3", OTHER(FIRST) },
	{ "pipe", OTHER(NO_FILE_AT) },
	{ "pipe2", OTHER(NO_FILE_AT) },
	{ "socket", OTHER(RETURNED) },
	{ "socketpair", OTHER(NO_FILE_AT) },
	{ "socketcall", OTHER(NO_FILE_AT) },
	{ "connect", OTHER(FIRST) },
	{ "accept", OTHER(RETURNED) },
	{ "accept4", OTHER(RETURNED) },
	{ "shutdown", OTHER(FIRST) },
	{ "lseek", OTHER(FIRST) },
	{ "_llseek", OTHER(FIRST) },
	{ "fsync", OTHER(FIRST) },
	{ "fdatasync", OTHER(FIRST) },
	{ "sync_file_range", OTHER(FIRST) },
	{ "syncfs", OTHER(FIRST) },
	{ "sync", OTHER(NO_FILE_AT) },
	{ "msync", OTHER(NO_FILE_AT) },
	{ "ftruncate", OTHER(FIRST) },
	{ "ftruncate64", OTHER(FIRST) },
	{ "fallocate", OTHER(FIRST) },
	{ "readahead", OTHER(FIRST) },
	{ "fadvise64", OTHER(FIRST) },
	{ "fadvise64_64", OTHER(FIRST) },
	{ "getdents", OTHER(FIRST) },
	{ "getdents64", OTHER(FIRST) },
	{ "io_uring_enter", OTHER(FIRST) },
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

_Static_assert(N_CALLS < IO_CALLS_REQUESTS, "one numbering");
_Static_assert(IO_CALLS_REQUESTS + IO_RECORD_REQUESTS_MAX <= 256, "it has a byte");

static size_t find(const char *name)
{
	size_t i = 0;

	while (i < N_CALLS && strcmp(calls[i].name, name) != 0)
		i++;
	return i;
}

void io_calls_number(struct io_record_call ret[IO_RECORD_CALLS_MAX], bool is_32bit)
{
	for (uint32_t number = 0; number < IO_RECORD_CALLS_MAX; number++) {
		const char *name = syscall_name(number, is_32bit);
		size_t i = name ? find(name) : N_CALLS;

		ret[number] = (struct io_record_call){ 0 };
		if (i < N_CALLS)
			ret[number] = (struct io_record_call){ .index = (uint8_t)(i + 1),
							       .event = calls[i].event,
							       .file = calls[i].file,
							       .asks = calls[i].asks };
	}
}

const char *io_calls_name(uint32_t index)
{
	return index && index <= N_CALLS ? calls[index - 1].name : NULL;
}

void io_calls_label(uint32_t index, char *ret, size_t cap)
{
	bool is_request = index >= IO_CALLS_REQUESTS;
	const char *name = is_request ? io_requests_name(index - IO_CALLS_REQUESTS)
				      : io_calls_name(index);

	snprintf(ret, cap, "[%s %s]", is_request ? "io_uring" : "syscall",
		 name ? name : "?");
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * memory_of_others - whether processes' memory can be read here: some emulators lack the
 * call.
 */
#ifndef DWELL_TESTS_MEMORY_OF_OTHERS_H
#define DWELL_TESTS_MEMORY_OF_OTHERS_H

#include <errno.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

static inline bool memory_of_others_is_there(void)
{
	char from = 1, to = 0;
	struct iovec here = { &to, 1 }, there = { &from, 1 };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 || errno != ENOSYS;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_grace.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where the kernel cannot tell: no program takes a thousandth of it by itself. */
#define GRACE_NS 20000000

void system_grace_wait(void)
{
	struct timespec grace = { .tv_nsec = GRACE_NS };

	/* Programs run where the kernel's readers do, for whom this waits. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		nanosleep(&grace, NULL);
}

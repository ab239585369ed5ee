/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_caller.h"

#include <stdbool.h>
#include <sys/ptrace.h>

#include "collect/count_remote.h"
#include "collect/count_tracee.h"

#define CODE_64BIT  0x33 /* cs */
#define RSEQ_CS_OFF 8	 /* in what a thread has registered */

/* Since kernel 5.13; C libraries name it since. */
#define GET_RSEQ 0x420f
struct rseq_registered {
	uint64_t at;
	uint32_t bytes, signature, flags, pad;
};

/* Sections of code that are begun anew when they are interrupted, unless they are
 * executed elsewhere. */
static bool has_sections(const struct count_tracee *t)
{
	struct rseq_registered c = { 0 };
	uint64_t section = 0;

	return ptrace(GET_RSEQ, t->tid, sizeof(c), &c) > 0 && c.at &&
	       count_remote_read(t->tid, c.at + RSEQ_CS_OFF, &section, sizeof(section)) &&
	       section;
}

int count_caller_check(const struct count_tracee *t, struct err *e)
{
	if (t->regs.cs != CODE_64BIT)
		return err_set(e, ERR_UNSUPPORTED, "it executes 32-bit code");
	if (has_sections(t))
		return err_set(e, ERR_UNSUPPORTED, "it uses restartable sequences");
	return 0;
}

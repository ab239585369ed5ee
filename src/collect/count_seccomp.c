/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "base/mem.h"
#include "decode/seccomp_filter.h"
#include "host/procfs.h"
#include "host/syscall_name.h"
#include "wire/count_calls.h"

#define LONGEST 4096 /* of a filter, as the kernel has it */

/* What the engine asks the kernel for, when it comes, while it counts and when it goes.
 */
static const struct needed {
	uint32_t number;
	uint8_t attached; /* COUNT_CALLS_… */
	uint64_t args[6];
} unmap_needed = { SYS_munmap, COUNT_CALLS_NEED, { COUNT_CALLS_ANY, COUNT_CALLS_ANY } },
  all_needed[] = {
#define CALL(of, attached, number, ...)                                                  \
	{ number, COUNT_CALLS_##attached, { __VA_ARGS__ } },
#include "wire/count_calls.def"
#undef CALL
  };

struct filters {
	struct sock_filter *code;
	pid_t tid;
	const struct needed *needed;
	size_t n_needed;
};

static void filters_fini(struct filters *f)
{
	free(f->code);
}

/* SECCOMP_MODE_*.  With filters if nothing is known: a kernel without
 * CONFIG_CHECKPOINT_RESTORE shows none of them. */
static int mode_of(pid_t tid)
{
	static const char name[] = "\nSeccomp:\t";
	char text[PROCFS_STATUS_BYTES];
	const char *at;

	if (procfs_status(tid, text, NULL) < 0)
		return SECCOMP_MODE_FILTER;
	at = strstr(text, name);
	return at ? at[sizeof(name) - 1] - '0' : SECCOMP_MODE_DISABLED;
}

/* The filter set so many before the last; 0: there is none, -1: it is not shown. */
static long read_filter(struct filters *f, unsigned long back)
{
	long n = ptrace(PTRACE_SECCOMP_GET_FILTER, f->tid, back, NULL);

	if (n < 0)
		return back && errno == ENOENT ? 0 : -1;
	if (n > LONGEST)
		return -1;
	f->code = xrealloc(f->code, (size_t)n, sizeof(*f->code));
	return ptrace(PTRACE_SECCOMP_GET_FILTER, f->tid, back, f->code);
}

static bool may_be_made(const struct needed *c, uint32_t said)
{
	switch (said & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
		return c->attached == COUNT_CALLS_MAY;
	default:
		return false;
	}
}

static int try_call(const struct filters *f, size_t n, const struct needed *c,
		    struct err *e)
{
	struct seccomp_data call = { .nr = (int)c->number,
				     .arch = AUDIT_ARCH_X86_64,
				     .instruction_pointer = COUNT_CALLS_ANY };
	const char *name = syscall_name(c->number, false);
	bool is_of_code = (c->number == SYS_mmap || c->number == SYS_mprotect) &&
			  (c->args[2] & PROT_EXEC);
	uint32_t said;

	for (unsigned i = 0; i < 6; i++)
		call.args[i] = c->args[i];
	if (seccomp_filter_run(f->code, n, &call, &said) && may_be_made(c, said))
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "it has forbidden itself (seccomp) what the engine needs: %s%s",
		       name ? name : "a call", is_of_code ? " of code" : "");
}

static int try_all(const struct filters *f, size_t n, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < f->n_needed && rc == 0; i++)
		if (f->needed[i].attached != COUNT_CALLS_NO)
			rc = try_call(f, n, &f->needed[i], e);
	return rc;
}

static int try_filters(struct filters *f, struct err *e)
{
	int rc = 0;

	for (unsigned long back = 0; rc == 0; back++) {
		long n = read_filter(f, back);

		if (n == 0)
			return 0;
		if (n < 0)
			return err_set(
				e, ERR_UNSUPPORTED,
				"it has forbidden itself system calls (seccomp), and "
				"only root may see which");
		rc = try_all(f, (size_t)n, e);
	}
	return rc;
}

static int check(pid_t tid, const struct needed *needed, size_t n, struct err *e)
{
	own(filters_fini) struct filters f = { .tid = tid,
					       .needed = needed,
					       .n_needed = n };

	switch (mode_of(tid)) {
	case SECCOMP_MODE_DISABLED:
		return 0;
	case SECCOMP_MODE_STRICT:
		return err_set(e, ERR_UNSUPPORTED,
			       "it has forbidden itself all system calls (seccomp)");
	default:
		return try_filters(&f, e);
	}
}

int count_seccomp_check(pid_t tid, struct err *e)
{
	return check(tid, all_needed, sizeof(all_needed) / sizeof(all_needed[0]), e);
}

int count_seccomp_check_unmap(pid_t tid, struct err *e)
{
	return check(tid, &unmap_needed, 1, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/sandbox.h"

#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "inject/next.h"

#define EXPORT __attribute__((visibility("default")))

typedef int prctl_fn(int option, unsigned long a, unsigned long b, unsigned long c,
		     unsigned long d);
typedef long syscall_fn(long nr, long a, long b, long c, long d, long e, long f);

/* Variadic in the headers, which makes no difference to the caller. */
EXPORT prctl_fn sandbox_prctl __asm__("prctl");
EXPORT syscall_fn sandbox_syscall __asm__("syscall");

static prctl_fn *next_prctl;
static syscall_fn *next_syscall;
static bool is_on;

bool sandbox_is_on(void)
{
	return is_on;
}

void sandbox_init(void)
{
	if (!next_prctl)
		next_prctl = (prctl_fn *)next_symbol("prctl");
	if (!next_syscall)
		next_syscall = (syscall_fn *)next_symbol("syscall");
}

struct restriction {
	bool was_on;
	void *stopped;
};

static struct restriction enter(bool is_strict)
{
	struct restriction r = { .was_on = is_on };

	if (is_on)
		return r;
	r.stopped = sandbox_before(is_strict);
	is_on = true;
	return r;
}

static void settle(const struct restriction *r, bool has_failed)
{
	if (r->was_on)
		return;
	is_on = !has_failed;
	sandbox_after(r->stopped, has_failed);
}

int sandbox_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
		  unsigned long d)
{
	sandbox_init();
	if (option != PR_SET_SECCOMP)
		return next_prctl(option, a, b, c, d);

	struct restriction r = enter(a == SECCOMP_MODE_STRICT);
	int rc = next_prctl(option, a, b, c, d);

	settle(&r, rc < 0);
	return rc;
}

static long pass(long nr, const long a[6])
{
	long rc;

	sandbox_note(nr, a);
	rc = next_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	sandbox_note(nr, a);
	return rc;
}

long sandbox_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	sandbox_init();
	if (nr != SYS_seccomp && (nr != SYS_prctl || a != PR_SET_SECCOMP))
		return pass(nr, (long[]){ a, b, c, d, e, f });

	bool is_strict = nr == SYS_seccomp ? a == SECCOMP_SET_MODE_STRICT
					   : b == SECCOMP_MODE_STRICT;
	struct restriction r = enter(is_strict);
	long rc = next_syscall(nr, a, b, c, d, e, f);

	settle(&r, rc < 0);
	return rc;
}

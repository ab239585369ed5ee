/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/local_guard.h"

#include <errno.h>
#include <sys/syscall.h>

#define PAGE_BYTES UINT64_C(4096) /* the smallest of any kernel */

/* No libc: its wrapper sets errno and is not ours to call from the target. */
static long probe(uint64_t addr)
{
#if defined(__x86_64__)
	register long size __asm__("r10") = 8;
	long rc = SYS_rt_sigprocmask;

	__asm__ volatile("syscall"
			 : "+a"(rc)
			 : "D"(~0ul), "S"(addr), "d"(0ul), "r"(size)
			 : "rcx", "r11", "memory");
	return rc;
#elif defined(__aarch64__)
	register long x0 __asm__("x0") = -1;
	register uint64_t x1 __asm__("x1") = addr;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 8;
	register long x8 __asm__("x8") = SYS_rt_sigprocmask;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x1), "r"(x2), "r"(x3), "r"(x8)
			 : "memory");
	return x0;
#else
#error "no system call for this architecture"
#endif
}

struct unaligned {
	uint64_t word;
} __attribute__((packed, may_alias));

/* Any memory that is there may be looked at, also what a sanitizer keeps for itself. */
__attribute__((no_sanitize_address)) static uint64_t load(uint64_t addr)
{
	return ((const volatile struct unaligned *)(uintptr_t)addr)->word;
}

static bool is_known(const struct local_guard *guard, uint64_t page)
{
	unsigned n = guard->n < LOCAL_GUARD_PAGES ? guard->n : LOCAL_GUARD_PAGES;

	for (unsigned i = 0; i < n; i++)
		if (guard->pages[i] == page)
			return true;
	return false;
}

bool local_guard_word(void *ctx, uint64_t addr, uint64_t *ret)
{
	struct local_guard *guard = ctx;
	uint64_t page = addr & ~(PAGE_BYTES - 1);
	bool is_inside = addr - page <= PAGE_BYTES - 8;

	if (!is_inside || !is_known(guard, page)) {
		if (probe(addr) != -EINVAL)
			return false;
		if (is_inside)
			guard->pages[guard->n++ % LOCAL_GUARD_PAGES] = page;
	}
	*ret = load(addr);
	return true;
}

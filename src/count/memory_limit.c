/* SPDX-License-Identifier: Apache-2.0 */
#include "count/memory_limit.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/engine.h"
#include "count/fatal.h"
#include "count/gate.h"
#include "count/program_memory.h"
#include "count/reserve.h"
#include "wire/count_file.h"

enum { A = 7, B = 6, C = 2, D = 10 };

#define PAGE_BYTES 4096

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

static const struct {
	int what;
	rlim_t own_bytes;
	const char *failure;
} limited[] = {
	{ RLIMIT_AS, COUNT_FILE_LEAST_SPACE,
	  "addresses are limited (ulimit -v), and counting needs 512 GB of them" },
	{ RLIMIT_DATA, COUNT_FILE_LEAST_DATA,
	  "data are limited (ulimit -d), and counting needs 64 GB, of addresses alone" },
};
#define N_LIMITED (sizeof(limited) / sizeof(limited[0]))

static bool are_raised;

static bool is_limited(uint64_t what)
{
	return what == RLIMIT_AS || what == RLIMIT_DATA;
}

static rlim_t own_bytes(uint64_t what)
{
	unsigned i = 0;

	while (i + 1 < N_LIMITED && (uint64_t)limited[i].what != what)
		i++;
	return limited[i].own_bytes;
}

static rlim_t more(uint64_t what, rlim_t limit)
{
	rlim_t own = own_bytes(what);

	return limit < RLIM_INFINITY - own ? limit + own : RLIM_INFINITY;
}

static rlim_t less(uint64_t what, rlim_t limit)
{
	rlim_t own = own_bytes(what);

	if (!are_raised || limit == RLIM_INFINITY)
		return limit;
	return limit > own ? limit - own : 0;
}

static struct rlimit both(rlim_t (*as)(uint64_t what, rlim_t limit), uint64_t what,
			  const struct rlimit *l)
{
	return (struct rlimit){ as(what, l->rlim_cur), as(what, l->rlim_max) };
}

bool memory_limit_is_raised(void)
{
	return are_raised;
}

/* The hard limit only where that is possible: else it seems to be lower. */
static bool make_higher(int what, const struct rlimit *l)
{
	struct rlimit higher = both(more, (uint64_t)what, l);

	if (sys_rlimit(what, &higher, NULL) == 0)
		return true;
	higher.rlim_max = l->rlim_max;
	return higher.rlim_cur <= higher.rlim_max && sys_rlimit(what, &higher, NULL) == 0;
}

void memory_limit_begin(bool by_other)
{
	struct rlimit l;

	are_raised = by_other;
	for (unsigned i = 0; !by_other && i < N_LIMITED; i++) {
		if (sys_rlimit(limited[i].what, NULL, &l) != 0 ||
		    (l.rlim_cur == RLIM_INFINITY && l.rlim_max == RLIM_INFINITY))
			continue;
		if (!make_higher(limited[i].what, &l))
			fatal(limited[i].failure);
		are_raised = true;
	}
}

static void set_all(rlim_t (*as)(uint64_t what, rlim_t limit))
{
	struct rlimit l;

	for (unsigned i = 0; i < N_LIMITED; i++) {
		if (sys_rlimit(limited[i].what, NULL, &l) != 0)
			continue;
		l = both(as, (uint64_t)limited[i].what, &l);
		sys_rlimit(limited[i].what, &l, NULL);
	}
}

void memory_limit_give_back(void)
{
	if (are_raised)
		set_all(less);
}

void memory_limit_take_again(void)
{
	if (are_raised)
		set_all(more);
}

/* The kernel's answer to a call whose argument of that number is a limit to set. */
static long set_higher(struct context *c, uint64_t what, unsigned argument)
{
	uint64_t *r = c->regs, was = r[argument];
	struct rlimit l;
	long result;

	if (!program_memory_read(&l, was, sizeof(l)))
		return -EFAULT;
	if (!are_raised && l.rlim_cur == RLIM_INFINITY && l.rlim_max == RLIM_INFINITY)
		return gate_pass(c);
	l = both(more, what, &l);
	r[argument] = (uint64_t)&l;
	result = gate_pass(c);
	r[argument] = was;
	are_raised |= result == 0;
	return result;
}

static long tell_lower(uint64_t what, uint64_t to, long result)
{
	struct rlimit l;

	if (result != 0 || !are_raised || !to)
		return result;
	if (!program_memory_read(&l, to, sizeof(l)))
		return -EFAULT;
	l = both(less, what, &l);
	return program_memory_write(to, &l, sizeof(l)) ? 0 : -EFAULT;
}

long memory_limit_set(struct context *c)
{
	return is_limited(c->regs[A]) ? set_higher(c, c->regs[A], B) : gate_pass(c);
}

long memory_limit_get(struct context *c)
{
	long result = gate_pass(c);

	return is_limited(c->regs[A]) ? tell_lower(c->regs[A], c->regs[B], result)
				      : result;
}

/* Of another process they are as they are. */
long memory_limit_change(struct context *c)
{
	const uint64_t *r = c->regs;
	bool is_own = !(int)r[A] || (int)r[A] == sys_getpid();
	bool was_raised = are_raised;
	long result;

	if (!is_own || !is_limited(r[B]))
		return gate_pass(c);
	result = r[C] ? set_higher(c, r[B], C) : gate_pass(c);
	if (!was_raised && r[C]) /* those of before are as they were */
		return result;
	return tell_lower(r[B], r[D], result);
}

/* By the kernel's count; 0: it does not say. */
static uint64_t bytes_now(void)
{
	char text[32] = { 0 };
	uint64_t pages = 0;
	int fd = sys_open("/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	for (const char *c = text; *c >= '0' && *c <= '9'; c++)
		pages = pages * 10 + (uint64_t)(*c - '0');
	return pages * PAGE_BYTES;
}

bool memory_limit_refuses(uint64_t bytes)
{
	struct rlimit l;

	if (!are_raised || engine.is_confined || sys_rlimit(RLIMIT_AS, NULL, &l) != 0 ||
	    l.rlim_cur == RLIM_INFINITY)
		return false;
	return bytes_now() + bytes > less(RLIMIT_AS, l.rlim_cur) + reserve_bytes();
}

long memory_limit_break(struct context *c)
{
	uint64_t to = c->regs[A];
	long now = are_raised ? sys_call(SYS_brk, 0, 0, 0, 0, 0, 0) : 0;

	if (are_raised && to > (uint64_t)now && memory_limit_refuses(to - (uint64_t)now))
		return now;
	return gate_pass(c);
}

static bool may_lock_all(void)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = { 0 };

	return sys_call(SYS_capget, &h, d, 0, 0, 0, 0) == 0 &&
	       (d[0].effective & 1u << CAP_IPC_LOCK);
}

/* Nothing is locked, for the engine's reservations would be filled.  The kernel refuses
 * it only to who may lock none. */
long memory_limit_lock(struct context *c)
{
	uint64_t flags = c->regs[A];
	struct rlimit l = { 0 };

	if (!(flags & (MCL_CURRENT | MCL_FUTURE)) ||
	    (flags & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)))
		return -EINVAL;
	sys_rlimit(RLIMIT_MEMLOCK, NULL, &l);
	return l.rlim_cur || may_lock_all() ? 0 : -EPERM;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_fpe_copy.h"

#include <linux/memfd.h>
#include <stddef.h>
#include <string.h>

#include "bare/sys.h"
#include "decode/x86_op.h"
#include "inject/arch.h"
#include "inject/trace_fpe.h"
#include "inject/trace_runtime.h"

#define POOL_BYTES  (256 << 10)
#define POOL_HEADER 64
#define N_POOLS	    16
#define TABLE_BITS  13
#define PROBES	    8
/* An operand's distance is 31 bits; a module and its neighbourhood are well below. */
#define NEAR_BYTES (INT64_C(1) << 30)
#define TRIES	   64
#define TRY_BYTES  (UINT64_C(8) << 20)
/* Who may not map what is executed is refused each time, after many tries. */
#define FAILURES_MAX 8

_Static_assert(offsetof(struct trace_fpe_event, raised) == 0, "as the code has it");
_Static_assert(offsetof(struct trace_fpe_event, armed) == 4, "as the code has it");

/* The same memory twice, as what can be written should not be executed; and how much of
 * it is in use, in it, as the child of a fork goes on in the same. */
struct pool {
	uint8_t *written;
	uintptr_t executed;
};

static struct pool pools[N_POOLS];
static uint32_t n_pools, n_failures;
static int making; /* the process in which a thread is at it: not a fork's parent */

struct copy {
	uintptr_t pc;	/* 0: free; 1: being made */
	uint64_t where; /* the event is, as the code has it */
	uintptr_t code; /* 0: it has none */
	uint8_t bytes[X86_OP_MAX_BYTES], size;
};

static struct copy table[1 << TABLE_BITS];

/* The event's address.  Without thread-local storage it is in another place for each
 * thread, and each has copies of its own. */
#ifdef DWELL_INJECTED
#define EVENT_TO_RCX                                                                     \
	0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0, /* movabs $where, %rcx */                    \
		0x48, 0x8b, 0x09	    /* mov (%rcx), %rcx */
#define WHERE_OFF   21
#define WHERE_BYTES 8
#else
#define EVENT_TO_RCX 0x64, 0x48, 0x8b, 0x0c, 0x25, 0, 0, 0, 0 /* mov %fs:where, %rcx */
#define WHERE_OFF    24
#define WHERE_BYTES  4
#endif

/* Behind the instruction: below the red zone flags and two registers are kept. */
static const uint8_t behind[] = {
	0x48,	      0x8d, 0x64, 0x24, 0x80,	       /* lea -128(%rsp), %rsp */
	0x9c,	      0x50, 0x51, 0x50,		       /* pushf, rax, rcx, a place */
	0x0f,	      0xae, 0x1c, 0x24,		       /* stmxcsr (%rsp) */
	0x8b,	      0x04, 0x24,		       /* mov (%rsp), %eax */
	0x83,	      0xe0, 0x3f,		       /* and $0x3f, %eax */
	EVENT_TO_RCX, 0x89, 0x01,		       /* mov %eax, (%rcx) */
	0x0b,	      0x41, 0x04,		       /* or 4(%rcx), %eax */
	0x89,	      0x04, 0x24,		       /* mov %eax, (%rsp) */
	0x0f,	      0xae, 0x14, 0x24,		       /* ldmxcsr (%rsp) */
	0x58,	      0x59, 0x58, 0x9d,		       /* pop it, rcx, rax, flags */
	0x48,	      0x8d, 0xa4, 0x24, 0x80, 0, 0, 0, /* lea 128(%rsp), %rsp */
	0xe9,	      0,    0,	  0,	0,	       /* jmp */
};

#define COPY_MAX (X86_OP_MAX_BYTES + sizeof(behind))

static bool is_near(uintptr_t a, uintptr_t b)
{
	int64_t d = (int64_t)(a - b);

	return d > -NEAR_BYTES && d < NEAR_BYTES;
}

/* Above what is there, or below. */
static uintptr_t map_near(uintptr_t pc, int fd)
{
	uintptr_t page = pc & ~(TRY_BYTES - 1);

	for (uint64_t i = 1; i <= TRIES; i++) {
		for (int side = 0; side < 2; side++) {
			uintptr_t at = side ? page - i * TRY_BYTES : page + i * TRY_BYTES;
			long got =
				sys_call(SYS_mmap, at, POOL_BYTES, PROT_READ | PROT_EXEC,
					 MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

			if (got == (long)at)
				return at;
			if (got > 0) /* a kernel that takes the address for a hint */
				sys_unmap((void *)got, POOL_BYTES);
		}
	}
	return 0;
}

/* Beyond that limit the kernel would not only refuse but send SIGXFSZ. */
static bool may_be_large(void)
{
	struct rlimit limit;

	return sys_rlimit(RLIMIT_FSIZE, NULL, &limit) == 0 &&
	       limit.rlim_cur >= POOL_BYTES;
}

static bool make_pool(struct pool *p, uintptr_t pc)
{
	int fd = (int)sys_call(SYS_memfd_create, "dwell-fpe", MFD_CLOEXEC, 0, 0, 0, 0);

	if (fd < 0)
		return false;
	p->written = NULL;
	if (may_be_large() && sys_call(SYS_ftruncate, fd, POOL_BYTES, 0, 0, 0, 0) == 0)
		p->written = sys_map(POOL_BYTES, MAP_SHARED, fd);
	p->executed = p->written ? map_near(pc, fd) : 0;
	sys_close(fd);
	if (p->written && !p->executed)
		sys_unmap(p->written, POOL_BYTES);
	return p->executed != 0;
}

static uint32_t *used_of(const struct pool *p)
{
	return (uint32_t *)(void *)p->written;
}

static bool has_room(const struct pool *p)
{
	return __atomic_load_n(used_of(p), __ATOMIC_RELAXED) <
	       POOL_BYTES - POOL_HEADER - 2 * COPY_MAX;
}

static bool begin_making(void)
{
	int was = __atomic_load_n(&making, __ATOMIC_RELAXED);

	return was != trace_runtime.pid &&
	       __atomic_compare_exchange_n(&making, &was, trace_runtime.pid, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static struct pool *pool_near(uintptr_t pc, bool may_map)
{
	uint32_t n = __atomic_load_n(&n_pools, __ATOMIC_ACQUIRE);
	struct pool *made = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (is_near(pools[i].executed, pc) && has_room(&pools[i]))
			return &pools[i];
	if (!may_map || n == N_POOLS ||
	    __atomic_load_n(&n_failures, __ATOMIC_RELAXED) == FAILURES_MAX)
		return NULL;
	if (!begin_making())
		return NULL; /* another thread is at it: this once it takes two signals */
	if (n_pools < N_POOLS && make_pool(&pools[n_pools], pc)) {
		made = &pools[n_pools];
		__atomic_store_n(&n_pools, n_pools + 1, __ATOMIC_RELEASE);
	} else if (n_failures < FAILURES_MAX) {
		__atomic_store_n(&n_failures, n_failures + 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&making, 0, __ATOMIC_RELEASE);
	return made;
}

/* Room for one, as an offset; 0: there is none. */
static uint32_t take_room(const struct pool *p, uint32_t size)
{
	uint32_t off =
		POOL_HEADER + __atomic_fetch_add(used_of(p), size, __ATOMIC_RELAXED);

	if (off + size <= POOL_BYTES)
		return off;
	__atomic_fetch_sub(used_of(p), size, __ATOMIC_RELAXED);
	return 0;
}

static bool put_distance(uint8_t *at, int64_t d)
{
	int32_t v = (int32_t)d;

	memcpy(at, &v, sizeof(v));
	return v == d;
}

static uintptr_t write_copy(const struct pool *p, uintptr_t pc, const struct x86_op *op,
			    uint64_t where)
{
	uint32_t size = (op->size + (uint32_t)sizeof(behind) + 15) & ~15u;
	uint32_t off = take_room(p, size);
	uint8_t *to = p->written + off;
	uintptr_t code = p->executed + off, end = code + op->size + sizeof(behind);

	if (!off)
		return 0;
	memcpy(to, (const void *)pc, op->size);
	memcpy(to + op->size, behind, sizeof(behind));
	memcpy(to + op->size + WHERE_OFF, &where, WHERE_BYTES);
	if (op->is_rip_relative &&
	    !put_distance(to + op->disp_off, op->disp + (int64_t)(pc - code)))
		return 0;
	return put_distance(to + op->size + sizeof(behind) - 4,
			    (int64_t)(pc + op->size - end))
		       ? code
		       : 0;
}

/* What does arithmetic is in these maps; op was raised by the unit, so it is of it. */
static bool read_op(uintptr_t pc, struct x86_op *ret)
{
	uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
	uintptr_t left = 4096 - (pc & 4095);

	/* of the next page there may be none */
	memcpy(bytes, (const void *)pc, left < sizeof(bytes) ? left : sizeof(bytes));
	if (!x86_op_read(bytes, ret) || ret->size > left) {
		if (left >= sizeof(bytes))
			return false;
		memcpy(bytes, (const void *)pc, sizeof(bytes));
		if (!x86_op_read(bytes, ret))
			return false;
	}
	if (ret->is_rip_relative && ret->is_address_32)
		return false;
	return ret->is_vector || ret->map == X86_OP_0F || ret->map == X86_OP_0F3A ||
	       ret->map == X86_OP_0F38;
}

static void make(struct copy *c, uintptr_t pc, uint64_t where, const struct pool *p)
{
	struct x86_op op;

	c->where = where;
	if (!read_op(pc, &op)) {
		c->size = 0;
		return;
	}
	memcpy(c->bytes, (const void *)pc, op.size);
	c->size = op.size;
	c->code = write_copy(p, pc, &op, where);
}

/* Code may have been replaced by other code. */
static uintptr_t code_of(const struct copy *c, uintptr_t pc)
{
	return c->code && memcmp(c->bytes, (const void *)pc, c->size) == 0 ? c->code : 0;
}

static uint64_t where_of(struct trace_fpe_event *const *event)
{
#ifdef DWELL_INJECTED
	return (uintptr_t)event;
#else
	return (uintptr_t)event - arch_thread_pointer();
#endif
}

static uint32_t place_of(uintptr_t pc, uint64_t where)
{
	return (uint32_t)((pc ^ where << 24) * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - TABLE_BITS));
}

uintptr_t trace_fpe_copy_of(uintptr_t pc, struct trace_fpe_event *const *event,
			    bool may_map)
{
	uint64_t where = where_of(event);
	uint32_t at = place_of(pc, where);
	const struct pool *p;

	for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) & ((1 << TABLE_BITS) - 1)) {
		struct copy *c = &table[at];
		uintptr_t key = __atomic_load_n(&c->pc, __ATOMIC_ACQUIRE);

		if (key == pc && c->where == where)
			return code_of(c, pc);
		if (key)
			continue;
		p = pool_near(pc, may_map);
		if (!p)
			return 0;
		if (!__atomic_compare_exchange_n(&c->pc, &key, 1, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		make(c, pc, where, p);
		__atomic_store_n(&c->pc, pc, __ATOMIC_RELEASE);
		return code_of(c, pc);
	}
	return 0;
}

bool trace_fpe_copy_has(uintptr_t pc)
{
	uint32_t n = __atomic_load_n(&n_pools, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (pc - pools[i].executed < POOL_BYTES)
			return true;
	return false;
}

void trace_fpe_copy_unmap(void)
{
	for (uint32_t i = 0; i < n_pools; i++) {
		sys_unmap(pools[i].written, POOL_BYTES);
		sys_unmap((void *)pools[i].executed, POOL_BYTES);
	}
	n_pools = 0;
	memset(table, 0, sizeof(table));
}

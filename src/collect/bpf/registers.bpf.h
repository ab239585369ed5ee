/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * registers - the registers that a stack walk starts from, by architecture.
 */
#ifndef DWELL_COLLECT_BPF_REGISTERS_BPF_H
#define DWELL_COLLECT_BPF_REGISTERS_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "wire/stack_rows.h"

#if defined(__TARGET_ARCH_x86)

struct registers {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	uint64_t orig_ax, ip, cs, flags, sp, ss;
};

#define REGISTERS_HAS_LINK 0
#define REGISTERS_RED_ZONE 128
/* Of the stack, that a call takes. */
#define REGISTERS_RETURN_BYTES 8
#define REGISTERS_PC_MASK      (~UINT64_C(0))
#define REGISTERS_CALL_MMAP    9
/* What a call returns to the kernel, unless a handler has run since; 0: not told. */
#define REGISTERS_RESULT(kept) ((int64_t)(kept)->ax)
/* What the kernel pushed for a signal, from the stack pointer in the trampoline. */
#define REGISTERS_CONTEXT_PC 168
#define REGISTERS_CONTEXT_SP 160
#define REGISTERS_CONTEXT_SAVED                                                          \
	{                                                                                \
		0, 120, 128, 72, 80, 88, 96, 0                                           \
	}

static __always_inline bool registers_are_user(const struct registers *r)
{
	return r->cs & 3;
}

static __always_inline bool registers_are_32bit(const struct registers *r)
{
	return r->cs == 0x23;
}

/* The same of the kernel's own type, of which newer ones have but two bytes of the name.
 */
static __always_inline bool registers_kept_are_user(const struct registers *kept)
{
	return *(const uint16_t *)&kept->cs & 3;
}

static __always_inline bool registers_kept_are_32bit(const struct registers *kept)
{
	return *(const uint16_t *)&kept->cs == 0x23;
}

/* Loads behind this are made behind those before it; own: nobody else's. */
static __always_inline void registers_order_loads(uint32_t *own)
{
	(void)own;
	asm volatile("" ::: "memory");
}

/* Others see it behind what was stored before. */
static __always_inline void registers_store_last(uint32_t *at, uint32_t value)
{
	asm volatile("" ::: "memory");
	*(volatile uint32_t *)at = value;
}

static __always_inline uint64_t registers_pc(const struct registers *r)
{
	return r->ip;
}

/* Number of the system call that a thread is in, whose registers the kernel has kept;
 * negative: it is in none. */
static __always_inline int64_t registers_call(const struct registers *kept)
{
	return kept->orig_ax;
}

/* Is the system call that the thread is in one of 32-bit programs? */
static __always_inline bool registers_call_is_32bit(const struct task_struct *task)
{
	return task->thread_info.status & 2;
}

/* The second to fifth argument of the system call that a thread is in, from 1 on; the
 * first may be overwritten when it has returned. */
static __always_inline uint64_t registers_argument(const struct registers *r, uint32_t i,
						   bool is_32bit)
{
	if (is_32bit)
		return (uint32_t)(i == 1   ? r->cx
				  : i == 2 ? r->dx
				  : i == 3 ? r->si
					   : r->di);
	return i == 1 ? r->si : i == 2 ? r->dx : i == 3 ? r->r10 : r->r8;
}

/* The first, before it has returned. */
static __always_inline uint64_t registers_first_argument(const struct registers *r,
							 bool is_32bit)
{
	return is_32bit ? (uint32_t)r->bx : r->di;
}

/* When it has. */
static __always_inline uint64_t registers_first_argument_was(const struct registers *r,
							     bool is_32bit)
{
	return registers_first_argument(r, is_32bit);
}

static __always_inline uint64_t registers_sp(const struct registers *r)
{
	return r->sp;
}

/* What a row can save, in its order. */
static __always_inline void registers_saved(const struct registers *r,
					    uint64_t saved[STACK_ROWS_N_SAVES])
{
	saved[0] = 0;
	saved[1] = r->bp;
	saved[2] = r->bx;
	saved[3] = r->r12;
	saved[4] = r->r13;
	saved[5] = r->r14;
	saved[6] = r->r15;
	saved[7] = 0;
}

/* By DWARF's number, of those that a row cannot save; 0: unknown. */
static __always_inline uint64_t registers_other(const struct registers *r, uint32_t n)
{
	switch (n) {
	case 0:
		return r->ax;
	case 1:
		return r->dx;
	case 2:
		return r->cx;
	case 4:
		return r->si;
	case 5:
		return r->di;
	case 8:
		return r->r8;
	case 9:
		return r->r9;
	case 10:
		return r->r10;
	case 11:
		return r->r11;
	default:
		return 0;
	}
}

#elif defined(__TARGET_ARCH_arm64)

struct registers {
	uint64_t x[31], sp, pc, pstate;
};

#define REGISTERS_HAS_LINK     1
#define REGISTERS_RED_ZONE     0
#define REGISTERS_RETURN_BYTES 0
#define REGISTERS_PC_MASK      ((UINT64_C(1) << 48) - 1)
#define REGISTERS_CALL_MMAP    222
#define REGISTERS_RESULT(kept) 0 /* the first argument is there again already */
/* What the kernel pushed for a signal: siginfo_t, and a ucontext_t with x0 at 184. */
#define REGISTERS_CONTEXT_X(n) (128 + 184 + 8 * (n))
#define REGISTERS_CONTEXT_PC   REGISTERS_CONTEXT_X(32)
#define REGISTERS_CONTEXT_SP   REGISTERS_CONTEXT_X(31)
#define REGISTERS_CONTEXT_SAVED                                                          \
	{                                                                                \
		REGISTERS_CONTEXT_X(30), REGISTERS_CONTEXT_X(29),                        \
			REGISTERS_CONTEXT_X(19), REGISTERS_CONTEXT_X(20),                \
			REGISTERS_CONTEXT_X(21), REGISTERS_CONTEXT_X(22),                \
			REGISTERS_CONTEXT_X(23), REGISTERS_CONTEXT_X(24)                 \
	}

static __always_inline bool registers_are_user(const struct registers *r)
{
	return (r->pstate & 0xf) == 0;
}

static __always_inline bool registers_are_32bit(const struct registers *r)
{
	return r->pstate & 0x10;
}

static __always_inline bool registers_kept_are_user(const struct registers *kept)
{
	return registers_are_user(kept);
}

static __always_inline bool registers_kept_are_32bit(const struct registers *kept)
{
	return registers_are_32bit(kept);
}

static __always_inline void registers_order_loads(uint32_t *own)
{
	uint32_t was = __sync_fetch_and_add(own, 0);

	asm volatile("" ::"r"(was) : "memory");
}

static __always_inline void registers_store_last(uint32_t *at, uint32_t value)
{
	__sync_lock_test_and_set(at, value); /* behind the stores before it */
}

static __always_inline uint64_t registers_pc(const struct registers *r)
{
	return r->pc & REGISTERS_PC_MASK;
}

static __always_inline int64_t registers_call(const struct registers *kept)
{
	int32_t call = -1;

	/* Behind the registers and x0 as it was. */
	bpf_probe_read_kernel(&call, sizeof(call),
			      (const char *)kept + sizeof(struct registers) + 8);
	return call;
}

static __always_inline bool registers_call_is_32bit(const struct task_struct *task)
{
	return task->thread_info.flags >> 22 & 1;
}

static __always_inline uint64_t registers_argument(const struct registers *r, uint32_t i,
						   bool is_32bit)
{
	uint64_t value = i == 1 ? r->x[1] : i == 2 ? r->x[2] : i == 3 ? r->x[3] : r->x[4];

	return is_32bit ? (uint32_t)value : value;
}

static __always_inline uint64_t registers_first_argument(const struct registers *r,
							 bool is_32bit)
{
	return is_32bit ? (uint32_t)r->x[0] : r->x[0];
}

static __always_inline uint64_t registers_first_argument_was(const struct registers *r,
							     bool is_32bit)
{
	uint64_t first = 0;

	/* Behind the registers. */
	bpf_probe_read_kernel(&first, sizeof(first),
			      (const char *)r + sizeof(struct registers));
	return is_32bit ? (uint32_t)first : first;
}

static __always_inline uint64_t registers_sp(const struct registers *r)
{
	return r->sp;
}

static __always_inline void registers_saved(const struct registers *r,
					    uint64_t saved[STACK_ROWS_N_SAVES])
{
	saved[0] = r->x[30];
	saved[1] = r->x[29];
	saved[2] = r->x[19];
	saved[3] = r->x[20];
	saved[4] = r->x[21];
	saved[5] = r->x[22];
	saved[6] = r->x[23];
	saved[7] = r->x[24];
}

static __always_inline uint64_t registers_other(const struct registers *r, uint32_t n)
{
	return n < 31 ? r->x[n & 31] : 0;
}

#else
#error "no registers of this architecture"
#endif

/* Those of the program, as the kernel has kept them when it was entered: members of the
 * kernel's own type, which are read by plain loads. */
static __always_inline const struct registers *registers_kept(struct task_struct *task)
{
	return (const void *)bpf_task_pt_regs(task);
}

#endif

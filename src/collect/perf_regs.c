/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_regs.h"

#include <stddef.h>
#include <string.h>

/* perf's number of a register (asm/perf_regs.h), DWARF's, and its place among those that
 * the kernel keeps, ascending in perf's. */
struct reg {
	uint8_t perf, dwarf, kept;
};

/* The CPU's flags have no number that unwinding knows. */
#define IS_FLAGS 0xff

#if defined(__x86_64__)
#define NATIVE_ARCH UNWIND_X86_64
#define NATIVE_SP   UNWIND_X86_64_RSP
#define NATIVE_PC   UNWIND_X86_64_PC
static const struct reg regs_table[] = {
	{ 0, 0, 10 },  { 1, 3, 5 },   { 2, 2, 11 },  { 3, 1, 12 },  { 4, 4, 13 },
	{ 5, 5, 14 },  { 6, 6, 4 },   { 7, 7, 19 },  { 8, 16, 16 }, { 9, IS_FLAGS, 18 },
	{ 16, 8, 9 },  { 17, 9, 8 },  { 18, 10, 7 }, { 19, 11, 6 }, { 20, 12, 3 },
	{ 21, 13, 2 }, { 22, 14, 1 }, { 23, 15, 0 },
};
/* The code segment, which is another one in 32-bit code. */
#define MODE_KEPT 17

static bool is_32bit(uint64_t mode)
{
	return mode == 0x23;
}

static uint64_t flags_of(uint64_t mode, uint64_t flags)
{
	(void)mode;
	return flags;
}
#elif defined(__aarch64__)
#define NATIVE_ARCH UNWIND_AARCH64
#define NATIVE_SP   UNWIND_AARCH64_SP
#define NATIVE_PC   UNWIND_AARCH64_PC
static const struct reg regs_table[] = {
	{ 0, 0, 0 },	{ 1, 1, 1 },	{ 2, 2, 2 },	{ 3, 3, 3 },	{ 4, 4, 4 },
	{ 5, 5, 5 },	{ 6, 6, 6 },	{ 7, 7, 7 },	{ 8, 8, 8 },	{ 9, 9, 9 },
	{ 10, 10, 10 }, { 11, 11, 11 }, { 12, 12, 12 }, { 13, 13, 13 }, { 14, 14, 14 },
	{ 15, 15, 15 }, { 16, 16, 16 }, { 17, 17, 17 }, { 18, 18, 18 }, { 19, 19, 19 },
	{ 20, 20, 20 }, { 21, 21, 21 }, { 22, 22, 22 }, { 23, 23, 23 }, { 24, 24, 24 },
	{ 25, 25, 25 }, { 26, 26, 26 }, { 27, 27, 27 }, { 28, 28, 28 }, { 29, 29, 29 },
	{ 30, 30, 30 }, { 31, 31, 31 }, { 32, 32, 32 },
};
/* pstate: a bit says that it is not 64-bit code. */
#define MODE_KEPT   33

static bool is_32bit(uint64_t mode)
{
	return mode & 0x10;
}

/* Samples do not carry them, but they are kept beside the mode. */
static uint64_t flags_of(uint64_t mode, uint64_t flags)
{
	(void)flags;
	return mode | PERF_REGS_TOLD;
}
#else
#error "no register table for this architecture"
#endif

#define N_REGS (sizeof(regs_table) / sizeof(regs_table[0]))

uint64_t perf_regs_mask(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < N_REGS; i++)
		mask |= UINT64_C(1) << regs_table[i].perf;
	return mask;
}

unsigned perf_regs_count(void)
{
	return N_REGS;
}

static uint64_t value_at(const uint8_t *values, size_t i)
{
	uint64_t value;

	memcpy(&value, values + 8 * i, sizeof(value));
	return value;
}

static void put(const struct reg *reg, uint64_t value, struct unwind_regs *ret,
		uint64_t *ret_flags)
{
	if (reg->dwarf == IS_FLAGS) {
		*ret_flags = value;
		return;
	}
	ret->r[reg->dwarf] = value;
	ret->valid |= UINT64_C(1) << reg->dwarf;
}

void perf_regs_decode(const uint8_t *values, struct unwind_regs *ret, uint64_t *ret_flags)
{
	ret->arch = NATIVE_ARCH;
	ret->valid = 0;
	*ret_flags = 0;
	for (size_t i = 0; i < N_REGS; i++)
		put(&regs_table[i], value_at(values, i), ret, ret_flags);
}

bool perf_regs_decode_kernel(const uint8_t *kept, struct unwind_regs *ret,
			     uint64_t *ret_flags, bool *ret_is_32bit)
{
	ret->arch = NATIVE_ARCH;
	ret->valid = 0;
	*ret_flags = 0;
	for (size_t i = 0; i < N_REGS; i++)
		put(&regs_table[i], value_at(kept, regs_table[i].kept), ret, ret_flags);
	*ret_is_32bit = is_32bit(value_at(kept, MODE_KEPT));
	*ret_flags = flags_of(value_at(kept, MODE_KEPT), *ret_flags);
	return ret->r[NATIVE_SP] != 0;
}

void perf_regs_blocked(uint64_t sp, uint64_t pc, struct unwind_regs *ret)
{
	*ret = (struct unwind_regs){ .arch = NATIVE_ARCH };
	ret->r[NATIVE_SP] = sp;
	ret->r[NATIVE_PC] = pc;
	ret->valid = UINT64_C(1) << NATIVE_SP | UINT64_C(1) << NATIVE_PC;
}

uint64_t perf_regs_sp(const struct unwind_regs *regs)
{
	return regs->r[NATIVE_SP];
}

uint64_t perf_regs_pc(const struct unwind_regs *regs)
{
	return regs->r[NATIVE_PC];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code, followed from each of its bytes: instructions have a size, a way that was
 * found begins at a register, and a step along it goes up the stack. */
#include <stdlib.h>
#include <string.h>

#include "unwind/abi.h"
#include "unwind/code_path.h"
#include "decode/x86_op.h"

#define CODE_ADDR  0x10000
#define STACK_ADDR 0x70000
#define MAX_STARTS 64

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

struct code {
	const uint8_t *bytes;
	size_t size;
};

static bool read_code(void *ctx, uint64_t addr, uint64_t *ret)
{
	const struct code *code = ctx;
	uint64_t off = addr - CODE_ADDR;

	if (off >= code->size || code->size - off < 8)
		return false;
	memcpy(ret, code->bytes + off, 8);
	return true;
}

static void check_op(const uint8_t *bytes, size_t size)
{
	uint8_t padded[X86_OP_MAX_BYTES] = { 0 };
	struct x86_op op;

	memcpy(padded, bytes, size < sizeof(padded) ? size : sizeof(padded));
	if (!x86_op_read(padded, &op))
		return;
	check(op.size >= 1 && op.size <= X86_OP_MAX_BYTES);
	check(op.reg < X86_OP_N_REGS && op.rm < X86_OP_N_REGS);
	check(op.base < X86_OP_N_REGS || op.base == X86_OP_NO_REG);
}

static void check_step(const struct code_path *path)
{
	static const uint64_t stack[8] = { STACK_ADDR, STACK_ADDR + 8, STACK_ADDR + 16 };
	struct stack_memory m = { (const uint8_t *)stack, STACK_ADDR, sizeof(stack), NULL,
				  NULL };
	struct unwind_regs g = { .valid = 0x1ffff };
	struct step s;

	for (unsigned i = 0; i < X86_OP_N_REGS; i++)
		g.r[i] = STACK_ADDR;
	if (code_path_step(path, &g, &m, &s) == STEP_RETURN)
		check(g.r[UNWIND_X86_64_RSP] > STACK_ADDR);
	else
		check(g.r[UNWIND_X86_64_RSP] == STACK_ADDR);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code code = { data, size };

	for (size_t i = 0; i < size && i < MAX_STARTS; i++) {
		struct code_path_input in = { read_code, &code, CODE_ADDR + i, 256, 16 };
		struct code_paths paths;

		check_op(data + i, size - i);
		if (!code_path_find(&in, &paths))
			continue;
		check(paths.n && paths.n <= CODE_PATH_MAX);
		for (unsigned k = 0; k < paths.n; k++) {
			check(paths.at[k].sp.reg < X86_OP_N_REGS);
			check_step(&paths.at[k]);
		}
	}
	return 0;
}

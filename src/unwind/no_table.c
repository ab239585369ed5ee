/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/no_table.h"

#include "unwind/code_path.h"
#include "unwind/stack_end.h"

/* A call that lands this close in front of pc called the function pc is in. */
#define FUNCTION_MAX_BYTES (64 << 10)
/* The code of one JIT compiler lies this close together (Java's default: 240 MB). */
#define JIT_MAX_BYTES (256 << 20)

/* How far to look for the function's end. */
struct way_limits {
	unsigned steps, branches;
};

/* Of code that keeps frame pointers, but not up to its very end. */
static const struct way_limits epilogue = { 10, 0 };
/* Of code that was written by hand: its loops are long. */
static const struct way_limits whole_function = { 2048, 16 };

static bool read_code(const struct no_table_code *code, uint64_t addr, uint8_t *ret,
		      unsigned n)
{
	for (unsigned i = 0; i < n; i += 8) {
		uint64_t word;

		if (!code->read(code->ctx, addr + i, &word))
			return false;
		memcpy(ret + i, &word, 8);
	}
	return true;
}

enum answer { NO, PERHAPS, YES };

/* Perhaps: it is in code that cannot be read. */
static enum answer is_return(const struct abi *abi, const struct no_table_code *code,
			     uint64_t addr)
{
	uint8_t bytes[8];

	if (addr < sizeof(bytes) || !code->is_code(code->ctx, addr))
		return NO;
	if (!read_code(code, addr - 8, bytes, 8))
		return PERHAPS;
	return step_is_call(abi, bytes + 8, 8) ? YES : NO;
}

bool no_table_is_return(const struct abi *abi, const struct no_table_code *code,
			uint64_t addr)
{
	return is_return(abi, code, addr) != NO;
}

static bool is_trampoline(const struct abi *abi, const struct no_table_code *code,
			  uint64_t pc)
{
	uint8_t bytes[16];

	return read_code(code, pc, bytes, sizeof(bytes)) &&
	       memcmp(bytes, abi->trampoline_code, abi->trampoline_code_size) == 0;
}

static int32_t read_i32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Where jmp or call *disp(%rip), whose operand ends at `next`, leads. */
static bool through_slot(const struct no_table_code *code, uint64_t next, int32_t disp,
			 uint64_t *ret)
{
	return code->read(code->ctx, next + (uint64_t)(int64_t)disp, ret);
}

/* A PLT entry leads on to where its slot points. */
static void follow_plt(const struct no_table_code *code, uint64_t *target)
{
	uint8_t bytes[16];
	unsigned at = 0;

	if (!read_code(code, *target, bytes, sizeof(bytes)))
		return;
	if (memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
		at = 4;
	if (bytes[at] == 0xf2) /* bnd */
		at++;
	if (bytes[at] == 0xff && bytes[at + 1] == 0x25)
		through_slot(code, *target + at + 6, read_i32(bytes + at + 2), target);
}

/* The target of the call that returns to ra, when its bytes tell. */
static bool call_target(const struct abi *abi, const struct no_table_code *code,
			uint64_t ra, uint64_t *ret)
{
	uint8_t bytes[8];

	if (!read_code(code, ra - 8, bytes, 8))
		return false;
	if (abi->has_link_register) {
		uint32_t insn = (uint32_t)read_i32(bytes + 4);

		*ret = ra - 4 + (uint64_t)((int64_t)((int32_t)(insn << 6) >> 6) * 4);
		return insn >> 26 == 0x25;
	}
	if (bytes[3] == 0xe8) {
		*ret = ra + (uint64_t)(int64_t)read_i32(bytes + 4);
		follow_plt(code, ret);
		return true;
	}
	return bytes[2] == 0xff && bytes[3] == 0x15 &&
	       through_slot(code, ra, read_i32(bytes + 4), ret);
}

static bool was_called_from(const struct abi *abi, const struct no_table_code *code,
			    uint64_t ra, uint64_t pc)
{
	uint64_t target;

	return call_target(abi, code, ra, &target) && pc - target < FUNCTION_MAX_BYTES;
}

/* At these instructions nothing has been put between sp and the return address but
 * what was pushed. */
static bool is_entry(const uint8_t *p)
{
	if (memcmp(p, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
		return true;
	if (p[0] == 0x48 && (p[1] == 0x83 || p[1] == 0x81) && p[2] == 0xec)
		return true; /* sub $n, %rsp */
	return (p[0] & 0xf8) == 0x50 ||
	       (p[0] == 0x41 && (p[1] & 0xf8) == 0x50); /* push */
}

/* Each way leaves g as it was when it does not apply. */
/* Along the one way that leads to a return address. */
static bool try_code_path(const struct abi *abi, const struct no_table_code *code,
			  const struct way_limits *limits, struct unwind_regs *g,
			  const struct stack_memory *m, struct step *s)
{
	struct code_path_input in = { code->read, code->ctx, g->r[abi->pc], limits->steps,
				      limits->branches };
	struct unwind_regs next = *g, found;
	struct code_paths paths;
	unsigned n_found = 0;

	if (abi->has_link_register || !code_path_find(&in, &paths))
		return false;
	for (unsigned i = 0; i < paths.n; i++) {
		next = *g;
		if (code_path_step(&paths.at[i], &next, m, s) != STEP_RETURN) {
			if (s->stop == UNWIND_BAD_MEMORY)
				return false; /* it may be the one */
			continue;
		}
		if (!no_table_is_return(abi, code, next.r[abi->pc]))
			continue;
		found = next;
		n_found++;
	}
	if (n_found != 1)
		return false;
	*g = found;
	return true;
}

static bool try_leaf(const struct abi *abi, const struct no_table_code *code,
		     struct unwind_regs *g, const struct stack_memory *m, struct step *s)
{
	struct unwind_regs next = *g;
	uint64_t pc = g->r[abi->pc];
	uint8_t bytes[8];
	bool is_readable = read_code(code, pc, bytes, sizeof(bytes));

	if (step_leaf(abi, &next, m, s) != STEP_RETURN ||
	    !no_table_is_return(abi, code, next.r[abi->pc]))
		return false;
	if (is_readable ? !(is_entry(bytes) && !abi->has_link_register) &&
				  !was_called_from(abi, code, next.r[abi->pc], pc)
			: code->is_code(code->ctx, pc))
		return false; /* what is no code was called through a bad pointer */
	*g = next;
	return true;
}

static bool try_frame_pointer(const struct abi *abi, const struct no_table_code *code,
			      struct unwind_regs *g, const struct stack_memory *m,
			      struct step *s)
{
	struct unwind_regs next = *g;

	if (step_frame_pointer(abi, &next, m, s) != STEP_RETURN ||
	    !was_called_from(abi, code, next.r[abi->pc], g->r[abi->pc]))
		return false;
	*g = next;
	return true;
}

/* Out of a function that start code has called: what such a one calls last does not come
 * back. */
static bool try_start(const struct abi *abi, const struct no_table_code *code,
		      struct unwind_regs *g, const struct stack_memory *m, struct step *s)
{
	uint64_t slot, pc;

	if (!stack_end_find(abi, code, m, g->r[abi->sp], &slot) ||
	    !stack_memory_word(m, slot, &pc))
		return false;
	s->pc_slot = s->fp_slot = s->cfa_slot = 0;
	g->r[abi->pc] = pc;
	g->r[abi->sp] = slot + 8;
	g->valid = abi_bit(abi->sp) | abi_bit(abi->pc);
	return true;
}

/* At the first instruction (0), behind the push of the frame record (1), or elsewhere.
 * The record is then at sp, though the frame pointer is still the caller's. */
static int place_in_prologue(const struct abi *abi, const struct no_table_code *code,
			     uint64_t pc)
{
	static const uint8_t x86[] = { 0x55, 0x48, 0x89, 0xe5 }; /* push; mov */
	static const uint8_t arm_move[] = { 0xfd, 0x03, 0x00, 0x91 };
	uint8_t bytes[16];

	if (!read_code(code, pc - 8, bytes, sizeof(bytes)))
		return -1;
	if (!abi->has_link_register) {
		if (memcmp(bytes + 8, x86, 4) == 0)
			return 0;
		return memcmp(bytes + 7, x86, 4) == 0 ? 1 : -1;
	}
	for (int i = 0; i < 2; i++) {
		uint32_t store = (uint32_t)read_i32(bytes + 8 - 4 * i);

		/* stp x29, x30, [sp, #-n]! */
		if ((store & 0xffe07fff) == 0xa9a07bfd &&
		    memcmp(bytes + 12 - 4 * i, arm_move, 4) == 0)
			return i;
	}
	return -1;
}

static bool try_prologue(const struct abi *abi, const struct no_table_code *code,
			 struct unwind_regs *g, const struct stack_memory *m,
			 struct step *s)
{
	int place = place_in_prologue(abi, code, g->r[abi->pc]);
	struct unwind_regs next = *g;
	enum step_result rc = STEP_STOP;

	if (place == 0)
		rc = step_leaf(abi, &next, m, s);
	if (place == 1) {
		next.r[abi->fp] = g->r[abi->sp];
		next.valid |= abi_bit(abi->fp);
		rc = step_frame_pointer(abi, &next, m, s);
	}
	if (rc != STEP_RETURN || !no_table_is_return(abi, code, next.r[abi->pc]))
		return false;
	*g = next;
	return true;
}

/* Interpreters push the address where a callee is to go on themselves (Java's): no call
 * is in front of it. */
static bool is_same_jit(const struct no_table_code *code, uint64_t pc, uint64_t from)
{
	return pc - from + JIT_MAX_BYTES < 2 * (uint64_t)JIT_MAX_BYTES &&
	       code->is_code(code->ctx, pc) && !code->is_in_file(code->ctx, pc) &&
	       !code->is_in_file(code->ctx, from);
}

/* Frame pointers rise, up to a caller that uses the register for something else: such a
 * one must have a call in front of the return address. */
static enum step_result step_chain(const struct abi *abi,
				   const struct no_table_code *code,
				   struct unwind_regs *g, const struct stack_memory *m,
				   struct step *s)
{
	struct unwind_regs next = *g;
	enum step_result rc = step_frame_pointer(abi, &next, m, s);
	uint64_t fp = next.r[abi->fp], pc = next.r[abi->pc];
	enum answer answer;

	if (rc != STEP_RETURN)
		return rc;
	answer = pc ? is_return(abi, code, pc) : PERHAPS;
	if (answer == NO && is_same_jit(code, pc, g->r[abi->pc]))
		answer = PERHAPS;
	if (answer == NO || (answer == PERHAPS && fp && fp <= g->r[abi->fp]))
		return step_stop(s, UNWIND_NO_TABLE);
	*g = next;
	return STEP_RETURN;
}

/* A compiler's code that keeps frame pointers, or what has the size of it. */
static enum step_result step_compiled(const struct abi *abi,
				      const struct no_table_code *code, bool is_exact,
				      struct unwind_regs *g, const struct stack_memory *m,
				      struct step *s)
{
	bool is_in_file = code->is_in_file(code->ctx, g->r[abi->pc]);
	enum step_result rc;

	if (is_exact &&
	    (try_prologue(abi, code, g, m, s) ||
	     try_code_path(abi, code, is_in_file ? &whole_function : &epilogue, g, m, s)))
		return STEP_RETURN;
	rc = step_chain(abi, code, g, m, s);
	if (rc == STEP_STOP && !is_exact && is_in_file &&
	    try_code_path(abi, code, &whole_function, g, m, s))
		return STEP_RETURN;
	return rc;
}

enum step_result no_table_step(const struct abi *abi, const struct no_table_code *code,
			       const struct no_table_frame *frame, struct unwind_regs *g,
			       const struct stack_memory *m, struct step *s)
{
	uint64_t pc = g->r[abi->pc];
	bool is_code = code->is_code(code->ctx, pc);

	if (is_trampoline(abi, code, pc))
		return step_signal(abi, g, m, s);
	if (!frame->is_exact && is_code) {
		if (stack_end_is(abi, code, pc))
			return step_stop(s, UNWIND_END);
		if (code->is_in_file(code->ctx, pc) && try_start(abi, code, g, m, s))
			return STEP_RETURN;
	}
	if (!frame->is_hand_written && is_code)
		return step_compiled(abi, code, frame->is_exact, g, m, s);
	if ((is_code && try_code_path(abi, code, &whole_function, g, m, s)) ||
	    (frame->is_exact && try_leaf(abi, code, g, m, s)) ||
	    (is_code && try_frame_pointer(abi, code, g, m, s)))
		return STEP_RETURN;
	return step_stop(s, UNWIND_NO_TABLE);
}

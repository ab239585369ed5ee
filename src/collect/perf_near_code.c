/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
#include "collect/perf_near_code.h"

#include "collect/assembler.h"
#include "collect/perf_deep_code.h"

/* How many general registers struct pt_regs begins with. */
#if defined(__x86_64__)
#define N_REGS 15
#elif defined(__aarch64__)
#define N_REGS 30
#else
#error "which registers does pt_regs begin with?"
#endif

#define PAGE 4096
/* Less is no address of a program's. */
#define LEAST_ADDR    65536
#define ADDR_BITS     48
#define BEFORE	      64 /* bytes of a place in front of where a register points to */
#define PLACE	      ((int32_t)sizeof(struct perf_near_place))
#define MAX_BYTES     ((N_REGS + PERF_WISHES_SLOTS) * PLACE)
#define BITS_OF_BLOCK 8 /* of a wish: those of an address that are left out */

/* Of the frame. */
#define SLOT_CPU   (-4)
#define SLOT_ROUND (-16)
#define SLOT_PID   (-24)

#define PIECE_ADDR   offsetof(struct perf_deep_piece, addr)
#define PIECE_SIZE   offsetof(struct perf_deep_piece, size)
#define PIECE_STREAM offsetof(struct perf_deep_piece, stream)
#define PIECE_REGS   offsetof(struct perf_deep_piece, regs)
#define PIECE_BYTES  offsetof(struct perf_deep_piece, bytes)

_Static_assert(MAX_BYTES <= (int)PERF_DEEP_CODE_PIECE_BYTES, "all fit into one record");
_Static_assert(PERF_PIECES_PLACE_BYTES == 1 << BITS_OF_BLOCK, "a wish is a place");
_Static_assert(PERF_NEAR_CODE_MAX == ASSEMBLER_CODE_MAX, "there is room for as many");

enum label {
	LABEL_REGISTER,
	LABEL_NEXT_REGISTER,
	LABEL_IN_PAGE,
	LABEL_ENDS_IN_PAGE,
	LABEL_WISH,
	LABEL_NEXT_WISH,
	LABEL_WRITE,
	LABEL_NEXT,
	LABEL_PERF,
	N_LABELS
};

_Static_assert((int)N_LABELS <= ASSEMBLER_LABELS_MAX, "there is room for all");

/* r6 = the context, r9 = the CPU's scratch piece, r7 = the stack pointer. */
static void begin(struct assembler *a, const struct perf_near_code_input *in)
{
	move(a, BPF_REG_6, BPF_REG_1);
	call(a, BPF_FUNC_get_smp_processor_id);
	store_32(a, BPF_REG_10, SLOT_CPU, BPF_REG_0);
	look_up(a, in->scratch, SLOT_CPU);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, LABEL_PERF);
	move(a, BPF_REG_9, BPF_REG_0);
	call(a, BPF_FUNC_get_current_pid_tgid);
	emit(a, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
	store(a, BPF_REG_10, SLOT_PID, BPF_REG_0);
	perf_deep_code_registers(a);
	set(a, BPF_REG_1, 0);
	store(a, BPF_REG_10, SLOT_ROUND, BPF_REG_1);
	store(a, BPF_REG_9, PIECE_ADDR, BPF_REG_1);
	store(a, BPF_REG_9, PIECE_SIZE, BPF_REG_1);
	store(a, BPF_REG_9, PIECE_STREAM, BPF_REG_1);
	/* a thread of the kernel */
	jump(a, BPF_JEQ | BPF_K, BPF_REG_7, 0, 0, LABEL_NEXT);
}

/* The place that begins at r5, behind those that are there. */
static void copy_place(struct assembler *a, enum label failed)
{
	load(a, BPF_REG_1, BPF_REG_9, PIECE_SIZE);
	jump(a, BPF_JGT | BPF_K, BPF_REG_1, 0, MAX_BYTES - PLACE, LABEL_WRITE);
	add(a, BPF_REG_1, BPF_REG_9);
	store(a, BPF_REG_1, PIECE_BYTES, BPF_REG_5);
	add_imm(a, BPF_REG_1, PIECE_BYTES + offsetof(struct perf_near_place, bytes));
	set(a, BPF_REG_2, PERF_PIECES_PLACE_BYTES);
	move(a, BPF_REG_3, BPF_REG_5);
	call(a, BPF_FUNC_probe_read_user);
	jump(a, BPF_JNE | BPF_K, BPF_REG_0, 0, 0, failed);
	load(a, BPF_REG_1, BPF_REG_9, PIECE_SIZE);
	add_imm(a, BPF_REG_1, PLACE);
	store(a, BPF_REG_9, PIECE_SIZE, BPF_REG_1);
}

/* if (++round < rounds) goto to */
static void again(struct assembler *a, int32_t rounds, enum label to)
{
	load(a, BPF_REG_1, BPF_REG_10, SLOT_ROUND);
	add_imm(a, BPF_REG_1, 1);
	store(a, BPF_REG_10, SLOT_ROUND, BPF_REG_1);
	jump(a, BPF_JLT | BPF_K, BPF_REG_1, 0, rounds, to);
}

/* r3 = a register; whatever is no address, or of the stack, is left out. */
static void choose_register(struct assembler *a, const struct perf_near_code_input *in)
{
	load(a, BPF_REG_1, BPF_REG_10, SLOT_ROUND);
	emit(a, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_1, 0, 0, 3);
	add(a, BPF_REG_1, BPF_REG_9);
	load(a, BPF_REG_3, BPF_REG_1, PIECE_REGS);
	move(a, BPF_REG_4, BPF_REG_3);
	emit(a, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_4, BPF_REG_7, 0, 0);
	jump(a, BPF_JLT | BPF_K, BPF_REG_4, 0, (int32_t)in->stack_bytes,
	     LABEL_NEXT_REGISTER);
	jump(a, BPF_JLT | BPF_K, BPF_REG_3, 0, LEAST_ADDR, LABEL_NEXT_REGISTER);
	move(a, BPF_REG_4, BPF_REG_3);
	emit(a, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_4, 0, 0, ADDR_BITS);
	jump(a, BPF_JNE | BPF_K, BPF_REG_4, 0, 0, LABEL_NEXT_REGISTER);
}

/* r5 = where its place begins: in the same page, the next one may not be there. */
static void find_place(struct assembler *a)
{
	move(a, BPF_REG_4, BPF_REG_3);
	emit(a, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_4, 0, 0, -PAGE);
	move(a, BPF_REG_5, BPF_REG_3);
	add_imm(a, BPF_REG_5, -BEFORE);
	jump(a, BPF_JGE | BPF_X, BPF_REG_5, BPF_REG_4, 0, LABEL_IN_PAGE);
	move(a, BPF_REG_5, BPF_REG_4);
	label(a, LABEL_IN_PAGE);
	add_imm(a, BPF_REG_4, PAGE - PERF_PIECES_PLACE_BYTES);
	jump(a, BPF_JLE | BPF_X, BPF_REG_5, BPF_REG_4, 0, LABEL_ENDS_IN_PAGE);
	move(a, BPF_REG_5, BPF_REG_4);
	label(a, LABEL_ENDS_IN_PAGE);
}

static void copy_near_registers(struct assembler *a,
				const struct perf_near_code_input *in)
{
	label(a, LABEL_REGISTER);
	choose_register(a, in);
	find_place(a);
	copy_place(a, LABEL_NEXT_REGISTER);
	label(a, LABEL_NEXT_REGISTER);
	again(a, N_REGS, LABEL_REGISTER);
}

/* Those of this process. */
static void copy_wishes(struct assembler *a, const struct perf_near_code_input *in)
{
	set(a, BPF_REG_1, 0);
	store(a, BPF_REG_10, SLOT_ROUND, BPF_REG_1);
	label(a, LABEL_WISH);
	look_up(a, in->wishes, SLOT_ROUND);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, LABEL_NEXT_WISH);
	load(a, BPF_REG_5, BPF_REG_0, 0);
	move(a, BPF_REG_1, BPF_REG_5);
	emit(a, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_1, 0, 0, PERF_WISHES_PID_SHIFT);
	load(a, BPF_REG_2, BPF_REG_10, SLOT_PID);
	jump(a, BPF_JNE | BPF_X, BPF_REG_1, BPF_REG_2, 0, LABEL_NEXT_WISH);
	emit(a, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_5, 0, 0, 64 - PERF_WISHES_PID_SHIFT);
	emit(a, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_5, 0, 0,
	     64 - PERF_WISHES_PID_SHIFT - BITS_OF_BLOCK);
	copy_place(a, LABEL_NEXT_WISH);
	label(a, LABEL_NEXT_WISH);
	again(a, PERF_WISHES_SLOTS, LABEL_WISH);
}

static void write_places(struct assembler *a, const struct perf_near_code_input *in)
{
	label(a, LABEL_WRITE);
	load(a, BPF_REG_5, BPF_REG_9, PIECE_SIZE);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_5, 0, 0, LABEL_NEXT);
	jump(a, BPF_JGT | BPF_K, BPF_REG_5, 0, MAX_BYTES, LABEL_NEXT);
	add_imm(a, BPF_REG_5, PIECE_BYTES);
	move(a, BPF_REG_1, BPF_REG_6);
	load_map(a, BPF_REG_2, in->output);
	/* BPF_F_CURRENT_CPU */
	emit(a, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1);
	move(a, BPF_REG_4, BPF_REG_9);
	call(a, BPF_FUNC_perf_event_output);
}

size_t perf_near_code(const struct perf_near_code_input *in, struct bpf_insn *ret)
{
	struct assembler a = { .code = ret };

	begin(&a, in);
	copy_near_registers(&a, in);
	copy_wishes(&a, in);
	write_places(&a, in);
	label(&a, LABEL_NEXT);
	move(&a, BPF_REG_1, BPF_REG_6);
	load_map(&a, BPF_REG_2, in->programs);
	set(&a, BPF_REG_3, (int32_t)in->next);
	call(&a, BPF_FUNC_tail_call);
	label(&a, LABEL_PERF);
	set(&a, BPF_REG_0, 1);
	emit(&a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	resolve(&a);
	return a.n;
}

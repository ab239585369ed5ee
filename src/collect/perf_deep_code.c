/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
#include "collect/perf_deep_code.h"

#include <errno.h>

#include "collect/assembler.h"

/* Of the stack pointer in struct pt_regs. */
#if defined(__x86_64__)
#define SP_OFFSET 152
#elif defined(__aarch64__)
#define SP_OFFSET 248
#else
#error "where does pt_regs keep the stack pointer?"
#endif
/* In struct bpf_perf_event_data, behind the registers and the period. */
#define CONTEXT_ADDR (PERF_REGS_KERNEL_BYTES + 8)

#define PAGE 4096
/* Pages to try after a piece that cannot be read as a whole, be they there or not: each
 * that is not costs as much as a fault. */
#define PAGES_MAX 20
/* Of the frame: the thread's id, the CPU, the loop's counter, is the stack's end unknown?
 * */
#define SLOT_TID     (-4)
#define SLOT_CPU     (-8)
#define SLOT_ROUND   (-16)
#define SLOT_UNKNOWN (-24)

#define PIECE_SP     offsetof(struct perf_deep_piece, sp)
#define PIECE_ADDR   offsetof(struct perf_deep_piece, addr)
#define PIECE_SIZE   offsetof(struct perf_deep_piece, size)
#define PIECE_WANTED offsetof(struct perf_deep_piece, wanted)
#define PIECE_STREAM offsetof(struct perf_deep_piece, stream)
#define PIECE_TAG    offsetof(struct perf_deep_piece, tag)
#define PIECE_DATA   offsetof(struct perf_deep_piece, data_addr)
#define PIECE_REGS   offsetof(struct perf_deep_piece, regs)
#define PIECE_BYTES  offsetof(struct perf_deep_piece, bytes)

_Static_assert(PERF_DEEP_CODE_MAX == ASSEMBLER_CODE_MAX, "there is room for as many");

enum label {
	LABEL_STACK,
	LABEL_PIECE,
	LABEL_PIECE_FITS,
	LABEL_PAGE,
	LABEL_RUN,
	LABEL_NEXT_PAGE,
	LABEL_PAGE_FITS,
	LABEL_FULL,
	LABEL_KNOWN,
	LABEL_GAP,
	LABEL_NO_RUN,
	LABEL_NOTHING,
	LABEL_LAST,
	LABEL_DONE,
	LABEL_PERF,
	N_LABELS
};

/* r6 = the context, r9 = the CPU's scratch piece. */
static void find_scratch(struct assembler *a, const struct perf_deep_code_input *in)
{
	move(a, BPF_REG_6, BPF_REG_1);
	call(a, BPF_FUNC_get_smp_processor_id);
	store_32(a, BPF_REG_10, SLOT_CPU, BPF_REG_0);
	look_up(a, in->scratch, SLOT_CPU);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, LABEL_PERF);
	move(a, BPF_REG_9, BPF_REG_0);
	set(a, BPF_REG_1, 0);
	store(a, BPF_REG_10, SLOT_ROUND, BPF_REG_1);
	store(a, BPF_REG_9, PIECE_STREAM, BPF_REG_1);
	load(a, BPF_REG_1, BPF_REG_6, CONTEXT_ADDR);
	store(a, BPF_REG_9, PIECE_DATA, BPF_REG_1);
}

void perf_deep_code_registers(struct assembler *a)
{
	call(a, BPF_FUNC_get_current_task_btf);
	move(a, BPF_REG_1, BPF_REG_0);
	call(a, BPF_FUNC_task_pt_regs);
	for (int16_t i = 0; i < PERF_REGS_KERNEL_BYTES; i += 8) {
		load(a, BPF_REG_1, BPF_REG_0, i);
		store(a, BPF_REG_9, (int16_t)PIECE_REGS + i, BPF_REG_1);
	}
	load(a, BPF_REG_7, BPF_REG_9, PIECE_REGS + SP_OFFSET);
	store(a, BPF_REG_9, PIECE_SP, BPF_REG_7);
}

/* Whose stack it is; copying begins at its pointer. */
static void begin_stack(struct assembler *a)
{
	call(a, BPF_FUNC_get_current_pid_tgid);
	store_32(a, BPF_REG_10, SLOT_TID, BPF_REG_0);
	perf_deep_code_registers(a);
	store(a, BPF_REG_9, PIECE_ADDR, BPF_REG_7);
	/* a thread of the kernel */
	jump(a, BPF_JEQ | BPF_K, BPF_REG_7, 0, 0, LABEL_NOTHING);
}

/* r8 = the first address not to copy.  A stack whose end is unknown begins page by page,
 * because a copy that fails costs as much as it is large, and most are shallow. */
static void find_end(struct assembler *a, const struct perf_deep_code_input *in)
{
	set(a, BPF_REG_1, 1);
	store(a, BPF_REG_10, SLOT_UNKNOWN, BPF_REG_1);
	look_up(a, in->bases, SLOT_TID);
	move(a, BPF_REG_8, BPF_REG_7);
	add_imm(a, BPF_REG_8, (int32_t)in->limit_bytes);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, LABEL_PAGE);
	load(a, BPF_REG_1, BPF_REG_0, 0);
	/* the stack pointer is beyond the end: it is on another stack */
	jump(a, BPF_JGE | BPF_X, BPF_REG_7, BPF_REG_1, 0, LABEL_PAGE);
	set(a, BPF_REG_2, 0);
	store(a, BPF_REG_10, SLOT_UNKNOWN, BPF_REG_2);
	jump(a, BPF_JGE | BPF_X, BPF_REG_1, BPF_REG_8, 0, LABEL_PIECE);
	move(a, BPF_REG_8, BPF_REG_1);
}

static void write_piece(struct assembler *a, const struct perf_deep_code_input *in)
{
	move(a, BPF_REG_1, BPF_REG_6);
	load_map(a, BPF_REG_2, in->output);
	/* BPF_F_CURRENT_CPU */
	emit(a, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1);
	move(a, BPF_REG_4, BPF_REG_9);
	load(a, BPF_REG_5, BPF_REG_9, PIECE_SIZE);
	jump(a, BPF_JGT | BPF_K, BPF_REG_5, 0, PERF_DEEP_CODE_PIECE_BYTES, LABEL_PERF);
	add_imm(a, BPF_REG_5, PIECE_BYTES);
	call(a, BPF_FUNC_perf_event_output);
}

/* What leaf functions keep below the stack pointer: hand-written ones have even the
 * frame's address there. */
static void copy_red_zone(struct assembler *a, const struct perf_deep_code_input *in)
{
	if (!in->red_bytes)
		return;
	look_up(a, in->wishes, SLOT_ROUND); /* its first round is 0 */
	jump(a, BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, LABEL_STACK);
	load(a, BPF_REG_1, BPF_REG_0, 0);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_1, 0, 0, LABEL_STACK);
	move(a, BPF_REG_1, BPF_REG_9);
	add_imm(a, BPF_REG_1, PIECE_BYTES);
	set(a, BPF_REG_2, (int32_t)in->red_bytes);
	move(a, BPF_REG_3, BPF_REG_7);
	add_imm(a, BPF_REG_3, -(int32_t)in->red_bytes);
	store(a, BPF_REG_9, PIECE_ADDR, BPF_REG_3);
	store(a, BPF_REG_9, PIECE_SIZE, BPF_REG_2);
	call(a, BPF_FUNC_probe_read_user);
	jump(a, BPF_JNE | BPF_K, BPF_REG_0, 0, 0, LABEL_STACK);
	write_piece(a, in);
	label(a, LABEL_STACK);
}

/* r2 = the smaller of it and what is wanted from r7 on, 1 to max; also in the piece.
 * The way through memory makes the verifier forget how it came about: else it goes
 * through the rest once for each. */
static void limit_size(struct assembler *a, int32_t max, unsigned done, unsigned fits)
{
	jump(a, BPF_JGE | BPF_X, BPF_REG_7, BPF_REG_8, 0, done);
	move(a, BPF_REG_3, BPF_REG_8);
	emit(a, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_3, BPF_REG_7, 0, 0);
	jump(a, BPF_JGE | BPF_X, BPF_REG_3, BPF_REG_2, 0, fits);
	move(a, BPF_REG_2, BPF_REG_3);
	label(a, fits);
	store(a, BPF_REG_9, PIECE_WANTED, BPF_REG_2);
	load(a, BPF_REG_2, BPF_REG_9, PIECE_WANTED);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_2, 0, 0, done);
	jump(a, BPF_JGT | BPF_K, BPF_REG_2, 0, max, LABEL_NOTHING);
}

/* if (++*slot < rounds) goto to */
static void again(struct assembler *a, int16_t slot, uint32_t rounds, unsigned to)
{
	load(a, BPF_REG_1, BPF_REG_10, slot);
	add_imm(a, BPF_REG_1, 1);
	store(a, BPF_REG_10, slot, BPF_REG_1);
	jump(a, BPF_JLT | BPF_K, BPF_REG_1, 0, (int32_t)rounds, to);
}

/* bytes[r1] and on = the r2 bytes at r7. */
static void read_stack(struct assembler *a, unsigned failed)
{
	add(a, BPF_REG_1, BPF_REG_9);
	add_imm(a, BPF_REG_1, PIECE_BYTES);
	move(a, BPF_REG_3, BPF_REG_7);
	call(a, BPF_FUNC_probe_read_user);
	jump(a, BPF_JNE | BPF_K, BPF_REG_0, 0, 0, failed);
}

/* Whole pieces, as long as they can be read. */
static void copy_pieces(struct assembler *a, const struct perf_deep_code_input *in)
{
	label(a, LABEL_PIECE);
	set(a, BPF_REG_2, PERF_DEEP_CODE_PIECE_BYTES);
	limit_size(a, PERF_DEEP_CODE_PIECE_BYTES, LABEL_NOTHING, LABEL_PIECE_FITS);
	set(a, BPF_REG_1, 0);
	read_stack(a, LABEL_PAGE);
	store(a, BPF_REG_9, PIECE_ADDR, BPF_REG_7);
	load(a, BPF_REG_1, BPF_REG_9, PIECE_WANTED);
	store(a, BPF_REG_9, PIECE_SIZE, BPF_REG_1);
	add(a, BPF_REG_7, BPF_REG_1);
	jump(a, BPF_JGE | BPF_X, BPF_REG_7, BPF_REG_8, 0, LABEL_LAST);
	write_piece(a, in);
	again(a, SLOT_ROUND, in->limit_bytes / PERF_DEEP_CODE_PIECE_BYTES + 1,
	      LABEL_PIECE);
	jump(a, BPF_JA, 0, 0, 0, LABEL_NOTHING);
}

/* The piece that cannot be read as a whole: the pages before the first that is not
 * there, and those behind it if the stack goes on. */
static void copy_pages(struct assembler *a)
{
	label(a, LABEL_PAGE);
	set(a, BPF_REG_1, 0);
	store(a, BPF_REG_10, SLOT_ROUND, BPF_REG_1);
	label(a, LABEL_RUN);
	store(a, BPF_REG_9, PIECE_ADDR, BPF_REG_7);
	set(a, BPF_REG_1, 0);
	store(a, BPF_REG_9, PIECE_SIZE, BPF_REG_1);
	label(a, LABEL_NEXT_PAGE);
	move(a, BPF_REG_3, BPF_REG_7);
	emit(a, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_3, 0, 0, PAGE - 1);
	set(a, BPF_REG_2, PAGE);
	emit(a, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_2, BPF_REG_3, 0, 0);
	limit_size(a, PAGE, LABEL_LAST, LABEL_PAGE_FITS);
	load(a, BPF_REG_1, BPF_REG_9, PIECE_SIZE);
	jump(a, BPF_JGT | BPF_K, BPF_REG_1, 0, PERF_DEEP_CODE_PIECE_BYTES - PAGE,
	     LABEL_FULL);
	read_stack(a, LABEL_GAP);
	load(a, BPF_REG_1, BPF_REG_9, PIECE_SIZE);
	load(a, BPF_REG_2, BPF_REG_9, PIECE_WANTED);
	add(a, BPF_REG_7, BPF_REG_2);
	add(a, BPF_REG_1, BPF_REG_2);
	store(a, BPF_REG_9, PIECE_SIZE, BPF_REG_1);
	again(a, SLOT_ROUND, PAGES_MAX, LABEL_NEXT_PAGE);
	jump(a, BPF_JA, 0, 0, 0, LABEL_LAST);
}

/* A full piece of pages: the stack is deep.  One whose end was unknown had no gap so far:
 * go on in pieces. */
static void go_on(struct assembler *a, const struct perf_deep_code_input *in)
{
	label(a, LABEL_FULL);
	write_piece(a, in);
	load(a, BPF_REG_1, BPF_REG_10, SLOT_UNKNOWN);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_1, 0, 0, LABEL_KNOWN);
	set(a, BPF_REG_1, 0);
	store(a, BPF_REG_10, SLOT_UNKNOWN, BPF_REG_1);
	store(a, BPF_REG_10, SLOT_ROUND, BPF_REG_1);
	jump(a, BPF_JA, 0, 0, 0, LABEL_PIECE);
	label(a, LABEL_KNOWN);
	again(a, SLOT_ROUND, PAGES_MAX, LABEL_RUN);
	jump(a, BPF_JA, 0, 0, 0, LABEL_NOTHING);
}

/* The page at r7 is not there: where the stack's end is unknown, this may be it. */
static void skip_page(struct assembler *a, const struct perf_deep_code_input *in)
{
	label(a, LABEL_GAP);
	load(a, BPF_REG_1, BPF_REG_10, SLOT_UNKNOWN);
	jump(a, BPF_JNE | BPF_K, BPF_REG_1, 0, 0, LABEL_LAST);
	load(a, BPF_REG_1, BPF_REG_9, PIECE_SIZE);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_1, 0, 0, LABEL_NO_RUN);
	write_piece(a, in);
	label(a, LABEL_NO_RUN);
	emit(a, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_7, 0, 0, -PAGE);
	add_imm(a, BPF_REG_7, PAGE);
	again(a, SLOT_ROUND, PAGES_MAX, LABEL_RUN);
	jump(a, BPF_JA, 0, 0, 0, LABEL_NOTHING);
}

/* The sample: with the last piece, or what is left of the stack is nothing.  A ring that
 * is full counts it as lost; where nothing can be written at all perf writes its own. */
static void finish(struct assembler *a, const struct perf_deep_code_input *in)
{
	label(a, LABEL_NOTHING);
	set(a, BPF_REG_1, 0);
	store(a, BPF_REG_9, PIECE_SIZE, BPF_REG_1);
	label(a, LABEL_LAST);
	load(a, BPF_REG_1, BPF_REG_9, PIECE_TAG);
	store(a, BPF_REG_9, PIECE_STREAM, BPF_REG_1);
	write_piece(a, in);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, LABEL_DONE);
	jump(a, BPF_JEQ | BPF_K, BPF_REG_0, 0, -ENOSPC, LABEL_DONE);
	label(a, LABEL_PERF);
	set(a, BPF_REG_0, 1);
	emit(a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	label(a, LABEL_DONE);
	set(a, BPF_REG_0, 0);
	emit(a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

size_t perf_deep_code(const struct perf_deep_code_input *in, struct bpf_insn *ret)
{
	struct assembler a = { .code = ret };

	find_scratch(&a, in);
	begin_stack(&a);
	copy_red_zone(&a, in);
	find_end(&a, in);
	copy_pieces(&a, in);
	copy_pages(&a);
	go_on(&a, in);
	skip_page(&a, in);
	finish(&a, in);
	resolve(&a);
	return a.n;
}

size_t perf_deep_code_entry(const struct perf_deep_code_input *in, int programs,
			    uint32_t stream, struct bpf_insn *ret)
{
	struct assembler a = { .code = ret };

	move(&a, BPF_REG_6, BPF_REG_1);
	call(&a, BPF_FUNC_get_smp_processor_id);
	store_32(&a, BPF_REG_10, SLOT_CPU, BPF_REG_0);
	look_up(&a, in->scratch, SLOT_CPU);
	jump(&a, BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, LABEL_PERF);
	set(&a, BPF_REG_1, (int32_t)stream + 1);
	store(&a, BPF_REG_0, PIECE_TAG, BPF_REG_1);
	move(&a, BPF_REG_1, BPF_REG_6);
	load_map(&a, BPF_REG_2, programs);
	set(&a, BPF_REG_3, 0);
	call(&a, BPF_FUNC_tail_call);
	label(&a, LABEL_PERF);
	set(&a, BPF_REG_0, 1);
	emit(&a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	resolve(&a);
	return a.n;
}

/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
 *
 * assembler - BPF programs, an instruction at a time.
 *
 * What writes one has an enum of labels.  No state but the struct.
 */
#ifndef DWELL_COLLECT_ASSEMBLER_H
#define DWELL_COLLECT_ASSEMBLER_H

#include <assert.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#define ASSEMBLER_CODE_MAX   320 /* instructions */
#define ASSEMBLER_LABELS_MAX 24

struct assembler {
	struct bpf_insn *code;
	size_t n;
	size_t at[ASSEMBLER_LABELS_MAX];
	struct {
		size_t insn;
		unsigned to; /* label */
	} jumps[48];
	size_t n_jumps;
};

static inline void emit(struct assembler *a, uint8_t op, uint8_t dst, uint8_t src,
			int16_t off, int32_t imm)
{
	assert(a->n < ASSEMBLER_CODE_MAX);
	a->code[a->n++] = (struct bpf_insn){ .code = op,
					     .dst_reg = dst & 15,
					     .src_reg = src & 15,
					     .off = off,
					     .imm = imm };
}

static inline void set(struct assembler *a, uint8_t dst, int32_t imm)
{
	emit(a, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

static inline void move(struct assembler *a, uint8_t dst, uint8_t src)
{
	emit(a, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static inline void add(struct assembler *a, uint8_t dst, uint8_t src)
{
	emit(a, BPF_ALU64 | BPF_ADD | BPF_X, dst, src, 0, 0);
}

static inline void add_imm(struct assembler *a, uint8_t dst, int32_t imm)
{
	emit(a, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm);
}

static inline void load(struct assembler *a, uint8_t dst, uint8_t base, int16_t off)
{
	emit(a, BPF_LDX | BPF_MEM | BPF_DW, dst, base, off, 0);
}

static inline void store(struct assembler *a, uint8_t base, int16_t off, uint8_t src)
{
	emit(a, BPF_STX | BPF_MEM | BPF_DW, base, src, off, 0);
}

static inline void store_32(struct assembler *a, uint8_t base, int16_t off, uint8_t src)
{
	emit(a, BPF_STX | BPF_MEM | BPF_W, base, src, off, 0);
}

static inline void call(struct assembler *a, int32_t helper)
{
	emit(a, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static inline void load_map(struct assembler *a, uint8_t dst, int fd)
{
	emit(a, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, fd);
	emit(a, 0, 0, 0, 0, 0);
}

static inline void label(struct assembler *a, unsigned l)
{
	a->at[l] = a->n;
}

static inline void jump(struct assembler *a, uint8_t op, uint8_t dst, uint8_t src,
			int32_t imm, unsigned to)
{
	assert(a->n_jumps < sizeof(a->jumps) / sizeof(a->jumps[0]));
	a->jumps[a->n_jumps].insn = a->n;
	a->jumps[a->n_jumps++].to = to;
	emit(a, BPF_JMP | op, dst, src, 0, imm);
}

/* dst = the value of a key on the stack, or NULL in r0. */
static inline void look_up(struct assembler *a, int map, int16_t key)
{
	load_map(a, BPF_REG_1, map);
	move(a, BPF_REG_2, BPF_REG_10);
	add_imm(a, BPF_REG_2, key);
	call(a, BPF_FUNC_map_lookup_elem);
}

/* All labels are known. */
static inline void resolve(struct assembler *a)
{
	for (size_t i = 0; i < a->n_jumps; i++) {
		size_t from = a->jumps[i].insn, to = a->at[a->jumps[i].to];

		a->code[from].off = (int16_t)((int64_t)to - (int64_t)from - 1);
	}
}

#endif

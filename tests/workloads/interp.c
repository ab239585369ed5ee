/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A direct-threaded interpreter (computed goto) that counts the Collatz steps of the
 * numbers 1..N-1: one hot function with many indirect jumps.
 *
 *	usage: interp [N]	(500,000)
 */
#include <stdint.h>
#include <stdio.h>

#include "workload.h"

#define OPS(op)                                                                          \
	op(LI) op(MOV) op(ADD) op(MULI) op(ADDI) op(ANDI) op(SHRI) op(JZ) op(JNZ)        \
		op(JMP) op(LT) op(CALL) op(RET) op(HALT) op(INC)

enum op {
#define NUMBER(name) name,
	OPS(NUMBER)
#undef NUMBER
};

struct insn {
	enum op op;
	int a, b, c;
};

static const struct insn program[] = {
	/*  0 */ { LI, 0, 1, 0 },   /* n */
	/*  1 */ { LI, 4, 0, 0 },   /* total */
	/*  2 */ { MOV, 1, 0, 0 },  /* x = n */
	/*  3 */ { ANDI, 2, 1, 1 }, /* odd? */
	/*  4 */ { JZ, 2, 8, 0 },
	/*  5 */ { MULI, 1, 1, 3 },
	/*  6 */ { ADDI, 1, 1, 1 },
	/*  7 */ { JMP, 9, 0, 0 },
	/*  8 */ { SHRI, 1, 1, 1 },
	/*  9 */ { CALL, 16, 0, 0 },
	/* 10 */ { ADDI, 3, 1, -1 },
	/* 11 */ { JNZ, 3, 3, 0 },
	/* 12 */ { ADDI, 0, 0, 1 },
	/* 13 */ { LT, 5, 0, 6 },
	/* 14 */ { JNZ, 5, 2, 0 },
	/* 15 */ { HALT, 0, 0, 0 },
	/* 16 */ { INC, 4, 0, 0 },
	/* 17 */ { RET, 0, 0, 0 },
};

#define NEXT goto *labels[p->op]

int main(int argc, char **argv)
{
#define LABEL(name) &&op_##name,
	static void *const labels[] = { OPS(LABEL) };
#undef LABEL
	int64_t r[16] = { 0 };
	const struct insn *stack[64], *p = program;
	int depth = 0;

	r[6] = workload_arg(argc, argv, 1, 500000);
	NEXT;
op_LI:
	r[p->a] = p->b;
	p++;
	NEXT;
op_MOV:
	r[p->a] = r[p->b];
	p++;
	NEXT;
op_ADD:
	r[p->a] = r[p->b] + r[p->c];
	p++;
	NEXT;
op_MULI:
	r[p->a] = r[p->b] * p->c;
	p++;
	NEXT;
op_ADDI:
	r[p->a] = r[p->b] + p->c;
	p++;
	NEXT;
op_ANDI:
	r[p->a] = r[p->b] & p->c;
	p++;
	NEXT;
op_SHRI:
	r[p->a] = r[p->b] >> p->c;
	p++;
	NEXT;
op_JZ:
	p = r[p->a] ? p + 1 : program + p->b;
	NEXT;
op_JNZ:
	p = r[p->a] ? program + p->b : p + 1;
	NEXT;
op_JMP:
	p = program + p->a;
	NEXT;
op_LT:
	r[p->a] = r[p->b] < r[p->c];
	p++;
	NEXT;
op_CALL:
	stack[depth++] = p + 1;
	p = program + p->a;
	NEXT;
op_RET:
	p = stack[--depth];
	NEXT;
op_INC:
	r[p->a]++;
	p++;
	NEXT;
op_HALT:
	printf("%ld\n", (long)r[4]);
	return 0;
}

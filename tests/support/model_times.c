/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine model has for single instructions: for each line of bytes in hexadecimal
 * a line of three numbers, cycles until the outcome is there, cycles between two of them
 * that have nothing to do with each other, and the class; or "-" for what is no
 * instruction. The first is 0 where there is no outcome in a register. */
#include <stdio.h>
#include <string.h>

#include "insn/schedule.h"

#define N_TURNS 600

static double cycles_each(const struct machine_model *m, const struct operation *o)
{
	own(schedule_freep) struct schedule *s = schedule_new(m);
	double half = 0, now = 0;

	for (int turn = 0; turn < N_TURNS; turn++) {
		half = turn == N_TURNS / 2 ? now : half;
		now = schedule_step(s, o, false);
	}
	return (now - half) / (N_TURNS - N_TURNS / 2);
}

/* Each waits for the outcome of the one before: by its address, where it loads. */
static double latency_of(const struct machine_model *m, struct operation o)
{
	operation_registers one;

	o.writes &= ~(o.moves_base ? o.address : 0);
	if (!o.writes || o.pops || o.pushes)
		return 0;
	one = operation_register_bit(operation_first_register(o.writes));
	o.reads = o.loads ? 0 : one;
	o.address = o.loads ? one : 0;
	o.writes |= one;
	o.moves_base = false;
	return cycles_each(m, &o);
}

/* A vector or not is told by its registers, which none of them waits for. */
static double throughput_of(const struct machine_model *m, struct operation o)
{
	const operation_registers vectors = (operation_registers)0xffffffffu
					    << OPERATION_REG_VECTOR;

	if ((o.reads | o.writes) & vectors) {
		o.reads = vectors & ~(vectors << 1);
		o.writes = 0;
	} else {
		o.reads = o.writes = 0;
	}
	o.address = 0;
	o.moves_base = false;
	return cycles_each(m, &o);
}

static size_t bytes_of(const char *hex, uint8_t *code, size_t cap)
{
	size_t n = 0;
	unsigned byte;

	for (; n < cap && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		code[n++] = (uint8_t)byte;
	return n;
}

int main(int argc, char **argv)
{
	const struct machine_model *m = argc == 2 ? machine_model_find(argv[1]) : NULL;
	own(operation_reader_freep) struct operation_reader *r = NULL;
	char line[128];

	if (!m || operation_reader_new(m->machine, &r, NULL) < 0) {
		fprintf(stderr, "usage: model_times MODEL\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		uint8_t code[16];
		size_t size = bytes_of(line, code, sizeof(code));
		struct operation o;

		if (operation_read(r, code, size, 0, &o))
			printf("%.3f %.3f %s\n", latency_of(m, o), throughput_of(m, o),
			       operation_class_text(o.class));
		else
			puts("-");
	}
	return 0;
}

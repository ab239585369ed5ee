/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes, read as instructions and scheduled on each machine: what is read lies within
 * them and names what there is, and no machine ends an instruction before an earlier one
 * or needs for ever. */
#include <elf.h>
#include <stdlib.h>

#include "insn/schedule.h"

#define MAX_SLOW_CYCLES 4000 /* that one instruction may take at most */

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

static bool is_register(uint8_t reg)
{
	return reg == OPERATION_NO_REG || reg < OPERATION_N_REGS;
}

static void check_parts(const struct operation *o, size_t left)
{
	const operation_registers registers =
		operation_register_bit(OPERATION_N_REGS) - 1;

	check(o->size && o->size <= left);
	check(o->class < OPERATION_N_CLASSES);
	check(!((o->reads | o->writes | o->address | o->merges) & ~registers));
	check(is_register(o->base) && is_register(o->index));
	check(o->from == OPERATION_NO_REG ||
	      (o->from < OPERATION_N_GENERAL && o->to < OPERATION_N_GENERAL));
	check(!o->merges || (o->reads & o->merges) == o->merges);
	check(operation_class_text(o->class)[0]);
}

static void run_on(const struct machine_model *m, struct operation_reader *r,
		   const uint8_t *data, size_t size)
{
	own(schedule_freep) struct schedule *s = schedule_new(m);
	double before = 0;

	for (size_t at = 0; at < size;) {
		struct operation o;
		double now;

		if (!operation_read(r, data + at, size - at, at, &o)) {
			schedule_restart(s);
			before = 0;
			at += m->machine == EM_AARCH64 ? 4 : 1;
			continue;
		}
		check_parts(&o, size - at);
		now = schedule_step(s, &o, data[at] & 1);
		check(now >= before && now <= before + MAX_SLOW_CYCLES);
		before = now;
		at += o.size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct operation_reader *x86, *aarch64;

	if (!x86 && (operation_reader_new(EM_X86_64, &x86, NULL) < 0 ||
		     operation_reader_new(EM_AARCH64, &aarch64, NULL) < 0))
		abort();
	if (size > 4096)
		return 0;
	for (size_t i = 0; i < machine_model_count(); i++) {
		const struct machine_model *m = machine_model_at(i);

		run_on(m, m->machine == EM_AARCH64 ? aarch64 : x86, data, size);
	}
	return 0;
}

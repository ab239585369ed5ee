/* SPDX-License-Identifier: Apache-2.0 */
/* A list of operands of any bytes, on any machine: refused with a text, or places that
 * can be read. */
#include <elf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"
#include "sym/probe_operand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REGISTERS_BYTES (34 * 8)

static void check(const struct probe_operand *o)
{
	if (o->size != 1 && o->size != 2 && o->size != 4 && o->size != 8)
		abort();
	if (o->base > REGISTERS_BYTES - 8 || o->index > REGISTERS_BYTES - 8)
		abort();
	if (o->factor > 8 || (o->factor & (o->factor - 1)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_ARM };
	own(freep) char *list = xstrndup((const char *)data, size);
	unsigned n = probe_operand_count(list);

	for (size_t k = 0; k < sizeof(machines) / sizeof(machines[0]); k++) {
		for (unsigned i = 0; i <= n + 1; i++) {
			struct probe_operand o;
			struct err e = { 0 };

			if (probe_operand_nth(list, i, machines[k], &o, &e) == 0)
				check(&o);
			else if (!e.text[0])
				abort();
		}
	}
	return 0;
}

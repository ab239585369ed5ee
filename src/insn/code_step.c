/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/code_step.h"

static const struct code_step_machine *const machines[] = { &code_step_x86,
							    &code_step_aarch64 };

const struct code_step_machine *code_step_machine_of(unsigned number)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i]->number == number)
			return machines[i];
	return NULL;
}

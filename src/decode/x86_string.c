/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_string.h"

#include "decode/x86_machine.h"

#define RAX X86_OP_RAX
#define RCX X86_OP_RCX
#define RSI X86_OP_RSI
#define RDI X86_OP_RDI

enum { MOVS = 0xa4, STOS = 0xaa, LODS = 0xac };

#define MAX_BYTES (1ULL << 32) /* of one that is repeated */

static void once(struct x86_step *s, unsigned what, unsigned bytes)
{
	struct path_memory *memory = &s->m->memory;
	struct known_bits v = x86_machine_reg(s, RAX, bytes);

	if (what != STOS)
		v = path_memory_load(memory, s->m->regs[RSI], bytes);
	if (what == LODS)
		x86_machine_set_reg(s, RAX, bytes, v);
	else
		path_memory_store(memory, s->m->regs[RDI], bytes, v);
}

/* n: not 0.  What is stored is not followed. */
static void repeated(struct x86_step *s, unsigned what, unsigned bytes, uint64_t n,
		     bool is_down)
{
	struct known_bits to = s->m->regs[RDI];

	if (what == LODS) {
		s->m->regs[RAX] = (struct known_bits){ 0, 0 };
		return;
	}
	if (is_down)
		to = x86_machine_plus(to, (int64_t)bytes - (int64_t)(n * bytes));
	path_memory_spoil(&s->m->memory, to, n * bytes);
}

bool x86_string(struct x86_step *s)
{
	unsigned what = s->op->opcode & 0xfe;
	unsigned bytes = s->op->opcode & 1 ? s->operand_bytes : 1;
	struct known_bits *regs = s->m->regs;
	bool is_down = s->m->flags.bits & X86_MACHINE_D;
	uint64_t n = 1;
	int64_t by;

	if (s->op->has_odd_address || !(s->m->flags.known & X86_MACHINE_D))
		return false;
	if (s->op->repeat) {
		n = regs[RCX].bits;
		if (!known_bits_is_whole(regs[RCX], 8) || n > MAX_BYTES / 8)
			return false;
		if (n)
			repeated(s, what, bytes, n, is_down);
		regs[RCX] = known_bits_of(0, 8);
	} else {
		once(s, what, bytes);
	}
	by = (int64_t)(n * bytes);
	if (what != STOS)
		regs[RSI] = x86_machine_plus(regs[RSI], is_down ? -by : by);
	if (what != LODS)
		regs[RDI] = x86_machine_plus(regs[RDI], is_down ? -by : by);
	return true;
}

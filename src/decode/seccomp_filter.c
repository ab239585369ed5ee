/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/seccomp_filter.h"

#include <string.h>

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	const struct seccomp_data *call;
	uint32_t ret;
	bool is_done;
};

static uint32_t load_word(const struct seccomp_data *call, uint32_t off)
{
	uint32_t v;

	memcpy(&v, (const char *)call + off, sizeof(v));
	return v;
}

static bool is_word(uint32_t off)
{
	return off % 4 == 0 && off < sizeof(struct seccomp_data);
}

static bool load(struct machine *m, const struct sock_filter *i, uint32_t *to)
{
	switch (BPF_MODE(i->code)) {
	case BPF_IMM:
		*to = i->k;
		return true;
	case BPF_LEN:
		*to = sizeof(*m->call);
		return true;
	case BPF_MEM:
		*to = i->k < BPF_MEMWORDS ? m->memory[i->k] : 0;
		return i->k < BPF_MEMWORDS;
	case BPF_ABS:
		if (to != &m->a || !is_word(i->k))
			return false;
		*to = load_word(m->call, i->k);
		return true;
	default:
		return false;
	}
}

/* A division by 0 ends the filter, which then returns 0. */
static bool divide(struct machine *m, uint32_t by)
{
	m->is_done = !by;
	m->ret = 0;
	m->a = by ? m->a / by : 0;
	return true;
}

static bool compute(struct machine *m, const struct sock_filter *i)
{
	uint32_t with = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		m->a += with;
		return true;
	case BPF_SUB:
		m->a -= with;
		return true;
	case BPF_MUL:
		m->a *= with;
		return true;
	case BPF_DIV:
		return divide(m, with);
	case BPF_AND:
		m->a &= with;
		return true;
	case BPF_OR:
		m->a |= with;
		return true;
	case BPF_XOR:
		m->a ^= with;
		return true;
	case BPF_LSH:
		m->a <<= with & 31;
		return true;
	case BPF_RSH:
		m->a >>= with & 31;
		return true;
	case BPF_NEG:
		m->a = -m->a;
		return true;
	default:
		return false;
	}
}

/* How many instructions are left out; SIZE_MAX: it is no jump. */
static size_t jump(const struct machine *m, const struct sock_filter *i)
{
	uint32_t with = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		return i->k;
	case BPF_JEQ:
		return m->a == with ? i->jt : i->jf;
	case BPF_JGT:
		return m->a > with ? i->jt : i->jf;
	case BPF_JGE:
		return m->a >= with ? i->jt : i->jf;
	case BPF_JSET:
		return m->a & with ? i->jt : i->jf;
	default:
		return SIZE_MAX;
	}
}

static bool store(struct machine *m, const struct sock_filter *i, uint32_t value)
{
	if (i->k >= BPF_MEMWORDS)
		return false;
	m->memory[i->k] = value;
	return true;
}

static bool end(struct machine *m, const struct sock_filter *i)
{
	m->is_done = true;
	m->ret = BPF_RVAL(i->code) == BPF_A ? m->a : i->k;
	return true;
}

static bool move(struct machine *m, const struct sock_filter *i)
{
	if (BPF_MISCOP(i->code) == BPF_TAX)
		m->x = m->a;
	else
		m->a = m->x;
	return true;
}

/* One that is no jump. */
static bool step(struct machine *m, const struct sock_filter *i)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		return load(m, i, &m->a);
	case BPF_LDX:
		return load(m, i, &m->x);
	case BPF_ST:
		return store(m, i, m->a);
	case BPF_STX:
		return store(m, i, m->x);
	case BPF_ALU:
		return compute(m, i);
	case BPF_RET:
		return end(m, i);
	default:
		return move(m, i);
	}
}

/* Jumps lead on only, so it ends. */
bool seccomp_filter_run(const struct sock_filter *code, size_t n,
			const struct seccomp_data *call, uint32_t *ret)
{
	struct machine m = { .call = call };

	for (size_t at = 0; at < n; at++) {
		if (BPF_CLASS(code[at].code) == BPF_JMP) {
			size_t over = jump(&m, &code[at]);

			if (over >= n - at)
				return false;
			at += over;
		} else if (!step(&m, &code[at])) {
			return false;
		}
		if (m.is_done) {
			*ret = m.ret;
			return true;
		}
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One byte of flags, then a section (.eh_frame or .debug_frame, either architecture).
 * Every FDE is read, all its rows are visited and applied to made-up registers: rows
 * are in order and inside the FDE, and looking one up finds what the visit showed. */
#include <stdlib.h>
#include <string.h>

#include "unwind/cfa_row.h"
#include "unwind/eh_hdr.h"
#include "unwind/step.h"

#define SECTION_ADDR 0x10000
#define MAX_ROWS     200

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

struct visit {
	const struct cfi_section *s;
	const struct cfi_fde *fde;
	uint64_t end;
	unsigned n;
};

static void apply(const struct visit *v, const struct cfa_rules *rules,
		  const struct cfa_row *row)
{
	const struct abi *abi = abi_of(v->s->arch);
	struct stack_memory m = { v->s->bytes, SECTION_ADDR, v->s->size, NULL, NULL };
	struct unwind_regs full = { .arch = v->s->arch, .valid = ~UINT64_C(0) }, fast;
	struct step a, b;

	for (unsigned i = 0; i < UNWIND_N_REGS; i++)
		full.r[i] = SECTION_ADDR + i * 8;
	fast = full;

	enum step_result rc = step_rules(abi, v->s, v->fde, rules, &full, &m, &a);

	if (!step_is_simple(row))
		return;

	enum step_result quick = step_row(abi, row, &fast, &m, &b);

	/* the compact row gives the same caller, or refuses the same, or leaves it to
	 * the other way where a register that it does not carry has the answer */
	if (quick == STEP_NEEDS_ALL && cfa_row_returns_by_register(abi, row))
		return;
	check(quick == rc);
	if (rc != STEP_RETURN)
		return;
	check(fast.r[abi->pc] == full.r[abi->pc] && fast.r[abi->sp] == full.r[abi->sp]);
	check((fast.valid & abi_bit(abi->fp)) == (full.valid & abi_bit(abi->fp)));
	check(!(fast.valid & abi_bit(abi->fp)) || fast.r[abi->fp] == full.r[abi->fp]);
}

static bool visit_row(void *ctx, uint64_t start, uint64_t end,
		      const struct cfa_rules *rules)
{
	struct visit *v = ctx;
	struct cfa_rules found;
	struct cfa_row row = cfa_row_from(v->s, v->fde, rules);

	check(start == v->end && start < end && end <= v->fde->end);
	v->end = end;
	check(cfa_program_at(v->s, v->fde, end - 1, &found));
	check(memcmp(&found, rules, sizeof(found)) == 0);
	apply(v, rules, &row);
	return ++v->n < MAX_ROWS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_section s = { .addr = SECTION_ADDR, .data_addr = SECTION_ADDR };
	enum cfi_record kind;
	struct cfi_fde fde, again;
	struct eh_hdr hdr;
	size_t at = 0, i;

	if (!size)
		return 0;
	s.arch = data[0] & 1 ? UNWIND_AARCH64 : UNWIND_X86_64;
	s.is_debug_frame = data[0] & 2;
	s.bytes = data + 1;
	s.size = size - 1;
	for (size_t next = 0; (kind = cfi_read(&s, next, &fde, &next)) != CFI_LAST;
	     at = next) {
		check(next > at && next <= s.size);
		if (kind != CFI_FDE)
			continue;

		struct visit v = { &s, &fde, fde.start, 0 };

		cfa_program_rows(&s, &fde, visit_row, &v);
		if (fde.start < fde.end)
			check(cfi_scan(&s, fde.start, &again));
	}
	if (eh_hdr_parse(s.bytes, s.size, s.addr, &hdr) && hdr.entries &&
	    eh_hdr_find(&hdr, SECTION_ADDR, &i))
		check(i < hdr.n_entries && eh_hdr_start(&hdr, i) + 1 > 0);
	return 0;
}

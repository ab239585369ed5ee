/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fingerprint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/vec.h"
#include "insn/disasm.h"

#define RUN		 3    /* instructions in a row are compared */
#define FEW_INSTRUCTIONS 12   /* look like many others */
#define SMALL		 16   /* numbers below are everywhere */
#define SAME_RUNS	 0.85 /* of both: the same function */
#define LIKE_RUNS	 0.35 /* where who calls it and whom it calls is, too */
#define SAME_NUMBERS	 0.75 /* of some numbers */
#define SOME_NUMBERS	 6
#define MOST_NUMBERS	 0.5 /* of many */
#define MANY_NUMBERS	 16
#define LIKE_NUMBERS	 0.4 /* of a few, where more is alike */
#define FEW_NUMBERS	 4

struct numbers {
	VEC(uint64_t) all;
};

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Where a function keeps its own variables is up to the compiler: "0x18(%rsp)",
 * "[sp, #0x18]". */
static bool is_of_stack(const char *operands, const char *number, const char *end)
{
	static const char *const after[] = { "(%rsp", "(%rbp", "(%esp", "(%ebp" };
	const char *bracket = number;

	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		if (strncmp(end, after[i], strlen(after[i])) == 0)
			return true;
	while (bracket > operands && *bracket != '[' && *bracket != ']')
		bracket--;
	return strncmp(bracket, "[sp", 3) == 0 || strncmp(bracket, "[x29", 4) == 0;
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '%';
}

static void take_numbers(struct numbers *to, const struct disasm_instruction *in)
{
	const char *s = in->operands;

	if (in->has_target || in->has_memory)
		return;
	while (*s) {
		bool begins = isdigit((unsigned char)*s) &&
			      (s == in->operands || !is_in_word(s[-1]));
		char *end;

		if (!begins) {
			s++;
			continue;
		}

		uint64_t value = strtoull(s, &end, 0);

		if (value >= SMALL && !is_of_stack(in->operands, s, end))
			*vec_push(&to->all) = value;
		s = end;
	}
}

static size_t sort_distinct(uint64_t *at, size_t n)
{
	size_t kept = 0;

	if (!n)
		return 0;
	qsort(at, n, sizeof(*at), ascending);
	for (size_t i = 1; i < n; i++)
		if (at[i] != at[kept])
			at[++kept] = at[i];
	return kept + 1;
}

static void take_run(struct fingerprint *to, uint64_t *last, size_t n_before,
		     const struct disasm_instruction *in)
{
	memmove(last, last + 1, (RUN - 1) * sizeof(*last));
	last[RUN - 1] = hash_bytes(in->mnemonic, strlen(in->mnemonic));
	if (n_before + 1 >= RUN)
		to->runs[to->n_runs++] = hash_bytes(last, RUN * sizeof(*last));
}

void fingerprint_take(struct fingerprint *ret, unsigned machine, const uint8_t *code,
		      size_t size)
{
	struct disasm_options o = { .machine = machine };
	own(disasm_freep) struct disasm *d = NULL;
	struct fingerprint f = { 0 };
	struct numbers numbers = { 0 };
	uint64_t last[RUN] = { 0 };

	if (disasm_new(&o, &d, NULL) < 0)
		return;
	f.runs = xcalloc(size + 1, sizeof(*f.runs));
	for (size_t at = 0, n = 0, step; at < size; at += step, n++) {
		struct disasm_instruction in;

		step = disasm_decode(d, code + at, size - at, at, &in);
		if (!step)
			break;
		take_run(&f, last, n, &in);
		take_numbers(&numbers, &in);
	}
	qsort(f.runs, f.n_runs, sizeof(*f.runs), ascending);
	f.n_numbers = sort_distinct(numbers.all.at, numbers.all.n);
	f.numbers = numbers.all.at;
	*ret = f;
}

void fingerprint_fini(struct fingerprint *f)
{
	free(f->runs);
	free(f->numbers);
	*f = (struct fingerprint){ 0 };
}

double fingerprint_share(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
			 size_t *ret_n)
{
	size_t i = 0, k = 0, both = 0;

	while (i < n_a && k < n_b) {
		bool is_same = a[i] == b[k], is_less = a[i] < b[k];

		both += is_same;
		i += is_same || is_less;
		k += is_same || !is_less;
	}
	if (ret_n)
		*ret_n = both;
	return n_a + n_b ? (double)both / (double)(n_a + n_b - both) : 0;
}

struct fingerprint_likeness fingerprint_compare(const struct fingerprint *a,
						const struct fingerprint *b)
{
	struct fingerprint_likeness l = { .has_code = a->n_runs && b->n_runs };
	bool is_long =
		a->n_runs + RUN > FEW_INSTRUCTIONS && b->n_runs + RUN > FEW_INSTRUCTIONS;

	l.runs = fingerprint_share(a->runs, a->n_runs, b->runs, b->n_runs, NULL);
	l.numbers = fingerprint_share(a->numbers, a->n_numbers, b->numbers, b->n_numbers,
				      &l.n_numbers);
	l.is_same = (is_long && l.runs >= SAME_RUNS) ||
		    (l.n_numbers >= SOME_NUMBERS && l.numbers >= SAME_NUMBERS) ||
		    (l.n_numbers >= MANY_NUMBERS && l.numbers >= MOST_NUMBERS);
	l.is_like = l.runs >= LIKE_RUNS ||
		    (l.n_numbers >= FEW_NUMBERS && l.numbers >= LIKE_NUMBERS);
	return l;
}

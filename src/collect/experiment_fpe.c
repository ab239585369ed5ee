/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "collect/experiment_exact.h"
#include "wire/tracer.h"

extern const struct experiment experiment_fpe;

/* Divisions of integers are observed whatever is asked for: they end most programs. */
static const struct {
	const char *name;
	uint32_t types;
} words[] = {
	{ "invalid", WIRE_TRACER_FPE_INVALID },
	{ "denormal", WIRE_TRACER_FPE_DENORMAL },
	{ "divide-by-zero", WIRE_TRACER_FPE_DIVIDE },
	{ "overflow", WIRE_TRACER_FPE_OVERFLOW },
	{ "underflow", WIRE_TRACER_FPE_UNDERFLOW },
	{ "inexact", WIRE_TRACER_FPE_INEXACT },
	{ "integer-divide", WIRE_TRACER_FPE_INTEGER },
	{ "all", WIRE_TRACER_FPE_TYPES },
	{ "x87", WIRE_TRACER_FPE_X87 },
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

static uint32_t type_of(const char *word, size_t n)
{
	for (size_t i = 0; i < N_WORDS; i++)
		if (strlen(words[i].name) == n && memcmp(words[i].name, word, n) == 0)
			return words[i].types;
	return 0;
}

static int choose(const char *text, struct experiment_choice *c, struct err *e)
{
	c->types = 0;
	for (;;) {
		size_t n = strcspn(text, "+");
		uint32_t types = type_of(text, n);

		if (!types)
			return err_set(e, ERR_USAGE,
				       "no exception '%.*s': invalid, divide-by-zero, "
				       "overflow, underflow, denormal, inexact, "
				       "integer-divide, all or x87",
				       n < 40 ? (int)n : 40, text);
		c->types |= types;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

const struct experiment experiment_fpe = {
	.name = "fpe",
	.summary = "every floating-point exception, and divisions of integers that fail",
	.trigger = EXPERIMENT_FPE,
	.only_source = "tracer",
	.choose = choose,
	.types = WIRE_TRACER_FPE_INVALID | WIRE_TRACER_FPE_DIVIDE |
		 WIRE_TRACER_FPE_OVERFLOW | WIRE_TRACER_FPE_UNDERFLOW,
	EXPERIMENT_EXACT_INTERVALS,
	.n_events = 8,
	.events = {
		[EXPERIMENT_FPE_ALL] = EXPERIMENT_EXACT("exceptions", "count",
			"instructions that raised exceptions"),
		EXPERIMENT_EXACT("invalid", "count",
			"those without a result: 0/0, sqrt(-1), too large to be an "
			"integer"),
		EXPERIMENT_EXACT("denormal", "count",
			"those with an operand below the normal range"),
		EXPERIMENT_EXACT("divide-by-zero", "count",
			"those with an infinite result of finite operands"),
		EXPERIMENT_EXACT("overflow", "count", "those with a result too large"),
		EXPERIMENT_EXACT("underflow", "count",
			"those with a result too small to be exact"),
		EXPERIMENT_EXACT("inexact", "count",
			"those with a result that is rounded"),
		EXPERIMENT_EXACT("integer-divide", "count",
			"divisions of integers by zero, or with a result too large"),
	},
};

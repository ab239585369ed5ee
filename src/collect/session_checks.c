/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_checks.h"

#include <string.h>

#include "collect/tracing.h"

bool session_checks_anchors(const struct session_settings *x)
{
	for (size_t i = 0; i < x->n_choices; i++)
		if (x->choices[i].experiment->trigger == EXPERIMENT_ANCHORS)
			return true;
	return false;
}

bool session_checks_interrupts(const struct experiment *x)
{
	return x->trigger == EXPERIMENT_CPU_TIME ||
	       x->trigger == EXPERIMENT_THREAD_TIME || x->trigger == EXPERIMENT_COUNTER;
}

static int check_insn(const struct session_settings *x, struct err *e)
{
	bool has_samples = false;

	if (!x->insn)
		return 0;
	for (size_t i = 0; i < x->n_choices; i++)
		has_samples |= session_checks_interrupts(x->choices[i].experiment);
	if (!has_samples)
		return err_set(e, ERR_USAGE,
			       "--insn is about samples of CPU time or of a counter, "
			       "which %s has not",
			       x->n_choices ? x->choices[0].name : "this");
	if (x->source && strcmp(x->source, "perf") != 0)
		return err_set(e, ERR_USAGE,
			       "--insn needs the registers of source perf, not of %.40s",
			       x->source);
	return 0;
}

/* What is inside a program observes each kind of thing in one way. */
static int check_tracings(const struct session_settings *x, struct err *e)
{
	for (size_t i = 0; i < x->n_choices; i++)
		for (size_t k = 0; k < i; k++)
			if (tracing_of(x->choices[i].experiment) &&
			    tracing_of(x->choices[i].experiment) ==
				    tracing_of(x->choices[k].experiment))
				return err_set(e, ERR_USAGE,
					       "%s and %s cannot be in one recording",
					       x->choices[k].name, x->choices[i].name);
	return 0;
}

static int check_company(const struct session_settings *x, struct err *e)
{
	for (size_t i = 0; i < x->n_choices && x->n_choices > 1; i++)
		if (x->choices[i].experiment->alone_because)
			return err_set(e, ERR_USAGE, "%s is recorded alone: %s",
				       x->choices[i].name,
				       x->choices[i].experiment->alone_because);
	return 0;
}

static int check_sample(const struct session_settings *x, struct err *e)
{
	for (size_t i = 0; i < x->n_choices; i++)
		if (x->choices[i].experiment->trigger == EXPERIMENT_HEAP)
			return 0;
	return x->sample_bytes ? err_set(e, ERR_USAGE,
					 "--sample is about the blocks of the heap: "
					 "record them, as in -e heap")
			       : 0;
}

static int check_flat(const struct session_settings *x, struct err *e)
{
	for (size_t i = 0; i < x->n_choices; i++)
		if (x->choices[i].experiment->trigger == EXPERIMENT_IO)
			return 0;
	return x->is_flat ? err_set(e, ERR_USAGE,
				    "--flat is about the stacks of I/O: record it, as in "
				    "-e io; CPU time without stacks is -e pcsamp")
			  : 0;
}

/* Nothing but what others sample is told by it. */
static int check_anchors(const struct session_settings *x, struct err *e)
{
	bool has_time = false;

	for (size_t i = 0; i < x->n_choices; i++)
		has_time |= x->choices[i].experiment->trigger == EXPERIMENT_CPU_TIME;
	return !session_checks_anchors(x) || has_time
		       ? 0
		       : err_set(e, ERR_USAGE,
				 "anchors tell how often what is sampled was executed: "
				 "record CPU time with them, as in -e usertime,anchors");
}

int session_checks_settings(const struct session_settings *x, struct err *e)
{
	static int (*const checks[])(const struct session_settings *x, struct err *e) = {
		check_company, check_tracings, check_insn,
		check_anchors, check_sample,   check_flat,
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(checks[0]); i++)
		rc = checks[i](x, e);
	return rc;
}

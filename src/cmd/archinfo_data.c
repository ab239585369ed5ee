/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/archinfo_data.h"

#include <stdio.h>

#include "cmd/report_options.h"

static int work_out(struct archinfo_data *d, struct block_graph *g, struct err *e)
{
	const struct recording *r = profile_source(d->report.profile, 0);
	int rc = block_graph_make(g, r, NULL, e);

	if (rc == 0 && !g->blocks.n)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no basic blocks: record with 'dwell run -e "
			       "bbcounts'",
			       d->report.paths[0]);
	if (rc == 0)
		rc = instruction_mix_make(&d->mix, d->report.profile, 0, g, e);
	if (rc < 0)
		return rc;
	d->has_flow = !profile_is_filtered(d->report.profile);
	if (d->has_flow)
		block_flow_sum(&d->flow, g, r);
	return 0;
}

int archinfo_data_open(struct archinfo_data *d, const struct options *o, struct err *e)
{
	own(block_graph_fini) struct block_graph g = { 0 };
	int rc = report_profile_open(o, options_argv(o), NULL, &d->report, e);

	if (rc < 0)
		return rc;
	d->limit = report_options_limit(o, ARCHINFO_DATA_ROWS);
	if (profile_n_sources(d->report.profile) != 1)
		return err_set(e, ERR_USAGE, "give one recording");
	return work_out(d, &g, e);
}

void archinfo_data_close(struct archinfo_data *d)
{
	instruction_mix_fini(&d->mix);
	report_profile_close(&d->report);
}

size_t archinfo_data_mnemonics(const struct archinfo_data *d)
{
	return report_options_shown(d->limit, d->mix.mnemonics.n);
}

const char *archinfo_data_mnemonic(const struct archinfo_data *d, size_t i, char *text,
				   size_t cap)
{
	const struct instruction_mix_mnemonic *m = &d->mix.mnemonics.at[i];

	snprintf(text, cap, "%s%s", m->is_repeated ? "rep " : "", m->name);
	return text;
}

const char *archinfo_data_register(const struct archinfo_data *d, unsigned reg,
				   char *text, size_t cap)
{
	unsigned width = d->mix.registers[reg].width;

	snprintf(text, cap, "%s", operation_register_name(d->mix.reader, reg));
	if (reg >= OPERATION_REG_VECTOR && reg < OPERATION_REG_MASK)
		text[0] = width <= 16 ? 'x' : width <= 32 ? 'y' : 'z';
	return text;
}

double archinfo_data_ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

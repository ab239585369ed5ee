/* SPDX-License-Identifier: Apache-2.0
 *
 * archinfo_data - what dwell archinfo tells of a recording, worked out.
 */
#ifndef DWELL_CMD_ARCHINFO_DATA_H
#define DWELL_CMD_ARCHINFO_DATA_H

#include "analyze/block_flow.h"
#include "analyze/instruction_mix.h"
#include "cmd/report_profile.h"

#define ARCHINFO_DATA_ROWS 30 /* mnemonics in a text */

struct archinfo_data {
	struct report report;
	struct instruction_mix mix;
	struct block_flow flow;
	bool has_flow; /* samples are not chosen: blocks and ways cannot be */
	size_t limit;  /* of mnemonics; 0: all */
};

must_use int archinfo_data_open(struct archinfo_data *d, const struct options *o,
				struct err *e);
void archinfo_data_close(struct archinfo_data *d);
/* How many of them are told. */
size_t archinfo_data_mnemonics(const struct archinfo_data *d);
/* "rep movsb" */
const char *archinfo_data_mnemonic(const struct archinfo_data *d, size_t i, char *text,
				   size_t cap);
/* "xmm0", or "ymm0" where instructions use more of it. */
const char *archinfo_data_register(const struct archinfo_data *d, unsigned reg,
				   char *text, size_t cap);
double archinfo_data_ratio(uint64_t part, uint64_t whole);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * cfg_choice - which of a function's blocks are shown where not all of them are.
 */
#ifndef DWELL_CMD_CFG_CHOICE_H
#define DWELL_CMD_CFG_CHOICE_H

#include "cmd/calc_view.h"

struct cfg_choice {
	bool *is_in; /* [block] */
	/* Left out: never executed, and of the others those with least time. */
	uint32_t n_unexecuted, n_least;
};

/* All: of everything, whatever it took.  n_most: at most, 0 for all that were executed.
 */
void cfg_choice_make(struct cfg_choice *ret, const struct function_code *c, bool all,
		     uint32_t n_most);
void cfg_choice_fini(struct cfg_choice *c);

#endif

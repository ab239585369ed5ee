/* SPDX-License-Identifier: Apache-2.0
 *
 * under_option - functions, what is executed under which is counted apart.
 */
#ifndef DWELL_CMD_UNDER_OPTION_H
#define DWELL_CMD_UNDER_OPTION_H

#include "base/err.h"
#include "base/own.h"
#include "cmd/option.h"
#include "collect/count_orders.h"
#include "collect/session.h"

struct under_option {
	struct code_place places[COUNT_ORDERS_UNDER_MAX];
	size_t n;
};

/* Names without a file are of program, a path or a name along $PATH. */
must_use int under_option_take(const struct options *o, const char *program,
			       struct under_option *u, struct session_settings *ret,
			       struct err *e);

#endif

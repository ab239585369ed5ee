/* SPDX-License-Identifier: Apache-2.0
 *
 * list_machine - the machine model of this processor, beside what the processor does.
 */
#ifndef DWELL_CMD_LIST_MACHINE_H
#define DWELL_CMD_LIST_MACHINE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/own.h"

/* name: a model, NULL: the one that recordings made here take. */
must_use int list_machine_print(const char *name, bool is_json, struct err *e);

#endif

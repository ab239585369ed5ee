/* SPDX-License-Identifier: Apache-2.0
 *
 * count_orders - what the counting engine is told to do for a scope.
 */
#ifndef DWELL_COLLECT_COUNT_ORDERS_H
#define DWELL_COLLECT_COUNT_ORDERS_H

#include "collect/source.h"
#include "wire/count_flags.h"
#include "wire/count_file.h"

#define COUNT_ORDERS_UNDER_MAX COUNT_FILE_FUNCTIONS_MAX

/* At most COUNT_ORDERS_UNDER_MAX functions. */
void count_orders_make(const struct scope *scope, char ret[COUNT_FLAGS_MAX]);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * futex_calls - the system calls in which threads wait for each other, or wake.
 */
#ifndef DWELL_COLLECT_FUTEX_CALLS_H
#define DWELL_COLLECT_FUTEX_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/futex_record.h"

/* By their numbers on this machine, of 64-bit or of 32-bit programs: what each is (enum
 * futex_record_call). */
void futex_calls_number(uint8_t ret[FUTEX_RECORD_CALLS_MAX], bool is_32bit);
/* How a thread waits, as recordings call it: "[futex]". */
const char *futex_calls_how(uint32_t how);

#endif

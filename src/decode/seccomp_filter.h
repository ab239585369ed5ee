/* SPDX-License-Identifier: Apache-2.0
 *
 * seccomp_filter - what a filter of system calls, as programs set for themselves, does
 * with a call.
 *
 * Instructions are those that the kernel admits to such filters (seccomp(2)).
 */
#ifndef DWELL_DECODE_SECCOMP_FILTER_H
#define DWELL_DECODE_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ret: SECCOMP_RET_… with its data.  False: no filter that the kernel would have taken.
 */
bool seccomp_filter_run(const struct sock_filter *code, size_t n,
			const struct seccomp_data *call, uint32_t *ret);

#endif

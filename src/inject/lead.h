/* SPDX-License-Identifier: Apache-2.0
 *
 * lead - functions that loaded objects call by name are led to others of ours.
 *
 * For what is called too often for a wrapper that everybody calls and nearly nobody
 * needs.  Before the program begins: by the words that the linker has filled, or will
 * fill, and by the symbol itself for what is loaded later.
 */
#ifndef DWELL_INJECT_LEAD_H
#define DWELL_INJECT_LEAD_H

#include <stddef.h>

struct lead {
	const char *name;
	const void *from, *to;
};

void lead_all(const struct lead *leads, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * facts - numbers about the recording itself, by the names of docs/format.md.
 */
#ifndef DWELL_COLLECT_FACTS_H
#define DWELL_COLLECT_FACTS_H

#include <stdint.h>

#include "store/writer.h"

void facts_add(struct writer *w, enum fact_kind kind, const char *name, const char *unit,
	       uint64_t value);
void facts_add_for(struct writer *w, uint32_t event, enum fact_kind kind,
		   const char *name, const char *unit, uint64_t value);
void facts_loss(struct writer *w, const char *name, uint64_t n);

#endif

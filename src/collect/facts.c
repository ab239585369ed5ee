/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/facts.h"

void facts_add_for(struct writer *w, uint32_t event, enum fact_kind kind,
		   const char *name, const char *unit, uint64_t value)
{
	writer_fact(w, &(struct model_fact){ .kind = kind,
					     .name = writer_string(w, name),
					     .unit = writer_string(w, unit),
					     .event = event,
					     .process = MODEL_NONE,
					     .value = value });
}

void facts_add(struct writer *w, enum fact_kind kind, const char *name, const char *unit,
	       uint64_t value)
{
	facts_add_for(w, MODEL_NONE, kind, name, unit, value);
}

void facts_loss(struct writer *w, const char *name, uint64_t n)
{
	facts_add(w, FACT_LOSS, name, "count", n);
}

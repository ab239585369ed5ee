/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/machine_model.h"

#include <stdio.h>
#include <string.h>

#define MACHINE_MODEL(name) extern const struct machine_model machine_model_##name;
#include "insn/machine_models.def"
#undef MACHINE_MODEL

static const struct machine_model *const models[] = {
#define MACHINE_MODEL(name) &machine_model_##name,
#include "insn/machine_models.def"
#undef MACHINE_MODEL
};

size_t machine_model_count(void)
{
	return sizeof(models) / sizeof(models[0]);
}

const struct machine_model *machine_model_at(size_t i)
{
	return models[i];
}

const struct machine_model *machine_model_find(const char *name)
{
	for (size_t i = 0; i < machine_model_count(); i++)
		if (strcmp(models[i]->name, name) == 0)
			return models[i];
	return NULL;
}

static bool is_of(const struct machine_model *m, const char *vendor, unsigned family,
		  unsigned model)
{
	const struct machine_processor *p = m->processors;

	for (; p->vendor; p++)
		if (strcmp(p->vendor, vendor) == 0 && p->family == family &&
		    p->first_model <= model && model <= p->last_model)
			return true;
	return false;
}

const struct machine_model *machine_model_of(unsigned machine, const char *processor)
{
	const struct machine_model *generic = NULL;
	char vendor[32] = "";
	int family = 0, model = 0; /* %i: aarch64's are hexadecimal */

	if (processor)
		sscanf(processor, "%31s %i %i", vendor, &family, &model);
	for (size_t i = machine_model_count(); i-- > 0;) {
		if (models[i]->machine != machine)
			continue;
		if (is_of(models[i], vendor, (unsigned)family, (unsigned)model))
			return models[i];
		generic = models[i];
	}
	return generic;
}

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

/* What a processor's text tells: "GenuineIntel 6 143 amx_tile l1i:64K". */
struct processor {
	char vendor[32];
	int family, model;    /* %i: aarch64's are hexadecimal */
	const char *features; /* what is behind the numbers */
};

static struct processor read_processor(const char *text)
{
	struct processor p = { .features = "" };
	int n = 0;

	if (text && sscanf(text, "%31s %i %i%n", p.vendor, &p.family, &p.model, &n) == 3)
		p.features = text + n;
	return p;
}

static bool is_made_for(const struct machine_model *m, const struct processor *p)
{
	const struct machine_processor *x = m->processors;

	for (; x->vendor; x++)
		if (strcmp(x->vendor, p->vendor) == 0 && x->family == p->family &&
		    x->first_model <= p->model && p->model <= x->last_model)
			return true;
	return false;
}

static bool has_feature(const struct processor *p, const char *name)
{
	size_t n = strlen(name);
	const char *at = p->features;

	while (*(at += strspn(at, " "))) {
		size_t length = strcspn(at, " ");

		if (length == n && memcmp(at, name, n) == 0)
			return true;
		at += length;
	}
	return false;
}

static bool has_all(const struct processor *p, const struct machine_sign *sign)
{
	size_t n = sizeof(sign->features) / sizeof(sign->features[0]);

	for (size_t i = 0; i < n && sign->features[i]; i++)
		if (!has_feature(p, sign->features[i]))
			return false;
	return true;
}

static bool has_sign(const struct machine_model *m, const struct processor *p)
{
	size_t n = sizeof(m->signs) / sizeof(m->signs[0]);

	for (size_t i = 0; i < n && m->signs[i].vendor; i++)
		if (strcmp(m->signs[i].vendor, p->vendor) == 0 &&
		    has_all(p, &m->signs[i]))
			return true;
	return false;
}

const struct machine_model *machine_model_of(unsigned machine, const char *processor)
{
	const struct machine_model *generic = NULL, *named = NULL, *shown = NULL;
	struct processor p = read_processor(processor);

	for (size_t i = machine_model_count(); i-- > 0;) {
		if (models[i]->machine != machine)
			continue;
		if (is_made_for(models[i], &p))
			named = models[i];
		if (has_sign(models[i], &p) &&
		    (!shown || shown->since < models[i]->since))
			shown = models[i];
		generic = models[i];
	}
	if (shown && (!named || named->since < shown->since))
		return shown;
	return named ? named : generic;
}

bool machine_model_is_nearest(const struct machine_model *m, const char *processor)
{
	struct processor p = read_processor(processor);

	return has_sign(m, &p) && !is_made_for(m, &p) &&
	       machine_model_of(m->machine, processor) == m;
}

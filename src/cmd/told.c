/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/told.h"

#include <string.h>

#include "base/text.h"

/* An hour: whoever reads a log of days sees that it goes on. */
#define AGAIN_NS UINT64_C(3600000000000)

static struct told_once *find(struct told *t, const char *text)
{
	for (size_t i = 0; i < TOLD_MAX && i < t->n; i++)
		if (strncmp(t->all[i].text, text, sizeof(t->all[i].text) - 1) == 0)
			return &t->all[i];
	return NULL;
}

static struct told_once *add(struct told *t, const char *text)
{
	struct told_once *o = &t->all[t->n++ % TOLD_MAX];

	*o = (struct told_once){ 0 };
	snprintf(o->text, sizeof(o->text), "%s", text);
	return o;
}

void told_failure(struct told *t, FILE *out, const char *name, const char *text,
		  uint64_t now_ns)
{
	struct told_once *o = find(t, text);
	char times[TEXT_MAX];

	if (o && now_ns - o->at_ns < AGAIN_NS) {
		o->n_untold++;
		return;
	}
	if (!o)
		o = add(t, text);
	fprintf(out, "%s: %s", name, text);
	if (o->n_untold)
		fprintf(out, " (and %s before)",
			text_number(times, o->n_untold, "times"));
	fputc('\n', out);
	o->at_ns = now_ns;
	o->n_untold = 0;
}

void told_over(struct told *t, FILE *out, const char *name)
{
	if (!t->n)
		return;
	fprintf(out, "%s: it works again\n", name);
	t->n = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a term's format and any as a counter: what is placed by a format can be
 * read back, and a counter that is found is found again. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/counter_device.h"
#include "collect/counter_text.h"

static uint64_t take_back(const struct counter_device_field *f, uint64_t word)
{
	uint64_t value = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (f->mask >> i & 1)
			value |= (word >> i & 1) << n++;
	return value;
}

static void check_field(const struct counter_device_field *f)
{
	static const uint64_t values[] = { 0, 1, 0x5a, UINT64_MAX };

	if (f->word >= COUNTER_DEVICE_WORDS || !f->mask)
		abort();
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		uint64_t words[COUNTER_DEVICE_WORDS] = { 7, 7, 7 };
		uint64_t before = words[f->word];

		if (!counter_device_place(f, values[i], words)) {
			if (words[f->word] != before)
				abort();
			continue;
		}
		if (take_back(f, words[f->word]) != values[i] ||
		    (words[f->word] & ~f->mask) != (before & ~f->mask))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(freep) char *text = xstrndup((const char *)data, size);
	struct counter_device_field field;
	struct err e = { 0 };
	const struct counter *c;

	if (counter_device_parse_field(text, &field))
		check_field(&field);
	if (counter_text_length(text) > strlen(text))
		abort();
	/* What is found is kept: so none of those that are without number. */
	if (strlen(text) > 16 || *text == 'r')
		return 0;
	c = counter_text_find(text, &e);
	if (!c && !e.text[0])
		abort();
	if (c && (!c->name || counter_text_find(c->name, NULL) != c))
		abort();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a kernel symbol table: symbols ascend and every one finds itself. */
#include <stdlib.h>
#include <string.h>

#include "sym/kallsyms.h"

static void check_table(const struct symtab *t)
{
	for (size_t i = 0; i < symtab_count(t); i++) {
		const struct symtab_symbol *s = symtab_at(t, i);

		if (!s->name || !*s->name || s->end < s->address)
			abort();
		if (i && s[-1].address >= s->address)
			abort();
		if (s->end > s->address && symtab_find(t, s->address) != s)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = { 0 };

	buf_add(&text, data, size);

	struct kallsyms *k = kallsyms_over(&text);
	const struct symtab *module = kallsyms_table(k, "ext4");

	check_table(kallsyms_table(k, NULL));
	if (module)
		check_table(module);
	kallsyms_free(k);
	buf_fini(&text);
	return 0;
}

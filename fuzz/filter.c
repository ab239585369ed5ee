/* SPDX-License-Identifier: Apache-2.0
 *
 * filter - any text as a filter expression: refused with a text, or a whole tree.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "analyze/filter_parse.h"
#include "base/mem.h"

static void check_tree(const struct filter *f)
{
	if (!f->nodes.n || f->nodes.n > FILTER_MAX_NODES)
		abort();
	for (size_t i = 0; i < f->nodes.n; i++) {
		const struct filter_node *n = &f->nodes.at[i];
		bool has_left = n->kind != FILTER_TEST;
		bool has_right = n->kind == FILTER_AND || n->kind == FILTER_OR;

		/* Children come before their parent: evaluation cannot loop. */
		if ((has_left && n->left >= i) || (has_right && n->right >= i))
			abort();
		if (n->kind == FILTER_TEST &&
		    (!n->field || (!n->text && !n->regex && !n->has_range)))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(freep) char *text = xstrndup((const char *)data, size);
	own(filter_freep) struct filter *f = NULL;
	struct err e = { 0 };

	if (filter_parse(text, &f, &e) < 0) {
		if (!e.text[0] || strchr(e.text, '\n') == e.text || f)
			abort();
		return 0;
	}
	check_tree(f);
	return 0;
}

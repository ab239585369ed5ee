/* SPDX-License-Identifier: Apache-2.0
 *
 * region_forest - records of regions as a hostile target could write them: kind, size
 * (two bytes), payload, again and again.  What changes add up to is what nodes hold.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/region_forest.h"
#include "collect/region_record.h"
#include "collect/timer_record.h"

static void check_changes(struct region_forest_tree *t)
{
	uint64_t calls, quantity;

	while (region_forest_change(t, &calls, &quantity))
		if (!calls && !quantity && !t->nodes.n)
			abort();
	for (size_t i = 1; i < t->nodes.n; i++) {
		const struct region_forest_node *n = &t->nodes.at[i];

		if (n->parent >= i || n->given_calls != n->calls ||
		    n->given_quantity != n->quantity || n->has_changed)
			abort();
	}
}

static void take(struct region_forest *f, const struct timer_record *r)
{
	if (r->kind == WIRE_REGIONS_NODES) {
		struct region_forest_tree *t =
			region_forest_take(f, &r->region_nodes, r->rest);

		if (t->top >= t->nodes.n ||
		    region_forest_find(f, r->region_nodes.tree) != t)
			abort();
		region_forest_pass(t, t->time_ns + 1);
		check_changes(t);
		if (t->is_over)
			region_forest_drop(f, t);
	}
	for (uint32_t i = 0; r->kind == WIRE_REGIONS_SLICES && i < r->region_nodes.n;
	     i++) {
		struct wire_regions_slice s = region_record_slice(r->rest, i);
		const struct region_forest_tree *t =
			region_forest_find(f, r->region_nodes.tree);

		if (t && region_forest_node(t, s.node) >= t->nodes.at + t->nodes.n)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(freep) struct timer_record *r = xcalloc(1, sizeof(*r));
	struct timer_record_stacks stacks = { 0 };
	struct region_forest forest = { 0 };

	while (size >= 3) {
		size_t n = data[1] | (size_t)data[2] << 8;

		if (n > size - 3)
			n = size - 3;
		if (timer_record_parse(&stacks, data[0], data + 3, n, r, NULL) == 0)
			take(&forest, r);
		data += 3 + n;
		size -= 3 + n;
	}
	region_forest_fini(&forest);
	timer_record_stacks_fini(&stacks);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "count/exec_range.h"

#include <stddef.h>

#include "count/fatal.h"

#define RANGES_MAX 0x10000

static struct exec_range ranges[RANGES_MAX]; /* by address */
static unsigned n_ranges;

/* Of the first that ends behind addr. */
static unsigned first_behind(uint64_t addr)
{
	unsigned low = 0, high = n_ranges;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (ranges[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void insert(unsigned at, struct exec_range r)
{
	if (n_ranges == RANGES_MAX)
		fatal("too many pieces of executable memory");
	for (unsigned i = n_ranges++; i > at; i--)
		ranges[i] = ranges[i - 1];
	ranges[at] = r;
}

static void erase(unsigned at)
{
	n_ranges--;
	for (unsigned i = at; i < n_ranges; i++)
		ranges[i] = ranges[i + 1];
}

void exec_range_remove(uint64_t start, uint64_t end)
{
	unsigned i = first_behind(start);

	while (i < n_ranges && ranges[i].start < end) {
		struct exec_range r = ranges[i];

		erase(i);
		if (r.start < start)
			insert(i++, (struct exec_range){ r.start, start, r.image });
		if (r.end > end)
			insert(i++, (struct exec_range){ end, r.end, r.image });
	}
}

void exec_range_add(uint64_t start, uint64_t end, uint32_t image)
{
	exec_range_remove(start, end);
	insert(first_behind(start), (struct exec_range){ start, end, image });
}

const struct exec_range *exec_range_find(uint64_t addr)
{
	unsigned i = first_behind(addr);

	return i < n_ranges && ranges[i].start <= addr ? &ranges[i] : NULL;
}

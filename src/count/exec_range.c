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

/* So that ranges end at addr, or begin, or nothing is there. */
static void split(uint64_t addr)
{
	unsigned i = first_behind(addr);
	struct exec_range rest;

	if (i == n_ranges || ranges[i].start >= addr)
		return;
	rest = ranges[i];
	ranges[i].end = rest.start = addr;
	insert(i + 1, rest);
}

/* With the one before, if nothing tells them apart. */
static void join(unsigned i)
{
	struct exec_range *a = &ranges[i - 1], *b = &ranges[i];

	if (i >= n_ranges || a->end != b->start || a->image != b->image ||
	    a->is_exec != b->is_exec || a->is_writable != b->is_writable ||
	    a->may_change != b->may_change)
		return;
	a->end = b->end;
	erase(i);
}

bool exec_range_remove(uint64_t start, uint64_t end)
{
	unsigned i, n;

	split(start);
	split(end);
	n = n_ranges;
	i = first_behind(start);
	while (i < n_ranges && ranges[i].start < end)
		erase(i);
	return n_ranges < n;
}

void exec_range_add(struct exec_range r)
{
	exec_range_remove(r.start, r.end);
	insert(first_behind(r.start), r);
}

bool exec_range_protect(uint64_t start, uint64_t end, bool is_exec, bool is_writable)
{
	unsigned first, i;
	bool is_known;

	split(start);
	split(end);
	first = i = first_behind(start);
	for (; i < n_ranges && ranges[i].start < end; i++) {
		ranges[i].is_exec = is_exec;
		ranges[i].is_writable = is_writable;
		ranges[i].may_change |= is_writable; /* who does it once does it again */
	}
	is_known = i > first;
	for (; i + 1 > first && i > 0; i--)
		join(i);
	return is_known;
}

bool exec_range_expect_change(uint64_t start, uint64_t end, struct exec_range *ret)
{
	for (unsigned i = first_behind(start); i < n_ranges && ranges[i].start < end; i++)
		if (!ranges[i].may_change) {
			ranges[i].may_change = true;
			*ret = ranges[i];
			return true;
		}
	return false;
}

void exec_range_rename(uint32_t (*name)(uint32_t image))
{
	for (unsigned i = 0; i < n_ranges; i++)
		ranges[i].image = name(ranges[i].image);
}

bool exec_range_gap(uint64_t start, uint64_t end, struct exec_range *ret)
{
	unsigned i = first_behind(start);

	while (i < n_ranges && ranges[i].start <= start && start < end)
		start = ranges[i++].end;
	*ret = (struct exec_range){ .start = start, .end = end };
	if (i < n_ranges && ranges[i].start < end)
		ret->end = ranges[i].start;
	return start < end;
}

uint64_t exec_range_reach(const struct exec_range *r)
{
	const struct exec_range *end = ranges + n_ranges;
	uint64_t reach = r->end;

	while (++r < end && r->start == reach && r->is_exec)
		reach = r->end;
	return reach;
}

unsigned exec_range_number(void)
{
	return n_ranges;
}

void exec_range_sift(bool (*is_as_it_was)(const struct exec_range *r))
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_ranges; i++)
		if (is_as_it_was(&ranges[i]))
			ranges[n++] = ranges[i];
	n_ranges = n;
}

const struct exec_range *exec_range_known(uint64_t addr)
{
	/* Mostly the same as lately; where it is now is looked at all the same. */
	static unsigned lately;
	unsigned i = lately;

	if (i >= n_ranges || addr < ranges[i].start || addr >= ranges[i].end)
		i = lately = first_behind(addr);
	return i < n_ranges && ranges[i].start <= addr ? &ranges[i] : NULL;
}

const struct exec_range *exec_range_find(uint64_t addr)
{
	const struct exec_range *r = exec_range_known(addr);

	return r && r->is_exec ? r : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_callstack.h"

#include <dwell.h>
#include <string.h>

#include "bare/sys.h"
#include "inject/region_clock.h"
#include "inject/region_names.h"

#define AT_ONCE	     16
#define COLUMN_WIDTH 14
#define LINE_MAX     512

static struct dwell_block block_of(const struct region_slice *s, struct region_rate rate)
{
	return (struct dwell_block){
		.name = region_names_text(s->region),
		.function = region_names_address(s->region),
		.calls = s->calls,
		.subroutines = s->subroutines,
		.exclusive = region_rate_ns(rate, s->exclusive),
		.inclusive = region_rate_ns(rate, s->inclusive),
		.instance_exclusive = region_rate_ns(rate, s->instance_exclusive),
		.instance_inclusive = region_rate_ns(rate, s->instance_inclusive),
	};
}

size_t region_callstack_fetch(const struct region_tree *t, struct dwell_block *ret,
			      size_t max)
{
	struct region_rate rate = region_clock_rate();
	struct region_slice slices[AT_ONCE];
	size_t n = 0;

	while (n < max) {
		uint32_t want = max - n < AT_ONCE ? (uint32_t)(max - n) : AT_ONCE;
		uint32_t got = region_tree_slices(t, (uint32_t)n, slices, want);

		for (uint32_t i = 0; i < got; i++)
			ret[n++] = block_of(&slices[i], rate);
		if (got < want)
			break;
	}
	return region_tree_n_slices(t);
}

/* Text. */

struct line {
	char at[LINE_MAX];
	size_t n;
};

static void put(struct line *l, const char *s)
{
	while (*s && l->n < LINE_MAX - 1)
		l->at[l->n++] = *s++;
}

static void put_right(struct line *l, const char *s)
{
	for (size_t n = strlen(s); n < COLUMN_WIDTH; n++)
		put(l, " ");
	put(l, s);
}

static const char *text_of(uint64_t v, unsigned base, char ret[24])
{
	static const char digits[] = "0123456789abcdef";
	char *at = ret + 23;

	*at = 0;
	do
		*--at = digits[v % base];
	while (v /= base);
	return at;
}

static void end_line(struct line *l, int fd)
{
	l->at[l->n++] = '\n';
	sys_call(SYS_write, fd, l->at, l->n, 0, 0, 0);
	l->n = 0;
}

static void print_block(const struct dwell_block *b, int fd)
{
	const uint64_t values[] = {
		b->calls,     b->subroutines,	     b->exclusive,
		b->inclusive, b->instance_exclusive, b->instance_inclusive
	};
	struct line l = { .n = 0 };
	char digits[24];

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		put_right(&l, text_of(values[i], 10, digits));
	put(&l, "  ");
	if (!b->name)
		put(&l, "0x");
	put(&l, b->name ? b->name : text_of((uintptr_t)b->function, 16, digits));
	end_line(&l, fd);
}

void region_callstack_print(const struct region_tree *t, int fd)
{
	static const char *const titles[] = { "Calls",	       "Subroutines",
					      "Exclusive",     "Inclusive",
					      "Instance excl", "Instance incl" };
	struct region_rate rate = region_clock_rate();
	struct region_slice s;
	struct line l = { .n = 0 };

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		put_right(&l, titles[i]);
	put(&l, "  Region");
	end_line(&l, fd);
	for (uint32_t i = 0; region_tree_slices(t, i, &s, 1); i++) {
		struct dwell_block b = block_of(&s, rate);

		print_block(&b, fd);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "count/nest.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/exec_range.h"
#include "wire/count_flags.h"

#define HEX_BITS    4
#define ENTRIES_MAX 256
#define NO_LIMIT    UINT64_MAX

struct function {
	uint64_t device, inode, off; /* of its first instruction, in the file */
};

/* Where one is in memory, or was. */
struct entry {
	uint64_t addr;
	uint32_t image, function;
};

static struct function functions[COUNT_FILE_FUNCTIONS_MAX];
static unsigned n_functions;
static struct entry entries[ENTRIES_MAX];
static unsigned n_entries;

/* By nest. */
static struct {
	uint32_t parent, functions; /* bits */
	unsigned depth;
} nests[COUNT_FILE_NESTS_MAX];
static uint32_t n_nests = 1;

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static uint64_t read_number(const char **at)
{
	uint64_t n = 0;

	for (; digit_of(**at) >= 0; ++*at)
		n = n << HEX_BITS | (uint64_t)digit_of(**at);
	*at += **at == '.' || **at == ',';
	return n;
}

void nest_choose(const char *flags)
{
	while (*flags && *flags++ != COUNT_FLAGS_FUNCTIONS)
		;
	while (*flags && n_functions < COUNT_FILE_FUNCTIONS_MAX) {
		struct function *f = &functions[n_functions++];

		f->device = read_number(&flags);
		f->inode = read_number(&flags);
		f->off = read_number(&flags);
	}
}

/* What was at the address before has gone. */
static void add_entry(uint64_t addr, uint32_t image, uint32_t function)
{
	unsigned i = 0;

	while (i < n_entries && entries[i].addr != addr)
		i++;
	if (i == ENTRIES_MAX) {
		count_output_add_lost();
		return;
	}
	n_entries += i == n_entries;
	entries[i] = (struct entry){ addr, image, function };
}

void nest_add_code(int fd, const char *path, const struct count_file_image *where,
		   uint32_t image)
{
	struct stat st;
	long result;

	if (!n_functions)
		return;
	result = fd < 0 ? sys_call(SYS_stat, path, &st, 0, 0, 0, 0)
			: sys_call(SYS_fstat, fd, &st, 0, 0, 0, 0);
	for (uint32_t i = 0; result == 0 && i < n_functions; i++) {
		const struct function *f = &functions[i];

		if (f->device == st.st_dev && f->inode == st.st_ino &&
		    f->off - where->off < where->size)
			add_entry(f->off - where->off + where->start, image, i);
	}
}

static uint32_t find_or_add(uint32_t parent, uint32_t function, uint64_t addr)
{
	uint32_t bits = nests[parent].functions | 1u << function;

	for (uint32_t i = parent + 1; i < n_nests; i++)
		if (nests[i].parent == parent && nests[i].functions == bits)
			return i;
	if (n_nests == COUNT_FILE_NESTS_MAX) {
		count_output_add_lost();
		return parent;
	}
	nests[n_nests].parent = parent;
	nests[n_nests].functions = bits;
	nests[n_nests].depth = nests[parent].depth + 1;
	count_output_add_nest(&(struct count_file_nest){ addr, parent, function });
	return n_nests++;
}

uint32_t nest_entered(uint32_t nest, uint64_t addr)
{
	for (unsigned i = 0; i < n_entries; i++) {
		const struct entry *e = &entries[i];
		const struct exec_range *r;

		if (e->addr != addr)
			continue;
		r = exec_range_find(addr);
		if (r && r->image == e->image &&
		    !(nests[nest].functions & 1u << e->function))
			return find_or_add(nest, e->function, addr);
	}
	return nest;
}

void nest_rename(uint32_t (*name)(uint32_t image))
{
	unsigned n = n_entries;

	n_entries = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct entry *e = &entries[i];
		const struct exec_range *r = exec_range_find(e->addr);

		if (r && r->image == e->image)
			entries[n_entries++] =
				(struct entry){ e->addr, name(e->image), e->function };
	}
}

unsigned nest_depth(uint32_t nest)
{
	return nests[nest].depth;
}

uint32_t nest_parent(uint32_t nest)
{
	return nests[nest].parent;
}

/* A handler's own stack was left for good. */
static void show(struct context *c)
{
	memcpy(c->limits, c->hidden, sizeof(c->limits));
	c->is_hidden = 0;
}

/* limit: where the return address is. */
static bool is_left(uint64_t limit, uint64_t sp, bool is_set)
{
	return sp > limit || (sp == limit && !is_set);
}

void nest_return(struct context *c, uint64_t sp, bool is_set)
{
	uint32_t nest = c->nest;

	if (is_set && c->is_hidden && !signals_is_on_stack(c, sp))
		show(c);
	while (nest && is_left(c->limits[nests[nest].depth], sp, is_set))
		nest = nests[nest].parent;
	c->nest = nest;
}

void nest_hide(struct context *c)
{
	if (!c->is_hidden)
		memcpy(c->hidden, c->limits, sizeof(c->hidden));
	c->is_hidden = 1;
	for (unsigned i = 0; i <= nests[c->nest].depth; i++)
		c->limits[i] = NO_LIMIT;
}

void nest_resume(struct context *c, uint32_t nest, uint64_t sp)
{
	if (c->is_hidden && !signals_is_on_stack(c, sp))
		show(c);
	c->nest = nest;
}

void nest_inherit(struct context *child, const struct context *parent, bool has_stack)
{
	child->nest = has_stack ? parent->nest : 0;
	child->is_hidden = has_stack ? parent->is_hidden : 0;
	memcpy(child->limits, parent->limits, sizeof(child->limits));
	memcpy(child->hidden, parent->hidden, sizeof(child->hidden));
}

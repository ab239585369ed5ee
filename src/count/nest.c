/* SPDX-License-Identifier: Apache-2.0 */
#include "count/nest.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
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

static bool is_there(const struct entry *e)
{
	const struct exec_range *r = exec_range_find(e->addr);

	return r && r->image == e->image;
}

/* In place of one that has gone, if there is one. */
static void add_entry(uint64_t addr, uint32_t image, uint32_t function)
{
	unsigned i = 0;

	while (i < n_entries && is_there(&entries[i]))
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

	if (!n_functions || engine.is_confined)
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

static uint32_t find_or_add(uint32_t parent, const struct entry *e)
{
	uint32_t bits = nests[parent].functions | 1u << e->function;

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
	count_output_add_nest(&(struct count_file_nest){
		.entry = e->addr,
		.image = e->image,
		.parent = (uint16_t)parent,
		.function = (uint16_t)e->function,
	});
	return n_nests++;
}

uint32_t nest_entered(uint32_t nest, uint64_t addr)
{
	for (unsigned i = 0; i < n_entries; i++) {
		const struct entry *e = &entries[i];

		if (e->addr == addr && is_there(e) &&
		    !(nests[nest].functions & 1u << e->function))
			return find_or_add(nest, e);
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

/* If a handler's own stack was left. */
static void show(struct context *c, uint64_t sp)
{
	if (!c->hidden.stack_end || (sp > c->hidden.stack && sp <= c->hidden.stack_end))
		return;
	memcpy(c->limits, c->hidden.limits, sizeof(c->limits));
	c->nest = c->hidden.nest;
	c->hidden.stack_end = 0;
}

/* limit: where the return address is. */
static bool is_left(uint64_t limit, uint64_t sp, bool is_set)
{
	return sp > limit || (sp == limit && !is_set);
}

void nest_return(struct context *c, uint64_t sp, bool is_set)
{
	if (is_set)
		show(c, sp);
	while (c->nest && is_left(c->limits[nests[c->nest].depth], sp, is_set))
		c->nest = nests[c->nest].parent;
}

void nest_hide(struct context *c, uint64_t stack, uint64_t stack_end)
{
	if (!c->hidden.stack_end) {
		memcpy(c->hidden.limits, c->limits, sizeof(c->limits));
		c->hidden.nest = c->nest;
		c->hidden.stack = stack;
		c->hidden.stack_end = stack_end;
	}
	for (unsigned i = 0; i <= nests[c->nest].depth; i++)
		c->limits[i] = NO_LIMIT;
}

void nest_resume(struct context *c, uint32_t nest, uint64_t sp)
{
	show(c, sp);
	c->nest = nest;
}

void nest_inherit(struct context *child, const struct context *parent, bool has_stack)
{
	child->nest = has_stack ? parent->nest : 0;
	memcpy(child->limits, parent->limits, sizeof(child->limits));
	child->hidden = parent->hidden;
	if (!has_stack)
		child->hidden.stack_end = 0;
}

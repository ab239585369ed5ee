/* SPDX-License-Identifier: Apache-2.0 */
#include "count/alias.h"

#include <sys/stat.h>

#include "bare/sys.h"
#include "count/engine.h"

/* Who has more of them is not known to write code. */
#define ALIASES_MAX 1024

static struct alias aliases[ALIASES_MAX];
static unsigned n_aliases, n_executable;

static bool is_executable(const struct alias *a)
{
	return a->prot & PROT_EXEC;
}

bool alias_is_any(void)
{
	return n_executable;
}

void alias_clear(void)
{
	n_aliases = n_executable = 0;
}

void alias_add(const struct alias *a)
{
	if (n_aliases == ALIASES_MAX || a->start >= a->end)
		return;
	aliases[n_aliases++] = *a;
	n_executable += is_executable(a);
}

static bool ask(int fd, struct alias *ret)
{
	struct stat st;

	if (engine.is_confined || sys_call(SYS_fstat, fd, &st, 0, 0, 0, 0) != 0)
		return false;
	ret->device = st.st_dev;
	ret->inode = st.st_ino;
	return true;
}

/* At present or later. */
static bool can_be_written(int fd)
{
	return (sys_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_ACCMODE) == O_RDWR;
}

void alias_add_fd(uint64_t start, uint64_t end, uint32_t prot, int fd, uint64_t off)
{
	struct alias a = { .start = start, .end = end, .off = off, .prot = prot };

	if (engine.is_confined || (!is_executable(&a) && !can_be_written(fd)))
		return;
	if (ask(fd, &a))
		alias_add(&a);
}

static struct alias part_of(const struct alias *a, uint64_t start, uint64_t end)
{
	struct alias part = *a;

	part.start = start > a->start ? start : a->start;
	part.end = end < a->end ? end : a->end;
	part.off += part.start - a->start;
	return part;
}

static bool overlaps(const struct alias *a, uint64_t start, uint64_t end)
{
	return a->start < end && a->end > start;
}

/* What is left of those that reach into it is added behind the others. */
static void take_out(unsigned i, uint64_t start, uint64_t end)
{
	struct alias was = aliases[i];
	struct alias below = part_of(&was, was.start, start);
	struct alias above = part_of(&was, end, was.end);

	n_executable -= is_executable(&was);
	aliases[i] = aliases[--n_aliases];
	alias_add(&below);
	alias_add(&above);
}

bool alias_remove(uint64_t start, uint64_t end)
{
	bool was_there = false;

	for (unsigned i = 0; i < n_aliases;) {
		if (overlaps(&aliases[i], start, end)) {
			take_out(i, start, end);
			was_there = true;
		} else {
			i++;
		}
	}
	return was_there;
}

bool alias_protect(uint64_t start, uint64_t end, uint32_t prot)
{
	bool was_there = false;

	for (unsigned i = 0; i < n_aliases;) {
		struct alias part = part_of(&aliases[i], start, end);

		was_there |= part.start < part.end;
		if (part.start >= part.end || part.prot == prot) {
			i++;
			continue;
		}
		take_out(i, start, end);
		part.prot = prot;
		alias_add(&part);
	}
	return was_there;
}

bool alias_find(uint64_t addr, struct alias *ret)
{
	for (unsigned i = 0; i < n_aliases; i++)
		if (overlaps(&aliases[i], addr, addr + 1)) {
			*ret = part_of(&aliases[i], addr, aliases[i].end);
			return true;
		}
	return false;
}

static bool is_same_file(const struct alias *a, const struct alias *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/* Where b has the bytes of a. */
static void tell_common(const struct alias *a, const struct alias *b,
			void (*what)(uint64_t start, uint64_t end, uint32_t prot))
{
	uint64_t start = a->off > b->off ? a->off : b->off;
	uint64_t a_end = a->off + (a->end - a->start),
		 b_end = b->off + (b->end - b->start);
	uint64_t end = a_end < b_end ? a_end : b_end;

	if (start < end)
		what(start - b->off + b->start, end - b->off + b->start, b->prot);
}

void alias_each(uint64_t start, uint64_t end, uint32_t prot,
		void (*what)(uint64_t start, uint64_t end, uint32_t prot))
{
	for (unsigned i = 0; n_executable && i < n_aliases; i++) {
		struct alias a = part_of(&aliases[i], start, end);

		for (unsigned k = 0; a.start < a.end && k < n_aliases; k++)
			if (k != i && (aliases[k].prot & prot) &&
			    is_same_file(&a, &aliases[k]))
				tell_common(&a, &aliases[k], what);
	}
}

void alias_each_of_fd(int fd, void (*what)(uint64_t start, uint64_t end, uint32_t prot))
{
	struct alias file;

	if (!n_executable || !ask(fd, &file))
		return;
	for (unsigned i = 0; i < n_aliases; i++)
		if (is_executable(&aliases[i]) && is_same_file(&file, &aliases[i]))
			what(aliases[i].start, aliases[i].end, aliases[i].prot);
}

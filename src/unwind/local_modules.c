/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/local_modules.h"

#include <link.h>

#include "unwind/abi.h"
#include "unwind/eh_hdr.h"
#include "unwind/no_table.h"

#define MAX_MODULES 512

/* As in glibc's <dlfcn.h>, which older systems lack; part of its ABI. */
struct find_result {
	unsigned long long flags;
	void *map_start, *map_end;
	void *link_map;
	void *eh_frame;
	unsigned long long reserved[7];
};

extern int find_object(void *addr, struct find_result *ret) __asm__("_dl_find_object")
	__attribute__((weak));

/* Two lists: readers use one while the other is filled.  sequence is odd while
 * filling; it selects the list and tells a reader that it was overtaken. */
static struct local_module lists[2][MAX_MODULES];
static uint32_t n_listed[2];
static uint32_t sequence, generation;

static bool find_listed(uint64_t pc, struct local_module *ret)
{
	uint32_t before = __atomic_load_n(&sequence, __ATOMIC_ACQUIRE);
	uint32_t which = before >> 1 & 1;
	bool is_found = false;

	for (uint32_t i = 0; i < n_listed[which] && !is_found; i++) {
		*ret = lists[which][i];
		is_found = pc >= ret->start && pc < ret->end;
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* two refreshes since: the list was being rewritten under us */
	return is_found && __atomic_load_n(&sequence, __ATOMIC_RELAXED) - before < 2;
}

bool local_modules_find(uint64_t pc, struct local_module *ret)
{
	struct find_result found;

	if (!find_object)
		return find_listed(pc, ret);
	if (find_object((void *)(uintptr_t)pc, &found) != 0)
		return false;
	ret->start = (uintptr_t)found.map_start;
	ret->end = (uintptr_t)found.map_end;
	ret->eh_frame_hdr = (uintptr_t)found.eh_frame;
	return true;
}

struct filling {
	struct local_module *list;
	uint32_t n;
};

static int list_one(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct filling *f = ctx;
	struct local_module m = { .start = UINT64_MAX };

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_GNU_EH_FRAME)
			m.eh_frame_hdr = start;
		if (ph->p_type != PT_LOAD)
			continue;
		if (start < m.start)
			m.start = start;
		if (start + ph->p_memsz > m.end)
			m.end = start + ph->p_memsz;
	}
	if (m.start < m.end && f->n < MAX_MODULES)
		f->list[f->n++] = m;
	return 0;
}

extern int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *ctx)
	__attribute__((weak));

void local_modules_refresh(void)
{
	static uint32_t lock;

	__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
	if (find_object || !dl_iterate_phdr ||
	    __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return; /* nothing to list, or another thread is at it */

	uint32_t filled = !(sequence >> 1 & 1);
	struct filling f = { .list = lists[filled] };

	__atomic_fetch_add(&sequence, 1, __ATOMIC_ACQ_REL);
	dl_iterate_phdr(list_one, &f);
	n_listed[filled] = f.n;
	__atomic_fetch_add(&sequence, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

uint32_t local_modules_generation(void)
{
	return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

static const uint8_t *bytes_at(uint64_t addr)
{
	return (const uint8_t *)(uintptr_t)addr;
}

/* Of a program whose segments do not adjoin, each is found as a module of its own. */
static bool find_table(const struct local_module *module, struct local_module *ret)
{
	uint64_t at = module->eh_frame_hdr;

	*ret = *module;
	return at && ((at >= ret->start && at < ret->end) ||
		      (local_modules_find(at, ret) && at >= ret->start && at < ret->end));
}

/* The table of a module: its section, and its index when there is one. */
static bool open_table(const struct local_module *module, struct eh_hdr *ret_hdr,
		       struct cfi_section *ret)
{
	uint64_t at = module->eh_frame_hdr;
	struct local_module in;

	if (!find_table(module, &in) ||
	    !eh_hdr_parse(bytes_at(at), in.end - at, at, ret_hdr) ||
	    ret_hdr->eh_frame < in.start || ret_hdr->eh_frame >= in.end)
		return false;
	/* its end is written nowhere; a terminating record is there instead */
	*ret = (struct cfi_section){ .bytes = bytes_at(ret_hdr->eh_frame),
				     .size = in.end - ret_hdr->eh_frame,
				     .addr = ret_hdr->eh_frame,
				     .data_addr = at,
				     .arch = ABI_NATIVE->arch };
	return true;
}

static bool read_entry(const struct cfi_section *section, const struct eh_hdr *h,
		       size_t i, struct cfi_fde *ret)
{
	size_t next;

	return cfi_read(section, eh_hdr_fde(h, i) - h->eh_frame, ret, &next) == CFI_FDE;
}

bool local_modules_fde(const struct local_module *module, uint64_t pc,
		       struct cfi_section *ret_section, struct cfi_fde *ret)
{
	struct eh_hdr h;
	size_t i;

	if (!open_table(module, &h, ret_section))
		return false;
	if (!h.entries)
		return cfi_scan(ret_section, pc, ret);
	return eh_hdr_find(&h, pc, &i) && read_entry(ret_section, &h, i, ret) &&
	       pc >= ret->start && pc < ret->end;
}

bool local_modules_is_hole(uint64_t pc)
{
	struct local_module module;
	struct cfi_section section;
	struct cfi_fde before;
	struct eh_hdr h;
	size_t i;

	if (!local_modules_find(pc, &module) || !open_table(&module, &h, &section) ||
	    !h.entries || !eh_hdr_find(&h, pc, &i) || i + 1 >= h.n_entries ||
	    !read_entry(&section, &h, i, &before))
		return false;
	return before.end <= pc && no_table_is_hole(before.end, eh_hdr_start(&h, i + 1));
}

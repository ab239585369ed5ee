/* SPDX-License-Identifier: Apache-2.0 */
#include "host/kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/note.h"
#include "host/procfs.h"

/* _stext stands near the beginning of kallsyms: reading the whole list costs 40 ms. */
static uint64_t find_stext(void)
{
	own(fclosep) FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024];

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = line;
		struct kernel_symbol s;

		if (kernel_next_symbol(&at, line + strlen(line), &s) &&
		    s.name_size == 6 && !memcmp(s.name, "_stext", 6))
			return s.addr;
	}
	return 0;
}

uint32_t kernel_page_shift(void)
{
	return (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
}

bool kernel_boot_id(char ret[KERNEL_BOOT_ID_MAX])
{
	if (procfs_read_text("/proc/sys/kernel/random/boot_id", ret, KERNEL_BOOT_ID_MAX,
			     NULL) < 0)
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return *ret;
}

void kernel_read(struct kernel *k)
{
	struct utsname u;
	struct buf notes = { 0 };

	*k = (struct kernel){ 0 };
	if (uname(&u) == 0)
		snprintf(k->release, sizeof(k->release), "%s", u.release);
	if (procfs_read("/sys/kernel/notes", 65536, &notes, NULL) == 0)
		k->build_id_size = note_find_build_id(notes.data, notes.size, k->build_id,
						      sizeof(k->build_id));
	buf_fini(&notes);
	k->stext = find_stext();
}

static bool take_hex(const char **at, const char *end, uint64_t *ret)
{
	const char *begin = *at;
	uint64_t v = 0;

	for (; *at < end && *at - begin < 17; (*at)++) {
		char c = **at;

		if (c >= '0' && c <= '9')
			v = v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	*ret = v;
	return *at > begin && *at - begin <= 16;
}

/* "ffffffff81000000 T name\t[module]" */
static bool parse_symbol(const char *at, const char *end, struct kernel_symbol *s)
{
	*s = (struct kernel_symbol){ 0 };
	if (!take_hex(&at, end, &s->addr) || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	s->type = at[1];
	s->name = at + 3;

	const char *tab = memchr(s->name, '\t', (size_t)(end - s->name));

	s->name_size = (size_t)((tab ? tab : end) - s->name);
	if (tab && end - tab >= 3 && tab[1] == '[' && end[-1] == ']') {
		s->module = tab + 2;
		s->module_size = (size_t)(end - 1 - s->module);
	}
	return s->name_size > 0;
}

bool kernel_next_symbol(const char **text, const char *end, struct kernel_symbol *ret)
{
	while (*text < end) {
		const char *begin = *text;
		const char *newline = memchr(begin, '\n', (size_t)(end - begin));

		*text = newline ? newline + 1 : end;
		if (parse_symbol(begin, newline ? newline : end, ret))
			return true;
	}
	return false;
}

/* Index of the first address above addr. */
static size_t first_above(const uint64_t *addrs, size_t n, uint64_t addr)
{
	size_t lo = 0;

	while (n > lo) {
		size_t mid = lo + (n - lo) / 2;

		if (addrs[mid] > addr)
			n = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

void kernel_print_symbol(const struct kernel_symbol *s, struct buf *ret)
{
	uint8_t *p = buf_reserve(ret, 19);

	for (unsigned i = 0; i < 16; i++)
		p[i] = (uint8_t) "0123456789abcdef"[s->addr >> (60 - 4 * i) & 15];
	p[16] = p[18] = ' ';
	p[17] = (uint8_t)s->type;
	ret->size += 19;
	buf_add(ret, s->name, s->name_size);
	if (s->module) {
		buf_puts(ret, "\t[");
		buf_add(ret, s->module, s->module_size);
		buf_puts(ret, "]");
	}
	buf_puts(ret, "\n");
}

void kernel_select_symbols(const char *text, size_t size, const uint64_t *addrs,
			   size_t n_addrs, struct buf *ret)
{
	/* Per address, the nearest symbol at or below it that is above the address
	 * before.  The lines are not sorted over modules, so every symbol is asked. */
	own(freep) struct kernel_symbol *nearest = xcalloc(n_addrs + 1, sizeof(*nearest));
	const char *at = text;
	struct kernel_symbol s;

	while (kernel_next_symbol(&at, text + size, &s)) {
		size_t i = first_above(addrs, n_addrs, s.addr - 1);

		if (is_code(s.type) && i < n_addrs &&
		    (!nearest[i].name || nearest[i].addr < s.addr))
			nearest[i] = s;
	}
	/* An address without one shares that of the address before. */
	for (size_t i = 0; i < n_addrs; i++)
		if (nearest[i].name)
			kernel_print_symbol(&nearest[i], ret);
}

/* The first symbol that begins a line at or after byte at. */
static bool symbol_after(const char *text, size_t size, size_t at,
			 struct kernel_symbol *ret)
{
	const char *p = text + at, *end = text + size;

	if (at && p[-1] != '\n') {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			return false;
		p++;
	}
	return kernel_next_symbol(&p, end, ret);
}

void kernel_select_sorted(const char *text, size_t size, const uint64_t *addrs,
			  size_t n_addrs, struct buf *ret)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n_addrs; i++) {
		size_t lo = 0, hi = size;
		struct kernel_symbol s, best = { 0 };

		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (symbol_after(text, size, mid, &s) && s.addr <= addrs[i]) {
				best = s;
				lo = (size_t)(s.name + s.name_size - text);
			} else {
				hi = mid;
			}
		}
		if (best.name && best.addr != last)
			kernel_print_symbol(&best, ret);
		last = best.name ? best.addr : last;
	}
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel - the running kernel as an image: release, build-id, base address, symbols.
 */
#ifndef DWELL_HOST_KERNEL_H
#define DWELL_HOST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

#define KERNEL_BUILD_ID_MAX 32

struct kernel {
	char release[128];
	uint8_t build_id[KERNEL_BUILD_ID_MAX];
	size_t build_id_size; /* 0: unknown */
	uint64_t stext;	      /* 0: hidden from this user (kernel.kptr_restrict) */
};

void kernel_read(struct kernel *k);

/* Pages have 1 << that many bytes: 4 KB, on some machines 16 or 64. */
uint32_t kernel_page_shift(void);

#define KERNEL_BOOT_ID_MAX 64
/* What tells this boot from all others; false: not known. */
bool kernel_boot_id(char ret[KERNEL_BOOT_ID_MAX]);

/* A line of /proc/kallsyms. */
struct kernel_symbol {
	uint64_t addr;
	char type;
	const char *name; /* not terminated */
	size_t name_size;
	const char *module; /* without brackets, not terminated; NULL: the kernel */
	size_t module_size;
};

/* The next well-formed line, or false at the end. */
bool kernel_next_symbol(const char **text, const char *end, struct kernel_symbol *ret);

/* As a line of /proc/kallsyms. */
void kernel_print_symbol(const struct kernel_symbol *s, struct buf *ret);

/* Of all symbols, write the lines of those that addresses fall into (sorted, unique),
 * so that a recording can name them anywhere later. */
void kernel_select_symbols(const char *text, size_t size, const uint64_t *addrs,
			   size_t n_addrs, struct buf *ret);
/* The same of lines that ascend by address, without reading them all. */
void kernel_select_sorted(const char *text, size_t size, const uint64_t *addrs,
			  size_t n_addrs, struct buf *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * loaded - what the dynamic linker has mapped, read in place.
 *
 * The headers belong to objects that the linker itself has accepted; nothing here
 * calls libc or the kernel.
 */
#ifndef DWELL_INJECT_LOADED_H
#define DWELL_INJECT_LOADED_H

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* The linker's own, where it has them. */
__attribute__((weak)) extern __typeof__(_dl_find_object) _dl_find_object;
__attribute__((weak)) extern __typeof__(dl_iterate_phdr) dl_iterate_phdr;
/* This library begins there. */
__attribute__((visibility("hidden"))) extern const char __ehdr_start[];

struct loaded {
	const ElfW(Phdr) * phdrs;
	size_t n_phdrs;
	uintptr_t bias;
};

/* From an ELF header in memory; n_phdrs is 0 when it is none. */
struct loaded loaded_at(const void *elf);

/* From program headers as the kernel tells of them. */
struct loaded loaded_by_phdrs(const void *phdrs, size_t n);
/* Where its first segment begins, 0 when there is none. */
uintptr_t loaded_start(const struct loaded *m);

/* The default definition of a dynamic symbol, or NULL. */
void *loaded_symbol(const struct loaded *m, const char *name);
void *loaded_linked_symbol(const struct link_map *map, const char *name);
/* As the object has it. */
ElfW(Sym) * loaded_symbol_entry(const struct loaded *m, const char *name);
/* What the object's dynamic section says there; NULL or 0: nothing. */
const void *loaded_dynamic(const struct loaded *m, int64_t tag);
uint64_t loaded_dynamic_value(const struct loaded *m, int64_t tag);

/* Each object, in load order. */
typedef void loaded_fn(const struct loaded *m, void *ctx);
void loaded_each(loaded_fn *fn, void *ctx);

/* The GNU build-id; returns its size, 0 when there is none or it exceeds max. */
size_t loaded_build_id(const struct loaded *m, uint8_t *ret, size_t max);

#endif

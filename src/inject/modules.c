/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/modules.h"

#include <dlfcn.h>
#include <string.h>

#include "inject/loaded.h"
#include "inject/vdso.h"

#define N_KNOWN	       4096
#define PATH_MAX_BYTES 4096

/* What was told, by address; `what` changes when another object took the place. */
static struct {
	uintptr_t start, what;
} known[N_KNOWN];

static const void *vdso_elf;

static bool tell_segment(struct ring *ring, const struct loaded *m, const ElfW(Phdr) * p,
			 const char *path)
{
	const uintptr_t mask = 4095;
	struct wire_sampler_module r = { .time_ns = vdso_now_ns() };
	size_t n = strlen(path);

	r.start = (m->bias + p->p_vaddr) & ~mask;
	r.end = (m->bias + p->p_vaddr + p->p_memsz + mask) & ~mask;
	r.file_offset = p->p_offset & ~(uint64_t)mask;
	r.build_id_size = (uint8_t)loaded_build_id(m, r.build_id, sizeof(r.build_id));
	return ring_write(ring, WIRE_SAMPLER_MODULE, &r, sizeof(r), path,
			  n < PATH_MAX_BYTES ? n : PATH_MAX_BYTES);
}

static bool tell(struct ring *ring, const struct loaded *m, const char *path)
{
	for (size_t i = 0; i < m->n_phdrs; i++)
		if (m->phdrs[i].p_type == PT_LOAD && m->phdrs[i].p_flags & PF_X &&
		    !tell_segment(ring, m, &m->phdrs[i], path))
			return false;
	return true;
}

static int tell_listed(struct dl_phdr_info *info, size_t size, void *ring)
{
	struct loaded m = { info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr };

	(void)size;
	tell(ring, &m, info->dlpi_name ? info->dlpi_name : "");
	return 0;
}

static size_t known_at(uintptr_t start)
{
	size_t i = (start >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 52;

	for (size_t n = 0; n < N_KNOWN; n++, i = (i + 1) % N_KNOWN)
		if (known[i].start == start || !known[i].start)
			return i;
	return N_KNOWN;
}

/* Another thread may tell the same at the same time: twice does no harm, and only
 * what was told is marked. */
static bool tell_object(struct ring *ring, const struct dl_find_object *o)
{
	uintptr_t start = (uintptr_t)o->dlfo_map_start;
	uintptr_t what = (uintptr_t)o->dlfo_link_map ^ (uintptr_t)o->dlfo_map_end;
	size_t i = known_at(start);
	struct loaded m;

	if (i < N_KNOWN && known[i].start == start && !known[i].what)
		known[i].what = what; /* told at start */
	if (i < N_KNOWN && known[i].start == start && known[i].what == what)
		return true;
	if (o->dlfo_map_start == vdso_elf)
		return true;
	m = loaded_at(o->dlfo_map_start);
	if (!tell(ring, &m, o->dlfo_link_map->l_name))
		return false;
	if (i < N_KNOWN) {
		known[i].what = what;
		__atomic_store_n(&known[i].start, start, __ATOMIC_RELEASE);
	}
	return true;
}

bool modules_begin(struct ring *ring, const struct loaded *program, const void *vdso)
{
	struct loaded m = loaded_at(vdso);
	uintptr_t start = loaded_start(program);
	size_t i = known_at(start);

	vdso_elf = vdso;
	/* First, as the recorder takes the first one for the program. */
	if (start && !tell(ring, program, ""))
		return false;
	if (m.n_phdrs && !tell(ring, &m, "[vdso]"))
		return false;
	if (start && i < N_KNOWN)
		known[i].start = start;
	return true;
}

void modules_list(struct ring *ring)
{
	if (!_dl_find_object && dl_iterate_phdr)
		dl_iterate_phdr(tell_listed, ring);
}

bool modules_place(uintptr_t address, uint64_t *ret_code, uint64_t *ret_linked)
{
	struct dl_find_object o;
	struct loaded m;

	if (!_dl_find_object || _dl_find_object((void *)address, &o) != 0)
		return false;
	m = loaded_at(o.dlfo_map_start);
	for (size_t i = 0; i < m.n_phdrs; i++) {
		if (m.phdrs[i].p_type != PT_LOAD || !(m.phdrs[i].p_flags & PF_X))
			continue;
		*ret_code = m.bias + m.phdrs[i].p_vaddr;
		*ret_linked = address - m.bias;
		return true;
	}
	return false;
}

bool modules_tell(struct ring *ring, const uintptr_t *pcs, size_t n)
{
	uintptr_t start = 0, end = 0;

	for (size_t i = 0; _dl_find_object && i < n; i++) {
		struct dl_find_object o;

		if (pcs[i] >= start && pcs[i] < end)
			continue;
		if (_dl_find_object((void *)pcs[i], &o) != 0)
			continue;
		start = (uintptr_t)o.dlfo_map_start;
		end = (uintptr_t)o.dlfo_map_end;
		if (!tell_object(ring, &o))
			return false;
	}
	return true;
}

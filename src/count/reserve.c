/* SPDX-License-Identifier: Apache-2.0 */
#include "count/reserve.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "bare/sys.h"
#include "count/engine.h"
#include "count/fatal.h"
#include "wire/count_control.h"
#include "wire/count_file.h"

static struct count_control_piece pieces[COUNT_CONTROL_PIECES_MAX];
static uint8_t rights[COUNT_CONTROL_PIECES_MAX]; /* of each, PROT_* */
static uint64_t n_pieces, n_bytes;

/* Under the engine's lock, or by the only thread. */
static void *note(void *p, size_t bytes, int prot)
{
	n_bytes += p ? bytes : 0;
	if (!p || n_pieces == COUNT_CONTROL_PIECES_MAX)
		return p;
	rights[n_pieces] = (uint8_t)prot;
	pieces[n_pieces++] = (struct count_control_piece){ (uint64_t)p, bytes };
	return p;
}

#define FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* The address is a hint only: filters of a program's calls may know no newer flag. */
void *reserve_at(uint64_t addr, size_t bytes, int prot)
{
	long p = sys_call(SYS_mmap, addr, bytes, prot, FLAGS, -1, 0);

	if (p < 0 && p > -4096)
		return NULL;
	if ((uint64_t)p != addr) {
		sys_unmap((void *)p, bytes);
		return NULL;
	}
	return note((void *)p, bytes, prot);
}

void reserve_clear(void *p, size_t bytes)
{
	sys_call(SYS_madvise, p, bytes, MADV_DONTNEED, 0, 0, 0);
}

void reserve_release(void *p, size_t bytes)
{
	sys_unmap(p, bytes);
	n_bytes -= bytes;
	for (uint64_t i = 0; i < n_pieces; i++)
		if (pieces[i].addr == (uint64_t)p) {
			pieces[i] = pieces[--n_pieces];
			rights[i] = rights[n_pieces];
			return;
		}
}

uint64_t reserve_bytes(void)
{
	return n_bytes;
}

/* Mapped over what is but space. */
static int rights_of(uint64_t i)
{
	return rights[i] ? rights[i] : PROT_READ | PROT_WRITE;
}

bool reserve_keep_from_children(uint64_t addr, uint64_t bytes, bool are_kept)
{
	/* Of nothing the kernel says that it is done. */
	return bytes && sys_call(SYS_madvise, addr, bytes,
				 are_kept ? MADV_DONTFORK : MADV_DOFORK, 0, 0, 0) == 0;
}

static bool set_rights(const struct count_control_piece *p, int prot)
{
	return sys_call(SYS_mprotect, p->addr, p->bytes, prot, 0, 0, 0) == 0;
}

bool reserve_rest(void)
{
	bool is_done = n_pieces < COUNT_CONTROL_PIECES_MAX;

	for (uint64_t i = 0; i < n_pieces && is_done; i++)
		is_done = reserve_keep_from_children(pieces[i].addr, pieces[i].bytes,
						     true) &&
			  set_rights(&pieces[i], PROT_NONE);
	return is_done;
}

bool reserve_wake(void)
{
	bool is_done = true;

	for (uint64_t i = 0; i < n_pieces && is_done; i++)
		is_done = set_rights(&pieces[i], rights_of(i)) &&
			  reserve_keep_from_children(pieces[i].addr, pieces[i].bytes,
						     false);
	return is_done;
}

void reserve_tell(struct count_control *k)
{
	k->pieces = (uint64_t)pieces;
	k->n_pieces = (uint64_t)&n_pieces;
}

/* Far from where programs have their code: around that, translated code needs the room.
 * Sanitizers want nearly all that programs have no use for, but leave what is just below
 * the addresses that the kernel gives to programs (0x555555554000 and above), for the
 * file of counts and tables of some gigabytes. */
static uint64_t next = 0x550000000000ULL;

_Static_assert(COUNT_FILE_BYTES < 0x5200000000ULL, "there are 0x5555554000");

#define GAP 0x1000

#define HUGE_BYTES 0x200000u

void reserve_advise(void *p, size_t bytes, int advice)
{
	if (!engine.is_confined)
		sys_call(SYS_madvise, p, bytes, advice, 0, 0, 0);
}

/* By single pages tables of large programs would be thousands of faults. */
static void hasten(void *p, size_t bytes)
{
	reserve_advise(p, bytes, MADV_HUGEPAGE);
}

static uint64_t next_addr(size_t bytes)
{
	uint64_t align = bytes >= HUGE_BYTES ? HUGE_BYTES : GAP;
	uint64_t room = (bytes + GAP + align - 1) & -align;

	return (__atomic_fetch_add(&next, room + align, __ATOMIC_RELAXED) + align - 1) &
	       -align;
}

static void *reserve_with(size_t bytes, int prot)
{
	void *p = reserve_at(next_addr(bytes), bytes, prot);

	if (!p)
		p = note(sys_map(bytes, FLAGS, -1), bytes, prot);
	if (!p)
		fatal("no address space for the engine's tables");
	return p;
}

void *reserve(size_t bytes)
{
	uint8_t *p = reserve_with(bytes, PROT_READ | PROT_WRITE);

	/* Small programs do with less than one such page. */
	if (bytes >= 8 * HUGE_BYTES)
		hasten(p + HUGE_BYTES, bytes - HUGE_BYTES);
	return p;
}

void *reserve_scattered(size_t bytes)
{
	void *p = reserve_with(bytes, PROT_READ | PROT_WRITE);

	if (bytes >= HUGE_BYTES)
		hasten(p, bytes);
	return p;
}

void *reserve_space(size_t bytes)
{
	return reserve_with(bytes, PROT_NONE);
}

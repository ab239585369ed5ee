/* SPDX-License-Identifier: Apache-2.0 */
#include "count/code_unit.h"

#include <sys/mman.h>

#include "count/fatal.h"
#include "count/reserve.h"
#include "wire/count_file.h"

#define UNIT_BYTES 0x4000000u
#define COLD_BYTES 0x1800000u
#define HUGE_BYTES 0x200000u
#define REACH	   0x7ff00000LL
#define UNITS_MAX  512
#define MARKS_MAX  COUNT_FILE_BLOCKS_MAX
/* What a fragment may take, with all that goes with it. */
#define ROOM_BYTES 0x10000u
/* So that what is mapped next still finds its place beside what is there. */
#define DISTANCE 0x10000000u

static struct code_unit units[UNITS_MAX];
static unsigned n_units;

static bool reaches(uint64_t from, uint64_t to)
{
	int64_t distance = (int64_t)(to - from);

	return distance > -REACH && distance < REACH;
}

bool code_unit_reaches(const struct code_unit *u, uint64_t addr)
{
	return reaches(u->start, addr) && reaches(u->end, addr);
}

static bool is_fit(const struct code_unit *u, uint64_t start, uint64_t end)
{
	return code_unit_reaches(u, start) && code_unit_reaches(u, end) &&
	       (size_t)(u->hot_end - u->hot.at) >= ROOM_BYTES &&
	       (size_t)(u->cold_end - u->cold.at) >= ROOM_BYTES;
}

static void begin(struct code_unit *u)
{
	u->hot.at = (uint8_t *)u->start;
	u->hot_end = u->cold.at = u->hot.at + UNIT_BYTES - COLD_BYTES;
	u->cold_end = u->hot.at + UNIT_BYTES;
	u->n_marks = 0;
}

void code_unit_clear(void)
{
	for (unsigned i = 0; i < n_units; i++) {
		reserve_clear((void *)units[i].start, UNIT_BYTES);
		reserve_clear(units[i].marks, MARKS_MAX * sizeof(*units[i].marks));
		begin(&units[i]);
	}
}

bool code_unit_has_room(void)
{
	return n_units < UNITS_MAX / 4 * 3;
}

static bool map_at(struct code_unit *u, uint64_t addr)
{
	uint8_t *p = reserve_at(addr, UNIT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);

	if (!p)
		return false;
	*u = (struct code_unit){ .start = addr, .end = addr + UNIT_BYTES };
	begin(u);
	u->marks = reserve(MARKS_MAX * sizeof(*u->marks));
	/* Small programs do with less than one such page. */
	reserve_advise(p + HUGE_BYTES, UNIT_BYTES - COLD_BYTES - HUGE_BYTES,
		       MADV_HUGEPAGE);
	return true;
}

/* Below first: heaps grow upwards from the programs that have them. */
static bool map_near(struct code_unit *u, uint64_t start, uint64_t end)
{
	for (uint64_t away = DISTANCE; away + UNIT_BYTES < REACH; away += UNIT_BYTES) {
		uint64_t addr = (start - away) & -(uint64_t)HUGE_BYTES;

		if (addr < start && reaches(addr, end) && map_at(u, addr))
			return true;
	}
	for (uint64_t away = REACH - 2 * UNIT_BYTES; away > UNIT_BYTES;
	     away -= UNIT_BYTES) {
		uint64_t addr = (start + away) & -(uint64_t)HUGE_BYTES;

		if (addr >= end && map_at(u, addr))
			return true;
	}
	return false;
}

struct code_unit *code_unit_near(uint64_t start, uint64_t end)
{
	for (unsigned i = n_units; i-- > 0;)
		if (is_fit(&units[i], start, end))
			return &units[i];
	if (n_units == UNITS_MAX || !map_near(&units[n_units], start, end))
		fatal_at("no free memory within 2 GB of code at", start);
	return &units[n_units++];
}

struct code_unit *code_unit_of(uint64_t addr)
{
	for (unsigned i = 0; i < n_units; i++)
		if (addr >= units[i].start && addr < units[i].end)
			return &units[i];
	return NULL;
}

void code_unit_mark(struct code_unit *u, uint32_t block)
{
	u->marks[u->n_marks++] =
		(struct code_mark){ (uint32_t)((uint64_t)u->hot.at - u->start), block };
}

uint32_t code_unit_block_at(const uint8_t *code, const uint8_t **start)
{
	const struct code_unit *u = code_unit_of((uint64_t)code);
	uint32_t off, low = 0, high;

	if (!u || code >= u->hot_end)
		return 0;
	off = (uint32_t)((uint64_t)code - u->start);
	high = u->n_marks;
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (u->marks[mid].off <= off)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	*start = (const uint8_t *)u->start + u->marks[low - 1].off;
	return u->marks[low - 1].block;
}

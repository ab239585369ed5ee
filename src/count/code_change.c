/* SPDX-License-Identifier: Apache-2.0 */
#include "count/code_change.h"

#include <stddef.h>
#include <string.h>

#include "bare/sys.h"
#include "count/alias.h"
#include "count/code_unit.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/exec_range.h"
#include "count/link.h"
#include "count/place.h"
#include "count/reserve.h"
#include "count/signals.h"
#include "count/translate.h"
#include "count/turnover.h"
#include "decode/x86_op.h"

#define PAGE_BITS  12
#define PAGE_BYTES (1ULL << PAGE_BITS)
#define FIRST_BITS 10

/* Translations begin in it. */
struct page {
	uint64_t number;   /* 0: free */
	uint32_t first;	   /* place */
	bool is_forbidden; /* to be written */
	uint8_t prot;	   /* else */
};

static struct page *pages; /* open addressing */
static unsigned page_bits;
static uint32_t n_pages, n_forbidden;
static bool is_nobody_there; /* in the code that is led away */
static bool were_replaced;   /* instructions, as opposed to begins */

void code_change_init(void)
{
	page_bits = FIRST_BITS;
	pages = reserve(sizeof(*pages) << page_bits);
}

/* Its own, or the free one where it would be. */
static struct page *slot_of(uint64_t number)
{
	uint32_t mask = (1u << page_bits) - 1;
	uint32_t i = (uint32_t)(number * 0x9e3779b97f4a7c15ULL >> (64 - page_bits));

	while (pages[i].number && pages[i].number != number)
		i = (i + 1) & mask;
	return &pages[i];
}

static void grow(void)
{
	struct page *old = pages;
	size_t n = (size_t)1 << page_bits++;

	pages = reserve(sizeof(*pages) << page_bits);
	for (size_t i = 0; i < n; i++)
		if (old[i].number)
			*slot_of(old[i].number) = old[i];
	reserve_release(old, n * sizeof(*old));
}

static struct page *page_of(uint64_t number)
{
	struct page *p = slot_of(number);

	if (p->number)
		return p;
	if (++n_pages > 1u << (page_bits - 1)) {
		grow();
		p = slot_of(number);
	}
	p->number = number;
	return p;
}

static void protect(const struct page *p, int prot)
{
	sys_call(SYS_mprotect, p->number << PAGE_BITS, PAGE_BYTES, prot, 0, 0, 0);
}

static void forbid_pages(uint64_t start, uint64_t end, uint32_t prot)
{
	for (uint64_t n = start >> PAGE_BITS; n << PAGE_BITS < end; n++) {
		struct page *p = page_of(n);

		if (p->is_forbidden)
			continue;
		p->is_forbidden = true;
		p->prot = (uint8_t)prot;
		n_forbidden++;
		protect(p, (int)prot & ~PROT_WRITE);
	}
}

/* Where they are allowed. */
static void forbid_own(uint64_t start, uint64_t end)
{
	const struct exec_range *r;

	for (; start < end && (r = exec_range_find(start)); start = r->end)
		if (r->is_writable)
			forbid_pages(start, end < r->end ? end : r->end,
				     PROT_READ | PROT_WRITE | PROT_EXEC);
}

void code_change_guard(uint64_t addr, uint32_t bytes, const struct exec_range *r)
{
	uint64_t start = addr & -PAGE_BYTES;
	uint64_t end = (addr + bytes + PAGE_BYTES - 1) & -PAGE_BYTES;

	if (r)
		forbid_own(start, end);
	alias_each(start, end, PROT_WRITE, forbid_pages);
}

static void allow_writes(struct page *p)
{
	p->is_forbidden = false;
	n_forbidden--;
	protect(p, p->prot);
}

/* Writes are allowed again everywhere. */
void code_change_clear(void)
{
	for (size_t i = 0; n_forbidden && i < (size_t)1 << page_bits; i++)
		if (pages[i].is_forbidden)
			allow_writes(&pages[i]);
	reserve_clear(pages, sizeof(*pages) << page_bits);
	n_pages = 0;
}

static uint64_t mixed(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

static uint32_t sum_of(uint64_t addr, uint32_t bytes)
{
	const uint8_t *p = (const uint8_t *)addr;
	uint64_t sum = bytes, word;

	for (; bytes >= sizeof(word); p += sizeof(word), bytes -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = mixed(sum ^ word);
	}
	for (word = 0; bytes; bytes--)
		word = word << 8 | *p++;
	return (uint32_t)(mixed(sum ^ word) >> 32);
}

void code_change_watch(struct place *p, uint32_t bytes)
{
	struct page *page;

	p->bytes = (uint16_t)bytes;
	p->sum = sum_of(p->addr, bytes);
	p->was = 0;
	if (p->is_watched)
		return;
	p->is_watched = true;
	page = page_of(p->addr >> PAGE_BITS);
	p->next_in_page = page->first;
	page->first = place_number(p);
}

uint8_t *code_change_emit_begin(struct emit *e)
{
	uint8_t *at;

	/* within 8 bytes that are stored at once */
	while ((uintptr_t)e->at % 8 + CODE_CHANGE_BYTES > 8)
		emit_nop(e, 1);
	at = e->at;
	emit_nop(e, CODE_CHANGE_BYTES);
	return at;
}

static void replace(uint64_t at, const uint8_t *by)
{
	uint64_t word, off = at % 8, *in = (uint64_t *)(at - off);

	if (off + CODE_CHANGE_BYTES > 8) {
		memcpy((void *)at, by, CODE_CHANGE_BYTES);
		return;
	}
	word = *in;
	memcpy((uint8_t *)&word + off, by, CODE_CHANGE_BYTES);
	__atomic_store_n(in, word, __ATOMIC_RELEASE);
}

/* Only of what has such a begin, or where nobody is. */
static void lead_to(uint64_t code, uint64_t to)
{
	uint8_t jump[CODE_CHANGE_BYTES] = { 0xe9 };
	int64_t distance = (int64_t)(to - code - CODE_CHANGE_BYTES);

	memcpy(jump + 1, &(int32_t){ (int32_t)distance }, 4);
	replace(code, jump);
}

static int64_t distance_away(const struct place *p)
{
	return (int64_t)(p->away - p->code - CODE_CHANGE_BYTES);
}

/* Its beginning leads to the engine: by way of a unit that has room for that, and is near
 * enough. */
static void lead_begin_away(struct place *p)
{
	if (!p->away || distance_away(p) != (int32_t)distance_away(p))
		p->away = (uint64_t)link_leave(
			code_unit_near(p->code, p->code),
			(struct link){ LINK_CODE, 0, p->addr, NULL });
	memcpy(p->first_bytes, (const void *)p->code, sizeof(p->first_bytes));
	lead_to(p->code, p->away);
	p->was = p->code;
	p->code = 0;
}

/* Instructions are replaced, and not at once: never again, so by way of a jump whose
 * distance can be changed. */
static void replace_begin(struct place *p)
{
	uint64_t code = p->code;
	struct code_unit *u = code_unit_near(code, code);

	p->code = 0;
	translate_jump(u, &u->hot, p);
	lead_to(code, (uint64_t)u->hot.at - CODE_CHANGE_BYTES);
	were_replaced = true;
}

/* Where a thread may be among its first instructions all is to be forgotten. */
static void lead_away(struct place *p)
{
	if (!p->code)
		return;
	if (p->has_begin) {
		lead_begin_away(p);
	} else if (is_nobody_there || turnover_all_rest()) {
		replace_begin(p);
	} else {
		p->code = 0;
		turnover_ask();
	}
}

bool code_change_revive(struct place *p)
{
	const struct exec_range *r = exec_range_find(p->addr);

	if (!p->was || !p->bytes || !r || p->addr + p->bytes > exec_range_reach(r))
		return false;
	code_change_guard(p->addr, p->bytes, r);
	if (sum_of(p->addr, p->bytes) != p->sum)
		return false;
	replace(p->was, p->first_bytes);
	p->code = p->was;
	p->was = 0;
	return true;
}

/* Handlers of signals are not to return to the middle of what is there now. */
static void forget_returns(void)
{
	for (struct context *x = context_newest(); were_replaced && x; x = x->older)
		signals_forget_returns(x);
	were_replaced = false;
}

/* Of a refusal, as far as more that is mapped could make an instruction of it. */
static uint64_t end_of(const struct place *p)
{
	return p->addr + (p->bytes ? p->bytes : X86_OP_MAX_BYTES);
}

static void each_between(uint64_t start, uint64_t end, void (*what)(struct place *p))
{
	/* blocks of the page before may end in this one */
	for (uint64_t n = (start >> PAGE_BITS) - 1; n << PAGE_BITS < end; n++)
		for (uint32_t i = slot_of(n)->first; i;) {
			struct place *p = place_numbered(i);

			i = p->next_in_page;
			if (p->addr < end && end_of(p) > start)
				what(p);
		}
	forget_returns();
}

bool code_change_is_any(uint64_t start, uint64_t end)
{
	uint64_t n = start >> PAGE_BITS;

	while (n << PAGE_BITS < end && !slot_of(n)->first)
		n++;
	return n << PAGE_BITS < end;
}

static void forget(struct place *p)
{
	lead_away(p);
	p->bytes = 0; /* what comes there is another's, even if it is the same */
}

void code_change_let(uint64_t start, uint64_t end)
{
	for (uint64_t n = start >> PAGE_BITS; n_forbidden && n << PAGE_BITS < end; n++) {
		struct page *p = slot_of(n);

		n_forbidden -= p->is_forbidden;
		p->is_forbidden = false;
	}
}

void code_change_forget(uint64_t start, uint64_t end, bool is_unmapped)
{
	is_nobody_there = is_unmapped;
	each_between(start, end, forget);
	is_nobody_there = false;
	code_change_let(start, end);
}

void code_change_check(uint64_t start, uint64_t end)
{
	each_between(start, end, lead_away);
	code_change_let(start, end);
}

static void look_again(uint64_t start, uint64_t end, uint32_t prot)
{
	(void)prot;
	each_between(start, end, lead_away);
}

/* And nothing else has changed: as dwell's own counters of calls change code. */
static bool leads_elsewhere(const struct place *p)
{
	static uint8_t was[1u << 15]; /* under the lock */
	const struct count_file_block *b = count_output_block(p->block);
	int32_t distance = (int32_t)(b->target - (p->addr + p->bytes));

	if ((b->end != COUNT_END_CALL && b->end != COUNT_END_JUMP) ||
	    p->bytes != b->size_bytes || p->bytes < sizeof(distance))
		return false;
	memcpy(was, (const void *)p->addr, p->bytes);
	memcpy(was + p->bytes - sizeof(distance), &distance, sizeof(distance));
	return sum_of((uint64_t)was, p->bytes) == p->sum;
}

bool code_change_check_all(void)
{
	bool is_known = true;

	is_nobody_there = true;
	for (uint32_t i = 1; i < place_end() && is_known; i++) {
		struct place *p = place_numbered(i);

		if (!p->code || (p->bytes && sum_of(p->addr, p->bytes) == p->sum))
			continue;
		is_known = !p->bytes || leads_elsewhere(p);
		forget(p);
	}
	is_nobody_there = false;
	forget_returns();
	return is_known;
}

void code_change_check_others(uint64_t start, uint64_t end)
{
	alias_each(start, end, PROT_EXEC, look_again);
}

void code_change_check_file(int fd)
{
	alias_each_of_fd(fd, look_again);
}

/* Another thread was here first, or has set the page's rights since. */
static bool is_programs_right(uint64_t addr)
{
	const struct exec_range *r = exec_range_known(addr);
	struct alias a;

	return (r && r->is_writable) || (alias_find(addr, &a) && (a.prot & PROT_WRITE));
}

bool code_change_allow_write(uint64_t addr)
{
	struct page *p = slot_of(addr >> PAGE_BITS);
	uint64_t start = addr & -PAGE_BYTES;

	if (!p->is_forbidden)
		return is_programs_right(addr);
	each_between(start, start + PAGE_BYTES, lead_away);
	code_change_check_others(start, start + PAGE_BYTES);
	allow_writes(p);
	return true;
}

void code_change_allow_between(uint64_t start, uint64_t end)
{
	for (uint64_t n = start >> PAGE_BITS; n_forbidden && n << PAGE_BITS < end; n++)
		if (slot_of(n)->is_forbidden)
			code_change_allow_write(n << PAGE_BITS);
}

bool code_change_allow_all(void)
{
	bool were_any = n_forbidden;

	for (size_t i = 0; n_forbidden && i < (size_t)1 << page_bits; i++)
		if (pages[i].is_forbidden)
			code_change_allow_write(pages[i].number << PAGE_BITS);
	return were_any;
}

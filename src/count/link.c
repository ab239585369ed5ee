/* SPDX-License-Identifier: Apache-2.0 */
#include "count/link.h"

#include "count/code_unit.h"
#include "count/context.h"
#include "count/fatal.h"
#include "count/low.h"
#include "count/reserve.h"

#define LINKS_MAX 0x1000000u

static struct link *links;
static uint32_t n_links;

const struct link *link_get(uint64_t i)
{
	return &links[i];
}

void link_clear(void)
{
	reserve_clear(links, sizeof(*links) * n_links);
	n_links = 0;
}

bool link_has_room(void)
{
	return n_links < LINKS_MAX / 4 * 3;
}

const uint8_t *link_leave(struct code_unit *u, struct link l)
{
	const uint8_t *code = u->cold.at;

	if (!links)
		links = reserve(sizeof(*links) * LINKS_MAX);
	if (n_links == LINKS_MAX)
		fatal("too much code to count");
	links[n_links] = l;
	emit_store_number(&u->cold, CONTEXT_EXIT, n_links++);
	EMIT(&u->cold, 0xff, 0x24, 0x25); /* jmp *low->out */
	emit_u32(&u->cold, low_address(&low->out));
	return code;
}

static const uint8_t *emit_far(struct code_unit *u, const void *code)
{
	const uint8_t *at = u->cold.at;

	EMIT(&u->cold, 0xff, 0x25, 0, 0, 0, 0); /* jmp *0(%rip) */
	emit_u64(&u->cold, (uint64_t)code);
	return at;
}

const uint8_t *link_far(struct code_unit *u, const void *code)
{
	return code_unit_reaches(u, (uint64_t)code) ? code : emit_far(u, code);
}

/* The unit that from is in may be full by now. */
void link_to(uint8_t *from, const void *code)
{
	uint64_t at = (uint64_t)from;
	const uint8_t *near = code_unit_reaches(code_unit_of(at), (uint64_t)code)
				      ? code
				      : emit_far(code_unit_near(at, at), code);

	__atomic_store_n((int32_t *)from, (int32_t)(near - (from + 4)), __ATOMIC_RELEASE);
}

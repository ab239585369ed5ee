/* SPDX-License-Identifier: Apache-2.0
 *
 * Any code, to any place in it: what leads straight there has its branches before that,
 * one after the other, and leads as straight to each of them.
 */
#include "decode/x86_straight.h"

#include <stdlib.h>
#include <string.h>

#define AT  0x400000
#define MAX 128 /* bytes */

struct input {
	const uint8_t *bytes;
	size_t size;
};

static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	const struct input *in = ctx;
	uint64_t at = addr - AT;
	size_t n;

	if (at >= in->size)
		return 0;
	n = in->size - at < FORWARD_CODE_BYTES ? in->size - at : FORWARD_CODE_BYTES;
	memcpy(to, in->bytes + at, n);
	return (unsigned)n;
}

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

static void check_branches(struct input *in, const struct x86_straight *s, uint64_t to)
{
	uint64_t last = AT;

	check(s->n <= X86_STRAIGHT_MAX);
	for (unsigned i = 0; i < s->n; i++) {
		struct x86_straight before;
		uint64_t addr = s->not_taken[i].addr;
		enum x86_flow flow;

		check(addr >= last);
		last = s->not_taken[i].next;
		check(addr < last && last <= to);
		check(x86_straight_flow(addr, read_code, in, &flow));
		check(flow == X86_FLOW_CONDITIONAL || flow == X86_FLOW_LOOP);
		check(x86_straight(AT, addr, read_code, in, &before) && before.n == i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size < MAX ? size : MAX };
	struct x86_straight s;

	for (uint64_t to = AT; to <= AT + in.size + 1; to++)
		if (x86_straight(AT, to, read_code, &in, &s))
			check_branches(&in, &s, to);
	return 0;
}

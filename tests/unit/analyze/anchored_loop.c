/* SPDX-License-Identifier: Apache-2.0 */
#include "anchored_loop.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/profile_data.h"
#include "insn/procedure.h"

/* add %rax, %rax; dec %rcx; jne back to the begin; ret. */
static const uint8_t code[] = "\x48\x01\xc0\x48\xff\xc9\x75\xf8\xc3";
#define BEGIN 0x100
#define DELTA 0

static uint32_t find(const char *const *paths, size_t n, const char *filter,
		     struct anchoring_block ret_blocks[ANCHORED_LOOP_BLOCKS],
		     struct anchoring_way ret_ways[ANCHORED_LOOP_WAYS])
{
	struct procedure_range range = { BEGIN, code, sizeof(code) - 1 };
	struct procedure_options o = {
		.machine = EM_X86_64, .ranges = &range, .n_ranges = 1, .entry = BEGIN
	};
	own(profile_freep) struct profile *p = NULL;
	own(procedure_freep) struct procedure *c = NULL;
	own(anchoring_freep) struct anchoring *a = NULL;

	assert_int_equal(profile_load(paths, n,
				      &(struct profile_options){ .filter = filter }, &p,
				      NULL),
			 0);
	assert_int_equal(procedure_new(&o, &c, NULL), 0);
	assert_int_equal(c->n_blocks, ANCHORED_LOOP_BLOCKS);
	assert_int_equal(c->n_ways, ANCHORED_LOOP_WAYS);
	assert_int_equal(c->ways[ANCHORED_LOOP_ON].kind, PROCEDURE_WAY_ON);
	assert_int_equal(anchoring_new(p, &a, NULL), 0);
	if (!a)
		return 0;
	for (int i = 0; i < ANCHORED_LOOP_BLOCKS; i++)
		ret_blocks[i] = (struct anchoring_block){ 0 };
	for (int i = 0; i < ANCHORED_LOOP_WAYS; i++)
		ret_ways[i] = (struct anchoring_way){ 0 };
	return anchoring_find(a, profile_sym_image(p, 0, 0), DELTA, c, ret_blocks,
			      ret_ways);
}

uint32_t anchored_loop_find_ways(const char *path,
				 struct anchoring_block ret_blocks[ANCHORED_LOOP_BLOCKS],
				 struct anchoring_way ret_ways[ANCHORED_LOOP_WAYS])
{
	return find(&path, 1, NULL, ret_blocks, ret_ways);
}

uint32_t anchored_loop_find_chosen(const char *path, const char *filter,
				   struct anchoring_block ret[ANCHORED_LOOP_BLOCKS])
{
	struct anchoring_way ways[ANCHORED_LOOP_WAYS];

	return find(&path, 1, filter, ret, ways);
}

uint32_t anchored_loop_find_in(const char *const *paths, size_t n,
			       struct anchoring_block ret[ANCHORED_LOOP_BLOCKS])
{
	struct anchoring_way ways[ANCHORED_LOOP_WAYS];

	return find(paths, n, NULL, ret, ways);
}

uint32_t anchored_loop_find(const char *path,
			    struct anchoring_block ret[ANCHORED_LOOP_BLOCKS])
{
	return anchored_loop_find_in(&path, 1, ret);
}

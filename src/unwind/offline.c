/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/offline.h"

#include "unwind/landing.h"
#include "unwind/no_table.h"
#include "unwind/step.h"
#include "unwind/unwind_image.h"

/* A stack address this far above the copied bytes was cut off rather than wrong. */
#define STACK_MAX_BYTES (UINT64_C(64) << 20)

struct walk {
	const struct abi *abi;
	const struct stack_memory *memory;
	unwind_find_map_fn *find_map;
	void *find_ctx;
	struct unwind_regs regs;
	struct step step;
	struct landing landing;
	bool may_land; /* the frame that the last step left */
	bool is_exact; /* pc is an interrupted instruction */
	bool is_full;  /* carries all registers */
};

static bool is_mapped(void *ctx, uint64_t addr)
{
	const struct walk *w = ctx;

	return w->find_map(w->find_ctx, addr) != NULL;
}

static bool is_in_file(void *ctx, uint64_t addr)
{
	const struct walk *w = ctx;
	const struct unwind_map *map = w->find_map(w->find_ctx, addr);

	return map && map->image;
}

/* From the file, which is there when the process is gone. */
static bool read_code(void *ctx, uint64_t addr, uint64_t *ret)
{
	const struct walk *w = ctx;
	const struct unwind_map *map = w->find_map(w->find_ctx, addr);
	uint64_t vaddr;

	if (map && map->image && unwind_image_vaddr(map->image, map, addr, &vaddr) &&
	    unwind_image_code(map->image, vaddr, ret))
		return true;
	return w->memory->read && w->memory->read(w->memory->ctx, addr, ret);
}

static struct no_table_code code_of(struct walk *w)
{
	return (struct no_table_code){ read_code, is_mapped, is_in_file, w };
}

static bool is_return(struct walk *w)
{
	struct no_table_code code = code_of(w);

	return no_table_is_return(w->abi, &code, w->regs.r[w->abi->pc]);
}

static enum step_result step_found(struct walk *w, struct unwind_image *image,
				   uint64_t vaddr)
{
	struct unwind_image_rules found;
	enum step_result rc;

	if (!unwind_image_find(image, vaddr, &found))
		return step_stop(&w->step, UNWIND_NO_TABLE);
	rc = step_rules(w->abi, found.section, &found.fde, &found.rules, &w->regs,
			w->memory, &w->step);
	if (rc == STEP_RETURN && w->step.is_presumed && !is_return(w))
		return step_stop(&w->step, UNWIND_NO_REGISTER);
	return rc;
}

/* Code without a table keeps frame pointers when its file has no table at all, or none
 * for much of it. */
static bool is_hand_written(const struct walk *w, const struct unwind_map *map)
{
	uint64_t vaddr, pc = w->regs.r[w->abi->pc] - !w->is_exact;

	return map->image && unwind_image_has_table(map->image) &&
	       !(unwind_image_vaddr(map->image, map, pc, &vaddr) &&
		 unwind_image_is_hole(map->image, vaddr));
}

static enum step_result step_unknown(struct walk *w, const struct unwind_map *map)
{
	struct no_table_code code = code_of(w);
	struct no_table_frame frame = {
		.is_exact = w->is_exact,
		.is_hand_written = is_hand_written(w, map),
	};

	return no_table_step(w->abi, &code, &frame, &w->regs, w->memory, &w->step);
}

static inline __attribute__((always_inline)) enum step_result
step(struct walk *w, const struct unwind_map *map, const struct abi *abi)
{
	struct unwind_image *image = map->image;
	uint64_t vaddr;

	w->may_land = false;
	if (!image || unwind_image_arch(image) != abi->arch ||
	    !unwind_image_vaddr(image, map, w->regs.r[abi->pc] - !w->is_exact, &vaddr))
		return step_unknown(w, map);

	const struct cfa_row *row = unwind_image_row(image, vaddr);

	w->may_land = landing_is_possible(abi, row);
	if (__builtin_expect(step_is_simple(row) && !w->is_full, 1))
		return step_row(abi, row, &w->regs, w->memory, &w->step);
	switch (row->kind) {
	case CFA_ROW_NONE:
		return step_unknown(w, map);
	case CFA_ROW_END:
		return step_stop(&w->step, UNWIND_END);
	case CFA_ROW_SIGNAL:
		return step_signal(abi, &w->regs, w->memory, &w->step);
	default:
		return step_found(w, image, vaddr);
	}
}

static enum unwind_stop stop_of(const struct walk *w, enum step_result rc)
{
	const struct stack_memory *m = w->memory;

	if (rc == STEP_NEEDS_ALL)
		return UNWIND_NO_REGISTER;
	if (w->step.stop == UNWIND_BAD_MEMORY && w->step.fault >= m->addr &&
	    w->step.fault - m->addr < STACK_MAX_BYTES)
		return UNWIND_STACK_SHORT;
	return w->step.stop;
}

/* Returns the number of frames; *ret_rc says how the last step ended. */
static inline __attribute__((always_inline)) size_t
walk_on(struct walk *w, const struct abi *abi, struct unwind_frame *frames, size_t max,
	enum step_result *ret_rc)
{
	const struct unwind_map *map = w->find_map(w->find_ctx, w->regs.r[abi->pc]);
	size_t n = 0;

	for (;;) {
		uint64_t pc = w->regs.r[abi->pc];
		enum step_result rc;

		frames[n++] = (struct unwind_frame){ pc, map, !w->is_exact };
		*ret_rc = STEP_STOP;
		if (!map) {
			w->step.stop = UNWIND_NO_MAP;
			return n;
		}
		rc = *ret_rc = step(w, map, abi);
		if (rc != STEP_RETURN && rc != STEP_SIGNAL)
			return n;
		if (w->may_land)
			landing_note(&w->landing, n, &w->regs);
		*ret_rc = STEP_STOP;
		w->is_exact = rc == STEP_SIGNAL;
		pc = w->regs.r[abi->pc];
		if (!pc && !w->is_exact) {
			w->step.stop = UNWIND_END;
			return n;
		}
		if (n == max) {
			w->step.stop = UNWIND_LIMIT;
			return n;
		}
		if (pc - map->start >= map->end - map->start)
			map = w->find_map(w->find_ctx, pc);
		if (!map && !w->is_exact) {
			w->step.stop = UNWIND_NO_MAP; /* not code: not a frame */
			return n;
		}
	}
}

static size_t walk(struct walk *w, struct unwind_frame *frames, size_t max,
		   enum step_result *ret_rc)
{
	size_t n, back;

	if (w->abi->arch == UNWIND_AARCH64)
		return walk_on(w, &abi_aarch64, frames, max, ret_rc);
	n = walk_on(w, &abi_x86_64, frames, max, ret_rc);
	if (*ret_rc != STEP_STOP)
		return n;
	back = landing_back(&w->landing, w->abi, w->step.stop, w->memory, &w->regs);
	if (!back)
		return n;
	w->is_exact = false;
	return back + walk_on(w, &abi_x86_64, frames + back, max - back, ret_rc);
}

size_t unwind_offline(const struct unwind_regs *regs, const struct unwind_memory *memory,
		      unwind_find_map_fn *find_map, void *ctx,
		      struct unwind_frame *frames, size_t max, enum unwind_stop *ret_stop)
{
	struct stack_memory m = { memory->stack, memory->stack_addr, memory->stack_size,
				  memory->read, memory->ctx };
	struct walk w = { .abi = abi_of(regs->arch),
			  .memory = &m,
			  .find_map = find_map,
			  .find_ctx = ctx,
			  .regs = *regs,
			  .is_exact = true };
	enum step_result rc;
	size_t n;

	if (!max) {
		*ret_stop = UNWIND_LIMIT;
		return 0;
	}
	n = walk(&w, frames, max, &rc);
	if (rc == STEP_NEEDS_ALL) {
		w.regs = *regs;
		w.is_exact = w.is_full = true;
		n = walk(&w, frames, max, &rc);
	}
	*ret_stop = stop_of(&w, rc);
	if (memory->end)
		*memory->end = w.regs.r[w.abi->sp];
	return n;
}

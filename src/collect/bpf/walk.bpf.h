/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * walk - the user stack of the current thread, by the rules of its files.
 *
 * Frame by frame: the mapping of the pc, the file's rule there, and the caller's stack
 * pointer and pc.  Other registers are not read where they were saved but remembered by
 * place, for few frames ask for one.
 */
#ifndef DWELL_COLLECT_BPF_WALK_BPF_H
#define DWELL_COLLECT_BPF_WALK_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/landing.bpf.h"
#include "collect/bpf/mapping.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/returns.bpf.h"
#include "collect/bpf/rows.bpf.h"
#include "collect/bpf/walk_state.bpf.h"
#include "wire/stack_record.h"
#include "wire/stack_rows.h"

#define WALK_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Ask for the rules of the mapping's file, once. */
static __always_inline void walk_want(struct walk *w, struct stack_image *image,
				      const struct mapping *m)
{
	if (image->state != STACK_IMAGE_NEW || w->wanted_image)
		return;
	image->state = STACK_IMAGE_REQUESTED;
	w->wanted_image = m->image;
	w->wanted_start = m->start;
	w->wanted_end = m->end;
	w->wanted_offset = m->offset;
	w->wanted_file = m->file;
}

/* It could not be told: the next who meets it asks. */
static __always_inline void walk_want_again(const struct walk *w)
{
	uint32_t slot = STACK_ROWS_SLOT(w->wanted_image);
	struct stack_image *image = bpf_map_lookup_elem(&images, &slot);

	if (image)
		image->state = STACK_IMAGE_NEW;
}

/* Learn what is mapped at the pc, if it is not what was at the last. */
static __always_inline bool walk_map(struct walk *w, uint64_t pc)
{
	struct stack_image *image;
	struct mapping *m;
	uint32_t key;

	if (pc >= w->map.start && pc < w->map.end)
		return true;
	m = mapping_at((struct mm_struct *)w->mm, pc, walk_own_map(w));
	if (!m || !m->is_code)
		return false;
	w->map = *m;
	w->image.state = STACK_IMAGE_NO_ROWS;
	key = STACK_ROWS_SLOT(m->image);
	image = m->image ? bpf_map_lookup_elem(&images, &key) : NULL;
	if (!image)
		return true;
	walk_want(w, image, &w->map);
	if (image->is_used != (STACK_IMAGE_IS_USED | STACK_IMAGE_IS_MET))
		image->is_used = STACK_IMAGE_IS_USED | STACK_IMAGE_IS_MET;
	/* Where the rules are is told before that they are ready. */
	w->image.state = *(volatile uint32_t *)&image->state;
	registers_order_loads(&w->zero);
	w->image.index_page = image->index_page;
	w->image.first_block = image->first_block;
	w->image.n_blocks = image->n_blocks;
	return true;
}

static __always_inline uint64_t walk_frame(struct walk *w)
{
	uint64_t exact = w->is_exact ? STACK_RECORD_EXACT : 0;
	uint64_t image = w->map.image, offset;

	if (image == STACK_RECORD_UNMAPPED) {
		w->has_address = 1;
		image = STACK_RECORD_ADDRESS | (w->pc >> STACK_RECORD_OFFSET_BITS & 15);
		offset = w->pc;
	} else {
		offset = w->pc - w->map.start + w->map.offset;
	}
	return image << STACK_RECORD_IMAGE_SHIFT | exact | (offset & STACK_RECORD_OFFSET);
}

/* The frame that a signal interrupted. */
static __always_inline long walk_signal(struct walk *w)
{
	static const uint16_t at[] = REGISTERS_CONTEXT_SAVED;
	uint64_t pc, sp;

	if (!walk_read(w, w->sp + REGISTERS_CONTEXT_PC, &pc) ||
	    !walk_read(w, w->sp + REGISTERS_CONTEXT_SP, &sp))
		return walk_stop(w, STACK_STOP_BAD_MEMORY);
	for (uint32_t i = 0; i < STACK_ROWS_N_SAVES; i++)
		w->saved[i] = w->sp + at[i];
	w->is_saved = 0xff;
	w->is_lost = 0;
	w->pc = pc & REGISTERS_PC_MASK;
	w->sp = sp;
	w->is_exact = 1;
	return 0;
}

/* By the frame record that the frame pointer points to. */
static __always_inline long walk_frame_pointer(struct walk *w)
{
	uint64_t fp, record[2];

	if (!walk_saved(w, STACK_RULE_FP, &fp))
		return walk_stop(w, STACK_STOP_NO_TABLE);
	if (!fp)
		return walk_stop(w, STACK_STOP_END);
	if (fp < w->sp || (fp & 7))
		return walk_stop(w, STACK_STOP_NO_TABLE);
	if (bpf_probe_read_user(record, sizeof(record), (const void *)fp))
		return walk_stop(w, STACK_STOP_BAD_MEMORY);
	walk_note_read(w, fp, record[0]);
	walk_note_read(w, fp + 8, record[1]);
	w->saved[STACK_RULE_FP] = record[0];
	w->is_saved &= ~(UINT64_C(1) << STACK_RULE_FP);
	w->is_lost |= ~(UINT64_C(1) << STACK_RULE_FP | 1);
	w->pc = record[1] & REGISTERS_PC_MASK;
	w->sp = fp + sizeof(record);
	w->is_exact = 0;
	return 0;
}

static __always_inline bool walk_cfa(struct walk *w, const struct stack_rule *r,
				     uint64_t *ret_cfa, uint64_t *ret_base)
{
	uint64_t base, cfa;

	if (!walk_register(w, r->reg, &base))
		return false;
	cfa = base + (int64_t)r->offset;
	*ret_base = base;
	if (r->kind == STACK_RULE_CFA) {
		*ret_base = cfa;
	} else if (r->kind == STACK_RULE_INDIRECT) {
		if (!walk_read(w, cfa, &cfa))
			return false;
	} else if (r->kind == STACK_RULE_PLT) {
		cfa = base + 8 + ((w->pc & 15) >= (uint32_t)r->offset ? 8 : 0);
		*ret_base = cfa;
	}
	*ret_cfa = cfa;
	return true;
}

static __always_inline void walk_saves(struct walk *w, const struct stack_rule *r,
				       uint64_t base)
{
	for (uint32_t i = 1; i < STACK_ROWS_N_SAVES; i++) {
		int8_t save = r->save[i];
		uint64_t bit = UINT64_C(1) << i, at = base + (int64_t)save * 8;

		if (save == STACK_RULE_SAME)
			continue;
		if (save == STACK_RULE_LOST) {
			w->is_lost |= bit;
		} else if (at + REGISTERS_RED_ZONE >= w->sp) {
			w->saved[i] = at;
			w->is_saved |= bit;
			w->is_lost &= ~bit;
		}
	}
}

/* The return address, of a frame that has it in a register. */
static __always_inline bool
walk_return_register(struct walk *w, const struct stack_rule *r, uint64_t *ret)
{
	if (REGISTERS_HAS_LINK)
		return w->is_exact && walk_saved(w, 0, ret);
	return walk_register(w, (uint8_t)r->save[STACK_RULE_EXTRA], ret);
}

/* To the caller's registers by a row that is simple. */
static __always_inline long walk_row(struct walk *w, const struct stack_rule *r)
{
	bool is_in_register = r->save[0] == STACK_RULE_SAME;
	uint64_t cfa, base, pc;

	if (!walk_cfa(w, r, &cfa, &base))
		return walk_stop(w, STACK_STOP_NO_REGISTER);
	if (cfa < w->sp || (cfa == w->sp && !is_in_register))
		return walk_stop(w, STACK_STOP_NO_PROGRESS);
	if (cfa & 7)
		return walk_stop(w, STACK_STOP_BAD_RULE);
	if (is_in_register) {
		if (!walk_return_register(w, r, &pc))
			return walk_stop(w, STACK_STOP_NO_PROGRESS);
	} else {
		uint64_t at = (r->kind == STACK_RULE_INDIRECT ? cfa : base) +
			      (int64_t)r->save[0] * 8;

		if (!walk_read(w, at, &pc))
			return walk_stop(w, STACK_STOP_BAD_MEMORY);
	}
	walk_saves(w, r, base);
	w->pc = pc & REGISTERS_PC_MASK;
	w->sp = cfa;
	w->is_exact = 0;
	landing_note(w, r);
	return 0;
}

static __always_inline long walk_by_rule(struct walk *w, uint64_t offset)
{
	uint64_t place = (uint64_t)w->map.image << STACK_RECORD_IMAGE_SHIFT | offset;
	struct stack_rule *r = rows_rule(&w->image, place, offset, walk_is_shared(w));

	if (!r)
		return walk_stop(w, STACK_STOP_BAD_RULE);
	switch (r->kind) {
	case STACK_RULE_END:
		return walk_stop(w, STACK_STOP_END);
	case STACK_RULE_NONE:
		return walk_stop(w, STACK_STOP_NO_TABLE);
	case STACK_RULE_COMPLEX:
		return walk_stop(w, STACK_STOP_BAD_RULE);
	case STACK_RULE_SIGNAL:
		return walk_signal(w);
	case STACK_RULE_FRAME:
		return walk_frame_pointer(w);
	default:
		return walk_row(w, r);
	}
}

static __always_inline void walk_push(struct walk *w, uint64_t frame)
{
	w->record.frames[(w->n_kernel + w->n++) % STACK_RECORD_FRAMES_MAX] = frame;
	w->hash = (w->hash ^ frame) * WALK_HASH_FACTOR;
	w->hash ^= w->hash >> 29;
}

/* Nobody maps the pc. */
static __always_inline long walk_nowhere(struct walk *w)
{
	/* What is no code is no frame; and an exec leaves the registers of the program
	 * that is gone. */
	if (w->n)
		return walk_stop(w, STACK_STOP_NO_MAP);
	if (w->n_kernel)
		return walk_stop(w, STACK_STOP_END);
	walk_push(w, STACK_RECORD_EXACT);
	return walk_stop(w, STACK_STOP_NO_MAP);
}

static __always_inline long walk_one(struct walk *w)
{
	uint64_t pc;

	if (w->n >= w->depth_max || w->n >= STACK_RECORD_USER_MAX)
		return walk_stop(w, STACK_STOP_LIMIT);
	if (!w->pc && w->n)
		return walk_stop(w, STACK_STOP_END);
	if (returns_may_be(w))
		w->pc = returns_find(w);
	pc = w->pc - !w->is_exact;
	if (!walk_map(w, pc))
		return walk_nowhere(w);
	walk_push(w, walk_frame(w));
	if (w->depth_max == 1)
		return walk_stop(w, STACK_STOP_END);
	if (w->image.state == STACK_IMAGE_READY)
		return walk_by_rule(w, pc - w->map.start + w->map.offset);
	if (w->image.state == STACK_IMAGE_NO_ROWS)
		return walk_frame_pointer(w);
	return walk_stop(w, STACK_STOP_NOT_LOADED);
}

/* The walk goes on from a frame that it has passed, if one may land elsewhere. */
static __always_inline bool walk_back(struct walk *w)
{
	if (!w->landing.n || !landing_back(w))
		return false;
	w->returns = 0;
	return true;
}

#endif

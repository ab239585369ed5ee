/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * walk_state - how far a stack walk is: the registers of a frame, and what they hold.
 */
#ifndef DWELL_COLLECT_BPF_WALK_STATE_BPF_H
#define DWELL_COLLECT_BPF_WALK_STATE_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/mapping.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/rows.bpf.h"
#include "wire/stack_record.h"
#include "wire/stack_rows.h"

/* What a walk depends on, where somebody keeps it (again.bpf.h): the words that it reads,
 * and the registers that it begins with. */
#ifdef WALK_READS_MAX
struct walk_reads {
	uint32_t n;	    /* above the most: not all are here */
	uint32_t registers; /* bit i: saved[i] */
	bool has_other;	    /* one that rows cannot save */
	uint64_t addrs[WALK_READS_MAX], words[WALK_READS_MAX];
};
#endif

/* The walk as it was behind a frame that may land elsewhere (landing.bpf.h). */
struct walk_landing {
	uint32_t n, has_address; /* frames up to it; 0: none was met */
	uint64_t pc, sp, hash;
	uint64_t saved[STACK_ROWS_N_SAVES];
	uint64_t is_saved, is_lost;
};

/* What only programs at places in user code need. */
#ifdef WALK_READS_MAX
struct walk_apart {
	bool is_preempted;   /* nothing that is kept per CPU is shared */
	bool is_behind_call; /* the walk begins where a function has returned to */
	struct mapping map;
};
#endif

/* In memory, so that the verifier need not follow every value. */
struct walk {
	uint64_t mm;
	uint64_t pc, sp;
	uint64_t saved[STACK_ROWS_N_SAVES]; /* values, or where they are */
	uint64_t is_saved;		    /* bit i: saved[i] is an address */
	uint64_t is_lost;
	struct mapping map; /* of the last pc */
	uint64_t hash;
	struct rows_image image; /* map.image */
	uint32_t n, stop, is_exact, has_address;
	uint32_t wanted_image; /* one whose rules are not there yet, or 0 */
	uint32_t depth_max;
	uint64_t wanted_start, wanted_end, wanted_offset, wanted_file;
	uint64_t
		returns; /* struct return_instance *, the next to look at; 0: the first */
	struct walk_landing landing;
	struct registers registers;
	uint32_t n_kernel, zero;    /* frames of the kernel, in front of the user's */
	struct stack_record record; /* its frames are filled in */
#ifdef WALK_READS_MAX
	struct walk_reads reads;
	struct walk_apart apart;
#endif
};

#ifdef WALK_READS_MAX
static __always_inline struct mapping *walk_own_map(struct walk *w)
{
	return w->apart.is_preempted ? &w->apart.map : NULL;
}

static __always_inline bool walk_is_shared(const struct walk *w)
{
	return !w->apart.is_preempted;
}

static __always_inline bool walk_begins_exact(const struct walk *w)
{
	return !w->apart.is_behind_call;
}

static __always_inline void walk_note_read(struct walk *w, uint64_t addr, uint64_t word)
{
	struct walk_reads *r = &w->reads;
	uint32_t i = r->n++;

	if (i >= WALK_READS_MAX)
		return;
	r->addrs[i] = addr;
	r->words[i] = word;
}

/* It depends on more than is noted. */
static __always_inline void walk_note_more(struct walk *w)
{
	w->reads.n = WALK_READS_MAX + 1;
}

static __always_inline void walk_note_register(struct walk *w, uint32_t i)
{
	w->reads.registers |= 1u << i;
}

static __always_inline void walk_note_other(struct walk *w)
{
	w->reads.has_other = true;
}
#else
#define walk_note_read(w, addr, word) ((void)0)
#define walk_note_more(w)	      ((void)0)
#define walk_note_register(w, i)      ((void)0)
#define walk_note_other(w)	      ((void)0)
#define walk_own_map(w)		      NULL
#define walk_is_shared(w)	      true
#define walk_begins_exact(w)	      1
#endif

static __always_inline bool walk_read(struct walk *w __attribute__((unused)),
				      uint64_t addr, uint64_t *ret)
{
	if (bpf_probe_read_user(ret, sizeof(*ret), (const void *)addr))
		return false;
	walk_note_read(w, addr, *ret);
	return true;
}

/* The value of a register that rows can save. */
static __always_inline bool walk_saved(struct walk *w, uint32_t i, uint64_t *ret)
{
	i %= STACK_ROWS_N_SAVES;
	if (w->is_lost >> i & 1)
		return false;
	*ret = w->saved[i];
	walk_note_register(w, i);
	if (w->is_saved >> i & 1) {
		if (!walk_read(w, *ret, ret))
			return false;
		w->saved[i] = *ret;
		w->is_saved &= ~(UINT64_C(1) << i);
	}
	return true;
}

static __always_inline bool walk_register(struct walk *w, uint32_t reg, uint64_t *ret)
{
	if (reg == STACK_RULE_SP) {
		*ret = w->sp;
		return true;
	}
	if (reg < STACK_RULE_OTHER)
		return walk_saved(w, reg, ret);
	if (!w->is_exact || w->n != 1)
		return false;
	walk_note_other(w);
	*ret = registers_other(&w->registers, reg - STACK_RULE_OTHER);
	return *ret != 0;
}

static __always_inline long walk_stop(struct walk *w, uint32_t stop)
{
	w->stop = stop;
	return 1;
}

#endif

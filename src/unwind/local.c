/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/local.h"

#include "unwind/landing.h"
#include "unwind/last_stack.h"
#include "unwind/local_guard.h"
#include "unwind/local_modules.h"
#include "unwind/no_table.h"
#include "unwind/stack_memo.h"
#include "unwind/step.h"
#include "unwind/step_memo.h"

#define CACHE_BITS 10
#define CACHE_ROWS (1u << CACHE_BITS)

_Static_assert(UNWIND_LOCAL_DEPTH_MAX <= LAST_STACK_MAX, "every walk fits");

static const struct abi *const abi = ABI_NATIVE;

/* key is written last and cleared first, so that a walk in a nested signal never sees
 * half a row; nested walks do not write. */
struct cached_row {
	uint64_t key; /* address looked up, 0 when empty */
	struct cfa_row row;
};

struct unwind_local_cache {
	uintptr_t busy_sp;   /* of the walk under way, 0 when none */
	uint32_t generation; /* of what it holds, plus 1; 0: it is zeroes */
	struct cached_row rows[CACHE_ROWS];
	struct last_stack last;
	const uint64_t *last_from; /* the frame whose caller it ends with, or NULL */
	struct stack_memo memo;
	struct step_memo chains;  /* by frame pointers */
	struct step_memo returns; /* from a module to elsewhere */
};

_Static_assert(sizeof(struct unwind_local_cache) <= UNWIND_LOCAL_CACHE_MAX,
	       "there is room for it");

struct walk {
	struct unwind_local_cache *cache; /* NULL: must not be used */
	bool is_owner;			  /* may write to the cache */
	bool is_full;			  /* carries all registers */
	bool is_exact;			  /* pc is an interrupted instruction */
	uint64_t stack_lo, stack_hi;
	bool has_module; /* of the frame the walk stands on */
	bool is_plain;	 /* the last step was by a simple row */
	struct cfa_row row;
	struct unwind_regs regs;
	struct stack_memory memory;
	struct local_guard guard;
	struct step step;
	struct landing landing;
	uintptr_t *pcs;
	uint8_t *exact;
	size_t n, max;
	size_t cursor; /* in the last stack */
};

static void fence(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

size_t unwind_local_cache_bytes(void)
{
	return sizeof(struct unwind_local_cache);
}

void unwind_local_refresh(void)
{
	local_modules_refresh();
}

size_t unwind_local_unchanged(const struct unwind_local_cache *cache)
{
	return cache->last.n_unchanged;
}

/* Of the stack, what is at or above sp is mapped and may be read directly; the rest of
 * the main thread's stack need not even exist yet. */
static void open_window(struct walk *w)
{
	uint64_t low = w->regs.r[abi->sp] - abi->red_zone;

	w->memory.size = 0;
	if (low < w->stack_lo || low >= w->stack_hi)
		return;
	w->memory.addr = low;
	w->memory.bytes = (const uint8_t *)(uintptr_t)low;
	w->memory.size = w->stack_hi - low;
}

static struct cached_row *cache_slot(const struct walk *w, uint64_t pc)
{
	uint64_t hash = pc * UINT64_C(0x9e3779b97f4a7c15);

	return &w->cache->rows[hash >> (64 - CACHE_BITS)];
}

static void cache_put(const struct walk *w, uint64_t pc, const struct cfa_row *row)
{
	struct cached_row *slot;

	if (!w->cache || !w->is_owner)
		return;
	slot = cache_slot(w, pc);
	__atomic_store_n(&slot->key, 0, __ATOMIC_RELAXED);
	fence();
	slot->row = *row;
	fence();
	__atomic_store_n(&slot->key, pc, __ATOMIC_RELAXED);
}

static bool interpret(uint64_t pc, struct cfi_section *section, struct cfi_fde *fde,
		      struct cfa_rules *rules)
{
	struct local_module module;

	return local_modules_find(pc, &module) &&
	       local_modules_fde(&module, pc, section, fde) &&
	       cfa_program_at(section, fde, pc, rules);
}

/* False when pc is in no module.  A module's code without FDE is CFA_ROW_NONE. */
static __attribute__((noinline)) bool make_row(const struct walk *w, uint64_t pc,
					       struct cfa_row *ret)
{
	struct local_module module;
	struct cfi_section section;
	struct cfi_fde fde;
	struct cfa_rules rules;

	if (!local_modules_find(pc, &module))
		return false;
	*ret = (struct cfa_row){ .kind = CFA_ROW_NONE };
	if (local_modules_fde(&module, pc, &section, &fde) &&
	    cfa_program_at(&section, &fde, pc, &rules))
		*ret = cfa_row_from(&section, &fde, &rules);
	cache_put(w, pc, ret);
	return true;
}

static inline bool find_row(const struct walk *w, uint64_t pc, struct cfa_row *ret)
{
	if (__builtin_expect(w->cache != NULL, 1)) {
		const struct cached_row *slot = cache_slot(w, pc);

		if (__builtin_expect(__atomic_load_n(&slot->key, __ATOMIC_RELAXED) == pc,
				     1)) {
			fence();
			*ret = slot->row;
			fence();
			if (__atomic_load_n(&slot->key, __ATOMIC_RELAXED) == pc)
				return true;
		}
	}
	return make_row(w, pc, ret);
}

/* What can be read may be code. */
static bool is_readable(void *ctx, uint64_t addr)
{
	uint64_t word;

	return local_guard_word(ctx, addr, &word);
}

static bool is_in_module(void *ctx, uint64_t addr)
{
	struct local_module module;

	(void)ctx;
	return local_modules_find(addr, &module);
}

static struct no_table_code code_of(struct walk *w)
{
	return (struct no_table_code){ local_guard_word, is_readable, is_in_module,
				       &w->guard };
}

static __attribute__((noinline)) bool is_return(struct walk *w, uint64_t addr)
{
	struct no_table_code code = code_of(w);

	return no_table_is_return(abi, &code, addr);
}

/* To where the last step led, out of the frame that was emitted last. */
static __attribute__((noinline)) bool is_return_of_last(struct walk *w, uint64_t pc)
{
	uint64_t from = w->cache && w->n ? w->pcs[w->n - 1] : 0;

	if (from && step_memo_has(&w->cache->returns, from, pc))
		return true;
	if (!is_return(w, pc))
		return false;
	if (from && w->is_owner)
		step_memo_put(&w->cache->returns, from, pc);
	return true;
}

static __attribute__((noinline)) enum step_result step_interpreted(struct walk *w,
								   uint64_t pc)
{
	struct cfi_section section;
	struct cfi_fde fde;
	struct cfa_rules rules;
	enum step_result rc;

	if (!interpret(pc, &section, &fde, &rules))
		return step_stop(&w->step, UNWIND_NO_TABLE);
	rc = step_rules(abi, &section, &fde, &rules, &w->regs, &w->memory, &w->step);
	if (rc == STEP_RETURN && w->step.is_presumed && !is_return(w, w->regs.r[abi->pc]))
		return step_stop(&w->step, UNWIND_NO_REGISTER);
	return rc;
}

/* The row of the frame the walk stands on.  False when that is no frame: a return
 * address that is in no module and not behind a call, though a table led to it. */
static inline bool look_up(struct walk *w)
{
	uint64_t pc = w->regs.r[abi->pc];
	bool was_proved = !w->has_module;

	w->has_module = find_row(w, pc - !w->is_exact, &w->row);
	return w->has_module || w->is_exact || was_proved || is_return_of_last(w, pc);
}

static enum step_result step_untold(struct walk *w, bool is_hand_written)
{
	struct no_table_code code = code_of(w);
	struct no_table_frame frame = { w->is_exact, is_hand_written };

	return no_table_step(abi, &code, &frame, &w->regs, &w->memory, &w->step);
}

/* Where the frame pointer alone leads.  False: nowhere, or not out of this frame. */
static bool follow_chain(struct walk *w, struct unwind_regs *ret)
{
	*ret = w->regs;
	return step_frame_pointer(abi, ret, &w->memory, &w->step) == STEP_RETURN &&
	       ret->r[abi->pc] && ret->r[abi->fp] > w->regs.r[abi->fp];
}

static bool is_same_frame(const struct unwind_regs *a, const struct unwind_regs *b)
{
	return a->r[abi->pc] == b->r[abi->pc] && a->r[abi->sp] == b->r[abi->sp] &&
	       a->r[abi->fp] == b->r[abi->fp] && a->valid == b->valid;
}

/* Out of a frame that has called.  What was found of such a step once need not be found
 * again: of compilers' code without tables there are many frames in each stack. */
static enum step_result step_chained(struct walk *w, uint64_t pc)
{
	struct step_memo *memo = &w->cache->chains;
	struct unwind_regs chained;
	bool is_chain = follow_chain(w, &chained), is_hand_written;
	enum step_result rc;

	if (is_chain && step_memo_has(memo, pc, chained.r[abi->pc])) {
		w->regs = chained;
		return STEP_RETURN;
	}
	is_hand_written = w->has_module && !local_modules_is_hole(pc - 1);
	rc = step_untold(w, is_hand_written);
	if (rc == STEP_RETURN && is_chain && !is_hand_written && w->is_owner &&
	    is_same_frame(&w->regs, &chained))
		step_memo_put(memo, pc, chained.r[abi->pc]);
	return rc;
}

static __attribute__((noinline)) enum step_result step_unknown(struct walk *w)
{
	uint64_t pc = w->regs.r[abi->pc];

	if (!w->is_exact && w->cache)
		return step_chained(w, pc);
	return step_untold(w, w->has_module && !local_modules_is_hole(pc - !w->is_exact));
}

static __attribute__((noinline)) enum step_result step_special(struct walk *w)
{
	if (!w->has_module || w->row.kind == CFA_ROW_NONE)
		return step_unknown(w);
	if (w->row.kind == CFA_ROW_END)
		return step_stop(&w->step, UNWIND_END);
	if (w->row.kind == CFA_ROW_SIGNAL)
		return step_signal(abi, &w->regs, &w->memory, &w->step);
	return step_interpreted(w, w->regs.r[abi->pc] - !w->is_exact);
}

static inline void emit(struct walk *w, uint64_t pc)
{
	if (__builtin_expect(w->is_exact, 0))
		w->exact[w->n / 8] |= (uint8_t)(1u << w->n % 8);
	w->pcs[w->n++] = (uintptr_t)pc;
}

static void copy_kept(struct walk *w, size_t from, size_t to)
{
	const struct last_stack *l = &w->cache->last;

	for (size_t i = from; i-- > to;)
		w->pcs[w->n++] = (uintptr_t)l->frame[i].pc;
}

/* Go on from a kept frame. */
static void resume_at(struct walk *w, const struct last_frame *f)
{
	w->regs.r[abi->sp] = f->sp;
	w->regs.r[abi->pc] = f->pc;
	w->regs.r[abi->fp] = f->fp;
	look_up(w);
}

/* The walk stands on a frame it reached by a step: remember it, and when it is a kept
 * one go on to the outermost frame that still holds.  STEP_STOP when that is the end. */
static inline enum step_result use_last(struct walk *w)
{
	struct last_stack *l = &w->cache->last;
	bool is_plain = w->is_plain && (w->regs.valid & abi_bit(abi->fp));
	struct last_frame f = { .sp = is_plain ? w->regs.r[abi->sp] : 0,
				.pc = w->regs.r[abi->pc],
				.fp = w->regs.r[abi->fp],
				.pc_slot = is_plain ? w->step.pc_slot : 0,
				.fp_slot = w->step.fp_slot,
				.cfa_slot = w->step.cfa_slot };
	size_t from, to;

	last_stack_push(l, &f);
	if (!f.sp || !last_stack_match(l, &f, &w->cursor))
		return STEP_RETURN;
	from = w->cursor;
	to = last_stack_verify(l, from, w->max - w->n, &w->memory, abi->pc_mask);
	copy_kept(w, from, to);
	if (!to && l->is_complete) {
		last_stack_commit(l, from, true);
		l->n_unchanged++; /* the matching frame itself */
		return step_stop(&w->step, UNWIND_END);
	}
	if (to != from) {
		last_stack_take(l, from, to);
		w->cursor = to;
		resume_at(w, &l->frame[to]);
	}
	return STEP_RETURN;
}

static void forget_last(struct last_stack *l)
{
	l->n = l->n_fresh = l->n_unchanged = 0;
}

/* The stack as walked is what the next walk is compared with. */
static void keep_last(struct walk *w, enum step_result rc)
{
	struct last_stack *l = &w->cache->last;

	if (rc == STEP_STOP && w->step.stop != UNWIND_LIMIT)
		last_stack_commit(l, 0, !w->is_plain && w->step.stop == UNWIND_END);
	else
		forget_last(l);
}

static inline enum step_result step(struct walk *w)
{
	w->is_plain = w->has_module && step_is_simple(&w->row);
	if (__builtin_expect(w->is_plain && !w->is_full, 1))
		return step_row(abi, &w->row, &w->regs, &w->memory, &w->step);
	w->is_plain = false;
	return step_special(w);
}

/* Is there a frame where the step led? */
static inline bool arrive(struct walk *w, enum step_result rc)
{
	w->is_exact = rc == STEP_SIGNAL;
	if (w->is_exact)
		open_window(w);
	if (!w->regs.r[abi->pc] && !w->is_exact)
		w->step.stop = UNWIND_END;
	else if (!look_up(w))
		w->step.stop = UNWIND_NO_MAP;
	else if (w->n == w->max)
		w->step.stop = UNWIND_LIMIT;
	else
		return true;
	return false;
}

/* From the frame that the walk stands on to where it ends. */
static inline enum step_result walk_on(struct walk *w, bool use_cache)
{
	enum step_result rc;

	look_up(w);
	emit(w, w->regs.r[abi->pc]);
	for (;;) {
		rc = step(w);
		if (rc != STEP_RETURN && rc != STEP_SIGNAL)
			break;
		if (w->has_module && landing_is_possible(abi, &w->row))
			landing_note(&w->landing, w->n, &w->regs);
		if (!arrive(w, rc)) {
			w->is_plain = true; /* not by the rule of the last frame */
			rc = STEP_STOP;
			break;
		}
		emit(w, w->regs.r[abi->pc]);
		if (!use_cache)
			continue;
		rc = use_last(w);
		if (rc == STEP_STOP)
			return rc;
	}
	if (use_cache)
		keep_last(w, rc);
	return rc;
}

static enum step_result walk(struct walk *w)
{
	bool use_cache = w->cache && w->is_owner && !w->is_full;
	enum step_result rc;
	size_t back;

	w->landing.n = 0;
	w->cursor = use_cache ? last_stack_begin(&w->cache->last) : 0;
	rc = walk_on(w, use_cache);
	if (__builtin_expect(rc != STEP_STOP || !w->landing.n, 1))
		return rc;
	back = landing_back(&w->landing, abi, w->step.stop, &w->memory, &w->regs);
	if (!back)
		return rc;
	w->n = back;
	w->is_exact = false;
	if (use_cache)
		forget_last(&w->cache->last);
	return walk_on(w, false);
}

static void regs_from_context(struct walk *w, const void *ucontext)
{
	struct unwind_regs *g = &w->regs;
	const uint8_t *context = ucontext;

	w->is_exact = true;
	g->arch = abi->arch;
	g->valid = 0;
	/* The table is a constant: unrolled, these are as many loads and stores. */
#pragma GCC unroll 64
	for (unsigned i = 0; i < UNWIND_N_REGS; i++) {
		g->r[i] = 0;
		if (!abi->context[i])
			continue;
		memcpy(&g->r[i], context + abi->context[i], 8);
		g->valid |= abi_bit(i);
	}
}

/* Registers at this very place, as the table of the enclosing function has them. */
static inline __attribute__((always_inline)) void regs_here(struct unwind_regs *g)
{
	*g = (struct unwind_regs){
		.arch = abi->arch,
		.valid = abi->callee_saved | abi_bit(abi->sp) | abi_bit(abi->pc),
	};
#if defined(__x86_64__)
	__asm__ volatile("movq %%rbx, 24(%0)\n\t"
			 "movq %%rbp, 48(%0)\n\t"
			 "movq %%rsp, 56(%0)\n\t"
			 "movq %%r12, 96(%0)\n\t"
			 "movq %%r13, 104(%0)\n\t"
			 "movq %%r14, 112(%0)\n\t"
			 "movq %%r15, 120(%0)\n\t"
			 "leaq 0f(%%rip), %%rax\n"
			 "0:\tmovq %%rax, 128(%0)"
			 :
			 : "r"(g->r)
			 : "rax", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("stp x19, x20, [%0, 152]\n\t"
			 "stp x21, x22, [%0, 168]\n\t"
			 "stp x23, x24, [%0, 184]\n\t"
			 "stp x25, x26, [%0, 200]\n\t"
			 "stp x27, x28, [%0, 216]\n\t"
			 "str x29, [%0, 232]\n\t"
			 "mov x9, sp\n\t"
			 "adr x10, .\n\t"
			 "stp x9, x10, [%0, 248]"
			 :
			 : "r"(g->r)
			 : "x9", "x10", "memory");
#endif
}

/* Of caches that are filled now. */
static uint32_t current_generation(void)
{
	return local_modules_generation() + 1;
}

/* Take the cache for this walk.  A walk under way on this stack further out than we are
 * is what our signal interrupted; else it was left by longjmp. */
static void take_cache(struct walk *w, struct unwind_local_cache *cache, uintptr_t here)
{
	uintptr_t busy = cache->busy_sp;
	uint32_t generation = current_generation();
	bool same_stack = busy >= w->stack_lo && busy < w->stack_hi &&
			  here >= w->stack_lo && here < w->stack_hi;

	w->is_owner = !busy || (same_stack && here >= busy);
	w->cache = cache;
	if (w->is_owner) {
		cache->busy_sp = here;
		fence();
	}
	if (cache->generation == generation)
		return;
	if (!w->is_owner) {
		w->cache = NULL;
		return;
	}
	if (cache->generation) {
		memset(cache->rows, 0, sizeof(cache->rows));
		memset(&cache->memo, 0, sizeof(cache->memo));
		memset(&cache->chains, 0, sizeof(cache->chains));
		memset(&cache->returns, 0, sizeof(cache->returns));
		cache->last.n = 0;
	}
	cache->generation = generation;
}

static void drop_cache(const struct walk *w, struct unwind_local_cache *cache)
{
	fence();
	if (w->is_owner)
		cache->busy_sp = 0;
}

static void prepare(struct walk *w, uintptr_t stack_lo, uintptr_t stack_hi,
		    uintptr_t *pcs, uint8_t *exact, size_t max)
{
	w->stack_lo = stack_lo;
	w->stack_hi = stack_hi;
	w->pcs = pcs;
	w->exact = exact;
	w->max = max < UNWIND_LOCAL_DEPTH_MAX ? max : UNWIND_LOCAL_DEPTH_MAX;
	w->is_full = false;
	w->has_module = true;
	w->guard.n = 0;
	w->memory = (struct stack_memory){ .read = local_guard_word, .ctx = &w->guard };
	memset(exact, 0, (w->max + 7) / 8);
}

/* From the caller of a function with a frame pointer whose frame this is. */
static void regs_of_caller(struct walk *w, const uint64_t *frame)
{
	w->regs.arch = abi->arch;
	w->regs.valid = abi_bit(abi->fp) | abi_bit(abi->sp) | abi_bit(abi->pc);
	w->regs.r[abi->fp] = frame[0];
	w->regs.r[abi->pc] = frame[1];
	w->regs.r[abi->sp] = (uintptr_t)(frame + 2);
	w->is_exact = false;
}

static enum step_result walk_from(struct walk *w)
{
	w->n = 0;
	open_window(w);
	return walk(w);
}

/* From registers taken inside a function to those of its caller. */
static void leave_frame(struct walk *w)
{
	w->is_exact = true;
	open_window(w);
	look_up(w);
	step(w);
	w->is_exact = false;
}

/* frame: of the function whose caller the walk begins with, unless there is a context. */
static inline __attribute__((always_inline)) size_t
walk_all(struct unwind_local_cache *cache, const void *ucontext, const uint64_t *frame,
	 uintptr_t stack_lo, uintptr_t stack_hi, uintptr_t *pcs, uint8_t *exact,
	 size_t max, enum unwind_stop *ret_stop)
{
	struct walk w;
	enum step_result rc = STEP_NEEDS_ALL;

	*ret_stop = UNWIND_LIMIT;
	if (!max)
		return 0;
	prepare(&w, stack_lo, stack_hi, pcs, exact, max);
	take_cache(&w, cache, (uintptr_t)__builtin_frame_address(0));
	if (ucontext) {
		regs_from_context(&w, ucontext);
		rc = walk_from(&w);
	} else if (!abi->has_link_register) {
		regs_of_caller(&w, frame);
		rc = walk_from(&w);
	} else {
		regs_here(&w.regs);
		leave_frame(&w);
		rc = walk_from(&w);
	}
	if (rc == STEP_NEEDS_ALL) {
		w.is_full = true;
		if (ucontext) {
			regs_from_context(&w, ucontext);
		} else {
			regs_here(&w.regs);
			leave_frame(&w);
		}
		rc = walk_from(&w);
	}
	cache->last_from = rc == STEP_STOP && w.is_owner && !w.is_full ? frame : NULL;
	drop_cache(&w, cache);
	*ret_stop = rc == STEP_NEEDS_ALL ? UNWIND_BAD_RULE : w.step.stop;
	return w.n;
}

/* Both are kept out of line so that their frames can be stepped over. */
size_t __attribute__((noinline))
unwind_local(struct unwind_local_cache *cache, const void *ucontext, uintptr_t stack_lo,
	     uintptr_t stack_hi, uintptr_t *pcs,
	     uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8], size_t max,
	     enum unwind_stop *ret_stop)
{
	return walk_all(cache, ucontext, __builtin_frame_address(0), stack_lo, stack_hi,
			pcs, exact, max, ret_stop);
}

size_t __attribute__((noinline))
unwind_local_from(struct unwind_local_cache *cache, const uint64_t *frame,
		  uintptr_t stack_lo, uintptr_t stack_hi, uintptr_t *pcs,
		  uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8], size_t max,
		  enum unwind_stop *ret_stop)
{
	return walk_all(cache, NULL, frame, stack_lo, stack_hi, pcs, exact, max,
			ret_stop);
}

static struct stack_memo_start start_of(const uint64_t *frame, uint64_t whose)
{
	return (struct stack_memo_start){ .sp = (uintptr_t)(frame + 2),
					  .pc = frame[1],
					  .fp = frame[0],
					  .whose = whose };
}

uint64_t unwind_local_known(struct unwind_local_cache *cache, const uint64_t *frame,
			    uint64_t whose)
{
	struct stack_memo_start s;

	/* Elsewhere a walk begins further in. */
	if (abi->has_link_register || cache->generation != current_generation())
		return 0;
	s = start_of(frame, whose);
	return stack_memo_find(&cache->memo, &s);
}

/* On the stack, where it may be read without care. */
static bool add_word(struct stack_memo_stack *x, uint64_t stack_hi, uint64_t addr,
		     uint64_t value)
{
	return addr < stack_hi && stack_hi - addr >= 8 && stack_memo_add(x, addr, value);
}

/* The words that the steps of the last walk went by, from sp, pc and frame pointer at its
 * beginning.  A frame pointer counts where a rule makes use of it: else it is whatever a
 * function saves.  False: not all of it was plain. */
static bool list_words(struct unwind_local_cache *cache, uint64_t stack_hi,
		       struct stack_memo_stack *x)
{
	const struct walk w = { .cache = cache, .is_owner = true };
	const struct last_stack *l = &cache->last;
	uint64_t pc = x->start.pc, fp_slot = 0, fp = 0;
	struct cfa_row row;

	for (size_t i = l->n; i--; pc = l->frame[i].pc) {
		const struct last_frame *f = &l->frame[i];

		if (!f->pc_slot || !find_row(&w, pc - 1, &row))
			return false;
		if (row.reg == abi->fp && !fp_slot)
			x->goes_by_fp = true;
		else if (row.reg == abi->fp && !add_word(x, stack_hi, fp_slot, fp))
			return false;
		if ((f->cfa_slot && !add_word(x, stack_hi, f->cfa_slot, f->sp)) ||
		    !add_word(x, stack_hi, f->pc_slot, f->pc))
			return false;
		fp = f->fp_slot ? f->fp : fp;
		fp_slot = f->fp_slot ? f->fp_slot : fp_slot;
	}
	return true;
}

void unwind_local_keep(struct unwind_local_cache *cache, const uint64_t *frame,
		       uintptr_t stack_hi, uint64_t whose, uint64_t name)
{
	struct stack_memo_start s = start_of(frame, whose);
	struct stack_memo_stack *x;

	if (abi->has_link_register || cache->last_from != frame || !cache->last.n ||
	    !cache->last.is_complete)
		return;
	x = stack_memo_open(&cache->memo, &s, name);
	if (x && list_words(cache, stack_hi, x))
		stack_memo_close(x, whose);
}

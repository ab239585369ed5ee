/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of code without a table, against what the processor does: a program is stepped
 * through such code, and where the frame begins is known from the calls it has made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "base/vec.h"
#include "self_maps.h"
#include "unwind/gap_rows.h"
#include "unwind/unwind_image.h"

#define LIMBS	   9
#define CALL_BYTES 7 /* the longest */

typedef uint64_t multiply_fn(uint64_t *product, const uint64_t *a, long n_a,
			     const uint64_t *b, long n_b);

struct row_at {
	uint64_t vaddr;
	struct cfa_row row;
};

/* The gap that was looked at last. */
struct gap {
	struct unwind_image *image;
	uint64_t start, end;
	VEC(struct row_at) rows;
};

struct stepped {
	pid_t pid;
	struct user_regs_struct regs;
	VEC(uint64_t) slots; /* where the return addresses of the calls under way are */
	struct gap gap;
	struct self_maps maps;
	unsigned n_in_gaps, n_known, n_wrong;
};

/* Much of what multiplies long numbers is written by hand, without a table. */
static void multiply(multiply_fn *mul)
{
	static uint64_t a[LIMBS], b[LIMBS], product[2 * LIMBS];

	for (unsigned i = 0; i < LIMBS; i++)
		a[i] = b[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
	if (mul)
		for (long n = 1; n <= LIMBS; n += 4)
			mul(product, a, LIMBS, b, n);
}

static __attribute__((noreturn)) void be_stepped(multiply_fn *mul)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	multiply(mul);
	exit(0); /* by way of __do_global_dtors_aux */
}

static bool step(struct stepped *s)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, s->pid, NULL, NULL), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs), 0);
	return true;
}

/* Calls put their address on the stack; what is below the stack pointer is returned. */
static void follow(struct stepped *s, uint64_t old_pc, uint64_t old_sp)
{
	uint64_t sp = s->regs.rsp;

	while (s->slots.n && s->slots.at[s->slots.n - 1] < sp)
		s->slots.n--;
	if (sp != old_sp - 8 || s->regs.rip - old_pc <= CALL_BYTES)
		return;

	uint64_t word = (uint64_t)ptrace(PTRACE_PEEKDATA, s->pid, sp, NULL);

	if (word > old_pc && word - old_pc <= CALL_BYTES)
		*vec_push(&s->slots) = sp;
}

static void take_row(void *ctx, uint64_t vaddr, const struct cfa_row *row)
{
	struct gap *g = ctx;

	*vec_push(&g->rows) = (struct row_at){ vaddr, *row };
}

static bool is_covered(struct unwind_image *image, uint64_t vaddr)
{
	return unwind_image_row(image, vaddr)->kind != CFA_ROW_NONE;
}

static void find_gap(struct gap *g, struct unwind_image *image, uint64_t vaddr)
{
	uint64_t first, last;

	g->image = image;
	g->start = g->end = vaddr;
	g->rows.n = 0;
	assert_true(unwind_image_segment(image, vaddr, &first, &last));
	while (g->start > first && vaddr - g->start < GAP_ROWS_MAX_BYTES &&
	       !is_covered(image, g->start - 1))
		g->start--;
	while (g->end < last && g->end - vaddr < GAP_ROWS_MAX_BYTES &&
	       !is_covered(image, g->end))
		g->end++;
	gap_rows(image, g->start, g->end, take_row, g);
}

/* NULL: nothing is known from there on. */
static const struct cfa_row *row_from(const struct gap *g, uint64_t vaddr)
{
	const struct cfa_row *found = NULL;

	vec_each(r, &g->rows)
		if (r->vaddr <= vaddr)
			found = &r->row;
	return found;
}

/* NULL: covered, or in no file. */
static const struct cfa_row *gap_row(struct stepped *s)
{
	static const struct cfa_row none = { .kind = CFA_ROW_NONE };
	const struct unwind_map *map = self_maps_find(&s->maps, s->regs.rip);
	const struct cfa_row *found;
	struct gap *g = &s->gap;
	uint64_t vaddr;

	if (!map || !map->image || !unwind_image_has_table(map->image) ||
	    !unwind_image_vaddr(map->image, map, s->regs.rip, &vaddr) ||
	    is_covered(map->image, vaddr))
		return NULL;
	if (g->image != map->image || vaddr < g->start || vaddr >= g->end)
		find_gap(g, map->image, vaddr);
	found = row_from(g, vaddr);
	return found ? found : &none;
}

static void compare(struct stepped *s)
{
	const struct cfa_row *row = s->slots.n ? gap_row(s) : NULL;
	uint64_t base;

	if (!row)
		return;
	s->n_in_gaps++;
	if (row->kind == CFA_ROW_NONE)
		return;
	assert_int_equal(row->kind, CFA_ROW_CFA);
	base = row->reg == UNWIND_X86_64_RSP ? s->regs.rsp : s->regs.rbp;
	s->n_known++;
	if (base + (uint64_t)(int64_t)row->offset == s->slots.at[s->slots.n - 1] + 8)
		return;
	s->n_wrong++;
	print_message("# wrong at %s\n", self_maps_where(&s->maps, s->regs.rip));
}

static void frames_begin_where_the_rows_say(void **state)
{
	void *gmp = dlopen("libgmp.so.10", RTLD_NOW);
	multiply_fn *mul = gmp ? (multiply_fn *)dlsym(gmp, "__gmpn_mul") : NULL;
	struct stepped s = { 0 };
	int status;

	(void)state;
	multiply(mul); /* bound, so that ld.so need not be stepped through */
	self_maps_read(&s.maps);
	s.pid = fork();
	if (s.pid == 0)
		be_stepped(mul);
	assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
	assert_int_equal(ptrace(PTRACE_GETREGS, s.pid, NULL, &s.regs), 0);
	for (uint64_t pc = s.regs.rip, sp = s.regs.rsp; step(&s);
	     pc = s.regs.rip, sp = s.regs.rsp) {
		follow(&s, pc, sp);
		compare(&s);
	}
	print_message("# %u instructions in gaps, rows for %u, %s\n", s.n_in_gaps,
		      s.n_known, mul ? "libgmp too" : "no libgmp");
	assert_int_equal(s.n_wrong, 0);
	assert_true(s.n_known > 5 && s.n_known * 10 > s.n_in_gaps * 9);
	vec_fini(&s.slots);
	vec_fini(&s.gap.rows);
	self_maps_fini(&s.maps);
	if (gmp)
		dlclose(gmp);
}

/* From the C library's crti.o, before the tables and behind them. */
void _init(void);
void _fini(void);

static const struct cfa_row *row_of(struct gap *g, struct self_maps *maps, uint64_t pc)
{
	const struct unwind_map *map = self_maps_find(maps, pc);
	uint64_t vaddr = 0;

	assert_true(map && map->image && unwind_image_vaddr(map->image, map, pc, &vaddr));
	assert_false(is_covered(map->image, vaddr));
	find_gap(g, map->image, vaddr);
	return row_from(g, vaddr);
}

static void code_at_the_ends_of_the_tables_has_rows(void **state)
{
	static const uint8_t sub_rsp[] = { 0x48, 0x83, 0xec, 0x08 };
	void (*const functions[])(void) = { _init, _fini };
	struct self_maps maps = { 0 };
	struct gap gap = { 0 };

	(void)state;
	self_maps_read(&maps);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const uint8_t *code = (const uint8_t *)functions[i];
		static const uint8_t landing_pad[] = { 0xf3, 0x0f, 0x1e, 0xfa };
		const struct cfa_row *row = row_of(&gap, &maps, (uint64_t)code);

		assert_true(row && row->kind == CFA_ROW_CFA && row->offset == 8);
		if (!memcmp(code, landing_pad, sizeof(landing_pad)))
			code += sizeof(landing_pad);
		assert_memory_equal(code, sub_rsp, sizeof(sub_rsp));
		row = row_of(&gap, &maps, (uint64_t)code + sizeof(sub_rsp));
		assert_true(row && row->kind == CFA_ROW_CFA && row->offset == 16);
	}
	vec_fini(&gap.rows);
	self_maps_fini(&maps);
}

static const char *main_alone;

/* Of another section, after zeros that align it. */
static void code_behind_zeros_has_rows(void **state)
{
	static const uint8_t fini[] = { 0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3 };
	own(unwind_image_freep) struct unwind_image *image = NULL;
	own(closep) int fd = open(main_alone, O_RDONLY | O_CLOEXEC);
	uint8_t is[sizeof(fini)];
	Elf64_Ehdr h;
	struct gap gap = { 0 };
	uint64_t start, end;
	unsigned n_known = 0;

	(void)state;
	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(unwind_image_open(fd, main_alone, &image, NULL), 0);
	assert_true(unwind_image_segment(image, h.e_entry, &start, &end));
	assert_int_equal(unwind_image_bytes(image, end - sizeof(fini), is, sizeof(is)),
			 sizeof(is));
	assert_memory_equal(is, fini, sizeof(fini));
	find_gap(&gap, image, end - 1);
	assert_true(gap.end == end && end - gap.start > 2 * sizeof(fini));
	assert_int_equal(row_from(&gap, end - 1)->offset, 8);
	assert_int_equal(row_from(&gap, end - 5)->offset, 16);
	assert_int_equal(row_from(&gap, end - sizeof(fini))->offset, 8);
	vec_each(r, &gap.rows)
		n_known += r->row.kind == CFA_ROW_CFA;
	assert_true(n_known > 5); /* __do_global_dtors_aux alone has three */
	vec_fini(&gap.rows);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_begin_where_the_rows_say),
		cmocka_unit_test(code_at_the_ends_of_the_tables_has_rows),
		cmocka_unit_test(code_behind_zeros_has_rows),
	};

	if (argc != 2)
		return 2;
	main_alone = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

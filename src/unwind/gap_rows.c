/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/gap_rows.h"

#include "decode/x86_flow.h"
#include "decode/x86_op.h"
#include "unwind/code_path.h"
#include "unwind/unwind_image.h"

/* Of one way and all that branch off: longer ones do not matter that much. */
#define STEPS_MAX    256
#define BRANCHES_MAX 8
#define FRAME_MAX    (1 << 20)

#define ALIGNMENT_BYTES 16 /* of sections of code */
#define SECTION_BYTES	4  /* the least of them: .fini's */

static const struct cfa_row no_row = { .kind = CFA_ROW_NONE };

/* Right behind the end of the segment are zeros, where an instruction may be thought to
 * go on. */
static bool read_code(void *image, uint64_t vaddr, uint64_t *ret)
{
	uint64_t start, end, left;

	*ret = 0;
	if (!unwind_image_segment(image, vaddr, &start, &end))
		return unwind_image_segment(image, vaddr - X86_OP_MAX_BYTES, &start,
					    &end);
	if (end - start < 8)
		return false;
	left = end - vaddr;
	if (left >= 8)
		return unwind_image_code(image, vaddr, ret);
	if (!unwind_image_code(image, end - 8, ret))
		return false;
	*ret >>= 8 * (8 - left);
	return true;
}

static bool read_op(struct unwind_image *image, uint64_t vaddr, struct x86_op *ret)
{
	uint64_t words[2];

	_Static_assert(sizeof(words) >= X86_OP_MAX_BYTES, "an instruction fits");
	return read_code(image, vaddr, &words[0]) &&
	       read_code(image, vaddr + 8, &words[1]) &&
	       x86_op_read((const uint8_t *)words, ret);
}

/* Where zeros end that align the next section. */
static uint64_t skip_padding(struct unwind_image *image, uint64_t start, uint64_t end)
{
	uint64_t at = start, word;

	while (at < end && at - start < ALIGNMENT_BYTES && read_code(image, at, &word) &&
	       !(word & 0xff))
		at++;
	return at;
}

/* From instruction to instruction.  The gap may go over the end of a section: behind what
 * does not go on zeros are no code. */
struct reading {
	struct unwind_image *image;
	uint64_t at, end;
	struct x86_op op; /* the one at `at` */
	bool is_at_end;	  /* what was before does not go on */
};

static bool goes_on(const struct x86_op *op)
{
	enum x86_flow flow = x86_flow_of(op);

	return flow != X86_FLOW_JUMP && flow != X86_FLOW_JUMP_TO &&
	       flow != X86_FLOW_RETURN && flow != X86_FLOW_NEVER;
}

/* False: none is there. */
static bool read_next(struct reading *r)
{
	uint64_t behind;

	if (r->is_at_end) {
		behind = skip_padding(r->image, r->at, r->end);
		if (behind % SECTION_BYTES == 0)
			r->at = behind;
	}
	if (r->at >= r->end || !read_op(r->image, r->at, &r->op))
		return false;
	r->is_at_end = !goes_on(&r->op);
	return true;
}

/* Read from the start on, instructions end where the gap does, or zeros begin: what is
 * data, or begins elsewhere, hardly ever does that.  Where they end; 0: it is none. */
static uint64_t code_end(struct unwind_image *image, uint64_t start, uint64_t end)
{
	struct reading r = { .image = image, .at = start, .end = end };

	while (skip_padding(image, r.at, end) < end && read_next(&r))
		r.at += r.op.size;
	return r.at <= end && skip_padding(image, r.at, end) == end ? r.at : 0;
}

/* Where a register is on return, in words from the CFA. */
static int8_t pack_save(const struct code_path *path, const struct code_path_value *v,
			unsigned reg, int64_t cfa)
{
	int64_t offset = v->add[0] - cfa;

	if (v->reg == reg && !v->n_loads && !v->add[0])
		return CFA_ROW_SAME;
	if (v->reg != path->sp.reg || v->n_loads != 1 || v->add[1] || offset % 8 ||
	    offset >= 0 || offset < -8 * CFA_ROW_SAVE_MAX)
		return CFA_ROW_LOST;
	return (int8_t)(offset / 8);
}

static struct cfa_row pack_path(const struct abi *abi, const struct code_path *path)
{
	int64_t cfa = (int64_t)path->sp.add[0] + 8;
	struct cfa_row row = { .kind = CFA_ROW_CFA,
			       .reg = path->sp.reg & 31,
			       .offset = (int32_t)cfa };

	if ((path->sp.reg != abi->sp && path->sp.reg != abi->fp) || path->sp.n_loads ||
	    path->popped_bytes || cfa < 8 || cfa > FRAME_MAX)
		return no_row;
	row.save[0] = -1;
	for (unsigned i = 1; i < ABI_N_SAVES; i++) {
		unsigned reg = abi->saves[i];

		row.save[i] = reg == ABI_NO_REG
				      ? CFA_ROW_SAME
				      : pack_save(path, &path->regs[reg], reg, cfa);
	}
	return row;
}

static struct cfa_row row_at(struct unwind_image *image, const struct abi *abi,
			     uint64_t vaddr)
{
	const struct code_path_input in = { read_code, image, vaddr, STEPS_MAX,
					    BRANCHES_MAX };
	struct code_paths paths;

	if (!code_path_find(&in, &paths) || paths.n != 1)
		return no_row;
	return pack_path(abi, &paths.at[0]);
}

/* Rows where they change. */
struct telling {
	gap_rows_visit_fn *visit;
	void *ctx;
	struct cfa_row last;
	bool has_begun;
};

static void tell(struct telling *t, uint64_t vaddr, const struct cfa_row *row)
{
	if (t->has_begun && cfa_row_is_same(row, &t->last))
		return;
	t->visit(t->ctx, vaddr, row);
	t->last = *row;
	t->has_begun = true;
}

bool gap_rows(struct unwind_image *image, uint64_t start, uint64_t end,
	      gap_rows_visit_fn *visit, void *ctx)
{
	const struct abi *abi = abi_of(unwind_image_arch(image));
	struct reading r = { .image = image, .at = start };
	struct telling t = { visit, ctx };

	if (abi->has_link_register || end - start > GAP_ROWS_MAX_BYTES)
		return false;
	r.at = skip_padding(image, start, end);
	r.end = code_end(image, r.at, end);
	if (r.end <= r.at)
		return false;
	if (r.at > start)
		tell(&t, start, &no_row);
	for (uint64_t behind = r.at; read_next(&r); behind = r.at += r.op.size) {
		struct cfa_row row = row_at(image, abi, r.at);

		if (r.at > behind)
			tell(&t, behind, &no_row);
		tell(&t, r.at, &row);
	}
	if (r.end < end)
		tell(&t, r.end, &no_row);
	return true;
}

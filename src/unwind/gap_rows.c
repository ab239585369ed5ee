/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/gap_rows.h"

#include "decode/x86_op.h"
#include "unwind/code_path.h"
#include "unwind/unwind_image.h"

/* Of one way and all that branch off: longer ones do not matter that much. */
#define STEPS_MAX    256
#define BRANCHES_MAX 8
#define FRAME_MAX    (1 << 20)

static const struct cfa_row no_row = { .kind = CFA_ROW_NONE };

static bool read_code(void *image, uint64_t vaddr, uint64_t *ret)
{
	return unwind_image_code(image, vaddr, ret);
}

static bool read_op(struct unwind_image *image, uint64_t vaddr, struct x86_op *ret)
{
	uint64_t words[2];

	_Static_assert(sizeof(words) >= X86_OP_MAX_BYTES, "an instruction fits");
	return unwind_image_code(image, vaddr, &words[0]) &&
	       unwind_image_code(image, vaddr + 8, &words[1]) &&
	       x86_op_read((const uint8_t *)words, ret);
}

/* Read from the start on, instructions end where the gap does: what is data, or begins
 * elsewhere, hardly ever does that. */
static bool is_code(struct unwind_image *image, uint64_t start, uint64_t end)
{
	struct x86_op op;

	while (start < end && read_op(image, start, &op))
		start += op.size;
	return start == end;
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

bool gap_rows(struct unwind_image *image, uint64_t start, uint64_t end,
	      gap_rows_visit_fn *visit, void *ctx)
{
	const struct abi *abi = abi_of(unwind_image_arch(image));
	struct cfa_row last;
	struct x86_op op;

	if (abi->has_link_register || end - start < GAP_ROWS_MIN_BYTES ||
	    end - start > GAP_ROWS_MAX_BYTES || !is_code(image, start, end))
		return false;
	for (uint64_t at = start; at < end && read_op(image, at, &op); at += op.size) {
		struct cfa_row row = row_at(image, abi, at);

		if (at == start || !cfa_row_is_same(&row, &last))
			visit(ctx, at, &row);
		last = row;
	}
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/code_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/names.h"

static void put_place(char *text, size_t cap, const char *function, uint64_t offset)
{
	char name[80];

	names_shorten(name, sizeof(name), function, 40);
	if (offset)
		snprintf(text, cap, "%s+0x%" PRIx64, name, offset);
	else
		snprintf(text, cap, "%s", name);
}

static bool name_address(void *ctx, uint64_t address, char *text, size_t cap)
{
	const struct code_text *c = ctx;
	const struct profile_function *f = c->function;
	struct symbolizer *s = profile_symbolizer(c->profile);
	uint64_t offset = address - c->delta;
	struct sym_result r;

	if (address >= f->start && address < f->start + f->size) {
		bool is_short = c->leaves_own_name_out && address > f->start;

		put_place(text, cap, is_short ? "" : f->name, address - f->start);
		return true;
	}
	if (!c->has_delta)
		return false;
	symbolizer_resolve(s, f->sym_image, &offset, &(bool){ false }, 1, &r);

	const struct sym_frame *frame =
		symbolizer_frame(s, r.first_frame + r.n_frames - 1);
	const struct sym_function *to = symbolizer_function(s, frame->function);

	if (!to->is_resolved || address < to->start)
		return false;
	put_place(text, cap, to->name, address - to->start);
	return true;
}

int code_text_init(struct code_text *ret, const struct profile *p, uint32_t function,
		   bool is_intel, struct err *e)
{
	const struct profile_function *f = profile_function(p, function);

	*ret = (struct code_text){ .profile = p, .function = f };
	return disasm_new(
		&(struct disasm_options){
			.machine =
				symbolizer_machine(profile_symbolizer(p), f->sym_image),
			.is_intel = is_intel,
			.name = name_address,
			.name_ctx = ret,
		},
		&ret->disasm, e);
}

void code_text_fini(struct code_text *c)
{
	disasm_free(c->disasm);
	c->disasm = NULL;
}

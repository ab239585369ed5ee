/* SPDX-License-Identifier: Apache-2.0
 *
 * instruction_mix - what the exactly counted instructions of a recording are: kinds,
 * mnemonics, memory operands, registers.
 *
 * From the weight of each executed instruction, so that a filter is honoured; code is
 * read once for each.  Instructions whose code is not at hand are counted, by image.
 */
#ifndef DWELL_ANALYZE_INSTRUCTION_MIX_H
#define DWELL_ANALYZE_INSTRUCTION_MIX_H

#include "analyze/instruction_kind.h"
#include "analyze/profile.h"
#include "base/vec.h"

struct block_graph;

struct instruction_mix_uses {
	uint64_t times, loads, stores;
};

struct instruction_mix_mnemonic {
	const char *name; /* "mov", "(unknown)" */
	uint64_t times;
	bool is_repeated; /* by a prefix */
};

struct instruction_mix_register {
	uint64_t
		reads; /* beside addresses; not what has the same result whatever it is */
	uint64_t writes, addresses;
	uint8_t width; /* bytes of the widest operand beside it */
};

struct instruction_mix_image {
	const char *path; /* the symbolizer's; of all that are called so */
	uint64_t times;
};

struct instruction_mix {
	uint64_t times, n_distinct;	   /* all */
	struct instruction_mix_uses known; /* those whose code is at hand */
	uint64_t bytes;			   /* of those, each as often as executed */
	uint64_t loads_and_stores;	   /* instructions that do both */
	struct instruction_mix_uses kinds[INSTRUCTION_KIND_N];
	struct instruction_mix_uses forms[INSTRUCTION_KIND_N_FORMS];
	struct instruction_mix_register registers[OPERATION_N_REGS];
	VEC(struct instruction_mix_mnemonic) mnemonics; /* most frequent first */
	VEC(struct instruction_mix_image) missing;	/* without code, the most first */
	struct operation_reader *reader;		/* has the names */
};

/* Of a recording with basic blocks; g: its own. */
must_use int instruction_mix_make(struct instruction_mix *ret, const struct profile *p,
				  uint32_t source, const struct block_graph *g,
				  struct err *e);
void instruction_mix_fini(struct instruction_mix *m);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * instruction_kind - as what an instruction is counted in the mix of a program.
 *
 * Each is of one kind, by the work that it does; only instructions that do nothing but
 * load or store are told by that.
 */
#ifndef DWELL_ANALYZE_INSTRUCTION_KIND_H
#define DWELL_ANALYZE_INSTRUCTION_KIND_H

#include "insn/operation.h"

enum instruction_kind {
#define INSTRUCTION_KIND(name, key, text) INSTRUCTION_KIND_##name,
#include "analyze/instruction_kinds.def"
#undef INSTRUCTION_KIND
	INSTRUCTION_KIND_N
};

/* How a memory operand's address is made. */
enum instruction_kind_form {
#define ADDRESS_FORM(name, key, text) INSTRUCTION_KIND_FORM_##name,
#include "analyze/address_forms.def"
#undef ADDRESS_FORM
	INSTRUCTION_KIND_N_FORMS
};

enum instruction_kind instruction_kind_of(const struct operation *o);
/* It reads or writes memory, which a prefetch does not. */
bool instruction_kind_loads(const struct operation *o);
bool instruction_kind_stores(const struct operation *o);
/* Of the operand that it loads from or stores to; push and the like have the stack beside
 * it.  INSTRUCTION_KIND_N_FORMS: there is none. */
enum instruction_kind_form instruction_kind_form(const struct operation *o);

/* "indirect-call", and "indirect calls" as people read it. */
const char *instruction_kind_key(enum instruction_kind kind);
const char *instruction_kind_text(enum instruction_kind kind);
const char *instruction_kind_form_key(enum instruction_kind_form form);
const char *instruction_kind_form_text(enum instruction_kind_form form);

#endif

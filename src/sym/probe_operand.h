/* SPDX-License-Identifier: Apache-2.0
 *
 * probe_operand - where an argument of a probe is, as assemblers write it.
 *
 * "8@%rax", "-4@-12(%rbp)", "4@$7", "8@(%rdi,%rcx,8)"; of aarch64 "8@x0", "-4@[sp, 12]".
 * 32-bit programs of x86 have "-4@%eax", "4@8(%esp)".
 * In front stands the size, below zero when the value is signed.  Texts come from foreign
 * files.
 */
#ifndef DWELL_SYM_PROBE_OPERAND_H
#define DWELL_SYM_PROBE_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

enum probe_operand_kind {
	PROBE_OPERAND_CONSTANT, /* the offset itself */
	PROBE_OPERAND_REGISTER,
	PROBE_OPERAND_MEMORY, /* at base + factor * index + offset */
};

struct probe_operand {
	enum probe_operand_kind kind;
	uint32_t size; /* 1, 2, 4 or 8 */
	bool is_signed;
	bool is_narrow;	      /* addresses have 32 bits, and wrap there */
	uint32_t base, index; /* bytes into the registers as ptrace tells them */
	uint32_t factor;      /* 1, 2, 4 or 8; 0: there is no index */
	int64_t offset;
};

/* machine: EM_…; ERR_FORMAT: it is none, or one that cannot be read. */
must_use int probe_operand_parse(const char *text, unsigned machine,
				 struct probe_operand *ret, struct err *e);
/* The n-th operand of a list with blanks between, from 1; ERR_USAGE: there are fewer. */
must_use int probe_operand_nth(const char *list, unsigned n, unsigned machine,
			       struct probe_operand *ret, struct err *e);
unsigned probe_operand_count(const char *list);
/* Where a function that is entered has its n-th integer argument, from 1, or where it
 * returns, what it returns (0), as such a text; NULL: not in one place.  Of 32-bit
 * programs of x86 each is on the stack, and as large as that is wide. */
const char *probe_operand_of_call(unsigned n, unsigned machine);

#endif

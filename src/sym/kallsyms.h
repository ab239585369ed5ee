/* SPDX-License-Identifier: Apache-2.0
 *
 * kallsyms - the kernel's own symbol table, as text: "address type name [module]".
 *
 * One symtab for the kernel and one per module are made on demand; names live as long
 * as the kallsyms.  When the kernel hides its addresses all of them read as zero, and
 * nothing is named.
 */
#ifndef DWELL_SYM_KALLSYMS_H
#define DWELL_SYM_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sym/symtab.h"

struct kallsyms;

/* Takes the text over. */
struct kallsyms *kallsyms_over(struct buf *text);
void kallsyms_free(struct kallsyms *k);
void kallsyms_freep(struct kallsyms **k);

/* Functions were listed, but all at address zero. */
bool kallsyms_is_hidden(const struct kallsyms *k);
/* Address of _stext, or 0. */
uint64_t kallsyms_stext(const struct kallsyms *k);
/* Behind the kernel's own code: what is there, or before it, was loaded into it. */
uint64_t kallsyms_end(const struct kallsyms *k);
/* "__entry_text_end": no function, but where one ends. */
bool kallsyms_is_end(const char *name);
/* The functions of a module ("ext4"), or of the kernel itself (NULL); borrowed. */
const struct symtab *kallsyms_table(struct kallsyms *k, const char *module);

#endif

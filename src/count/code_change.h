/* SPDX-License-Identifier: Apache-2.0
 *
 * code_change - code of the program that is not there any more, or is another.
 *
 * What was translated stays where it is, but its begin leads to the engine: whoever comes
 * there finds what is there now.  Code that is known to change has a begin that can be
 * replaced at once; of other code instructions are, if no thread can be among them, or
 * else all translations are forgotten (turnover.h).  If that is what was there before, as
 * when a compiler made a page writable for the function beside it, the translation is
 * as good as new.  Pages that can be written while they are executed, there or at another
 * address, are made read-only once something on them is translated; the fault tells of
 * the write.
 */
#ifndef DWELL_COUNT_CODE_CHANGE_H
#define DWELL_COUNT_CODE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct exec_range;
struct place;

void code_change_init(void);
void code_change_clear(void);

/* A translation begins with so much that it can be led elsewhere. */
#define CODE_CHANGE_BYTES 5

/* Of code that may change while threads execute it: nothing that is done, which can be
 * replaced at once.  Returns where it begins. */
struct emit;
uint8_t *code_change_emit_begin(struct emit *e);

/* Of code there, which is to be read: it is not written to from now on, at whatever
 * address, without the engine's knowing of it. */
void code_change_guard(uint64_t addr, uint32_t bytes, const struct exec_range *range);

/* The place has a translation now, or is known to have nothing to translate; bytes: of
 * the program's code, which is guarded. */
void code_change_watch(struct place *p, uint32_t bytes);

/* There is another thing now, or nothing: then no thread is there any more. */
void code_change_forget(uint64_t start, uint64_t end, bool is_unmapped);

/* It may have been written to meanwhile: it; what is executed elsewhere and has its
 * bytes; what is executed of a file. */
void code_change_check(uint64_t start, uint64_t end);
void code_change_check_others(uint64_t start, uint64_t end);
void code_change_check_file(int fd);

/* Nobody has looked for some time, and no thread is in translations: all that are there
 * can be executed still.  False: code has changed of which more may have been taken for
 * granted than what was translated. */
bool code_change_check_all(void);

/* The program has set rights there itself. */
void code_change_let(uint64_t start, uint64_t end);

/* The translation that the place had is good again. */
bool code_change_revive(struct place *p);

/* Whatever the engine has forbidden there is allowed again. */
void code_change_allow_between(uint64_t start, uint64_t end);

/* True if it was the engine that had forbidden the write, and it is allowed now. */
bool code_change_allow_write(uint64_t addr);

/* The kernel was refused to write.  True: it may try again. */
bool code_change_allow_all(void);

/* Some of it is translated. */
bool code_change_is_any(uint64_t start, uint64_t end);

#endif

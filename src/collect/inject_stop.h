/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_stop - a process all of whose threads stand, and one of them that does something
 * for us meanwhile.
 */
#ifndef DWELL_COLLECT_INJECT_STOP_H
#define DWELL_COLLECT_INJECT_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/inject_memory.h"

struct inject_stop;

/* Where a system call is made, in the vDSO. */
must_use int inject_stop_site(const struct inject_memory *m, const char *maps,
			      size_t maps_bytes, uint64_t *ret, struct err *e);

/* limit_ns: for which threads are waited for, 0: two seconds.  NULL: some thread does not
 * stop, or may not be stopped; ERR_LIMIT: it waits for a CPU. */
struct inject_stop *inject_stop_begin(pid_t pid, uint64_t limit_ns, struct err *e);
/* Is there a thread that waits for something?  It stops when it is told to. */
bool inject_stop_may_be_soon(pid_t pid);
/* Only one thread, of those that wait for something if there is one. */
struct inject_stop *inject_stop_begin_one(pid_t pid, uint64_t limit_ns, struct err *e);
/* All go on as if nothing had been; calls that they were in are made again.  How long it
 * was since the first was asked to stop. */
uint64_t inject_stop_end(struct inject_stop *s);

/* Of each thread the registers that may hold a pointer, but not where it stands and where
 * its stack ends. */
typedef void inject_stop_registers_fn(void *ctx, const uint64_t *registers, size_t n);
void inject_stop_each(const struct inject_stop *s, inject_stop_registers_fn *fn,
		      void *ctx);

/* Choose the thread that does what follows.  ERR_LIMIT: none now.  *ret_tid_at: how far
 * from its thread pointer the C library keeps its id, 0: unknown. */
must_use int inject_stop_take(struct inject_stop *s, int32_t *ret_tid_at, struct err *e);
/* As the kernel has it. */
long inject_stop_call(struct inject_stop *s, uint64_t site, long number, uint64_t a,
		      uint64_t b, uint64_t c, uint64_t d);
/* A function with that argument, until the word is not 0; it does not return.  Nothing
 * stops it in between: on a machine with much to do each time may be milliseconds. */
bool inject_stop_run(struct inject_stop *s, uint64_t entry, uint64_t arg, uint64_t stack,
		     uint64_t word);
/* Threads that execute code there go on until they do not, before one is taken; nothing
 * of it may be a system call, nor SIGTRAP ignored.  False: some thread still does, or
 * what it executed has failed. */
bool inject_stop_lead_out(struct inject_stop *s, uint64_t lo, uint64_t hi);
/* Is a thread executing code there, or about to return to it?  It may not be. */
bool inject_stop_is_within(const struct inject_stop *s, uint64_t lo, uint64_t hi);

/* A thread that stands, or the helper as it will be again. */
struct inject_stop_thread {
	pid_t tid;
	uint64_t pointer, pc, sp, flags;
	uint64_t mask; /* of signals */
	uint32_t mxcsr;
	uint16_t control, status; /* of the x87 unit */
};

size_t inject_stop_n(const struct inject_stop *s);
/* False: it has ended. */
bool inject_stop_get(const struct inject_stop *s, size_t i,
		     struct inject_stop_thread *ret);
/* Its mask and what it has of floating-point units, where they are others. */
void inject_stop_set(struct inject_stop *s, size_t i,
		     const struct inject_stop_thread *thread);
/* The thread's id as the process sees it; tid_at: as inject_stop_take() says. */
int32_t inject_stop_tid(const struct inject_stop *s, size_t i, int32_t tid_at);

#endif

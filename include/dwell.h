/* SPDX-License-Identifier: Apache-2.0
 *
 * dwell.h - a program tells what it is doing, and asks what that has cost so far.
 *
 * Nothing is linked: where the program is not recorded by `dwell run -e regions` each call
 * is a load and a branch that is never taken.  Works in C (C99, or GNU's C89) and in C++,
 * in programs and libraries, position independent or not, static or not (a static one is
 * never recorded).  Any thread may call anything, also in a handler of a signal.
 *
 *	DWELL_REGION(parsing, "parse", "input");
 *
 *	dwell_begin(&parsing);
 *	...
 *	dwell_end(&parsing);
 *
 * In C++ include dwell.hpp, whose objects end their regions.  docs/regions.md is the manual.
 */
#ifndef DWELL_H
#define DWELL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place in the program that has a name.  Places of the same name and group are one.  What
 * it points to must stay; state is dwell's. */
struct dwell_region {
	const char *name, *group;
	void *state;
};

/* An active region as it were if all on the stack ended now.  Quantities are nanoseconds,
 * or what else is recorded. */
struct dwell_block {
	const char *name;     /* NULL: a function, of which the address is known */
	const void *function; /* NULL: a region */
	uint64_t calls, subroutines;
	uint64_t exclusive, inclusive;			 /* of all calls, in this thread */
	uint64_t instance_exclusive, instance_inclusive; /* of the one that is active */
};

/* What dwell puts there where it records: grows at its end only. */
struct dwell_hooks {
	uint32_t version;
	void (*begin)(struct dwell_region *region);
	void (*end)(struct dwell_region *region);
	void (*count)(struct dwell_region *counter, uint64_t n);
	void (*switch_group)(const char *group, int is_on);
	size_t (*callstack)(struct dwell_block *ret, size_t max);
	void (*print_callstack)(int fd);
	void (*name_thread)(const char *name);
	void (*mark)(const char *name);
	void (*pause)(int is_paused);
};

#ifndef DWELL_TYPES_ONLY /* who records wants no more */

/* One in each program and library; a note tells dwell where. */
__attribute__((weak, visibility("hidden"), used)) const struct dwell_hooks *dwell_hooks;

#if defined(__arm__)
#define DWELL_NOTE_TYPE "%note"
#else
#define DWELL_NOTE_TYPE "@note"
#endif
__asm__(".pushsection .note.dwell, \"a\", " DWELL_NOTE_TYPE "\n"
	".balign 4\n"
	".long 6, 4, 1\n"
	".asciz \"dwell\"\n"
	".balign 4\n"
	".hidden dwell_hooks\n"
	".weak dwell_hooks\n"
	".long dwell_hooks - .\n"
	".popsection\n");

/* A mark is no function of the program's, where these tell of themselves. */
#define DWELL_UNTOLD __attribute__((no_instrument_function))
#define DWELL_INLINE static __inline__ __attribute__((unused)) DWELL_UNTOLD

/* NULL: nobody records. */
DWELL_INLINE const struct dwell_hooks *dwell_recorder(void)
{
	return *(const struct dwell_hooks *const volatile *)&dwell_hooks;
}

#define DWELL_CALL(hook, arguments)                                                           \
	do {                                                                                  \
		const struct dwell_hooks *hooks = dwell_recorder();                           \
		if (__builtin_expect(hooks != NULL, 0))                                       \
			hooks->hook arguments;                                                \
	} while (0)

#if defined(__PIC__) && !defined(__PIE__)
/* A library that is loaded later tells of itself. */
extern __attribute__((weak)) void dwell_join(const struct dwell_hooks **hooks);

__attribute__((constructor, no_instrument_function)) static void dwell_join_now(void)
{
	if (dwell_join)
		dwell_join(&dwell_hooks);
}
#endif

/* Define a region, or a counter, at any level of a file. */
#define DWELL_REGION(variable, name, group)                                                   \
	static struct dwell_region variable = { name, group, NULL }

/* Regions of a thread are nested: one that ends while inner ones are active ends these,
 * too; one that ends without being active is counted as unmatched, and does nothing. */
DWELL_INLINE void dwell_begin(struct dwell_region *region)
{
	DWELL_CALL(begin, (region));
}

DWELL_INLINE void dwell_end(struct dwell_region *region)
{
	DWELL_CALL(end, (region));
}

/* Add to a counter, within the region that is active. */
DWELL_INLINE void dwell_count(struct dwell_region *counter, uint64_t n)
{
	DWELL_CALL(count, (counter, n));
}

/* Regions of a group that is off are not observed when they begin.  All are on at first.
 * "functions" are those compiled with -finstrument-functions. */
DWELL_INLINE void dwell_switch(const char *group, int is_on)
{
	DWELL_CALL(switch_group, (group, is_on));
}

/* What is active in this thread, the outermost first.  Returns how many there are; the
 * first max of them are in ret.  0 where nobody records. */
DWELL_INLINE size_t dwell_callstack(struct dwell_block *ret, size_t max)
{
	const struct dwell_hooks *hooks = dwell_recorder();

	return __builtin_expect(hooks != NULL, 0) ? hooks->callstack(ret, max) : 0;
}

/* The same as a table, to a descriptor. */
DWELL_INLINE void dwell_print_callstack(int fd)
{
	DWELL_CALL(print_callstack, (fd));
}

/* Of the calling thread, in the recording only. */
DWELL_INLINE void dwell_name_thread(const char *name)
{
	DWELL_CALL(name_thread, (name));
}

/* An interval of that name ends here, and begins where the one before ended. */
DWELL_INLINE void dwell_mark(const char *name)
{
	DWELL_CALL(mark, (name));
}

/* Nothing of this process that begins is observed until dwell_resume(). */
DWELL_INLINE void dwell_pause(void)
{
	DWELL_CALL(pause, (1));
}

DWELL_INLINE void dwell_resume(void)
{
	DWELL_CALL(pause, (0));
}

#endif

#ifdef __cplusplus
}
#endif

#endif

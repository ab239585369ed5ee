/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_fpe_env - what is wrapped so that a program sees the masks that it chose.
 *
 * Flags are where they would be, so who only tests them is not wrapped; but what clears
 * them must come after what is pending.  Fortran's library has its own way to them.
 */
#include <stdint.h>

#include "inject/next.h"
#include "inject/trace_fpe.h"

#define EXPORT __attribute__((visibility("default")))

static void *next_of(void **cached, const char *name)
{
	void *p = __atomic_load_n(cached, __ATOMIC_RELAXED);

	if (p)
		return p;
	p = next_symbol(name);
	__atomic_store_n(cached, p, __ATOMIC_RELAXED);
	return p;
}

/* Every one of these is given at most two words, and returns one or nothing. */
typedef int call_fn(uintptr_t a, uintptr_t b);

static int pass(void **cached, const char *name, uintptr_t a, uintptr_t b)
{
	call_fn *f = (call_fn *)next_of(cached, name);
	int rc;

	trace_fpe_show();
	rc = f ? f(a, b) : -1;
	trace_fpe_hide();
	return rc;
}

#define WRAP(name)                                                                       \
	EXPORT call_fn trace_fpe_env_##name __asm__(#name);                              \
	int trace_fpe_env_##name(uintptr_t a, uintptr_t b)                               \
	{                                                                                \
		static void *next;                                                       \
                                                                                         \
		return pass(&next, #name, a, b);                                         \
	}

WRAP(feclearexcept)
WRAP(fedisableexcept)
WRAP(feenableexcept)
WRAP(fegetenv)
WRAP(fegetexcept)
WRAP(fegetmode)
WRAP(feholdexcept)
WRAP(fesetenv)
WRAP(fesetexcept)
WRAP(fesetexceptflag)
WRAP(fesetmode)
WRAP(feupdateenv)
WRAP(_gfortran_set_fpe)

/* Asked for, it has happened as far as the program goes. */
EXPORT call_fn trace_fpe_env_feraiseexcept __asm__("feraiseexcept");

int trace_fpe_env_feraiseexcept(uintptr_t types, uintptr_t unused)
{
	static void *next;

	trace_fpe_asked((unsigned)types, __builtin_frame_address(0));
	return pass(&next, "feraiseexcept", types, unused);
}

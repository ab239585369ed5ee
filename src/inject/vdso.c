/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/vdso.h"

#include "inject/loaded.h"
#include "bare/sys.h"

typedef int clock_gettime_fn(clockid_t clock, struct timespec *ret);
typedef int getcpu_fn(unsigned *cpu, unsigned *node, void *unused_cache);

static clock_gettime_fn *clock_gettime_vdso;
static getcpu_fn *getcpu_vdso;

void vdso_init(const void *elf)
{
	static const char *const clocks[] = { "__vdso_clock_gettime",
					      "__kernel_clock_gettime" };
	struct loaded m = loaded_at(elf);

	for (size_t i = 0; i < 2 && !clock_gettime_vdso; i++)
		clock_gettime_vdso = (clock_gettime_fn *)loaded_symbol(&m, clocks[i]);
	getcpu_vdso = (getcpu_fn *)loaded_symbol(&m, "__vdso_getcpu");
}

uint64_t vdso_now_ns(void)
{
	struct timespec t = { 0 };

	if (!clock_gettime_vdso || clock_gettime_vdso(CLOCK_MONOTONIC, &t) != 0)
		return sys_clock_ns(CLOCK_MONOTONIC);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint32_t vdso_cpu(void)
{
	unsigned cpu;

	return getcpu_vdso && getcpu_vdso(&cpu, NULL, NULL) == 0 ? cpu : UINT32_MAX;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "host/syscall_name.h"

#include <stddef.h>
#include <string.h>

#define CALL(number, name) [number] = #name,

static const char *const names[] = {
#if defined(__x86_64__)
#include "host/syscall_names_x86_64.def"
#elif defined(__aarch64__)
#include "host/syscall_names_aarch64.def"
#else
	NULL
#endif
};

static const char *const names_32bit[] = {
#if defined(__x86_64__)
#include "host/syscall_names_i386.def"
#else
	NULL
#endif
};

static const char *at(const char *const *of, size_t n, uint32_t number)
{
	return number < n ? of[number] : NULL;
}

const char *syscall_name(uint32_t number, bool is_32bit)
{
	if (is_32bit)
		return at(names_32bit, sizeof(names_32bit) / sizeof(names_32bit[0]),
			  number);
	return at(names, sizeof(names) / sizeof(names[0]), number);
}

const char *syscall_name_error(uint32_t error)
{
	/* Of the kernel's own: they never reach the program. */
	static const char *const restarts[] = { "ERESTARTSYS", "ERESTARTNOINTR",
						"ERESTARTNOHAND", "ENOIOCTLCMD",
						"ERESTART_RESTARTBLOCK" };
	const size_t n = sizeof(restarts) / sizeof(restarts[0]);

	if (error >= 512 && error < 512 + n)
		return restarts[error - 512];
	return strerrorname_np((int)error);
}

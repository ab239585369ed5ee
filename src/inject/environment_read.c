/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/environment_read.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "bare/sys.h"

#define PAGE_BYTES 4096
#define N	   ENVIRONMENT_READ_N
#define NAME	   ENVIRONMENT_READ_NAME

/* On both sides of a page's end. */
static void cut(const void *at, size_t bytes, struct iovec ret[2])
{
	size_t first = PAGE_BYTES - (uintptr_t)at % PAGE_BYTES;

	first = first < bytes ? first : bytes;
	ret[0] = (struct iovec){ (void *)(uintptr_t)at, first };
	ret[1] = (struct iovec){ (char *)(uintptr_t)at + first, bytes - first };
}

/* How many bytes there are up to the first that cannot be read; negative: the kernel may
 * not be asked. */
static long read_pieces(const struct iovec *from, size_t n, void *to, size_t bytes)
{
	struct iovec local = { to, bytes };
	long got = sys_call(SYS_process_vm_readv, sys_getpid(), &local, 1, from, n, 0);

	return got == -EFAULT ? 0 : got;
}

size_t environment_read_pointers(char *const *at, char *ret[N])
{
	struct iovec pieces[2];
	long got;
	size_t n = 0;

	cut(at, N * sizeof(*ret), pieces);
	got = read_pieces(pieces, 2, ret, N * sizeof(*ret));
	for (; n < N; n++) {
		if (got < 0)
			ret[n] = at[n];
		else if ((size_t)got < (n + 1) * sizeof(*ret))
			return SIZE_MAX;
		if (!ret[n])
			break;
	}
	return n;
}

bool environment_read_names(char *const *variables, size_t n, char (*ret)[NAME])
{
	struct iovec pieces[2 * N];

	memset(ret, 0, n * sizeof(*ret));
	for (size_t i = 0; i < n; i++)
		cut(variables[i], NAME, pieces + 2 * i);
	/* Who ends where nothing follows has been read up to there. */
	for (size_t i = 0; i < n;) {
		long got = read_pieces(pieces + 2 * i, 2 * (n - i), ret[i],
				       (n - i) * sizeof(*ret));

		if (got == 0)
			return false;
		for (size_t k = 0; got < 0 && k < NAME && variables[i][k]; k++)
			ret[i][k] = variables[i][k];
		i += got < 0 ? 1 : ((size_t)got + NAME - 1) / NAME;
	}
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "count/fd_path.h"

#include "bare/sys.h"
#include "count/engine.h"
#include "count/put.h"

const char *fd_path(int fd, char *path, size_t size)
{
	static const char directory[] = "/proc/self/fd/";
	char link[sizeof(directory) + PUT_NUMBER_MAX];
	long length;

	if (engine.is_confined)
		return NULL; /* to ask could be the end */
	*put_number(put_text(link, directory), (unsigned)fd) = 0;
	length = sys_readlink(link, path, size - 1);
	if (length < 0)
		return NULL;
	path[length] = 0;
	return path;
}

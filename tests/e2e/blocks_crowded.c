/* SPDX-License-Identifier: Apache-2.0
 *
 * Forks while it has nearly as many mappings as a process may have: with room for a few
 * more, or for some.  Each child calls a function as often as that, and says so.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	 4096
#define MAPS_MAX 0x80000
#define ROOM_MAX 10

static unsigned char *maps[MAPS_MAX];

__attribute__((noinline)) static int in_child(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

/* Each with other rights than the last, or they would be one. */
static unsigned char *map(unsigned i)
{
	return mmap(NULL, PAGE, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int child(int room)
{
	int n = 0, status = 0;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < room; i++)
			n = in_child(n);
		_exit(n);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	unsigned n = 0;

	while (n < MAPS_MAX && (maps[n] = map(n)) != MAP_FAILED)
		n++;
	if (n < ROOM_MAX || n == MAPS_MAX)
		return 77;
	for (int room = 1; room <= ROOM_MAX; room++) {
		munmap(maps[--n], PAGE);
		if (room > 1)
			printf("%d\n", child(room));
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes calls until it has handled as many signals as it is told.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t n_handled;

static void handle(int signal)
{
	(void)signal;
	n_handled++;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	signal(SIGUSR1, handle);
	puts("ready");
	fflush(stdout);
	while (n_handled < n)
		syscall(SYS_getppid);
	printf("%d\n", (int)n_handled);
	return 0;
}

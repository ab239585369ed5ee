/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints what a program can see of its own situation: arguments, environment, open
 * descriptors, directory, signal mask and dispositions, limits, process group.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

static void print_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");

	for (struct dirent *x = readdir(d); x; x = readdir(d))
		if (x->d_name[0] != '.' && atoi(x->d_name) != dirfd(d))
			printf("fd %s\n", x->d_name);
	closedir(d);
}

static void print_signals(void)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < NSIG; i++) {
		struct sigaction a;

		if (sigismember(&mask, i) == 1)
			printf("blocked %d\n", i);
		if (sigaction(i, NULL, &a) == 0 && a.sa_handler == SIG_IGN)
			printf("ignored %d\n", i);
	}
}

int main(int argc, char **argv)
{
	struct rlimit files;
	char cwd[4096];

	for (int i = 0; i < argc; i++)
		printf("argument %s\n", argv[i]);
	for (char **p = environ; *p; p++)
		puts(*p);
	print_descriptors();
	print_signals();
	getrlimit(RLIMIT_NOFILE, &files);
	printf("files %lu\n", (unsigned long)files.rlim_cur);
	printf("directory %s\n", getcwd(cwd, sizeof(cwd)));
	printf("group is its parent's: %d\n", getpgrp() == getpgid(getppid()));
	return 0;
}

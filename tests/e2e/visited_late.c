/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that has nothing to do with floating-point exceptions, and loads what has:
 *	load PATH WORD	a library (visited_late_fpe.c), which does that at once
 *	WORD		that library does that
 *	fork		what follows is for a child, and the parent waits for its end
 * Answers each line with what the library says.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef const char *does_fn(const char *word);

int main(void)
{
	does_fn *does = NULL;
	char line[256], path[256], word[256];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "load %s %s", path, word) == 2) {
			void *library = dlopen(path, RTLD_NOW);

			does = library ? (does_fn *)dlsym(library, "late_does") : NULL;
		} else if (sscanf(line, "%s", word) != 1) {
			continue;
		}
		if (!strcmp(word, "fork") && fork() != 0)
			return wait(NULL) < 0;
		puts(does ? does(word) : "nothing is loaded");
		fflush(stdout);
	}
	return 0;
}

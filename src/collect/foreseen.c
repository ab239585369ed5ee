/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/foreseen.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define SCRIPTS_MAX 3 /* that are each other's interpreters */
#define LINE_BYTES  256
#define MAPS_BYTES  ((size_t)4 << 20)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* False: it is nowhere. */
static bool search(const char *program, const char *path, char ret[PATH_MAX])
{
	if (strchr(program, '/')) {
		snprintf(ret, PATH_MAX, "%s", program);
		return is_program(ret);
	}
	for (const char *at = path ? path : ""; *at;) {
		size_t n = strcspn(at, ":");

		snprintf(ret, PATH_MAX, "%.*s/%s", n ? (int)n : 1, n ? at : ".", program);
		if (is_program(ret))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

/* The first line of a script, without its mark; false: it is none. */
static bool read_mark(int fd, char ret[LINE_BYTES])
{
	char mark[2];
	ssize_t n = pread(fd, mark, sizeof(mark), 0);

	if (n != sizeof(mark) || memcmp(mark, "#!", sizeof(mark)) != 0)
		return false;
	n = pread(fd, ret, LINE_BYTES - 1, sizeof(mark));
	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

static void map_code(struct foreseen *f, int fd)
{
	void *at = mmap(NULL, page_bytes(), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (at != MAP_FAILED)
		*vec_push(&f->mapped) = at;
}

static void map_file(struct foreseen *f, const char *file)
{
	own(closep) int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		map_code(f, fd);
}

/* "/usr/bin/env python3" is python3, once env has found it. */
static bool find_interpreter(struct foreseen *f, const char *line, const char *path,
			     char ret[PATH_MAX])
{
	char name[LINE_BYTES] = "", word[LINE_BYTES] = "";
	size_t n;

	if (sscanf(line, " %255s %255s", name, word) < 1)
		return false;
	n = strlen(name);
	if (!*word || n < 4 || strcmp(name + n - 4, "/env") != 0)
		return search(name, NULL, ret);
	map_file(f, name);
	return search(word, path, ret);
}

static void map_program(struct foreseen *f, const char *program, const char *path)
{
	char file[PATH_MAX], line[LINE_BYTES];
	bool is_found = search(program, path, file);

	for (unsigned i = 0; i < SCRIPTS_MAX && is_found; i++) {
		own(closep) int fd = open(file, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || !read_mark(fd, line)) {
			map_code(f, fd);
			return;
		}
		is_found = find_interpreter(f, line, path, file);
	}
}

void foreseen_take(struct foreseen *f, pid_t pid)
{
	own(buf_fini) struct buf text = { 0 };
	struct proc_map map;
	const char *at, *end;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (procfs_read(path, MAPS_BYTES, &text, NULL) < 0)
		return;
	at = (const char *)text.data;
	end = at + text.size;
	while (proc_maps_next(&at, end, &map))
		if (map.is_exec && *map.path == '/')
			*vec_push(&f->at) = map.start;
}

void foreseen_map(struct foreseen *f, const char *program, const char *path)
{
	map_program(f, program, path);
	/* Of this process too: what is in memory twice is one file. */
	foreseen_take(f, getpid());
}

/* As the dynamic linker finds it. */
static void map_preloaded(struct foreseen *f, const char *name, size_t size)
{
	static const char platform[] = "$PLATFORM";
	const char *ours = (const char *)getauxval(AT_PLATFORM);
	own(freep) char *path = xasprintf("%.*s", (int)size, name);
	char *at = strstr(path, platform);
	own(freep) char *file = at && ours ? xasprintf("%.*s%s%s", (int)(at - path), path,
						       ours, at + sizeof(platform) - 1)
					   : xstrdup(path);

	map_file(f, file);
}

void foreseen_preload(struct foreseen *f, const char *list)
{
	size_t size;

	for (; list && *list; list += size + (list[size] != '\0')) {
		size = strcspn(list, ": ");
		if (size)
			map_preloaded(f, list, size);
	}
}

void foreseen_fini(struct foreseen *f)
{
	vec_each(at, &f->mapped)
		munmap(*at, page_bytes());
	vec_fini(&f->mapped);
	vec_fini(&f->at);
}

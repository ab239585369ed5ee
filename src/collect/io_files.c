/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_files.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/told_path.h"

_Static_assert(IO_RECORD_UNIX == AF_UNIX && IO_RECORD_INET == AF_INET &&
		       IO_RECORD_INET6 == AF_INET6,
	       "one numbering");

struct io_files {
	VEC(char *) names; /* by number; NULL: not told */
};

struct io_files *io_files_new(void)
{
	return xcalloc(1, sizeof(struct io_files));
}

void io_files_free(struct io_files *f)
{
	if (!f)
		return;
	vec_each(name, &f->names)
		free(*name);
	vec_fini(&f->names);
	free(f);
}

void io_files_freep(struct io_files **f)
{
	io_files_free(*f);
}

/* Sockets. */

struct end {
	const uint8_t *address;
	uint16_t port;
};

/* An address of four bytes inside of one of sixteen is shown as it is. */
static void end_text(uint16_t family, const struct end *end, char *ret, size_t cap)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char address[INET6_ADDRSTRLEN] = "";
	const uint8_t *at = end->address;
	bool is_short = family == AF_INET;

	if (!is_short && memcmp(at, mapped, sizeof(mapped)) == 0) {
		at += sizeof(mapped);
		is_short = true;
	}
	inet_ntop(is_short ? AF_INET : AF_INET6, at, address, sizeof(address));
	snprintf(ret, cap, is_short ? "%s:%u" : "[%s]:%u", address, end->port);
}

static const char *protocol_name(const struct io_record_file *r)
{
	static const struct {
		uint16_t type;
		const char *name;
	} names[] = {
		{ SOCK_STREAM, "TCP" },
		{ SOCK_DGRAM, "UDP" },
		{ SOCK_RAW, "RAW" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].type == r->type)
			return names[i].name;
	return "INET";
}

/* What is not connected has one end, and a new one none. */
static void inet_text(const struct io_record_file *r, char *ret, size_t cap)
{
	const struct end local = { r->local, r->local_port };
	const struct end remote = { r->remote, r->remote_port };
	char from[80], to[80];

	end_text(r->family, &local, from, sizeof(from));
	end_text(r->family, &remote, to, sizeof(to));
	if (r->remote_port)
		snprintf(ret, cap, "%s %s->%s", protocol_name(r), from, to);
	else if (r->local_port)
		snprintf(ret, cap, "%s %s", protocol_name(r), from);
	else
		snprintf(ret, cap, "%s socket", protocol_name(r));
}

/* A name that begins with a zero is none of a file. */
static void local_text(const struct io_record_file *r, char *ret, size_t cap)
{
	int n = (int)r->file.path_bytes;

	if (n > 1 && !r->file.path[0])
		snprintf(ret, cap, "UNIX @%.*s", n - 1, r->file.path + 1);
	else if (n > 1)
		snprintf(ret, cap, "UNIX %.*s", n, r->file.path);
	else
		snprintf(ret, cap, "UNIX socket:[%" PRIu64 "]", r->file.inode);
}

static void socket_text(const struct io_record_file *r, char *ret, size_t cap)
{
	if (r->family == AF_INET || r->family == AF_INET6)
		inet_text(r, ret, cap);
	else if (r->family == AF_UNIX)
		local_text(r, ret, cap);
	else
		snprintf(ret, cap, "socket:[%" PRIu64 "]", r->file.inode);
}

void io_files_text(const struct io_record_file *r, char *ret, size_t cap)
{
	if (S_ISSOCK(r->mode) && r->family)
		socket_text(r, ret, cap);
	else if (S_ISSOCK(r->mode))
		snprintf(ret, cap, "socket:[%" PRIu64 "]", r->file.inode);
	else if (!r->is_bare)
		told_path_join(&r->file, ret, cap);
	else if (S_ISFIFO(r->mode))
		snprintf(ret, cap, "pipe:[%" PRIu64 "]", r->file.inode);
	else
		snprintf(ret, cap, "%.*s", (int)r->file.path_bytes, r->file.path);
	if (!*ret)
		snprintf(ret, cap, "inode:[%" PRIu64 "]", r->file.inode);
}

void io_files_meet(struct io_files *f, const struct io_record_file *r)
{
	char name[PATH_MAX];

	if (r->number >= IO_RECORD_FILES_MAX)
		return;
	while (f->names.n <= r->number)
		*vec_push(&f->names) = NULL;
	io_files_text(r, name, sizeof(name));
	free(f->names.at[r->number]);
	f->names.at[r->number] = xstrdup(name);
}

const char *io_files_none(enum io_record_number number)
{
	static const char *const none[IO_RECORD_FILES] = {
		[IO_RECORD_NO_FILE] = "[no file]",
		[IO_RECORD_UNTOLD] = "[file not told]",
		[IO_RECORD_UNNUMBERED] = "[more files]",
		[IO_RECORD_UNASKED] = "[file not asked for]",
	};

	return none[number];
}

const char *io_files_name(const struct io_files *f, uint32_t number)
{
	if (number < IO_RECORD_FILES)
		return io_files_none(number);
	if (number < f->names.n && f->names.at[number])
		return f->names.at[number];
	return io_files_none(IO_RECORD_UNTOLD);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_io_file.h"

#include <linux/stat.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "bare/sys.h"
#include "inject/trace_descriptors.h"
#include "inject/trace_runtime.h"
#include "unwind/local_guard.h"
#include "wire/tracer_io.h"

#define PAGE_BYTES	4096 /* the smallest of any kernel */
#define NAME_BYTES_MAX	(PAGE_BYTES - 1)
#define STATX_DONT_SYNC 0x4000 /* AT_STATX_DONT_SYNC: no server is asked */

#define STATX_NO_AUTOMOUNT 0x800 /* AT_NO_AUTOMOUNT */

/* The ids that the recorder was told, each where it would be looked for. */
#define TOLD_BITS 14
static uint64_t told[1 << TOLD_BITS];
/* The same of those that were opened, together with their names. */
static uint64_t told_names[1 << TOLD_BITS];

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* What is told of a file, and where its name is. */
struct telling {
	struct wire_tracer_io_file file;
	const char *name; /* NULL: none; borrowed */
	size_t n_name;
	char near[256]; /* for most names */
	char *page;	/* for the others, NULL: none */
	union address ends[2];
};

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = mix(hash, at[i]);
	return hash;
}

static bool is_told(uint64_t id)
{
	return __atomic_load_n(&told[id >> (64 - TOLD_BITS)], __ATOMIC_RELAXED) ==
	       id + trace_runtime.epoch;
}

static void tell(const struct telling *t)
{
	if (trace_runtime_write(WIRE_TRACER_IO_FILE, &t->file, sizeof(t->file), t->name,
				t->n_name))
		__atomic_store_n(&told[t->file.id >> (64 - TOLD_BITS)],
				 t->file.id + trace_runtime.epoch, __ATOMIC_RELEASE);
}

/* Names. */

/* Of this thread, as it may have descriptors of its own. */
static void write_link(char *ret, unsigned fd)
{
	static const char folder[] = "/proc/thread-self/fd/";
	char digits[10];
	size_t n = 0;

	memcpy(ret, folder, sizeof(folder) - 1);
	ret += sizeof(folder) - 1;
	do
		digits[n++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (n)
		*ret++ = digits[--n];
	*ret = 0;
}

static void read_name(struct telling *t, int fd)
{
	char link[40];
	long n;

	write_link(link, (unsigned)fd);
	n = sys_readlink(link, t->near, sizeof(t->near));
	t->name = t->near;
	if (n == sizeof(t->near))
		t->page = sys_map(PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (t->page) {
		n = sys_readlink(link, t->page, NAME_BYTES_MAX);
		t->name = t->page;
	}
	t->n_name = n > 0 ? (size_t)n : 0;
}

/* Sockets. */

static void read_end(uint8_t address[16], uint16_t *port, const union address *end)
{
	if (end->any.sa_family == AF_INET) {
		memcpy(address, &end->in.sin_addr, 4);
		*port = __builtin_bswap16(end->in.sin_port);
	} else if (end->any.sa_family == AF_INET6) {
		memcpy(address, &end->in6.sin6_addr, 16);
		*port = __builtin_bswap16(end->in6.sin6_port);
	}
}

/* A name that is of no file begins with a zero, which is shown as '@'. */
static bool read_local_name(struct telling *t, union address *end, unsigned bytes)
{
	char *path = end->un.sun_path;
	size_t max = bytes > offsetof(struct sockaddr_un, sun_path)
			     ? bytes - offsetof(struct sockaddr_un, sun_path)
			     : 0;

	if (end->any.sa_family != AF_UNIX || max < 2 || bytes > sizeof(*end))
		return false;
	if (!*path)
		*path = '@';
	t->name = path;
	for (t->n_name = 0; t->n_name < max && path[t->n_name];)
		t->n_name++;
	return true;
}

/* Where a server listens has a name, and its clients' sockets have none. */
static void read_ends(struct telling *t, int fd)
{
	static const long calls[2] = { SYS_getsockname, SYS_getpeername };
	unsigned bytes[2];

	for (unsigned i = 0; i < 2; i++) {
		bytes[i] = sizeof(t->ends[i]);
		t->ends[i].any.sa_family = AF_UNSPEC;
		if (sys_call(calls[i], fd, &t->ends[i], &bytes[i], 0, 0, 0) < 0)
			bytes[i] = 0;
	}
	t->file.family = t->ends[0].any.sa_family;
	read_end(t->file.local, &t->file.local_port, &t->ends[0]);
	read_end(t->file.remote, &t->file.remote_port, &t->ends[1]);
	if (!read_local_name(t, &t->ends[0], bytes[0]))
		read_local_name(t, &t->ends[1], bytes[1]);
}

static void read_type(struct telling *t, int fd)
{
	int type = 0;
	unsigned bytes = sizeof(type);

	sys_call(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &bytes, 0);
	t->file.type = (uint16_t)type;
}

/* All files. */

_Static_assert(offsetof(struct wire_tracer_io_file, family) + 5 * sizeof(uint64_t) ==
		       sizeof(struct wire_tracer_io_file),
	       "what tells sockets apart comes last");

/* When it was made tells one from the next that gets its inode, in most cases. */
static uint64_t identify(struct telling *t, int fd, const struct statx *s)
{
	uint64_t id =
		mix(s->stx_ino, (uint64_t)s->stx_dev_major << 32 | s->stx_dev_minor);
	uint64_t ends[5];

	if (S_ISSOCK(s->stx_mode))
		read_ends(t, fd);
	else if (!(s->stx_mode & S_IFMT)) /* an inode that others share */
		read_name(t, fd);
	id = mix_bytes(id, t->name, t->n_name);
	memcpy(ends, &t->file.family, sizeof(ends));
	for (size_t i = 0; t->file.family && i < sizeof(ends) / sizeof(ends[0]); i++)
		id = mix(id, ends[i]);
	id = mix(id, (uint64_t)s->stx_btime.tv_sec << 32 | s->stx_btime.tv_nsec);
	return mix(id, s->stx_mode & S_IFMT) | 1;
}

static bool look(int fd, const char *path, long flags, struct statx *ret)
{
	*ret = (struct statx){ 0 };
	return sys_call(SYS_statx, fd, path, flags | STATX_DONT_SYNC,
			STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_BTIME,
			ret, 0) == 0;
}

static bool begin(struct telling *t, int fd)
{
	struct statx s;

	t->file = (struct wire_tracer_io_file){ 0 };
	t->name = NULL;
	t->n_name = 0;
	t->page = NULL;
	if (fd < 0 || !look(fd, "", AT_EMPTY_PATH, &s))
		return false;
	t->file.inode = s.stx_ino;
	t->file.mode = s.stx_mode;
	t->file.flags = s.stx_nlink ? 0 : WIRE_TRACER_IO_IS_GONE;
	t->file.id = identify(t, fd, &s);
	return true;
}

static void end(struct telling *t, int fd, bool is_needed)
{
	if (is_needed && t->file.family)
		read_type(t, fd);
	else if (is_needed && !t->name)
		read_name(t, fd);
	if (is_needed)
		tell(t);
	if (t->page)
		sys_unmap(t->page, PAGE_BYTES);
}

/* A socket that is not connected gets its ends by what need not be asked for. */
static bool may_change(const struct wire_tracer_io_file *f)
{
	return (f->family == AF_INET || f->family == AF_INET6) && !f->remote_port;
}

/* What has been told is true of the descriptor for some time. */
static struct trace_io_file keep(const struct trace_descriptor *d,
				 const struct wire_tracer_io_file *f)
{
	uint32_t type = f->mode & S_IFMT;
	struct trace_io_file ret = { f->id, type != S_IFREG && type != S_IFDIR &&
						    type != S_IFBLK };

	if (is_told(f->id) && !may_change(f))
		trace_descriptor_keep(d, ret);
	return ret;
}

struct trace_io_file trace_io_file_of(int fd)
{
	struct trace_descriptor d;
	struct trace_io_file known;
	struct telling t;

	if (!trace_runtime_may_ask())
		return (struct trace_io_file){ WIRE_TRACER_IO_UNASKED, false };
	d = trace_descriptor_look(fd);
	if (trace_descriptor_find(&d, &known))
		return known;
	if (!begin(&t, fd))
		return (struct trace_io_file){ WIRE_TRACER_IO_NO_FILE, false };
	end(&t, fd, !is_told(t.file.id));
	return keep(&d, &t.file);
}

uint64_t trace_io_file_opened(int fd)
{
	struct trace_descriptor d;
	struct telling t;
	uint64_t id, *place;

	if (!trace_runtime_may_ask())
		return WIRE_TRACER_IO_UNASKED;
	trace_descriptor_forget(fd);
	d = trace_descriptor_look(fd);
	if (!begin(&t, fd))
		return WIRE_TRACER_IO_NO_FILE;
	if (!t.name && !t.file.family)
		read_name(&t, fd);
	id = mix_bytes(t.file.id, t.name, t.n_name) + trace_runtime.epoch;
	place = &told_names[t.file.id >> (64 - TOLD_BITS)];
	end(&t, fd,
	    !is_told(t.file.id) || __atomic_load_n(place, __ATOMIC_RELAXED) != id);
	__atomic_store_n(place, id, __ATOMIC_RELEASE);
	return keep(&d, &t.file).id;
}

/* How much of it is there. */
static size_t length(const char *path, size_t max)
{
	struct local_guard guard = { 0 };
	uint64_t word;
	size_t n = 0;

	for (; n < max; n++) {
		uintptr_t at = (uintptr_t)path + n;

		if ((n == 0 || at % PAGE_BYTES == 0) &&
		    !local_guard_word(&guard, at & ~(uintptr_t)7, &word))
			return 0;
		if (!path[n])
			break;
	}
	return n;
}

/* It has the path that the program gives until it is open. */
struct trace_io_file trace_io_file_waits(int directory, const char *path)
{
	struct trace_io_file none = { WIRE_TRACER_IO_NO_FILE, false };
	struct telling t = { .name = NULL };
	struct statx s;

	if (!trace_runtime_may_ask() || !look(directory, path, STATX_NO_AUTOMOUNT, &s) ||
	    !S_ISFIFO(s.stx_mode))
		return none;
	t.file = (struct wire_tracer_io_file){ .inode = s.stx_ino, .mode = s.stx_mode };
	t.file.id = identify(&t, directory, &s);
	t.name = path;
	t.n_name = length(path, NAME_BYTES_MAX);
	if (!is_told(t.file.id))
		tell(&t);
	return (struct trace_io_file){ t.file.id, true };
}

uint64_t trace_io_file_unopened(const char *path)
{
	struct telling t;

	if (!trace_runtime_may_ask())
		return WIRE_TRACER_IO_UNASKED;
	t.name = path;
	t.n_name = length(path, NAME_BYTES_MAX);
	if (!t.n_name)
		return WIRE_TRACER_IO_NO_FILE;
	t.file = (struct wire_tracer_io_file){ .flags = WIRE_TRACER_IO_IS_PATH };
	t.file.id = mix_bytes(WIRE_TRACER_IO_IS_PATH, path, t.n_name) | 1;
	if (!is_told(t.file.id))
		tell(&t);
	return t.file.id;
}

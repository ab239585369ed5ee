/* SPDX-License-Identifier: Apache-2.0 */
#include "host/tracepoint.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "host/procfs.h"

#define FORMAT_MAX ((size_t)1 << 20)
#define NAME_BYTES 256

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* The entry of a directory whose name is most like this one; "": none is. */
static void nearest(const char *path, const char *name, char ret[NAME_BYTES])
{
	own(closedirp) DIR *d = opendir(path);
	size_t least = strlen(name) / 2 + 1;
	const struct dirent *entry;

	*ret = '\0';
	while (d && (entry = readdir(d))) {
		size_t far = text_distance(name, entry->d_name);

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || far >= least)
			continue;
		least = far;
		snprintf(ret, NAME_BYTES, "%s", entry->d_name);
	}
}

static bool is_plain(const char *name)
{
	return *name && !strchr(name, '/') && name[0] != '.' && strlen(name) < NAME_BYTES;
}

static int refuse(const char *root, const char *group, const char *name, bool has_group,
		  struct err *e)
{
	char path[1024], near[NAME_BYTES];

	if (has_group)
		snprintf(path, sizeof(path), "%s/events/%s", root, group);
	else
		snprintf(path, sizeof(path), "%s/events", root);
	nearest(path, has_group ? name : group, near);
	if (!*near)
		return err_set(e, ERR_USAGE,
			       "there is no tracepoint '%.60s:%.60s'; %s/events has all",
			       group, name, root);
	return err_set(e, ERR_USAGE,
		       "there is no tracepoint '%.60s:%.60s'; did you mean '%s:%s'?",
		       group, name, has_group ? group : near, has_group ? near : name);
}

int tracepoint_check(const char *root, const char *group, const char *name, struct err *e)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/events", root);
	if (access(path, R_OK | X_OK) != 0)
		return err_os(e, "cannot read the kernel's tracepoints in %s", path);
	if (!is_plain(group) || !is_plain(name))
		return err_set(e, ERR_USAGE, "'%.60s:%.60s' is no name of a tracepoint",
			       group, name);
	snprintf(path, sizeof(path), "%s/events/%s", root, group);
	if (access(path, X_OK) != 0)
		return refuse(root, group, name, false, e);
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, group, name);
	return access(path, R_OK) != 0 ? refuse(root, group, name, true, e) : 0;
}

/* "field:unsigned int bytes;	offset:24;	size:4;	signed:0;" */
struct line {
	char name[NAME_BYTES];
	struct tracepoint_field field;
};

static bool read_number(const char *line, const char *what, uint32_t *ret)
{
	const char *at = strstr(line, what);

	return at && sscanf(at + strlen(what), "%9u", ret) == 1;
}

/* Text and arrays are no numbers; nor is what every tracepoint has. */
static bool parse_line(const char *line, struct line *ret)
{
	const char *type = strstr(line, "field:"), *end = type ? strchr(type, ';') : NULL;
	const char *name = end;
	uint32_t is_signed = 0;

	if (!end)
		return false;
	while (name > type && name[-1] != ' ')
		name--;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(end - name), name);
	if (strchr(ret->name, ']') ||
	    memmem(type, (size_t)(end - type), "__data_loc", 10) ||
	    strncmp(ret->name, "common_", 7) == 0 || strstr(type, "__rel_loc"))
		return false;
	if (!read_number(end, "offset:", &ret->field.offset) ||
	    !read_number(end, "size:", &ret->field.size) ||
	    !read_number(end, "signed:", &is_signed))
		return false;
	ret->field.is_signed = is_signed;
	return ret->field.size == 1 || ret->field.size == 2 || ret->field.size == 4 ||
	       ret->field.size == 8;
}

int tracepoint_parse_field(const char *format, const char *field,
			   struct tracepoint_field *ret, struct err *e)
{
	own(buf_fini) struct buf names = { 0 };

	for (const char *at = format; *at;) {
		size_t n = strcspn(at, "\n");
		struct line line;
		char text[1024];

		snprintf(text, sizeof(text), "%.*s", n < 1000 ? (int)n : 1000, at);
		at += n + (at[n] == '\n');
		if (!parse_line(text, &line))
			continue;
		if (strcmp(line.name, field) == 0) {
			*ret = line.field;
			return 0;
		}
		buf_printf(&names, "%s%s", names.size ? ", " : "", line.name);
	}
	if (!names.size)
		return err_set(e, ERR_USAGE, "it has no field that is a number");
	return err_set(e, ERR_USAGE, "it has no number '%.60s', but %.300s", field,
		       buf_str(&names));
}

int tracepoint_find_field(const char *root, const char *group, const char *name,
			  const char *field, struct tracepoint_field *ret, struct err *e)
{
	own(buf_fini) struct buf format = { 0 };
	char path[1024];
	int rc;

	snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, group, name);
	rc = procfs_read(path, FORMAT_MAX, &format, e);
	if (rc == 0)
		rc = tracepoint_parse_field(buf_str(&format), field, ret, e);
	return rc;
}

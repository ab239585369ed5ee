/* SPDX-License-Identifier: Apache-2.0 */
#include "host/cgroup_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NO_PROCESS 0x7ffffff0
#define NO_CGROUP  UINT64_C(0x7fffffff00000001)

/* Where the unified hierarchy is, "": nowhere. */
static void mount_point(char *path, size_t cap)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;

	assert_non_null(f);
	*path = '\0';
	while (!*path && (m = getmntent(f)))
		if (strcmp(m->mnt_type, "cgroup2") == 0)
			snprintf(path, cap, "%s", m->mnt_dir);
	endmntent(f);
}

static uint64_t id_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void a_cgroup_has_a_name_without_a_process(void **state)
{
	own(cgroup_names_freep) struct cgroup_names *c = cgroup_names_new();
	char mount[512], path[600], name[64];
	uint64_t id;

	(void)state;
	mount_point(mount, sizeof(mount));
	snprintf(name, sizeof(name), "/dwell-test-%d", getpid());
	snprintf(path, sizeof(path), "%s%s", mount, name);
	if (!*mount || geteuid() != 0 || mkdir(path, 0755) != 0)
		skip();
	id = id_of(path);
	assert_string_equal(cgroup_names_find(c, id, NO_PROCESS), name);
	assert_string_equal(cgroup_names_find(c, id_of(mount), NO_PROCESS), "/");
	assert_int_equal(rmdir(path), 0);
	/* What was found once stays. */
	assert_string_equal(cgroup_names_find(c, id, NO_PROCESS), name);
}

static void a_process_is_asked_where_the_kernel_does_not_tell(void **state)
{
	own(cgroup_names_freep) struct cgroup_names *c = cgroup_names_new();
	const char *name = cgroup_names_find(c, NO_CGROUP, getpid());

	(void)state;
	if (!name) /* without the unified hierarchy there is no such line */
		skip();
	assert_int_equal(name[0], '/');
}

static void a_cgroup_that_is_gone_has_no_name(void **state)
{
	own(cgroup_names_freep) struct cgroup_names *c = cgroup_names_new();

	(void)state;
	assert_null(cgroup_names_find(c, NO_CGROUP, NO_PROCESS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cgroup_has_a_name_without_a_process),
		cmocka_unit_test(a_process_is_asked_where_the_kernel_does_not_tell),
		cmocka_unit_test(a_cgroup_that_is_gone_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

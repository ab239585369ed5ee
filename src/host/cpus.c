/* SPDX-License-Identifier: Apache-2.0 */
#include "host/cpus.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/procfs.h"

void cpus_fini(struct cpus *c)
{
	vec_fini(&c->ids);
}

static bool parse_number(const char **s, uint32_t *ret)
{
	uint32_t v = 0;

	if (!isdigit((unsigned char)**s))
		return false;
	for (; isdigit((unsigned char)**s); (*s)++) {
		v = v * 10 + (uint32_t)(**s - '0');
		if (v >= CPUS_MAX)
			return false;
	}
	*ret = v;
	return true;
}

static bool parse_range(struct cpus *c, const char **s)
{
	uint32_t first, last;

	if (!parse_number(s, &first))
		return false;
	last = first;
	if (**s == '-') {
		(*s)++;
		if (!parse_number(s, &last) || last < first)
			return false;
	}
	if (c->ids.n && first <= c->ids.at[c->ids.n - 1])
		return false; /* ascending: so the list cannot explode either */
	for (uint32_t id = first; id <= last; id++)
		*vec_push(&c->ids) = id;
	return true;
}

int cpus_parse(struct cpus *c, const char *list, struct err *e)
{
	const char *s = list;

	vec_clear(&c->ids);
	while (parse_range(c, &s)) {
		if (*s == '\0' || (*s == '\n' && s[1] == '\0'))
			return 0;
		if (*s++ != ',')
			break;
	}
	return err_set(e, ERR_FORMAT, "'%.60s' is no ascending list of CPUs (like 0-3,5)",
		       list);
}

static int read_cpus(const char *path, struct cpus *c, struct err *e)
{
	char text[4096];
	int rc = procfs_read_text(path, text, sizeof(text), e);

	if (rc == 0)
		return cpus_parse(c, text, e);

	/* No sysfs in this container: the C library may know the number. */
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (n < 1)
		return rc;
	vec_clear(&c->ids);
	for (long i = 0; i < n && i < CPUS_MAX; i++)
		*vec_push(&c->ids) = (uint32_t)i;
	return 0;
}

int cpus_online(struct cpus *c, struct err *e)
{
	return read_cpus("/sys/devices/system/cpu/online", c, e);
}

int cpus_present(struct cpus *c, struct err *e)
{
	return read_cpus("/sys/devices/system/cpu/present", c, e);
}

/* The kernel makes that directory when a CPU comes and removes it when it goes, also for
 * a suspend; numbers of sysfs' files come again after 2^32 others at the earliest. */
uint64_t cpus_life(uint32_t id)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology", id);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

bool cpus_has(const struct cpus *c, uint32_t id)
{
	vec_each(x, &c->ids)
		if (*x == id)
			return true;
	return false;
}

uint32_t cpus_end(const struct cpus *c)
{
	return c->ids.n ? c->ids.at[c->ids.n - 1] + 1 : 0;
}

#define CPUINFO	   "/proc/cpuinfo"
#define CACHES	   "/sys/devices/system/cpu/cpu0/cache"
#define MAX_CACHES 16

/* What it says of the first processor; false: nothing. */
static bool cpuinfo(const char *path, const char *name, char *s, size_t cap)
{
	own(fclosep) FILE *f = fopen(path, "re");
	char line[8192]; /* the flags are some 2000 */

	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');
		size_t n = strcspn(line, "\t:");

		if (!colon || n != strlen(name) || memcmp(line, name, n) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(s, cap, "%s", colon + 1 + strspn(colon + 1, " \t"));
		return true;
	}
	return false;
}

void cpus_model_name(char *s, size_t cap)
{
	if (!cpuinfo(CPUINFO, "model name", s, cap))
		snprintf(s, cap, "unknown");
}

/* Those that came with a kind of core, and so tell of it whatever number a hypervisor
 * gives it: as the kernel calls them. */
static void add_features(const char *path, char *s, size_t cap)
{
	static const char *const names[] = { "amx_tile", "avx512_fp16",
					     "avx512_vp2intersect", "avx512f",
					     "avx_vnni" };
	char flags[4096], *save = NULL;
	size_t n = strlen(s);

	if (!cpuinfo(path, "flags", flags, sizeof(flags)))
		return;
	for (char *flag = strtok_r(flags, " ", &save); flag;
	     flag = strtok_r(NULL, " ", &save))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && n < cap; i++)
			if (strcmp(flag, names[i]) == 0)
				n += (size_t)snprintf(s + n, cap - n, " %s", flag);
}

static bool cache_text(const char *caches, unsigned i, const char *name, char *s,
		       size_t cap)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/index%u/%s", caches, i, name);

	own(fclosep) FILE *f = fopen(path, "re");

	if (!f || !fgets(s, (int)cap, f))
		return false;
	s[strcspn(s, "\n")] = '\0';
	return true;
}

/* " l1i:64K": cores that the features do not tell apart have more or less of it. */
static void add_cache(const char *caches, char *s, size_t cap)
{
	char type[32], size[16];
	size_t n = strlen(s);

	for (unsigned i = 0; i < MAX_CACHES && n < cap; i++) {
		if (!cache_text(caches, i, "type", type, sizeof(type)))
			return;
		if (strcmp(type, "Instruction") != 0 ||
		    !cache_text(caches, i, "size", size, sizeof(size)))
			continue;
		snprintf(s + n, cap - n, " l1i:%s", size);
		return;
	}
}

void cpus_processor_of(const char *path, const char *caches, char *s, size_t cap)
{
	/* As x86 has them, and as aarch64 has them: of its main identification register.
	 */
	static const char *const names[][3] = {
		{ "vendor_id", "cpu family", "model" },
		{ "CPU implementer", "CPU architecture", "CPU part" },
	};
	size_t i = 0;
	char texts[3][64] = { "", "", "" };

	while (i + 1 < sizeof(names) / sizeof(names[0]) &&
	       !cpuinfo(path, names[i][0], texts[0], sizeof(texts[0])))
		i++;
	for (size_t k = 0; k < 3; k++)
		cpuinfo(path, names[i][k], texts[k], sizeof(texts[k]));
	snprintf(s, cap, "%s %s %s", texts[0], texts[1], texts[2]);
	add_features(path, s, cap);
	add_cache(caches, s, cap);
}

void cpus_processor(char *s, size_t cap)
{
	cpus_processor_of(CPUINFO, CACHES, s, cap);
}

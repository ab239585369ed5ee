/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/counter_text.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/counter_device.h"

#define MODIFIERS     "ukhp"
#define PRECISE_MAX   3
#define DEVICE_PERIOD 100003

/* One that no table has. */
struct made {
	struct made *next;
	struct counter counter;
	char name[COUNTER_TEXT_MAX];
};

static struct made *all_made;

static bool is_rate(char c)
{
	return c == ':' || c == '@';
}

size_t counter_text_length(const char *text)
{
	size_t n = strcspn(text, ":@/"), more;

	if (text[n] == '/') {
		n += 1 + strcspn(text + n + 1, "/");
		if (text[n] == '/')
			n++;
		return n + strspn(text + n, MODIFIERS);
	}
	more = text[n] == ':' ? strspn(text + n + 1, MODIFIERS) : 0;
	if (more && (!text[n + 1 + more] || is_rate(text[n + 1 + more])))
		n += 1 + more;
	return n;
}

/* Where it counts: what is not named is left out, if anything is named. */
static int modify(struct counter *c, const char *modifiers, struct err *e)
{
	bool has_user = strchr(modifiers, 'u'), has_kernel = strchr(modifiers, 'k'),
	     has_hypervisor = strchr(modifiers, 'h');
	unsigned precise = 0;

	for (const char *m = modifiers; *m; m++)
		precise += *m == 'p';
	if (precise > PRECISE_MAX)
		return err_set(e, ERR_USAGE, "':%s': three p at most", modifiers);
	c->precise = (uint8_t)precise;
	if (has_user || has_kernel || has_hypervisor) {
		c->not_user = !has_user;
		c->not_kernel = !has_kernel;
		c->not_hypervisor = !has_hypervisor;
	}
	return 0;
}

/* "r1a8": hexadecimal behind the letter. */
static bool find_raw(const char *name, struct counter *ret)
{
	size_t n = strspn(name + (*name == 'r'), "0123456789abcdefABCDEF");

	if (*name != 'r' || !n || n > 16 || name[1 + n])
		return false;
	ret->config = strtoull(name + 1, NULL, 16);
	ret->type = PERF_TYPE_RAW;
	return true;
}

static int find_device(const char *text, struct counter *ret, struct err *e)
{
	char device[COUNTER_TEXT_MAX], terms[COUNTER_TEXT_MAX];
	struct counter_device_event event;
	size_t n = strcspn(text, "/"), n_terms = strcspn(text + n + 1, "/");
	int rc;

	if (text[n + 1 + n_terms] != '/')
		return err_set(e, ERR_USAGE, "'%.60s': a slash is missing at its end",
			       text);
	snprintf(device, sizeof(device), "%.*s", (int)n, text);
	snprintf(terms, sizeof(terms), "%.*s", (int)n_terms, text + n + 1);
	rc = counter_device_find(COUNTER_DEVICE_ROOT, device, terms, &event, e);
	if (rc < 0)
		return rc;
	ret->type = event.type;
	ret->config = event.words[0];
	ret->config1 = event.words[1];
	ret->config2 = event.words[2];
	return modify(ret, text + n + 1 + n_terms + 1, e);
}

/* name: without modifiers, that of the table's where there is one. */
static int find_named(char name[COUNTER_TEXT_MAX], struct counter *ret, struct err *e)
{
	const struct counter *known = counter_find(name, NULL);

	if (known) {
		*ret = *known;
		snprintf(name, COUNTER_TEXT_MAX, "%s", known->name);
		return 0;
	}
	if (find_raw(name, ret))
		return 0;
	return counter_find(name, e) ? 0 : ERR_USAGE;
}

static int find(const char *text, struct made *m, struct err *e)
{
	const char *colon = strchr(text, ':');
	size_t n = strcspn(text, ":"), used;
	int rc;

	m->counter = (struct counter){ .unit = "count",
				       .description = "as the CPU's manual says",
				       .period = DEVICE_PERIOD };
	if (strchr(text, '/')) {
		snprintf(m->name, sizeof(m->name), "%s", text);
		return find_device(text, &m->counter, e);
	}
	snprintf(m->name, sizeof(m->name), "%.*s", (int)n, text);
	rc = find_named(m->name, &m->counter, e);
	if (rc < 0 || !colon)
		return rc;
	used = strlen(m->name);
	snprintf(m->name + used, sizeof(m->name) - used, "%s", colon);
	return modify(&m->counter, colon + 1, e);
}

static const struct counter *intern(const struct made *m)
{
	struct made *copy;

	for (const struct made *x = all_made; x; x = x->next)
		if (!strcmp(x->name, m->name))
			return &x->counter;
	copy = xcalloc(1, sizeof(*copy));
	*copy = *m;
	copy->counter.name = copy->name;
	copy->next = all_made;
	all_made = copy;
	return &copy->counter;
}

const struct counter *counter_text_find(const char *text, struct err *e)
{
	size_t n = counter_text_length(text);
	struct made m = { 0 };
	const struct counter *known;

	if (n >= COUNTER_TEXT_MAX || text[n]) {
		err_set(e, ERR_USAGE, "there is no event '%.60s'", text);
		return NULL;
	}
	known = strpbrk(text, ":/") ? NULL : counter_find(text, NULL);
	if (known)
		return known;
	return find(text, &m, e) < 0 ? NULL : intern(&m);
}

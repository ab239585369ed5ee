/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/probe_operand.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERAND_MAX 96

/* As <sys/user.h> orders them. */
static const struct {
	uint32_t at;
	const char *names[4]; /* by size: 8, 4, 2, 1 */
} x86_registers[] = {
	{ 0, { "r15", "r15d", "r15w", "r15b" } },
	{ 8, { "r14", "r14d", "r14w", "r14b" } },
	{ 16, { "r13", "r13d", "r13w", "r13b" } },
	{ 24, { "r12", "r12d", "r12w", "r12b" } },
	{ 32, { "rbp", "ebp", "bp", "bpl" } },
	{ 40, { "rbx", "ebx", "bx", "bl" } },
	{ 48, { "r11", "r11d", "r11w", "r11b" } },
	{ 56, { "r10", "r10d", "r10w", "r10b" } },
	{ 64, { "r9", "r9d", "r9w", "r9b" } },
	{ 72, { "r8", "r8d", "r8w", "r8b" } },
	{ 80, { "rax", "eax", "ax", "al" } },
	{ 88, { "rcx", "ecx", "cx", "cl" } },
	{ 96, { "rdx", "edx", "dx", "dl" } },
	{ 104, { "rsi", "esi", "si", "sil" } },
	{ 112, { "rdi", "edi", "di", "dil" } },
	{ 128, { "rip", "eip", "ip", "" } },
	{ 152, { "rsp", "esp", "sp", "spl" } },
};

/* How far the text is read. */
struct cursor {
	const char *at;
	bool is_bad;
};

static bool take(struct cursor *c, char what)
{
	while (*c->at == ' ')
		c->at++;
	if (*c->at != what)
		return false;
	c->at++;
	return true;
}

static void want(struct cursor *c, char what)
{
	if (!take(c, what))
		c->is_bad = true;
}

static int64_t number(struct cursor *c)
{
	char *end;
	long long v;

	while (*c->at == ' ')
		c->at++;
	errno = 0;
	v = strtoll(c->at, &end, 0);
	if (end == c->at || errno)
		c->is_bad = true;
	c->at = end;
	return v;
}

static bool begins_number(const struct cursor *c)
{
	return isdigit((unsigned char)*c->at) || *c->at == '-' || *c->at == '+';
}

static size_t word_length(const struct cursor *c)
{
	size_t n = 0;

	while (isalnum((unsigned char)c->at[n]))
		n++;
	return n;
}

static bool is_word(const struct cursor *c, size_t n, const char *word)
{
	return strlen(word) == n && n && strncmp(c->at, word, n) == 0;
}

/* x86: "%rax" */
static uint32_t x86_register(struct cursor *c)
{
	size_t n;

	want(c, '%');
	n = word_length(c);
	for (size_t i = 0; i < sizeof(x86_registers) / sizeof(x86_registers[0]); i++) {
		for (size_t k = 0; k < 4; k++) {
			if (!is_word(c, n, x86_registers[i].names[k]))
				continue;
			c->at += n;
			return x86_registers[i].at;
		}
	}
	c->is_bad = true;
	return 0;
}

/* "(%rbp)", "(%rdi,%rcx,8)", "(,%rcx,8)" is none. */
static void x86_memory(struct cursor *c, struct probe_operand *ret)
{
	int64_t factor = 1;

	ret->kind = PROBE_OPERAND_MEMORY;
	want(c, '(');
	ret->base = x86_register(c);
	if (take(c, ',')) {
		ret->index = x86_register(c);
		if (take(c, ','))
			factor = number(c);
		if (factor != 1 && factor != 2 && factor != 4 && factor != 8)
			c->is_bad = true;
		ret->factor = (uint32_t)factor;
	}
	want(c, ')');
}

static void parse_x86(struct cursor *c, struct probe_operand *ret)
{
	if (take(c, '$')) {
		ret->offset = number(c);
	} else if (*c->at == '%') {
		ret->kind = PROBE_OPERAND_REGISTER;
		ret->base = x86_register(c);
	} else {
		if (begins_number(c))
			ret->offset = number(c);
		x86_memory(c, ret);
	}
}

/* "x0", "w0", "sp" */
static uint32_t arm_register(struct cursor *c)
{
	size_t n = word_length(c);
	char *end;
	unsigned long v;

	if (is_word(c, n, "sp")) {
		c->at += n;
		return 31 * 8;
	}
	v = (*c->at == 'x' || *c->at == 'w') && isdigit((unsigned char)c->at[1])
		    ? strtoul(c->at + 1, &end, 10)
		    : 31;
	if (v > 30 || end != c->at + n) {
		c->is_bad = true;
		return 0;
	}
	c->at = end;
	return (uint32_t)v * 8;
}

static void parse_arm(struct cursor *c, struct probe_operand *ret)
{
	if (take(c, '[')) {
		ret->kind = PROBE_OPERAND_MEMORY;
		ret->base = arm_register(c);
		if (take(c, ','))
			ret->offset = number(c);
		want(c, ']');
	} else if (begins_number(c)) {
		ret->offset = number(c);
	} else {
		ret->kind = PROBE_OPERAND_REGISTER;
		ret->base = arm_register(c);
	}
}

static void parse_size(struct cursor *c, struct probe_operand *ret)
{
	int64_t size = number(c);

	ret->is_signed = size < 0;
	size = size < 0 ? -size : size;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		c->is_bad = true;
	ret->size = (uint32_t)size;
	want(c, '@');
}

/* Of a call: what is returned, and the arguments. */
static const char *const x86_64_call[] = { "-8@%rax", "-8@%rdi", "-8@%rsi", "-8@%rdx",
					   "-8@%rcx", "-8@%r8",	 "-8@%r9",  NULL };
static const char *const arm_call[] = { "-8@x0", "-8@x0", "-8@x1", "-8@x2", "-8@x3",
					"-8@x4", "-8@x5", "-8@x6", "-8@x7", NULL };
/* Behind the address that is returned to. */
static const char *const x86_call[] = { "-4@%eax",     "-4@4(%esp)",  "-4@8(%esp)",
					"-4@12(%esp)", "-4@16(%esp)", "-4@20(%esp)",
					"-4@24(%esp)", "-4@28(%esp)", "-4@32(%esp)",
					NULL };

static const struct machine {
	unsigned machine;
	bool is_narrow;
	void (*parse)(struct cursor *c, struct probe_operand *ret);
	const char *const *call;
} machines[] = {
	{ EM_X86_64, false, parse_x86, x86_64_call },
	{ EM_386, true, parse_x86, x86_call },
	{ EM_AARCH64, false, parse_arm, arm_call },
};

/* NULL: another one. */
static const struct machine *machine_of(unsigned machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

int probe_operand_parse(const char *text, unsigned machine, struct probe_operand *ret,
			struct err *e)
{
	const struct machine *m = machine_of(machine);
	struct cursor c = { .at = text };
	struct probe_operand o = { 0 };

	parse_size(&c, &o);
	if (c.is_bad || !m)
		return err_set(e, ERR_FORMAT, "'%.60s' is no argument that can be read",
			       text);
	m->parse(&c, &o);
	o.is_narrow = m->is_narrow;
	if (c.is_bad || *c.at)
		return err_set(e, ERR_FORMAT, "'%.60s' is no argument that can be read",
			       text);
	*ret = o;
	return 0;
}

/* Where the next one ends: blanks also stand in brackets. */
static size_t operand_length(const char *list)
{
	size_t n = 0;
	bool is_inside = false;

	for (; list[n] && (is_inside || list[n] != ' '); n++)
		is_inside = list[n] == '[' || (is_inside && list[n] != ']');
	return n;
}

static const char *skip_blanks(const char *list)
{
	return list + strspn(list, " ");
}

unsigned probe_operand_count(const char *list)
{
	unsigned n = 0;

	for (list = skip_blanks(list); *list; n++)
		list = skip_blanks(list + operand_length(list));
	return n;
}

int probe_operand_nth(const char *list, unsigned n, unsigned machine,
		      struct probe_operand *ret, struct err *e)
{
	char text[OPERAND_MAX];
	unsigned has = probe_operand_count(list);

	if (!n || n > has)
		return err_set(e, ERR_USAGE, "it has %u arguments, none is number %u",
			       has, n);
	list = skip_blanks(list);
	while (--n)
		list = skip_blanks(list + operand_length(list));
	if (operand_length(list) >= sizeof(text))
		return err_set(e, ERR_FORMAT, "an argument is too long");
	snprintf(text, sizeof(text), "%.*s", (int)operand_length(list), list);
	return probe_operand_parse(text, machine, ret, e);
}

const char *probe_operand_of_call(unsigned n, unsigned machine)
{
	const struct machine *m = machine_of(machine);
	const char *const *at = m ? m->call : NULL;

	while (at && *at && n--)
		at++;
	return at ? *at : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/late_status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/control_lines.h"
#include "host/kernel.h"
#include "host/procfs.h"

#define KALLSYMS_MAX ((size_t)64 << 20)

static int by_pc(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The kernel's symbols that the places fall into. */
static void read_symbols(const struct system_late *l, struct buf *ret)
{
	own(buf_fini) struct buf all = { 0 };
	uint64_t pcs[SYSTEM_LATE_PLACES];
	size_t n = 0;

	while (n < SYSTEM_LATE_PLACES && l->places[n].count) {
		pcs[n] = l->places[n].pc;
		n++;
	}
	if (!n || procfs_read("/proc/kallsyms", KALLSYMS_MAX, &all, NULL) < 0)
		return;
	qsort(pcs, n, sizeof(*pcs), by_pc);
	kernel_select_symbols((char *)all.data, all.size, pcs, n, ret);
}

static void put_name(const struct buf *symbols, uint64_t pc, struct buf *b)
{
	const char *at = (const char *)symbols->data, *end = at + symbols->size;
	struct kernel_symbol s, best = { 0 };

	while (at && kernel_next_symbol(&at, end, &s))
		if (s.addr <= pc && s.addr >= best.addr)
			best = s;
	if (best.name)
		buf_printf(b, "%.*s", (int)best.name_size, best.name);
	else
		buf_printf(b, "0x%" PRIx64, pc);
}

static void add_places(struct buf *b, const struct system_late *l)
{
	own(buf_fini) struct buf symbols = { 0 }, text = { 0 };
	char pct[TEXT_MAX];

	read_symbols(l, &symbols);
	for (size_t i = 0; i < SYSTEM_LATE_PLACES && l->places[i].count; i++) {
		buf_puts(&text, i ? ", " : "");
		put_name(&symbols, l->places[i].pc, &text);
		buf_printf(&text, " %s",
			   text_pct(pct, (double)l->places[i].count, (double)l->n_late));
	}
	buf_u8(&text, 0);
	control_lines_add_text(b, "late-at", (char *)text.data);
}

void late_status_add(struct buf *b, const struct system_late *l)
{
	control_lines_add(b, "late", l->n_late);
	control_lines_add(b, "late-ns", l->late_ns);
	control_lines_add(b, "late-user", l->n_user);
	control_lines_add(b, "late-ns-median", system_late_within_ns(l->steps, 500));
	control_lines_add(b, "late-ns-p99", system_late_within_ns(l->steps, 990));
	control_lines_add(b, "late-ns-max", system_late_within_ns(l->steps, 1000));
	add_places(b, l);
}

/* A line for each. */
static void print_places(const char *lines, FILE *out)
{
	char at[1024], *rest = at, *place;

	control_lines_text(lines, "late-at", at, sizeof(at));
	while ((place = strsep(&rest, ",")) && *place)
		fprintf(out, "              %s\n", place + (*place == ' '));
}

static void print_late(const char *lines, uint64_t late, FILE *out)
{
	char share[TEXT_MAX];

	fprintf(out,
		"            %s of these in user code, while another interrupt or a\n"
		"            hypervisor had the CPU; others where the kernel lets them "
		"in:\n",
		text_pct(share, (double)control_lines_number(lines, "late-user"),
			 (double)late));
	print_places(lines, out);
}

/* What no sample was taken of in time. */
static void print_missed(const char *lines, FILE *out)
{
	uint64_t missed = control_lines_number(lines, "missed"),
		 stolen = control_lines_number(lines, "stolen");
	double all = (double)control_lines_number(lines, "samples") + (double)stolen;
	char share[TEXT_MAX];

	if (missed)
		fprintf(out,
			"missed      %s of the clock's periods had no sample: the next "
			"one stands\n            for them\n",
			text_pct(share, (double)missed, all));
	if (stolen)
		fprintf(out, "%s  a hypervisor took %s of the clock's periods\n",
			missed ? "          " : "missed    ",
			text_pct(share, (double)stolen, all));
}

void late_status_print(const char *lines, FILE *out)
{
	uint64_t median = control_lines_number(lines, "late-ns-median");
	uint64_t late = control_lines_number(lines, "late");
	char share[TEXT_MAX], half[TEXT_MAX], most[TEXT_MAX], longest[TEXT_MAX];

	print_missed(lines, out);
	if (!median)
		return;
	fprintf(out,
		"late        half of the samples are taken within %s of their time, 99 "
		"%%\n"
		"            within %s, all within %s; %s come 32 us late or more\n",
		text_duration(half, median),
		text_duration(most, control_lines_number(lines, "late-ns-p99")),
		text_duration(longest, control_lines_number(lines, "late-ns-max")),
		text_pct(share, (double)late,
			 (double)control_lines_number(lines, "samples")));
	if (late)
		print_late(lines, late, out);
}

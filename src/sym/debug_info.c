/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/debug_info.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "sym/aranges.h"
#include "sym/die_name.h"
#include "sym/form.h"
#include "sym/inline_tree.h"
#include "sym/line_table.h"
#include "sym/range_list.h"
#include "sym/split_unit.h"

#define NO_UNIT	    UINT32_MAX
#define CHAIN_MAX   512
#define THREADS_MAX 2
/* Below this a thread costs more than it saves. */
#define THREAD_ADDRESSES 2000

struct debug_info {
	struct debug_file *file;
	struct image *image;
	const struct symtab *symbols;
	struct split_units *splits;
	struct map functions; /* of (unit's file, entry) -> function + 1 */
	const char *missing;
};

/* A unit and the addresses that are its share. */
struct job {
	struct debug_unit *unit;    /* has the lines */
	struct debug_unit *entries; /* has the functions: the unit or its split unit */
	uint32_t first, n;	    /* in the arrays of the question */
	struct inline_tree tree;
};

/* One question while it is answered; arrays are sorted by unit, then address. */
struct question {
	struct debug_info *d;
	const uint64_t *addresses; /* as asked */
	size_t n;
	uint32_t *unit_of; /* of each address as asked */
	uint32_t current;  /* unit whose ranges are being dealt */
	size_t work;	   /* steps left: damaged ranges could overlap without end */
	uint64_t *sorted;
	uint32_t *index_of; /* of the sorted in the asked */
	uint32_t *nodes;
	struct line_row *rows;
	VEC(struct job) jobs;
	atomic_size_t next_job;
};

struct debug_info *debug_info_open(struct object *debug, struct object *alternate,
				   struct image *im, const struct symtab *symbols)
{
	struct debug_info *d = xcalloc(1, sizeof(*d));

	d->image = im;
	d->symbols = symbols;
	d->splits = split_unit_new(im, object_path(debug));
	d->file = debug_file_open(
		debug, false, alternate ? debug_file_open(alternate, true, NULL) : NULL);
	return d;
}

void debug_info_free(struct debug_info *d)
{
	if (!d)
		return;
	split_unit_free(d->splits);
	debug_file_free(d->file);
	map_fini(&d->functions);
	free(d);
}

void debug_info_each_file(struct debug_info *d, sym_file_fn *visit, void *ctx)
{
	const struct debug_file *alternate = d->file->alternate;

	if (alternate)
		visit(ctx, "alternate", object_path(alternate->object),
		      object_path(alternate->object));
	split_unit_each_file(d->splits, d->file, visit, ctx);
}

const char *debug_info_missing(const struct debug_info *d)
{
	return d->missing;
}

static bool deal_range(void *ctx, uint64_t start, uint64_t end)
{
	struct question *q = ctx;
	size_t i = search_split(q->n, k, q->addresses[k] < start);

	for (; i < q->n && q->addresses[i] < end && q->work; i++, q->work--)
		if (q->unit_of[i] == NO_UNIT)
			q->unit_of[i] = q->current;
	return q->work && q->work--;
}

/* Units without ranges of their own: those of their functions. */
static void deal_functions(struct question *q, const struct debug_unit *u)
{
	struct inline_tree tree = { 0 };
	own(freep) uint32_t *nodes = xcalloc(q->n + 1, sizeof(*nodes));

	inline_tree_walk(u, q->addresses, q->n, &tree, nodes);
	for (size_t i = 0; i < q->n; i++)
		if (nodes[i] != INLINE_TREE_NONE && q->unit_of[i] == NO_UNIT)
			q->unit_of[i] = q->current;
	inline_tree_fini(&tree);
}

static bool deal_arange(void *ctx, struct debug_unit *u, uint64_t start, uint64_t end)
{
	struct question *q = ctx;

	if (u->is_partial || !u->abbrevs)
		return true;
	q->current = (uint32_t)(u - q->d->file->units.at);
	return range_list_one(u, start, end, deal_range, q);
}

static bool needs_functions(const struct debug_unit *u)
{
	return !u->is_partial && u->abbrevs && !u->has_ranges && !u->high_pc &&
	       !u->split_name;
}

static void deal(struct question *q)
{
	struct debug_file *f = q->d->file;

	q->work = q->n * 256 + f->sections[DEBUG_RANGES].size +
		  f->sections[DEBUG_RNGLISTS].size + f->sections[DEBUG_INFO].size +
		  f->sections[DEBUG_ARANGES].size;
	for (size_t i = 0; i < f->units.n && q->work; i++) {
		const struct debug_unit *u = &f->units.at[i];

		q->current = (uint32_t)i;
		if (u->is_partial || !u->abbrevs)
			continue;
		if (u->has_ranges)
			range_list_each(u, u->ranges, u->is_range_index, deal_range, q);
		else if (u->high_pc)
			range_list_one(u, u->low_pc, u->high_pc, deal_range, q);
	}
	aranges_each(f, deal_arange, q);
	for (size_t i = 0; i < f->units.n; i++) {
		const struct debug_unit *u = &f->units.at[i];

		q->current = (uint32_t)i;
		if (!needs_functions(u) || q->work < u->end - u->root)
			continue;
		q->work -= u->end - u->root;
		deal_functions(q, u);
	}
}

static struct debug_unit *entries_of(struct debug_info *d, struct debug_unit *u)
{
	struct debug_unit *split;

	if (!u->split_name)
		return u;
	split = split_unit_find(d->splits, u);
	if (!split) {
		d->missing = u->split_name;
		return u;
	}
	return debug_file_abbrevs(split) ? split : u;
}

/* Counting sort by unit; addresses stay in order within each. */
static void make_jobs(struct question *q)
{
	struct debug_file *f = q->d->file;
	own(freep) uint32_t *starts = xcalloc(f->units.n + 1, sizeof(*starts));
	uint32_t at = 0;

	for (size_t i = 0; i < q->n; i++)
		if (q->unit_of[i] != NO_UNIT)
			starts[q->unit_of[i]]++;
	for (size_t i = 0; i < f->units.n; i++) {
		uint32_t n = starts[i];

		starts[i] = at;
		if (n)
			*vec_push(&q->jobs) = (struct job){
				.unit = &f->units.at[i],
				.entries = entries_of(q->d, &f->units.at[i]),
				.first = at,
				.n = n,
			};
		at += n;
	}
	for (size_t i = 0; i < q->n; i++) {
		if (q->unit_of[i] == NO_UNIT)
			continue;
		q->sorted[starts[q->unit_of[i]]] = q->addresses[i];
		q->index_of[starts[q->unit_of[i]]++] = (uint32_t)i;
	}
	for (size_t i = 0; i < q->jobs.n; i++)
		line_files_open(q->jobs.at[i].unit);
}

static void run_job(struct question *q, struct job *j)
{
	if (j->unit->files)
		line_table_lookup(j->unit->files, q->sorted + j->first, j->n,
				  q->rows + j->first);
	inline_tree_walk(j->entries, q->sorted + j->first, j->n, &j->tree,
			 q->nodes + j->first);
}

static void *run_jobs(void *arg)
{
	struct question *q = arg;
	size_t i;

	while ((i = atomic_fetch_add(&q->next_job, 1)) < q->jobs.n)
		run_job(q, &q->jobs.at[i]);
	return NULL;
}

static void run_all(struct question *q)
{
	pthread_t threads[THREADS_MAX - 1];
	size_t n = 0;

	if (q->n >= THREAD_ADDRESSES && q->jobs.n > 1)
		while (n < THREADS_MAX - 1 &&
		       pthread_create(&threads[n], NULL, run_jobs, q) == 0)
			n++;
	run_jobs(q);
	while (n)
		pthread_join(threads[--n], NULL);
}

static const char *file_path(struct debug_info *d, struct debug_unit *u, uint64_t index)
{
	struct line_files *files =
		u ? line_files_open(u->skeleton ? u->skeleton : u) : NULL;
	uint64_t *memo = files ? line_files_memo(files, index) : NULL;
	const char *path;
	size_t n;

	if (!memo)
		return NULL;
	if (!*memo) {
		path = line_files_path(files, index, &n);
		if (!path)
			return NULL;
		*memo = (uintptr_t)function_table_file(d->image->functions, path, n);
	}
	return (const char *)(uintptr_t)*memo;
}

/* Names without linkage name (C, local classes) are one function only at one place. */
static uint64_t identity_of(const struct die_name *name, const char *decl_file)
{
	if (name->linkage)
		return 0;
	return hash_pair((uintptr_t)decl_file, name->decl_line) | 1;
}

static uint32_t enter_named(struct debug_info *d, const struct die_name *name,
			    const char *linkage, const struct symtab_symbol *symbol)
{
	const char *decl_file =
		name->has_decl_file ? file_path(d, name->unit, name->decl_file) : NULL;
	struct function_key key = {
		.image = d->image->id,
		.linkage = linkage,
		.decl_file = decl_file,
		.decl_line = name->decl_line,
		.identity = identity_of(name, decl_file),
	};

	if (symbol) {
		key.start = symbol->address;
		key.size = symbol->end - symbol->address;
	}
	return function_table_add(d->image->functions, &key);
}

static uint64_t function_memo_key(const struct debug_unit *u, uint64_t entry)
{
	return hash_pair((uintptr_t)u->file, entry);
}

static uint32_t unnamed(struct debug_info *d)
{
	return function_table_add_place(d->image->functions, d->image->id,
					"[function without name]");
}

/* By what glibc calls itself where it is not to be led elsewhere: "__GI___libc_free" is
 * "__libc_free" to everybody else, and "free" in the symbol table, which has its aliases.
 */
static const char inner_prefix[] = "__GI_";

static bool is_inner(const char *name)
{
	return name && strncmp(name, inner_prefix, strlen(inner_prefix)) == 0;
}

static const char *outer_name(const char *name)
{
	return is_inner(name) ? name + strlen(inner_prefix) : name;
}

static uint32_t inlined_function(struct debug_info *d, struct debug_unit *u,
				 uint64_t entry)
{
	uint64_t *memo = map_slot(&d->functions, function_memo_key(u, entry), NULL);
	struct die_name name;
	uint32_t id;

	if (*memo)
		return (uint32_t)*memo - 1;
	die_name_find(u, entry, &name);
	if (name.linkage || name.name)
		id = enter_named(d, &name,
				 outer_name(name.linkage ? name.linkage : name.name),
				 NULL);
	else
		id = unnamed(d);
	*memo = id + 1;
	return id;
}

/* "foo.cold", "foo.constprop.0": parts and variants of foo that the compiler made are
 * functions of their own in the code, though one entry describes them all. */
static bool is_variant(const char *symbol, const char *name)
{
	return strchr(symbol, '.') && !strchr(name, '.');
}

/* Local functions of C++ have linkage names only in the symbol table. */
static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

static uint32_t outer_function(struct debug_info *d, struct debug_unit *u, uint64_t entry,
			       uint64_t address)
{
	const struct symtab_symbol *symbol =
		d->symbols ? symtab_find(d->symbols, address) : NULL;
	uint64_t key =
		hash_pair(function_memo_key(u, entry), symbol ? symbol->address : 0);
	uint64_t *memo = map_slot(&d->functions, key, NULL);
	struct die_name name;
	const char *linkage;
	uint32_t id;

	if (*memo)
		return (uint32_t)*memo - 1;
	die_name_find(u, entry, &name);
	linkage = name.linkage ? name.linkage : name.name;
	if (symbol && (!linkage || is_variant(symbol->name, linkage) ||
		       is_inner(linkage) || (!name.linkage && is_mangled(symbol->name))))
		linkage = symbol->name;
	linkage = outer_name(linkage);
	id = linkage ? enter_named(d, &name, linkage, symbol) : unnamed(d);
	*memo = id + 1;
	return id;
}

/* No entry, but lines: assembly. */
static uint32_t symbol_function(struct debug_info *d, uint64_t address)
{
	const struct symtab_symbol *symbol =
		d->symbols ? symtab_find(d->symbols, address) : NULL;

	if (!symbol)
		return unnamed(d);
	return function_table_add(d->image->functions,
				  &(struct function_key){
					  .image = d->image->id,
					  .linkage = symbol->name,
					  .start = symbol->address,
					  .size = symbol->end - symbol->address,
					  .identity = symbol->address,
				  });
}

/* The chain of one address: the line table says where the innermost function is, each
 * call site where the next one is. */
static struct image_place emit_chain(struct question *q, struct job *j, uint32_t i)
{
	struct debug_info *d = q->d;
	const struct line_row *row = &q->rows[i];
	struct sym_frame f = { .line = row->line, .column = row->column };
	bool is_chained = !d->image->options->no_inline;
	uint32_t node = q->nodes[i];
	struct image_place place = { 0 };

	f.file = row->address ? file_path(d, j->unit, row->file) : NULL;
	for (int depth = 0; depth < CHAIN_MAX && node != INLINE_TREE_NONE; depth++) {
		const struct inline_node *at = &j->tree.nodes.at[node];

		f.is_inlined = at->is_inlined && at->parent != INLINE_TREE_NONE &&
			       depth + 1 < CHAIN_MAX;
		f.function = at->is_inlined ? inlined_function(d, j->entries, at->entry)
					    : outer_function(d, j->entries, at->entry,
							     q->sorted[i]);
		if (is_chained || !f.is_inlined) {
			uint32_t id = function_table_add_frame(d->image->functions, &f);

			if (!place.n_frames++)
				place.first_frame = id;
		}
		f.file = file_path(d, j->entries, at->call_file);
		f.line = at->call_line;
		f.column = at->call_column;
		node = at->parent;
	}
	if (!place.n_frames) {
		f.function = symbol_function(d, q->sorted[i]);
		place.first_frame = function_table_add_frame(d->image->functions, &f);
		place.n_frames = 1;
	}
	return place;
}

static void emit(struct question *q, struct image_place *ret)
{
	for (size_t k = 0; k < q->jobs.n; k++) {
		struct job *j = &q->jobs.at[k];

		for (uint32_t i = j->first; i < j->first + j->n; i++)
			ret[q->index_of[i]] = emit_chain(q, j, i);
		inline_tree_fini(&j->tree);
	}
}

void debug_info_resolve(struct debug_info *d, const uint64_t *addresses, size_t n,
			struct image_place *ret)
{
	struct question q = { .d = d, .addresses = addresses, .n = n };
	own(freep) uint32_t *unit_of = q.unit_of = xcalloc(n + 1, sizeof(*unit_of));
	own(freep) uint64_t *sorted = q.sorted = xcalloc(n + 1, sizeof(*sorted));
	own(freep) uint32_t *index_of = q.index_of = xcalloc(n + 1, sizeof(*index_of));
	own(freep) uint32_t *nodes = q.nodes = xcalloc(n + 1, sizeof(*nodes));
	own(freep) struct line_row *rows = q.rows = xcalloc(n + 1, sizeof(*rows));

	memset(unit_of, 0xff, n * sizeof(*unit_of)); /* NO_UNIT */
	deal(&q);
	make_jobs(&q);
	run_all(&q);
	emit(&q, ret);
	vec_fini(&q.jobs);
}

struct row_list {
	struct debug_info *d;
	struct debug_unit *unit;
	uint64_t start, end;
	VEC(struct sym_line_row) rows;
};

static void take_row(void *ctx, const struct line_row *row, uint64_t end)
{
	struct row_list *l = ctx;
	const char *file = file_path(l->d, l->unit, row->file);

	if (file)
		*vec_push(&l->rows) = (struct sym_line_row){ row->address, end, file,
							     row->line, row->column };
}

static int compare_rows(const void *a, const void *b)
{
	const struct sym_line_row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Copies of one inline function describe the same bytes: one of each is enough. */
static size_t drop_copies(struct sym_line_row *rows, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || rows[i].address >= rows[kept - 1].end)
			rows[kept++] = rows[i];
	return kept;
}

/* Which units to run: those that contain some address of the range. */
static bool touches(void *ctx, uint64_t start, uint64_t end)
{
	struct row_list *l = ctx;

	if (start >= l->end || end <= l->start)
		return true;
	line_files_open(l->unit);
	if (l->unit->files)
		line_table_each(l->unit->files, l->start, l->end, take_row, l);
	return false;
}

size_t debug_info_lines(struct debug_info *d, uint64_t address, size_t size,
			struct sym_line_row **ret)
{
	struct row_list l = { .d = d, .start = address, .end = address + size };

	for (size_t i = 0; i < d->file->units.n && l.end > l.start; i++) {
		struct debug_unit *u = l.unit = &d->file->units.at[i];

		if (u->is_partial || !u->abbrevs)
			continue;
		if (u->has_ranges)
			range_list_each(u, u->ranges, u->is_range_index, touches, &l);
		else /* its lines tell better than its bounds where it is */
			touches(&l, address, address + size);
	}
	if (l.rows.n)
		qsort(l.rows.at, l.rows.n, sizeof(*l.rows.at), compare_rows);
	*ret = l.rows.at;
	return drop_copies(l.rows.at, l.rows.n);
}

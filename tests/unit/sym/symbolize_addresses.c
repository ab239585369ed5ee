/* SPDX-License-Identifier: Apache-2.0 */
/* Link-time addresses from standard input, in the format of llvm-symbolizer:
 * function, file:line:column of each frame, then an empty line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/vec.h"
#include "sym/object.h"
#include "sym/symbolizer.h"

struct list {
	VEC(uint64_t) at;
};

static void read_offsets(struct list *l, const struct object *o)
{
	uint64_t address;

	while (scanf("%" SCNx64, &address) == 1) {
		for (size_t i = 0; i < object_n_segments(o); i++) {
			const struct object_segment *s = object_segment(o, i);

			if (s->is_load && address >= s->address &&
			    address - s->address < s->file_size) {
				*vec_push(&l->at) = address - s->address + s->offset;
				break;
			}
		}
	}
}

static void print_result(struct symbolizer *s, const struct sym_result *r)
{
	for (uint32_t i = 0; i < r->n_frames; i++) {
		const struct sym_frame *f = symbolizer_frame(s, r->first_frame + i);

		printf("%s\n%s:%u:%u\n", symbolizer_function(s, f->function)->name,
		       f->file ? f->file : "??", f->line, f->column);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	struct sym_options options = { .keep_mangled = true };
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(&options);
	own(object_freep) struct object *o = NULL;
	struct list l = { 0 };
	struct err e;

	if (argc != 2 || object_open(argv[1], &o, &e) < 0)
		return 2;
	read_offsets(&l, o);

	struct sym_result *results = calloc(l.at.n + 1, sizeof(*results));
	bool *is_return = calloc(l.at.n + 1, sizeof(*is_return));
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = argv[1] };
	uint32_t image = symbolizer_image(s, &ref);
	clock_t begin = clock();

	symbolizer_resolve(s, image, l.at.at, is_return, l.at.n, results);
	fprintf(stderr, "%zu addresses, %.0f ms CPU, %u functions, %s\n", l.at.n,
		(double)(clock() - begin) * 1000 / CLOCKS_PER_SEC,
		symbolizer_n_functions(s),
		symbolizer_image_problem(s, image) ? symbolizer_image_problem(s, image)
						   : "no problem");
	for (size_t i = 0; i < l.at.n; i++)
		print_result(s, &results[i]);
	vec_fini(&l.at);
	free(results);
	free(is_return);
	return 0;
}

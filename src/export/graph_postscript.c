/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_postscript - encapsulated PostScript, level 2: prints on a page of A4 or
 * Letter, and can be put into documents at any size.
 *
 * A picture that is wider than high lies on its side.  Text is in ISO Latin 1, with a
 * question mark for what that has not.
 */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "export/graph_paint.h"
#include "export/graph_writer.h"

/* In points; fits the smaller width and the smaller height of A4 and Letter. */
#define PAGE_WIDTH  547.0
#define PAGE_HEIGHT 744.0
#define PAGE_MARGIN 24.0
#define POINTS	    0.75 /* of a pixel */

static const char *const style_names[GRAPH_PAINT_N_STYLES] = {
	[GRAPH_PAINT_PLAIN] = "TP",  [GRAPH_PAINT_BOLD] = "TB",
	[GRAPH_PAINT_ITALIC] = "TI", [GRAPH_PAINT_FAINT] = "TF",
	[GRAPH_PAINT_LABEL] = "TL",
};

/* y grows upwards here: all of it is turned over by the writer, not by a matrix that
 * would turn the letters over, too. */
static const char prolog[] =
	"%%BeginProlog\n"
	"/dwelldict 40 dict def dwelldict begin\n"
	"/latin { findfont dup length dict begin\n"
	"  { 1 index /FID ne { def } { pop pop } ifelse } forall\n"
	"  /Encoding ISOLatin1Encoding def currentdict end definefont pop } bind def\n"
	"/DwellP /Courier latin /DwellB /Courier-Bold latin "
	"/DwellI /Courier-Oblique latin\n"
	"/F { exch selectfont } bind def\n"
	"% (text) right x y size: right is 1 for a text that ends at x\n"
	"/T { F moveto 1 eq { dup stringwidth pop neg 0 rmoveto } if show } bind def\n"
	"/TP { 0 setgray /DwellP T } bind def\n"
	"/TB { 0 setgray /DwellB T } bind def\n"
	"/TI { 0 setgray /DwellI T } bind def\n"
	"/TF { 0.3 setgray /DwellP T } bind def\n"
	"/TL { 0.1 setgray /DwellP T } bind def\n"
	"/M { newpath moveto } bind def /L { lineto } bind def /C { curveto } bind def\n"
	"/S { setlinewidth stroke } bind def\n"
	"% x y half: a head that points down\n"
	"/A { /h exch def M h neg 8 rlineto h 2 mul 0 rlineto closepath fill } bind def\n"
	"% r g b x y w h radius: a node\n"
	"/R { /q exch def /h exch def /w exch def /y exch def /x exch def\n"
	"  newpath x w 2 div add y moveto x w add y x w add y h add q arct\n"
	"  x w add y h add x y h add q arct x y h add x y q arct\n"
	"  x y x w add y q arct closepath gsave setrgbcolor fill grestore\n"
	"  0.4 setgray 1 setlinewidth stroke } bind def\n";

static void put_colour(FILE *out, const char *hex)
{
	unsigned r, g, b;

	if (sscanf(hex, "%2x%2x%2x", &r, &g, &b) == 3)
		fprintf(out, "%.3f %.3f %.3f ", r / 255.0, g / 255.0, b / 255.0);
}

struct instead {
	uint32_t code;
	const char *text;
};

static void put_char(FILE *out, uint32_t code)
{
	static const struct instead table[] = {
		{ '(', "\\(" },
		{ ')', "\\)" },
		{ '\\', "\\\\" },
		{ 0x2026, "..." },
		{ 0x2192, "->" },
		{ 0x2013, "-" },
		{ 0x2014, "-" },
		{ 0x2018, "'" },
		{ 0x2019, "'" },
		{ 0x201c, "\"" },
		{ 0x201d, "\"" },
		{ 0xb5, "u" },
		{ 0x3bc, "u" },
		/* These two stand for other characters in ISOLatin1Encoding. */
		{ '\'', "\\251" },
		{ '`', "\\221" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].code == code) {
			fputs(table[i].text, out);
			return;
		}
	}
	if (code >= 0x20 && code < 0x7f)
		fputc((int)code, out);
	else if (code >= 0xa0 && code <= 0xff)
		fprintf(out, "\\%03o", code);
	else
		fputc('?', out);
}

static void put_string(FILE *out, const char *s)
{
	fputc('(', out);
	for (size_t left = strlen(s); left;) {
		size_t len = utf8_length(s, left);

		put_char(out, len ? utf8_decode(s, len) : '?');
		s += len ? len : 1;
		left -= len ? len : 1;
	}
	fputc(')', out);
}

static void ps_nothing(unused struct graph_canvas *c, unused const char *tip)
{
}

static void ps_end(unused struct graph_canvas *c)
{
}

static void ps_box(struct graph_canvas *c, const struct graph_box *b, double radius,
		   unsigned heat)
{
	put_colour(c->out, graph_paint_heats[heat]);
	fprintf(c->out, "%.1f %.1f %.1f %.1f %.0f R\n", b->x, c->height - b->y - b->h,
		b->w, b->h, radius);
}

static void ps_path(struct graph_canvas *c, const struct graph_point *p, size_t n,
		    enum graph_way_kind kind, double width)
{
	const double *dash = graph_paint_dashes[kind];

	put_colour(c->out, graph_paint_ways[kind]);
	if (dash[0] > 0)
		fprintf(c->out, "setrgbcolor [%.0f %.0f] 0 setdash ", dash[0], dash[1]);
	else
		fputs("setrgbcolor [] 0 setdash ", c->out);
	fprintf(c->out, "%.1f %.1f M\n", p->x, c->height - p->y);
	for (size_t i = 1; i + 2 < n; i += 3) {
		if (graph_paint_is_vertical(&p[i - 1])) {
			fprintf(c->out, "%.1f %.1f L\n", p[i + 2].x,
				c->height - p[i + 2].y);
			continue;
		}
		for (size_t k = i; k < i + 3; k++)
			fprintf(c->out, "%.1f %.1f ", p[k].x, c->height - p[k].y);
		fputs("C\n", c->out);
	}
	fprintf(c->out, "%.1f S [] 0 setdash\n", width);
}

static void ps_arrow(struct graph_canvas *c, struct graph_point at,
		     enum graph_way_kind kind, double width)
{
	put_colour(c->out, graph_paint_ways[kind]);
	fprintf(c->out, "setrgbcolor %.1f %.1f %.1f A\n", at.x, c->height - at.y,
		2.5 + width);
}

static void ps_text(struct graph_canvas *c, const struct graph_paint_text *t)
{
	if (!*t->text)
		return;
	put_string(c->out, t->text);
	fprintf(c->out, " %d %.1f %.1f %.1f %s\n", t->is_right, t->x, c->height - t->y,
		t->letters, style_names[t->style]);
}

static void put_head(const struct graph *g, const struct graph_canvas *c)
{
	bool is_wide = c->width > c->height;
	double across = is_wide ? c->height : c->width;
	double along = is_wide ? c->width : c->height;
	double scale = fmin(POINTS, fmin(PAGE_WIDTH / across, PAGE_HEIGHT / along));

	fputs("%!PS-Adobe-3.0 EPSF-3.0\n", c->out);
	fprintf(c->out, "%%%%BoundingBox: %.0f %.0f %.0f %.0f\n", PAGE_MARGIN,
		PAGE_MARGIN, ceil(PAGE_MARGIN + across * scale),
		ceil(PAGE_MARGIN + along * scale));
	fputs("%%Title: ", c->out);
	put_string(c->out, g->title ? g->title : "control-flow graph");
	fprintf(c->out,
		"\n%%%%Creator: dwell\n%%%%LanguageLevel: 2\n%%%%Pages: 1\n"
		"%%%%Orientation: %s\n%%%%EndComments\n%s",
		is_wide ? "Landscape" : "Portrait", prolog);
	fprintf(c->out, "end\n%%%%EndProlog\n%%%%Page: 1 1\ndwelldict begin gsave\n");
	fprintf(c->out, "%.1f %.1f translate ", PAGE_MARGIN, PAGE_MARGIN);
	if (is_wide)
		fprintf(c->out, "%.4f 0 translate 90 rotate ", across * scale);
	fprintf(c->out, "%.6f dup scale\n", scale);
}

static int postscript_write(const struct graph *g, FILE *out, struct err *e)
{
	static const struct graph_strokes strokes = {
		.begin = ps_nothing,
		.end = ps_end,
		.box = ps_box,
		.path = ps_path,
		.arrow = ps_arrow,
		.text = ps_text,
	};
	own(graph_layout_freep) struct graph_layout *l = graph_layout_new(g);
	struct graph_canvas c = { .strokes = &strokes, .out = out };

	graph_paint_measure(l, &c);
	put_head(g, &c);
	graph_paint_all(l, &c);
	fputs("grestore end\nshowpage\n%%EOF\n", out);
	return graph_writer_finish(out, e);
}

const struct graph_writer graph_writer_postscript = {
	.name = "postscript",
	.suffix = "eps",
	.mime = "application/postscript",
	.summary = "a picture for paper and documents, scaled to a page",
	.write = postscript_write,
};

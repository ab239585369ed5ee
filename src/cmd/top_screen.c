/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/top_screen.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/top_picture.h"
#include "host/clock.h"

#define DELAY_MIN_NS  UINT64_C(250000000)
#define DELAY_MAX_NS  UINT64_C(64000000000)
#define FIRST_LOOK_NS UINT64_C(1000000000) /* at the latest */

/* Where "back" leads: what was chosen when a row was opened. */
struct before {
	struct top_choice choice;
	char *selected;
};

struct top_screen {
	struct top_view *view;
	struct screen *screen;
	struct top_picture picture;
	uint64_t delay_ns, next_ns;
	bool is_over;
	VEC(struct before) before;
};

static void fini(struct top_screen *s)
{
	vec_each(b, &s->before) {
		free(b->selected);
	}
	vec_fini(&s->before);
	top_picture_fini(&s->picture);
	screen_close(s->screen);
}

/* Looking. */

/* Of what was taken last, as chosen. */
static void make(struct top_screen *s)
{
	struct err e = { 0 };
	unsigned rows;

	if (!top_feed_has(s->view->feed))
		return;
	screen_size(s->screen, &s->view->width, &rows);
	s->picture.has_view = top_view_make(s->view, &e) == 0;
	if (!s->picture.has_view)
		top_picture_say(&s->picture, "%s", e.text);
	top_picture_find_selected(&s->picture);
}

static void look(struct top_screen *s)
{
	struct err e = { 0 };

	top_view_fini(s->view);
	s->picture.has_view = false;
	if (top_feed_look(s->view->feed, &e) < 0)
		top_picture_say(&s->picture, "%s", e.text);
	make(s);
	s->next_ns = clock_monotonic_ns() + s->delay_ns;
	if (!top_feed_is_over(s->view->feed))
		return;
	s->picture.is_paused = true;
	top_picture_say(&s->picture, "it has ended; q quits");
}

/* What keys do. */

static void quit(struct top_screen *s, unused uint32_t key)
{
	s->is_over = true;
}

static void show_help(struct top_screen *s, unused uint32_t key)
{
	s->picture.is_help = !s->picture.is_help;
	s->picture.first = 0;
}

static void pause_or_go_on(struct top_screen *s, unused uint32_t key)
{
	s->picture.is_paused = !s->picture.is_paused;
	if (!s->picture.is_paused)
		look(s);
}

static const struct {
	uint32_t key;
	const char *by;
} dimensions_of_keys[] = {
	{ 'f', "function" },	{ 'i', "image" },  { 'F', "file" },    { 'l', "line" },
	{ 'x', "instruction" }, { 'u', "mode" },   { 'p', "process" }, { 't', "thread" },
	{ 'm', "command" },	{ 'g', "cgroup" },
};

static void choose_rows(struct top_screen *s, uint32_t key)
{
	for (size_t i = 0; i < sizeof(dimensions_of_keys) / sizeof(dimensions_of_keys[0]);
	     i++)
		if (dimensions_of_keys[i].key == key)
			s->view->choice.by = dimension_find(dimensions_of_keys[i].by);
	s->picture.detail = TOP_NO_DETAIL;
	top_picture_unselect(&s->picture);
	make(s);
}

static void choose_order(struct top_screen *s, unused uint32_t key)
{
	s->view->choice.order = (s->view->choice.order + 1) % TOP_N_ORDERS;
	make(s);
}

static void choose_window(struct top_screen *s, unused uint32_t key)
{
	s->view->choice.window = (s->view->choice.window + 1) % TOP_N_WINDOWS;
	make(s);
}

static void choose_delay(struct top_screen *s, uint32_t key)
{
	uint64_t ns = key == '[' ? s->delay_ns / 2 : s->delay_ns * 2;
	char text[TEXT_MAX];

	if (ns >= DELAY_MIN_NS && ns <= DELAY_MAX_NS)
		s->delay_ns = ns;
	s->next_ns = clock_monotonic_ns() + s->delay_ns;
	top_picture_say(&s->picture, "a look each %s", text_duration(text, s->delay_ns));
}

/* The function of the selected row, or of the first. */
static uint32_t function_here(const struct top_screen *s)
{
	const struct top_picture *p = &s->picture;

	return p->at < top_picture_n_rows(p) ? top_view_row_function(p->view, p->at)
					     : MODEL_NONE;
}

static void show_detail(struct top_screen *s, enum top_detail what)
{
	struct top_picture *p = &s->picture;
	uint32_t function = p->detail ? MODEL_NONE : function_here(s);

	if (!p->detail && function == MODEL_NONE) {
		top_picture_say(p, "only functions and what is in them have that: 'f'");
		return;
	}
	if (!p->detail) {
		free(p->detail_of);
		p->detail_of = top_detail_key(p->view, function);
	}
	p->detail = what;
	p->first = 0;
}

static void show_callers(struct top_screen *s, unused uint32_t key)
{
	show_detail(s, TOP_CALLERS);
}

static void show_code(struct top_screen *s, unused uint32_t key)
{
	show_detail(s, TOP_CODE);
}

/* Also what was passed before must pass. */
static bool add_filter(struct top_choice *c, const char *test)
{
	own(freep) char *both =
		c->filter[0] ? xasprintf("(%s) && %s", c->filter, test) : xstrdup(test);

	if (strlen(both) >= sizeof(c->filter))
		return false;
	strcpy(c->filter, both);
	return true;
}

/* What a row's samples are, by function. */
static void open_row(struct top_screen *s, unused uint32_t key)
{
	struct top_picture *p = &s->picture;
	struct before before = { .choice = s->view->choice };
	struct buf test = { 0 };

	if (p->detail || p->at >= top_picture_n_rows(p))
		return;
	if (!top_view_row_filter(s->view, p->at, &test)) {
		show_detail(s, TOP_CALLERS);
	} else if (add_filter(&s->view->choice, buf_str(&test))) {
		before.selected = p->selected ? xstrdup(p->selected) : NULL;
		*vec_push(&s->before) = before;
		choose_rows(s, 'f');
	}
	buf_fini(&test);
}

static void go_back(struct top_screen *s, unused uint32_t key)
{
	struct top_picture *p = &s->picture;

	p->first = 0;
	if (p->is_help) {
		p->is_help = false;
	} else if (p->detail) {
		p->detail = TOP_NO_DETAIL;
	} else if (s->before.n) {
		struct before *b = &s->before.at[--s->before.n];

		s->view->choice = b->choice;
		top_picture_unselect(p);
		p->selected = b->selected;
		make(s);
	} else {
		top_picture_unselect(p);
	}
}

static void ask_filter(struct top_screen *s, unused uint32_t key)
{
	s->picture.is_prompt = true;
	strcpy(s->picture.prompt, s->view->choice.filter);
}

/* By so many rows, or lines where there are no rows to select. */
static void move(struct top_screen *s, long by)
{
	struct top_picture *p = &s->picture;
	bool is_text = p->detail || p->is_help;
	size_t here = is_text ? p->first : p->at;
	size_t n = is_text ? p->n_lines : top_picture_n_rows(p);

	if (!n)
		return;
	if (!is_text && !p->selected) /* the first key shows where we are */
		by = by > 0 ? by - 1 : by;
	if (by < 0)
		here = here > (size_t)-by ? here - (size_t)-by : 0;
	else
		here = n - here > (size_t)by ? here + (size_t)by : n - 1;
	if (is_text)
		p->first = here;
	else
		top_picture_select(p, here);
}

static void move_by_key(struct top_screen *s, uint32_t key)
{
	long page = (long)s->picture.n_rows;

	switch (key) {
	case KEY_UP:
	case 'k':
		return move(s, -1);
	case KEY_DOWN:
	case 'j':
		return move(s, 1);
	case KEY_PAGE_UP:
		return move(s, -page);
	case KEY_PAGE_DOWN:
		return move(s, page);
	case KEY_HOME:
		return move(s, -1000000000L);
	default:
		return move(s, 1000000000L);
	}
}

static const struct {
	const char *keys; /* characters */
	const uint32_t *more;
	void (*act)(struct top_screen *s, uint32_t key);
} actions[] = {
	{ "q", NULL, quit },
	{ "h?", NULL, show_help },
	{ " ", NULL, pause_or_go_on },
	{ "fiFlxuptmg", NULL, choose_rows },
	{ "s", NULL, choose_order },
	{ "w", NULL, choose_window },
	{ "[]", NULL, choose_delay },
	{ "c", NULL, show_callers },
	{ "a", NULL, show_code },
	{ "/", NULL, ask_filter },
	{ "+", (const uint32_t[]){ KEY_ENTER, KEY_RIGHT, 0 }, open_row },
	{ "-", (const uint32_t[]){ KEY_ESCAPE, KEY_LEFT, KEY_BACKSPACE, 0 }, go_back },
	{ "jk",
	  (const uint32_t[]){ KEY_UP, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME,
			      KEY_END, 0 },
	  move_by_key },
};

static bool is_in(const uint32_t *keys, uint32_t key)
{
	while (keys && *keys && *keys != key)
		keys++;
	return keys && *keys;
}

static void act(struct top_screen *s, uint32_t key)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if ((key < 0x80 && strchr(actions[i].keys, (int)key)) ||
		    is_in(actions[i].more, key))
			return actions[i].act(s, key);
}

/* The prompt. */

/* A wrong one is told and can be mended. */
static void take_filter(struct top_screen *s)
{
	struct top_picture *p = &s->picture;
	own(filter_freep) struct filter *f = NULL;
	struct err e = { 0 };
	bool is_none = p->prompt[strspn(p->prompt, " ")] == '\0';

	p->is_prompt = false;
	if (!is_none && filter_parse(p->prompt, &f, &e) < 0) {
		top_picture_say(p, "%s", e.text);
		return;
	}
	strcpy(s->view->choice.filter, is_none ? "" : p->prompt);
	top_picture_unselect(p);
	make(s);
}

static void erase(char *text)
{
	size_t n = strlen(text);

	while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = '\0';
}

static void append(char text[TOP_FILTER_MAX], uint32_t c)
{
	char bytes[5] = "";
	size_t n = strlen(text);

	if (c < 0x80) {
		bytes[0] = (char)c;
	} else if (c < 0x800) {
		bytes[0] = (char)(0xc0 | c >> 6);
		bytes[1] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[0] = (char)(0xe0 | c >> 12);
		bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (c & 0x3f));
	} else {
		return;
	}
	if (n + strlen(bytes) < TOP_FILTER_MAX)
		strcpy(text + n, bytes);
}

static void type(struct top_screen *s, uint32_t key)
{
	struct top_picture *p = &s->picture;

	if (key == KEY_ENTER)
		take_filter(s);
	else if (key == KEY_ESCAPE)
		p->is_prompt = false;
	else if (key == KEY_BACKSPACE)
		erase(p->prompt);
	else if (key == ('u' & 0x1f)) /* Ctrl-U */
		p->prompt[0] = '\0';
	else if (key >= ' ' && key < KEY_UP)
		append(p->prompt, key);
}

/* The loop. */

static void on_key(struct top_screen *s, uint32_t key)
{
	if (s->picture.is_prompt) {
		type(s, key);
		return;
	}
	top_picture_say(&s->picture, "%s", "");
	act(s, key);
}

static uint64_t time_left(const struct top_screen *s)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (s->picture.is_paused)
		return UINT64_C(3600000000000);
	return s->next_ns > now_ns ? s->next_ns - now_ns : 0;
}

static void run(struct top_screen *s, uint64_t n)
{
	uint64_t n_looks = 0;

	while (!s->is_over) {
		uint32_t key;

		top_picture_draw(&s->picture, s->screen);
		switch (screen_wait(s->screen, time_left(s), &key)) {
		case SCREEN_OVER:
			return;
		case SCREEN_KEY:
			on_key(s, key);
			break;
		case SCREEN_CHANGED:
			make(s);
			break;
		case SCREEN_TIMEOUT:
			break;
		}
		if (s->is_over || time_left(s) || s->picture.is_paused)
			continue;
		look(s);
		s->is_over = n && ++n_looks == n;
	}
}

int top_screen_run(struct top_view *v, uint64_t delay_ns, uint64_t n, struct err *e)
{
	struct top_screen s = { .view = v,
				.delay_ns = delay_ns,
				.picture = { .view = v } };
	int rc = screen_open(&s.screen, e);

	if (rc < 0)
		return rc;
	top_picture_say(&s.picture, "gathering samples …");
	top_picture_draw(&s.picture, s.screen);
	s.next_ns = clock_monotonic_ns() +
		    (delay_ns < FIRST_LOOK_NS ? delay_ns : FIRST_LOOK_NS);
	top_picture_say(&s.picture, "%s", "");
	run(&s, n);
	fini(&s);
	return 0;
}

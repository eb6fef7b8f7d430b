// SPDX-License-Identifier: Apache-2.0
#include "view/model/keys.h"

#define TABLES (VIEW_TABLE | VIEW_FLAME)

/* `gg` is two keys: the screen takes the second one. */
static const struct key_binding bindings[] = {
	{{'k', VIEW_KEY_UP},
	 ACTION_UP,
	 VIEW_EVERYWHERE,
	 "Up k",
	 "line up; flame graph: to the caller"},
	{{'j', VIEW_KEY_DOWN},
	 ACTION_DOWN,
	 VIEW_EVERYWHERE,
	 "Down j",
	 "line down; flame graph: to the largest callee"},
	{{VIEW_KEY_PAGE_UP, 'B' - '@'}, ACTION_PAGE_UP, VIEW_EVERYWHERE, "PgUp Ctrl-B", "page up"},
	{{VIEW_KEY_PAGE_DOWN, 'F' - '@'},
	 ACTION_PAGE_DOWN,
	 VIEW_EVERYWHERE,
	 "PgDn Ctrl-F",
	 "page down"},
	{{VIEW_KEY_HOME, 'g'}, ACTION_FIRST, VIEW_EVERYWHERE, "Home gg", "first line"},
	{{VIEW_KEY_END, 'G'}, ACTION_LAST, VIEW_EVERYWHERE, "End G", "last line"},
	{{'H'}, ACTION_TOP, VIEW_TABLE | VIEW_CODE, "H M L", "top, middle, bottom of the screen"},
	{{'M'}, ACTION_MIDDLE, VIEW_TABLE | VIEW_CODE, NULL, NULL},
	{{'L'}, ACTION_BOTTOM, VIEW_TABLE | VIEW_CODE, NULL, NULL},
	{{'l', VIEW_KEY_RIGHT},
	 ACTION_RIGHT,
	 VIEW_EVERYWHERE,
	 "Right l",
	 "open a branch; flame graph: box to the right"},
	{{'h', VIEW_KEY_LEFT},
	 ACTION_LEFT,
	 VIEW_EVERYWHERE,
	 "Left h",
	 "close a branch, or zoom out; flame graph: box to the left"},
	{{'+'},
	 ACTION_TOGGLE,
	 VIEW_TABLE,
	 "+",
	 "open or close a branch (in ringtail top: see below)"},
	{{'e'}, ACTION_EXPAND, VIEW_TABLE, "e", "open or close all below the line"},
	{{'E'}, ACTION_EXPAND_ALL, VIEW_TABLE, "E", "open all call chains"},
	{{'C'}, ACTION_COLLAPSE_ALL, VIEW_TABLE, "C", "close all call chains"},
	{{VIEW_KEY_ENTER},
	 ACTION_MENU,
	 VIEW_TABLE,
	 "Enter",
	 "menu of the line; flame graph: zoom in; code: follow a jump or call"},
	{{VIEW_KEY_ENTER}, ACTION_ZOOM, VIEW_FLAME, NULL, NULL},
	{{VIEW_KEY_ENTER}, ACTION_FOLLOW, VIEW_CODE, NULL, NULL},
	{{VIEW_KEY_ESCAPE, VIEW_KEY_BACKSPACE},
	 ACTION_BACK,
	 VIEW_EVERYWHERE,
	 "Esc",
	 "back: undo the search, the newest zoom or, in code, jump"},
	{{'t'}, ACTION_THREAD, VIEW_TABLE, "t", "zoom into the thread of the line"},
	{{'d'}, ACTION_DSO, VIEW_TABLE, "d", "zoom into the shared object of the line"},
	{{'['}, ACTION_SPAN_BEGIN, TABLES, "[", "begin a span of time; arrows move its end"},
	{{']'}, ACTION_SPAN_END, TABLES, "]", "zoom into the span"},
	{{'/'}, ACTION_FIND, VIEW_EVERYWHERE, "/", "find functions by a regular expression"},
	{{'n'}, ACTION_NEXT, VIEW_EVERYWHERE, "n N", "next, previous line that it finds"},
	{{'N'}, ACTION_PREVIOUS, VIEW_EVERYWHERE, NULL, NULL},
	{{'a'}, ACTION_CODE, TABLES, "a", "annotate: the code of the function"},
	{{'f'}, ACTION_FLAME, TABLES, "f", "flame graph of the shown rows, and back"},
	{{'c'}, ACTION_ORDER, TABLES, "c", "call chains from the caller, or from the callee"},
	{{'p', 'F'},
	 ACTION_PERCENT,
	 TABLES,
	 "p F",
	 "percentages of all samples, or of the shown ones"},
	{{VIEW_KEY_TAB}, ACTION_EVENT, TABLES, "Tab", "next event; code: next hottest instruction"},
	{{VIEW_KEY_BACKTAB}, ACTION_EVENT_BACK, TABLES, NULL, NULL},
	{{VIEW_KEY_TAB}, ACTION_HOT, VIEW_CODE, NULL, NULL},
	{{'y'},
	 ACTION_COPY,
	 VIEW_EVERYWHERE,
	 "y",
	 "copy the stack or line by the terminal (OSC 52)"},
	{{'Y'},
	 ACTION_COPY_FILE,
	 VIEW_EVERYWHERE,
	 "Y",
	 "append it to the file ringtail-stacks.txt"},
	{{' '}, ACTION_FREEZE, VIEW_LIVE, "Space", "freeze, resume"},
	{{'+'}, ACTION_LONGER, VIEW_LIVE, "+ -", "longer, shorter window"},
	{{'-'}, ACTION_SHORTER, VIEW_LIVE, NULL, NULL},
	{{'s'}, ACTION_SAVE, VIEW_LIVE, "s", "write a snapshot to a file"},
	{{' '}, ACTION_PAGE_DOWN, VIEW_EVERYWHERE, NULL, NULL},
	{{'?', VIEW_KEY_HELP}, ACTION_HELP, VIEW_EVERYWHERE, "? F1", "this help"},
	{{'q'},
	 ACTION_QUIT,
	 VIEW_EVERYWHERE,
	 "q",
	 "leave the code or the flame graph; end (Ctrl-C ends at once)"},
};

const struct key_binding *key_binding_at(size_t i)
{
	return i < sizeof(bindings) / sizeof(*bindings) ? &bindings[i] : NULL;
}

enum view_action key_action(int key, unsigned int places)
{
	const struct key_binding *b;

	for (size_t i = 0; key && (b = key_binding_at(i)); i++)
		if (b->places & places &&
		    (b->key[0] == key || b->key[1] == key || b->key[2] == key))
			return b->action;
	return ACTION_NONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys: the action of each key, and the help that is made of the same table. Constants.
 */
#ifndef RINGTAIL_VIEW_MODEL_KEYS_H
#define RINGTAIL_VIEW_MODEL_KEYS_H

#include <stddef.h>

/* Keys that are no characters. */
enum view_key {
	VIEW_KEY_UP = 0x110000,
	VIEW_KEY_DOWN,
	VIEW_KEY_LEFT,
	VIEW_KEY_RIGHT,
	VIEW_KEY_HOME,
	VIEW_KEY_END,
	VIEW_KEY_PAGE_UP,
	VIEW_KEY_PAGE_DOWN,
	VIEW_KEY_ENTER,
	VIEW_KEY_ESCAPE,
	VIEW_KEY_BACKSPACE,
	VIEW_KEY_TAB,
	VIEW_KEY_BACKTAB,
	VIEW_KEY_RESIZE,
	VIEW_KEY_HELP, /* F1 */
};

/* Where a key has its action; a set of bits. */
enum view_place {
	VIEW_TABLE = 1,
	VIEW_FLAME = 2,
	VIEW_CODE = 4,
	VIEW_LIVE = 8, /* in the table or the flame graph of `ringtail top` */
	VIEW_EVERYWHERE = 7,
};

enum view_action {
	ACTION_NONE,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_LEFT,
	ACTION_RIGHT,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_FIRST,
	ACTION_LAST,
	ACTION_TOP,
	ACTION_MIDDLE,
	ACTION_BOTTOM,
	ACTION_MENU,
	ACTION_ZOOM,
	ACTION_FOLLOW,
	ACTION_BACK,
	ACTION_TOGGLE,
	ACTION_EXPAND,
	ACTION_EXPAND_ALL,
	ACTION_COLLAPSE_ALL,
	ACTION_CODE,
	ACTION_FIND,
	ACTION_NEXT,
	ACTION_PREVIOUS,
	ACTION_THREAD,
	ACTION_DSO,
	ACTION_PERCENT,
	ACTION_FLAME,
	ACTION_ORDER,
	ACTION_SPAN_BEGIN,
	ACTION_SPAN_END,
	ACTION_EVENT,
	ACTION_EVENT_BACK,
	ACTION_HOT,
	ACTION_COPY,
	ACTION_COPY_FILE,
	ACTION_FREEZE,
	ACTION_LONGER,
	ACTION_SHORTER,
	ACTION_SAVE,
	ACTION_HELP,
	ACTION_QUIT,
};

struct key_binding {
	int key[3]; /* 0: no more */
	enum view_action action;
	unsigned int places; /* of enum view_place */
	const char *names;   /* as the help shows them */
	const char *help;
};

/* Returns binding number @i, NULL after the last. */
const struct key_binding *key_binding_at(size_t i);

/* Returns the action of @key at @places, ACTION_NONE if it has none. */
enum view_action key_action(int key, unsigned int places);

#endif

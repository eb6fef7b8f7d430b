# SPDX-License-Identifier: Apache-2.0
"""Small trees that break one rule each, so that a check that no longer finds anything is noticed.

Each tree is SOUND with some files replaced (None: absent), and has words of the fault that the check must find.
SOUND itself must pass every check."""
import os
import shutil
import tempfile

import checks

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

SOUND = {
    'src/meson.build': "subdir('low')\nsubdir('high')\nsubdir('cli')\n",
    'src/low/meson.build': "# Keeps what others need.\n# Knows nobody.\nfloors += {'sources': files('a.c'), 'uses': []}\n",
    'src/low/a.h': '/* SPDX */\n/* Adds numbers. */\nstruct a {\n\tint x;\n};\n\n/* The sum; 0 for none. */\n'
                   'int a_sum(const struct a *a);\nint a_sum_all(void);\n',
    'src/low/a_priv.h': '/* SPDX */\n/* The parts of a. */\nint a_part(void);\n',
    'src/low/a.c': '// SPDX\n#include "low/a.h"\n\nstatic const char *const names[] = {"{", "}"};\n\n'
                   'int a_sum(const struct a *a)\n{\n\tstatic const int step = 1;\n\n\treturn a->x + step;\n}\n',
    'src/high/meson.build': "# Uses what is below.\n# Draws it, too.\n"
                            "floors += {'sources': files('b.c'), 'uses': ['low']}\n",
    'src/high/b.c': '// SPDX\n#include "low/a.h"\n\nstatic int b(void)\n{\n\treturn 0;\n}\n',
    'src/cli/meson.build': "# Is the program.\n# It prints.\nexecutable('x', files('main.c'))\n",
    'src/cli/main.c': '// SPDX\n#include "low/a.h"\n\nint verbose;\n',
    'tests/unit/low/test-a.c': '// SPDX\n/* Sums. */\n',
    'tests/unit/low/test-a-odd.c': '// SPDX\n/* Odd sums. */\n',
    'tests/unit/low/test-all.c': '// SPDX\n/* All of the floor: a.c. */\n',
}


def with_line(path, line):
    """Returns SOUND's file with one more line at its end."""
    return {path: SOUND[path] + line + '\n'}


BROKEN = {
    checks.floors_are_built: [
        ({'src/new/c.c': '\n'}, 'src/new'),
        ({'src/low/b.c': '\n'}, 'src/low/b.c'),
    ],
    checks.includes_go_down: [
        (with_line('src/low/a.c', '#include "high/b.h"'), 'low includes high'),
        (with_line('src/high/b.c', '#include "cli/main.h"'), 'high includes cli'),
        (with_line('src/high/b.c', '#include "lost/c.h"'), 'src/lost is no floor'),
    ],
    checks.includes_form_no_cycle: [
        (with_line('src/low/a.c', '#include "high/b.h"'), 'high includes low'),
    ],
    checks.uses_are_the_includes: [
        ({'src/high/meson.build': "floors += {'uses': []}"}, "lacks 'low'"),
        ({'src/low/meson.build': "floors += {'uses': ['other']}"}, "names 'other'"),
        ({'src/low/meson.build': ''}, 'missing'),
    ],
    checks.floors_tell_their_job: [
        ({'src/low/meson.build': "floors += {}\n# Keeps what others need. Knows nobody.\n"}, '0 sentences'),
        ({'src/high/meson.build': '# Draws what is below.\nfloors += {}\n'}, '1 sentences'),
    ],
    checks.folders_are_small: [
        ({f'src/low/m{n}.c': '\n' for n in range(12)}, '13 modules'),
    ],
    checks.files_are_short: [
        ({'src/low/a.c': '\n' * 801}, '801 lines'),
    ],
    checks.functions_are_short: [
        ({'src/low/a.c': 'int a(void)\n{\n' + '\t;\n' * 78 + '}\n'}, 'a() has 81 lines'),
    ],
    checks.tags_are_unique: [
        (with_line('src/high/b.c', 'struct a {\n\tint y;\n};'), 'tag a'),
        (with_line('src/high/b.c', 'static const enum a {\n\tA_ONE\n} one;'), 'tag a'),
    ],
    checks.state_is_the_callers: [
        (with_line('src/low/a.c', 'int count;'), 'count'),
        (with_line('src/low/a.c', 'static struct a list[2] = {{1}, {2}};'), 'list'),
        (with_line('src/low/a.c', 'static const char *last;'), 'last'),
        (with_line('src/low/a.c', 'static const char *words[] = {"a;", "b"};'), 'words'),
        (with_line('src/low/a.c', 'static int (*hook)(int, const char *);'), 'hook'),
        (with_line('src/low/a.c', 'static _Thread_local struct a *mine;'), 'mine'),
        (with_line('src/low/a.c', 'struct b {\n\tint x;\n} shared;'), 'shared'),
        (with_line('src/low/a.h', 'extern int told;'), 'told'),
        (with_line('src/low/a.c', 'int f(void)\n{\n\tstatic int calls;\n\n\treturn calls++;\n}'), 'calls'),
    ],
    checks.headers_tell_their_purpose: [
        ({'src/low/a.h': '/* SPDX */\n#ifndef A_H\n\n/* The sum. */\nint a(void);\n#endif\n'}, 'a.h:1'),
    ],
    checks.functions_have_contracts: [
        (with_line('src/low/a.h', '\nint a_bare(void);'), 'a_bare()'),
        (with_line('src/low/a.h', '\nvoid a_one(void); /* once */\nstruct a *a_bare(struct a *a,\n\t\t  int x);'), 'a_bare()'),
        (with_line('src/low/a.h', '\nstatic inline int a_bare(void)\n{\n\treturn 0; /* none */\n}'), 'a_bare()'),
    ],
    checks.tests_name_what_they_test: [
        ({'tests/unit/low/test-a.c': '// SPDX\n#include <errno.h>\n'}, 'test-a.c:1'),
        ({'tests/unit/low/test-b.c': '// SPDX\n/* Sums. */\n'}, 'no such module'),
        ({'tests/unit/high/test-a.c': '// SPDX\n/* Sums of a.c. */\n'}, 'no such module'),
    ],
    checks.make_help_has_every_target: [
        ({'Makefile': '#   make   build\n#   make check   test\n.PHONY: all check fuzz\n'}, 'fuzz'),
        ({'Makefile': '.PHONY: all\n'}, 'all'),
    ],
    checks.scripts_hide_no_module: [
        ({'tests/cli/types.py': '\n'}, 'tests/cli/types.py'),
    ],
    checks.versions_agree: [
        ({'meson.build': "project('x',\n    version: '1.2',\n)\n", 'debian/changelog': 'x (1.1) unstable\n'}, '1.2'),
    ],
    checks.code_is_formatted: [
        (with_line('src/low/a.c', 'int  two;'), 'src/low/a.c:'),
    ],
    checks.words_are_spelled: [
        (with_line('src/low/a.c', '/* rec' 'ieve */'), 'src/low/a.c:'),
    ],
}


def faults_of(check, files):
    """Returns the faults that a check finds in a tree of these files."""
    with tempfile.TemporaryDirectory(prefix='ringtail-house-') as top:
        for path, text in files.items():
            path = os.path.join(top, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
        shutil.copy(os.path.join(TOP, '.clang-format'), top)
        return list(check(checks.House(top)))


def failures_of(check):
    """Returns a sentence for each tree that a check judges wrongly."""
    found = faults_of(check, SOUND)
    if found:
        yield f'the sound tree fails: {found[0]}'
    for changes, words in BROKEN.get(check, []):
        found = faults_of(check, {**SOUND, **changes})
        if not any(words in fault for fault in found):
            yield f'finds no "{words}" in {sorted(changes)}: {found}'
    if check not in BROKEN:
        yield 'no tree breaks it'


def try_check(check):
    """Tries a check on its broken trees and prints the result. Returns whether the check finds the faults."""
    name = f'{check.__name__} finds what is broken'
    try:
        failures = list(failures_of(check))
    except checks.Skip as reason:
        print('skip', name, reason)
        return True
    for failure in failures:
        print('FAIL', name, failure)
    if not failures:
        print('ok', name)
    return not failures

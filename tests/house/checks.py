# SPDX-License-Identifier: Apache-2.0
"""The rules for the tree's source. A check yields a sentence for each fault, 'PATH:LINE: ...' if it has a line.

House reads the files of a tree once. FLOOR stands for a folder below src/ that holds C files."""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys

import csource

# Variables of the whole process that floors may have, and why.
PROCESS_STATE = {
    ('src/base/hash.c', 'drawn'): 'the key of all hashes: drawn once by whichever thread is first, then constant',
    ('src/cli/terminal/pager.c', 'pager'): 'the process has one standard output, and a signal handler needs the pager',
    ('src/cli/terminal/terminal.c', 'terminal'): 'likewise: all commands and messages share the terminal',
    ('src/auxtrace/coresight/tree.c', 'lock'): 'libopencsd has state of the process, which only a lock of it can guard',
}
FUNCTION_LINES = 80
FILE_LINES = 800
FOLDER_MODULES = 12
CLANG_FORMAT = 14  # others break some lines elsewhere
TOP_FLOOR = 'cli'  # no floor includes it; variables and effects on the process are its business
TEXTS = ['.clang-tidy', '.codespellrc', 'Makefile', '*.md', '*.build', 'bench', 'contrib', 'demo', 'docs', 'include',
         'examples', 'man', 'scripts', 'src', 'tests']


class Skip(Exception):
    """A check that cannot run here; its text says why."""


class House:
    """The tree below @top."""

    def __init__(self, top):
        self.top = top
        self.sources = [self._source(path) for path in self.find('src', ('.c', '.h'))]
        self.headers = [source for source in self.sources if source.path.endswith('.h')]
        self.headers += [self._source(path) for path in self.find('include', '.h')]
        self.floors = sorted({self.floor(source) for source in self.sources})
        self.build = {floor: self.read(f'src/{floor}/meson.build') for floor in self.floors}
        self.order = self._order()

    def find(self, below, endings):
        """Returns the paths of the files below a folder whose names end with one of @endings."""
        return sorted(os.path.relpath(os.path.join(folder, name), self.top)
                      for folder, _, names in os.walk(os.path.join(self.top, below))
                      for name in names if name.endswith(endings))

    def read(self, path):
        """Returns the text of a file; '' if there is no such file."""
        try:
            with open(os.path.join(self.top, path), encoding='utf-8') as f:
                return f.read()
        except FileNotFoundError:
            return ''

    def _source(self, path):
        return csource.Source(path, self.read(path))

    @staticmethod
    def floor(source):
        return os.path.dirname(source.path).removeprefix('src').lstrip('/')

    def _order(self):
        """Returns the floors in the order of src/meson.build, the lowest first."""
        return re.findall(r"^\s*subdir\('([^']+)'\)", self.read('src/meson.build'), re.M)

    def uses(self, floor):
        """Returns the list `uses` of a floor's meson.build; None if it has no such list."""
        found = re.search(r"'uses':\s*\[(.*?)\]", self.build[floor], re.S)
        return re.findall(r"'([^']+)'", found[1]) if found else None

    def edges(self):
        """Returns {floor: {floor that it includes: 'PATH:LINE' of the first such include}}."""
        graph = {floor: {} for floor in self.floors}
        for source in self.sources:
            here = self.floor(source)
            for number, path in source.includes():
                there = os.path.dirname(path)
                if there and there != here:
                    graph[here].setdefault(there, f'{source.path}:{number}')
        return graph

    def modules(self, floor):
        """Returns the modules of a folder. x_y.c and x_y.h belong to x if x.c or x.h exists."""
        stems = {os.path.splitext(os.path.basename(source.path))[0].replace('-', '_')
                 for source in self.sources if self.floor(source) == floor}
        stems = {stem.removesuffix('_priv') for stem in stems}
        return sorted(stem for stem in stems
                      if not any(stem.startswith(other + '_') for other in stems))


def floors_are_built(house):
    """Every folder with C files is a floor, and every C file is compiled."""
    for floor in house.floors:
        if floor not in house.order:
            yield f'src/{floor}: src/meson.build does not enter it'
        for source in house.sources:
            name = os.path.basename(source.path)
            if house.floor(source) == floor and name.endswith('.c') and f"'{name}'" not in house.build[floor]:
                yield f'{source.path}: src/{floor}/meson.build does not name it'


def includes_go_down(house):
    """A floor includes only floors below it: those that src/meson.build enters earlier."""
    height = {floor: number for number, floor in enumerate(house.order)}
    for floor, edges in house.edges().items():
        for other, place in edges.items():
            if other not in height:
                yield f'{place}: src/{other} is no floor'
            elif height[other] > height.get(floor, len(height)):
                yield f'{place}: {floor} includes {other}, which stands above it'


def find_cycle(graph):
    """Returns the nodes of a cycle, the first node again at the end; None without a cycle."""
    done = set()

    def visit(node, path):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        for other in sorted(graph.get(node, ())):
            cycle = visit(other, path + [node])
            if cycle:
                return cycle
        done.add(node)
        return None

    return next(filter(None, (visit(node, []) for node in sorted(graph))), None)


def includes_form_no_cycle(house):
    """The includes between folders form no cycle."""
    graph = house.edges()
    cycle = find_cycle(graph)
    if cycle:
        yield 'cycle: ' + '; '.join(f'{a} includes {b} ({graph[a][b]})' for a, b in zip(cycle, cycle[1:]))


def uses_are_the_includes(house):
    """`uses` of a floor names exactly the floors that it includes itself.

    The compiler also sees the floors that those use. But a floor included only through another would break when
    that one changes, and the list would hide it."""
    graph = house.edges()
    for floor in house.floors:
        uses = house.uses(floor)
        if floor == TOP_FLOOR:
            continue  # it may include every floor
        if uses is None:
            yield f"src/{floor}/meson.build: 'uses' is missing"
            continue
        for other in sorted(graph[floor].keys() - set(uses)):
            yield f"src/{floor}/meson.build: 'uses' lacks '{other}', which {graph[floor][other]} includes"
        for other in sorted(set(uses) - graph[floor].keys()):
            yield f"src/{floor}/meson.build: 'uses' names '{other}', which no file includes"


def floors_tell_their_job(house):
    """The comment at the head of each floor's meson.build tells the floor's job in two sentences."""
    for floor in house.floors:
        head = re.match(r'(?:# SPDX[^\n]*\n)?((?:#[^\n]*\n)*)', house.build[floor])[1]
        text = ' '.join(re.sub(r'^#', '', head, flags=re.M).split())
        sentences = len(re.findall(r'[^.!?]{8,}[.!?](?=\s|$)', text))
        if sentences != 2:
            yield f'src/{floor}/meson.build: its head comment has {sentences} sentences; two tell the job of the floor'


def folders_are_small(house):
    """No folder of src/ has more than a dozen modules."""
    for floor in house.floors:
        modules = house.modules(floor)
        if len(modules) > FOLDER_MODULES:
            yield f'src/{floor}: {len(modules)} modules, more than {FOLDER_MODULES}: {", ".join(modules)}'


def files_are_short(house):
    """No file of src/ is over 800 lines."""
    for source in house.sources:
        if len(source.lines) > FILE_LINES:
            yield f'{source.path}: {len(source.lines)} lines, more than {FILE_LINES}'


def functions_are_short(house):
    """No function is over 80 lines, from its name to its last brace."""
    for source in house.sources:
        for item in source.items:
            lines = item.last - item.first + 1
            if item.kind == 'function' and lines > FUNCTION_LINES:
                yield f'{source.path}:{item.first}: {item.name}() has {lines} lines, more than {FUNCTION_LINES}'


def tags_are_unique(house):
    """A struct, union or enum tag is defined once."""
    places = collections.defaultdict(list)
    for source in house.sources:
        for number, tag in source.tags():
            places[tag.split()[1]].append(f'{source.path}:{number}')
    for tag, where in sorted(places.items()):
        if len(where) > 1:
            yield f'{where[0]}: tag {tag} is defined again in {", ".join(where[1:])}'


def state_is_the_callers(house):
    """No variable lives as long as the process, outside src/cli."""
    for source in house.sources:
        if house.floor(source) == TOP_FLOOR:
            continue
        for item in source.items:
            if item.kind == 'variable' and not csource.is_constant(item.head):
                yield f'{source.path}:{item.first}: {item.name} is a mutable variable of the whole process'
            for number, declaration in source.static_variables(item):
                name = re.search(r'(\w+)(?: ?\[[^\]]*\])*$', declaration)
                if not csource.is_constant(declaration) and (source.path, name and name[1]) not in PROCESS_STATE:
                    yield f'{source.path}:{number}: static {declaration} is a mutable variable of the whole process'


def has_contract(source, item):
    """Returns whether a declaration has a comment: on its lines, before it, or before its group."""
    if any('/*' in line for line in source.lines[item.first - 1:item.last - item.body.count('\n')]):
        return True
    for line in reversed(source.lines[:item.first - 1]):
        if not line.strip() or line.startswith('#'):
            return False
        if line.lstrip().startswith(('/*', '*', '//')):
            return True
    return False


def functions_have_contracts(house):
    """Each function that a header other than *_priv.h declares has a comment, its own or its group's.

    A group is a block of lines without an empty line."""
    for source in house.headers:
        if not source.path.endswith('_priv.h'):
            for item in source.items:
                if item.kind in ('function', 'prototype') and not has_contract(source, item):
                    yield f'{source.path}:{item.first}: {item.name}() has no contract'


def headers_tell_their_purpose(house):
    """Each header begins with a comment about its module."""
    for source in house.headers:
        if not source.head_comment():
            yield f'{source.path}:1: no comment at its head tells what the module is'


def unit_tests(house):
    """Yields (path, floor, name with underscores) of each tests/unit/FLOOR/test-NAME.c."""
    for path in house.find('tests/unit', '.c'):
        name = os.path.basename(path)
        if name.startswith('test-'):
            yield path, os.path.dirname(path).removeprefix('tests/unit/'), name[5:-2].replace('-', '_')


def stems(house, floor):
    """Returns the names of a floor's files, without their endings and with underscores."""
    return {os.path.splitext(os.path.basename(source.path))[0].replace('-', '_')
            for source in house.sources if house.floor(source) == floor}


def tests_name_what_they_test(house):
    """tests/unit/FLOOR/test-X.c tests src/FLOOR/X.c, or X-ASPECT does; else its head comment names the files."""
    for path, floor, name in unit_tests(house):
        source = csource.Source(path, house.read(path))
        known, comment = stems(house, floor), source.head_comment()
        if not comment:
            yield f'{path}:1: no comment at its head tells what it tests'
        elif not any(name == stem or name.startswith(stem + '_') for stem in known):
            named = {word.replace('-', '_') for word in re.findall(r'([\w-]+)\.[ch]\b', comment)}
            if not named & known:
                yield f'{path}: src/{floor} has no such module, and its head comment names no file of src/{floor}'


def make_help_has_every_target(house):
    """The comment at the Makefile's head, which `make help` prints, has a line for each phony target."""
    makefile = house.read('Makefile')
    phony = re.search(r'^\.PHONY: (.*)', makefile, re.M)
    told = set(re.findall(r'^#   make ?([\w-]*)', makefile, re.M))
    for target in phony[1].split() if phony else []:
        if ('' if target == 'all' else target) not in told:
            yield f'Makefile: its head has no line for {target}'


def scripts_hide_no_module(house):
    """No Python file has the name of a module of Python's library, which the scripts beside it would import instead."""
    for folder in 'tests', 'scripts', 'bench', 'contrib', 'examples':
        for path in house.find(folder, '.py'):
            if os.path.basename(path).removesuffix('.py') in sys.stdlib_module_names:
                yield f'{path}: the scripts beside it import it as the module of Python\'s library; give it another name'


def versions_agree(house):
    """The Debian package has the version of meson.build."""
    ours = re.search(r"^ *version: '(.*)',$", house.read('meson.build'), re.M)
    packaged = re.match(r'\S+ \(([^)-]*)', house.read('debian/changelog'))
    if (ours and ours[1]) != (packaged and packaged[1]):
        yield (f'debian/changelog: its first version is {packaged and packaged[1]}, and that of meson.build '
               f'{ours and ours[1]}; change both')


def code_is_formatted(house):
    """clang-format 14 would change nothing."""
    for program in f'clang-format-{CLANG_FORMAT}', 'clang-format':
        if shutil.which(program):
            version = subprocess.run([program, '--version'], capture_output=True, text=True, check=True).stdout
            if re.search(rf'version {CLANG_FORMAT}\.', version):
                break
    else:
        raise Skip(f'clang-format {CLANG_FORMAT} is not installed (Debian 12 has it)')
    paths = [path for folder in ('src', 'tests', 'bench', 'demo', 'include', 'examples')
             for path in house.find(folder, ('.c', '.h')) if not path.startswith('tests/data/')]
    run = subprocess.run([program, '--dry-run', '--ferror-limit=1', *paths], cwd=house.top, capture_output=True,
                         text=True, check=False)
    found = re.findall(r'^(\S+?:\d+):\d+: (?:warning|error): code should be clang-formatted', run.stderr, re.M)
    for place in sorted({place.split(':')[0]: place for place in reversed(found)}.values()):
        yield f'{place}: not formatted; run: {program} -i {place.split(":")[0]}'
    if run.returncode and not found:
        yield f'{program}: {run.stderr[:300]}'


def words_are_spelled(house):
    """codespell finds nothing (.codespellrc has its settings)."""
    if not shutil.which('codespell'):
        raise Skip('codespell is not installed (Debian package codespell)')
    paths = [path for pattern in TEXTS for path in sorted(glob.glob(os.path.join(house.top, pattern)))]
    run = subprocess.run(['codespell', *(os.path.relpath(path, house.top) for path in paths)], cwd=house.top,
                         capture_output=True, text=True, check=False)
    found = [line for line in run.stdout.splitlines() if '==>' in line]
    yield from found
    if run.returncode and not found:
        yield f'codespell: {run.stderr[:300]}'


ALL = [floors_are_built, includes_go_down, includes_form_no_cycle, uses_are_the_includes, floors_tell_their_job,
       folders_are_small, files_are_short, functions_are_short, tags_are_unique, state_is_the_callers,
       headers_tell_their_purpose, functions_have_contracts, tests_name_what_they_test,
       make_help_has_every_target, scripts_hide_no_module, versions_agree, code_is_formatted, words_are_spelled]

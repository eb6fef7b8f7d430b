# SPDX-License-Identifier: Apache-2.0
"""Reads C source of kernel style: its functions, declarations and variables. No preprocessor runs.

A Source is one file. Lines are numbered from 1.
"""
import collections
import re

# What stands at file scope: kind is 'function' (with a body), 'prototype', 'variable' or 'other'.
# @head is the text before the body or initializer, without comments, on one line.
Item = collections.namedtuple('Item', 'kind name head first last body')

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
ATTRIBUTE = re.compile(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\b_Alignas\s*\([^()]*\)')
TAG = re.compile(r'\b(struct|union|enum)\s+(\w+)\s*\{')
NO_DECLARATION = re.compile(r'(typedef|_Static_assert|static_assert)\b')


def blank(text):
    """Replaces all characters but line ends by spaces."""
    return re.sub(r'[^\n]', ' ', text)


def without_comments(text):
    """Returns the text with comments and quoted strings blanked."""
    return COMMENT_OR_TEXT.sub(lambda m: blank(m[0]) if m[0][0] == '/' else m[0][0] + blank(m[0][1:-1]) + m[0][0], text)


def is_constant(declaration):
    """Returns whether the declared object itself, not only its target, is const. @declaration ends before '=' or
    ';'."""
    declaration = re.sub(r'\[[^\]]*\]', '', declaration)
    return bool(re.search(r'\bconst\b', declaration.rsplit('*', 1)[-1]))


class Source:
    """One C file; @path is relative to the tree's top."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.lines = text.splitlines()
        self.code = without_comments(text)  # of the same length
        self.plain = DIRECTIVE.sub(lambda m: blank(m[0]), self.code)
        self.items = list(self._items())

    def line(self, offset):
        return self.text.count('\n', 0, offset) + 1

    def includes(self):
        """Yields (line, quoted path) of each #include "..."."""
        for number, line in enumerate(self.lines, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match[1]

    def tags(self):
        """Yields (line, 'struct NAME') of each definition."""
        for match in TAG.finditer(self.plain):
            yield self.line(match.start()), f'{match[1]} {match[2]}'

    def _items(self):
        """Splits file scope at each ';' and at the '}' of each function."""
        begin, depth, body, initializer = 0, 0, None, False
        for match in re.finditer(r'[{}();=]', self.plain):
            char, at = match[0], match.start()
            if char in '({':
                if char == '{' and not depth and body is None and not initializer:
                    body = at
                depth += 1
            elif char in ')}':
                depth -= 1
            elif char == '=' and not depth:
                initializer = True
            head = self.plain[begin:body if body is not None else at]
            function = body is not None and ATTRIBUTE.sub('', head).rstrip().endswith(')')
            if not depth and (char == ';' or char == '}' and function):
                yield self._item(begin, body, at, function)
                begin, body, initializer = at + 1, None, False

    def _item(self, begin, body, end, function):
        chunk = self.plain[begin:end]
        first = begin + len(chunk) - len(chunk.lstrip())
        head = chunk[:body - begin] if function else re.sub(r'\{.*\}', ' ', chunk, flags=re.S).split('=')[0]
        head = ' '.join(ATTRIBUTE.sub(' ', head).split())
        name, kind = None, 'other'
        callee = re.search(r'(\w+) ?\(', head)
        pointer = re.search(r'\( ?\*[^()]*?(\w+)(?: ?\[[^\]]*\])* ?\) ?\(', head)
        if function:
            kind, name = 'function', callee and callee[1]
        elif NO_DECLARATION.match(head) or re.fullmatch(r'(?:(?:struct|union|enum)\b ?\w*)?', head):
            pass
        elif pointer and pointer.start() <= callee.start(1) + len(callee[1]) + 1:
            kind, name = 'variable', pointer[1]
            head = head[:pointer.end(1)]
        elif callee:
            kind, name = 'prototype', callee[1]
        else:
            word = re.search(r'(\w+)(?: ?\[[^\]]*\])*$', head.split(',')[0])
            kind, name = 'variable', word and word[1]
        return Item(kind, name, head, self.line(first), self.line(end),
                    self.plain[body:end] if function else '')

    def static_variables(self, item):
        """Yields (line, declaration) of each static variable in a function's body."""
        for match in re.finditer(r'\bstatic\b([^;={(]*)', item.body):
            yield item.last - item.body.count('\n', match.start()), ' '.join(match[1].split())

    def head_comment(self):
        """Returns the comment after the line with the licence; '' without one."""
        text = re.sub(r'^(?:/\* SPDX[^\n]*\*/|// SPDX[^\n]*)\n', '', self.text)
        match = re.match(r'\s*/\*(.*?)\*/', text, re.S)
        return ' '.join(re.sub(r'^\s*\*', '', match[1], flags=re.M).split()) if match else ''

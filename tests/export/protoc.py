# SPDX-License-Identifier: Apache-2.0
"""Reads protobuf by protoc and a .proto beside this file."""
import collections
import os
import re
import shutil
import subprocess

from lab import Skipped, expect

HERE = os.path.dirname(os.path.abspath(__file__))
ESCAPE = re.compile(rb'\\([0-7]{3}|.)')
LETTERS = {b'n': b'\n', b'r': b'\r', b't': b'\t'}


def unescape(text):
    """The bytes of a string as protoc prints it."""
    return ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else LETTERS.get(m[1], m[1]), text)


class Message(collections.defaultdict):
    """{field: [values]}: numbers, bytes and messages."""

    def __init__(self):
        super().__init__(list)

    def first(self, field, default=0):
        return self[field][0] if field in self else default

    def text(self, field):
        return self.first(field, b'').decode('utf-8')


def decode(schema, name, data):
    """Decodes @data as message @name of @schema. A field that the schema does not have fails."""
    if not shutil.which('protoc'):
        raise Skipped('protoc is not installed (Debian package protobuf-compiler)')
    p = subprocess.run(['protoc', f'--proto_path={HERE}', f'--decode={name}', schema], input=data, capture_output=True,
                       timeout=300, check=False)
    expect(f'protoc decodes {name}:', p.returncode == 0, p.stderr[-400:])
    top = Message()
    stack = [top]
    for line in p.stdout.split(b'\n'):
        line = line.strip(b' ')
        if not line:
            continue
        if line == b'}':
            stack.pop()
            continue
        field, _, value = line.partition(b' ')
        expect('the schema has the field', not field[:1].isdigit(), line)
        if value == b'{':
            stack.append(Message())
            stack[-2][field.decode()].append(stack[-1])
        else:
            field = field.rstrip(b':').decode()
            stack[-1][field].append(unescape(value[1:-1]) if value[:1] == b'"' else int(value))
    return top

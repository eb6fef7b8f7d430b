#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the C source of the HTML page of its parts.

usage: embed.py OUTPUT PAGE STYLE SCRIPT ...

PAGE has a line for each of <!--policy-->, <!--style-->, <!--data--> and <!--script-->, which are replaced. The policy
allows the style and the scripts by their hashes.
"""
import base64
import hashlib
import re
import sys


def read(path):
    with open(path, encoding='utf-8') as f:
        return re.sub(r'\A(//|/\*) SPDX[^\n]*\n', '', f.read())


def digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def literal(text):
    """@text as a C array: a string literal may be too long for a compiler."""
    numbers = [str(byte) for byte in text.encode()] + ['0']
    lines = [','.join(numbers[i:i + 32]) for i in range(0, len(numbers), 32)]
    return '{\n' + ',\n'.join(lines) + '\n}'


def main():
    output, page, style, *scripts = sys.argv[1:]
    page, style = read(page), '\n' + read(style)
    script = '\n"use strict";\n(() => {\n' + ''.join(read(path) for path in scripts) + '})();\n'
    policy = f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; worker-src blob:; base-uri 'none'; form-action 'none'"
    for mark, text in (('policy', f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
                       ('style', f'<style>{style}</style>'), ('script', f'<script>{script}</script>')):
        if '</' + mark in text[len(mark) + 2:-len(mark) - 3] or page.count(f'<!--{mark}-->') != 1:
            sys.exit(f'embed.py: {mark} cannot be embedded')
        page = page.replace(f'<!--{mark}-->', text)
    head, tail = page.split('<!--data-->\n')
    with open(output, 'w', encoding='ascii') as f:
        f.write('#include "export/html/page.h"\n')
        for name, text in (('head', head), ('tail', tail)):
            f.write(f'const char html_page_{name}[] = {literal(text)};\n')


main()

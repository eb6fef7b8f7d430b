# SPDX-License-Identifier: Apache-2.0
"""Makes a page of the cells of a terminal, as tmux captures them with escapes, for a picture."""
import html
import re

PIECE = re.compile('\x1b\\[([0-9;]*)m|([^\x1b]+)|\x1b.')
BASIC = ['#000000', '#cc3a3a', '#4e9a42', '#c4a000', '#3465a4', '#75507b', '#06989a', '#d3d7cf']
STEPS = [0, 95, 135, 175, 215, 255]
CELL = 7.83, 18  # pixels of a character of 13 pixels


def color(number):
    """A colour of 256 as in xterm."""
    if number < 16:
        return BASIC[number % 8]
    if number >= 232:
        return '#' + f'{8 + 10 * (number - 232):02x}' * 3
    number -= 16
    return '#' + ''.join(f'{STEPS[number // n % 6]:02x}' for n in (36, 6, 1))


class Style:
    def __init__(self):
        self.fore, self.back, self.bold, self.reverse = None, None, False, False

    def take(self, codes):
        codes = [int(code or 0) for code in codes.split(';')]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code == 1:
                self.bold = True
            elif code == 7:
                self.reverse = True
            elif code in (38, 48) and len(codes) > 1 and codes[0] == 5:
                setattr(self, 'fore' if code == 38 else 'back', color(codes[1]))
                codes = codes[2:]
            elif code in (39, 49):
                setattr(self, 'fore' if code == 39 else 'back', None)
            elif 30 <= code < 38:
                self.fore = BASIC[code - 30]
            elif 40 <= code < 48:
                self.back = BASIC[code - 40]

    def css(self):
        fore, back = self.fore or '#d8d8d8', self.back or '#16181c'
        if self.reverse:
            fore, back = back, fore
        return f'color:{fore};background:{back}' + (';font-weight:bold' if self.bold else '')


def page(lines):
    """HTML of the lines; browser.Browser.open() takes it."""
    style, out = Style(), []
    for line in lines:
        for codes, text in ((m[1], m[2]) for m in PIECE.finditer(line)):
            if text:
                out.append(f'<span style="{style.css()}">{html.escape(text)}</span>')
            elif codes is not None:
                style.take(codes)
        out.append('\n')
    return ('<!DOCTYPE html><html data-state="ready"><meta charset="utf-8"><style>body{margin:0;background:#16181c;color:#d8d8d8}'
            f'pre{{margin:6px;font:13px/{CELL[1]}px "DejaVu Sans Mono",monospace}}'
            f'span{{display:inline-block;height:{CELL[1]}px;vertical-align:top}}</style><pre>{"".join(out)}</pre></html>')

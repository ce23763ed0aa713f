# SPDX-License-Identifier: GPL-2.0-only
"""A terminal's screen, with its colours as escape sequences, as a picture."""

import re
import unicodedata
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 8.4, 18, 12  # of a cell, and around all of them
PAPER, INK = "#16181d", "#d8dbe2"
COLOURS = ["#4a4f5a", "#f2777a", "#8fc97c", "#e5c07b", "#6cb2f0", "#c48be0", "#5fc4c9", "#d8dbe2",
           "#7f8694", "#ff9a9d", "#b0e39f", "#f5d899", "#98cdfb", "#dcb2f2", "#8ee3e7", "#ffffff"]


def colour(number):
    """Of the 256 that a terminal has."""
    if number < 16:
        return COLOURS[number]
    if number >= 232:
        return "#" + "%02x" % (8 + 10 * (number - 232)) * 3
    levels = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#%02x%02x%02x" % (levels[number // 36], levels[number // 6 % 6], levels[number % 6])


class Style:
    """How characters look from here on."""

    def __init__(self):
        self.bold = self.dim = self.reverse = False
        self.ink = self.paper = None

    def take(self, numbers):
        while numbers:
            n = numbers.pop(0)
            if n == 0:
                self.__init__()
            elif n in (1, 2, 7):
                setattr(self, {1: "bold", 2: "dim", 7: "reverse"}[n], True)
            elif n == 22:
                self.bold = self.dim = False
            elif n == 27:
                self.reverse = False
            elif n in (38, 48) and numbers[:1] == [5]:
                setattr(self, "ink" if n == 38 else "paper", colour(numbers[1]))
                del numbers[:2]
            elif n in (39, 49):
                setattr(self, "ink" if n == 39 else "paper", None)
            elif n // 10 in (3, 9):
                self.ink = colour(n % 10 + (8 if n >= 90 else 0))
            elif n // 10 in (4, 10):
                self.paper = colour(n % 10 + (8 if n >= 100 else 0))

    def draw(self, text, x, y):
        ink, paper = self.ink or INK, self.paper
        if self.reverse:
            ink, paper = paper or PAPER, ink
        parts = []
        if paper:
            parts.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
                x, y - HEIGHT + 5, cells_of(text) * WIDTH, HEIGHT, paper))
        # Words stand where they stand, whatever the font is.
        for word in re.finditer(r"\S+(?: \S+)*", text):
            parts.append('<text x="%.1f" y="%d" textLength="%.1f" fill="%s"%s%s>%s</text>' % (
                x + cells_of(text[:word.start()]) * WIDTH, y, cells_of(word[0]) * WIDTH, ink,
                ' font-weight="bold"' if self.bold else "", ' opacity=".6"' if self.dim else "",
                escape(word[0])))
        return parts


def cells_of(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def svg(screen, columns):
    """The picture of lines that are `columns` wide."""
    lines = screen.rstrip("\n").split("\n")
    style, parts = Style(), []
    for number, line in enumerate(lines):
        x, y = MARGIN, MARGIN + (number + 1) * HEIGHT - 5
        for text, codes in re.findall(r"([^\x1b]+)|\x1b\[([0-9;]*)m", line):
            if text:
                parts += style.draw(text, x, y)
                x += cells_of(text) * WIDTH
            else:
                style.take([int(code or 0) for code in codes.split(";")])
    width, height = 2 * MARGIN + columns * WIDTH, 2 * MARGIN + len(lines) * HEIGHT
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
        'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
        'xml:space="preserve">' % (width, height, width, height),
        '<rect width="100%%" height="100%%" rx="8" fill="%s"/>' % PAPER, *parts, "</svg>", ""])

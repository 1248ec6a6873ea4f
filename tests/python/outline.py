"""The blocks of a document's Markdown pages and the headings above them.

The same rules as the chunker of this workspace, over Python strings: offsets are characters of
the joined pages, and become bytes only in the spans.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate

HEADING, PROSE, ROWS, TABLES = "heading", "prose", "rows", "tables"
PARAGRAPH, ITEM, TABLE, CODE = "paragraph", "item", "table", "code"

LONGEST_HEADING_BYTES = 300
HEADING_LINES = 3
FRONT_MATTER_LINES = 100


def lines_of(text):
    """The lines of `text`, each with its line end."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def border(before, after):
    """What lies between two pages: nothing, another place, or one with headings of its own."""
    kinds = before["kind"], after["kind"]
    if kinds == ("pdf_page", "pdf_page") or set(kinds) <= {"section", "block"}:
        return None
    if kinds == ("entry", "entry") and before["path"] == after["path"]:
        return border(before["inner"], after["inner"])
    if before == after:
        return None
    return "place" if kinds == ("part", "part") else "fresh"


class Document:
    """All pages joined without a separator."""

    def __init__(self, pages):
        """`pages` are page number, Markdown and locator."""
        self.text = "".join(markdown for _, markdown, _ in pages)
        self.pages, self.places, self.borders = [], [], []
        at, before = 0, None
        for number, markdown, locator in pages:
            self.pages.append((number, at, at + len(markdown)))
            at += len(markdown)
            self.borders.append(border(before, locator) if before else None)
            place = self.places[-1] if self.places else 0
            self.places.append(place + bool(self.borders[-1]))
            before = locator
        self.ends = [end for _, _, end in self.pages]
        # bytes[i] is the number of UTF-8 bytes before character i.
        self.bytes = [0, *accumulate(len(c.encode()) for c in self.text)]

    def page_at(self, offset):
        """Index of the page that holds the character at `offset`."""
        return bisect_right(self.ends, offset)

    def size(self, start, end):
        """UTF-8 bytes of a range."""
        return self.bytes[end] - self.bytes[start]

    def spans(self, start, end):
        """A range page by page, in bytes of each page."""
        found = []
        for number, first, last in self.pages:
            low, high = max(start, first), min(end, last)
            if low < high:
                span = {"page": number, "start": self.size(first, low), "end": self.size(first, high)}
                found.append(span)
        return found


@dataclass
class Block:
    """A block: what is between blocks is white space and rules."""

    start: int
    end: int
    kind: str
    section: int


@dataclass
class Open:
    """A block whose end is not known yet."""

    start: int
    end: int
    shape: str
    lines: int


def opening_fence(body):
    """Mark and length of the fence that `body` opens, or None."""
    mark = body[:1]
    if mark not in ("`", "~") or not mark:
        return None
    info = body.lstrip(mark)
    length = len(body) - len(info)
    return (mark, length) if length >= 3 and not (mark == "`" and "`" in info) else None


def closing_fence(body):
    """Mark and length of the fence that `body` closes, or None."""
    fence = opening_fence(body)
    return fence if fence and set(body.rstrip()) == {fence[0]} else None


class Fences:
    """All lines that may close a fence."""

    def __init__(self, text):
        found = []
        at = 0
        for line in lines_of(text):
            fence = closing_fence(line.strip())
            if fence:
                found.append((at, fence))
            at += len(line)
        longest = {"`": 0, "~": 0}
        self.closings = []
        for at, (mark, length) in reversed(found):
            longest[mark] = max(longest[mark], length)
            self.closings.append((at, dict(longest)))
        self.closings.reverse()

    def closes_after(self, fence, offset):
        """Whether a line at or after `offset` closes `fence`."""
        index = bisect_left(self.closings, offset, key=lambda closing: closing[0])
        return index < len(self.closings) and self.closings[index][1][fence[0]] >= fence[1]


class Outline:
    """The blocks in order, and the heading path of each section; section 0 has none."""

    def __init__(self, document):
        self.document = document
        self.blocks = []
        self.sections = [[]]
        self.fences = Fences(document.text)
        self.stack = []
        self.open = None
        self.fence = None
        for index in range(len(document.pages)):
            self._page(index)

    def _page(self, index):
        crossed = self.document.borders[index]
        if crossed:
            self.fence = None
            if crossed == "fresh":
                self.stack = []
            self.sections.append([heading for _, heading in self.stack])
        _, start, end = self.document.pages[index]
        text = self.document.text[start:end]
        at = start
        matter = front_matter(text) if index == 0 else 0
        for line in lines_of(text):
            span = (at, at + len(line))
            at = span[1]
            if matter > 0:
                matter -= len(line)
                self._extend(span, CODE)
                if matter <= 0:
                    self._close()
            else:
                self._line(line.rstrip(), span)
        self._close()
        if self.fence and not self.fences.closes_after(self.fence, end):
            self.fence = None

    def _line(self, line, span):
        body = line.lstrip()
        indent = len(line) - len(body)
        if self.fence:
            closing = closing_fence(body)
            self._extend(span, CODE)
            if closing and closing[0] == self.fence[0] and closing[1] >= self.fence[1]:
                self.fence = None
                self._close()
        elif not body:
            self._close()
        elif opening_fence(body):
            self._close()
            self.fence = opening_fence(body)
            self._extend(span, CODE)
        elif indent <= 3 and atx_heading(body):
            self._close()
            self._heading(*atx_heading(body), span)
        elif indent <= 3 and set(body) in ({"="}, {"-"}):
            self._underlined(1 if body[0] == "=" else 2, span)
        elif is_rule(body):
            self._close()
        elif body.startswith("|"):
            self._extend(span, TABLE)
        elif re.match(r"(?:[-*+>•]|[0-9]{1,9}[.)])[ \t]", body):
            self._close()
            self._extend(span, ITEM)
        else:
            self._extend(span, PARAGRAPH)

    def _extend(self, span, shape):
        if self.open:
            goes_on = self.open.shape == shape and shape != PARAGRAPH
            if shape == PARAGRAPH and self.open.shape == PARAGRAPH:
                self.open.lines += 1
                goes_on = True
            if shape == PARAGRAPH and self.open.shape == ITEM:
                goes_on = True
            if goes_on:
                self.open.end = span[1]
                return
        self._close()
        self.open = Open(span[0], span[1], shape, 1)

    def _close(self):
        if self.open:
            kind = {TABLE: TABLES, CODE: ROWS}.get(self.open.shape, PROSE)
            self._push(self.open.start, self.open.end, kind)
            self.open = None

    def _push(self, start, end, kind):
        self.blocks.append(Block(start, end, kind, len(self.sections) - 1))

    def _underlined(self, level, span):
        above = self.open
        if not above or above.shape != PARAGRAPH or above.lines > HEADING_LINES:
            self._close()
            return
        self.open = None
        title = self.document.text[above.start : above.end]
        self._heading(level, title, (above.start, span[1]))

    def _heading(self, level, title, span):
        if len(title.encode()) > LONGEST_HEADING_BYTES:
            self._push(span[0], span[1], PROSE)
            return
        self.stack = [entry for entry in self.stack if entry[0] < level]
        plain = plain_title(title)
        if plain:
            self.stack.append((level, plain))
        self.sections.append([heading for _, heading in self.stack])
        self._push(span[0], span[1], HEADING)


def atx_heading(body):
    """Level and title of an ATX heading, or None."""
    rest = body.lstrip("#")
    level = len(body) - len(rest)
    return (level, rest.strip()) if 1 <= level <= 6 and (not rest or rest[0] in " \t") else None


def is_rule(body):
    """Whether `body` is a rule such as `* * *`."""
    marks = [c for c in body if not c.isspace()]
    return len(marks) >= 3 and marks[0] in "*-_" and set(marks) == {marks[0]}


def front_matter(text):
    """Length of the front matter that `text` begins with, 0 without one."""
    length = 0
    for number, line in enumerate(lines_of(text)[:FRONT_MATTER_LINES]):
        length += len(line)
        if number == 0 and line.rstrip() != "---":
            return 0
        if number > 0 and line.rstrip() in ("---", "..."):
            return length
    return 0


def plain_title(title):
    """A heading's words without Markdown's marks: the common ones, not all of CommonMark."""
    plain = " ".join(title.split())
    plain = re.sub(r"(?:^| )#+$", "", plain)
    plain = re.sub(r" ?\{[#.][^{}]*\}$", "", plain)
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    plain = re.sub(r"(\*{1,3})(?=\S)(.+?)(?<=\S)\1", r"\2", plain)
    plain = re.sub(r"(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", plain)
    plain = re.sub(r"(`+)(.+?)\1", r"\2", plain)
    plain = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", plain)
    return plain.strip()


def header_length(text):
    """Length of the header row and the rule that a table begins with, 0 without."""
    header, rule = (lines_of(text) + ["", ""])[:2]
    named = header.lstrip().startswith("|") and any(c.isalnum() for c in header)
    ruled = rule.strip().startswith("|") and "-" in rule and set(rule.strip()) <= set("|-: ")
    return len(header) + len(rule) if named and ruled else 0

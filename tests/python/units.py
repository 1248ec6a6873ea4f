"""Sentences, tokens and units: the pieces that chunks are packed from."""

import hashlib
import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from tokenizers import Tokenizer

from outline import HEADING, PROSE, TABLES, header_length, lines_of

MOST_BYTES = 32 * 1024
PIECE_BYTES = 48
SPACE_BYTES = 4 * 1024
ABBREVIATIONS = frozenset(
    "al approx apr aug ca cf ch corp dec dept dr ed eds eq est etc feb fig figs inc jan jr ltd mr "
    "mrs ms nos nov oct para pp prof rev sec sept sr st vol vs".split()
)
FULL_WIDTH = "。！？｡"
CLOSING = ".!?…)]\"'”’»」』）*_。！？"


class Counter:
    """Counts tokens with the model's own tokenizer, its truncation and padding switched off."""

    def __init__(self, folder):
        content = (Path(folder) / "tokenizer.json").read_bytes()
        self.window = json.loads((Path(folder) / "model.json").read_text())["window"]
        self.hash = hashlib.sha256(content).hexdigest()
        self.tokenizer = Tokenizer.from_str(content.decode())
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.special = self.exact("")
        self.word = lru_cache(maxsize=100_000)(self._word)

    def exact(self, text):
        """Tokens of `text`, special tokens included."""
        return len(self.tokenizer.encode(text).ids)

    def _word(self, word):
        return len(self.tokenizer.encode(word, add_special_tokens=False).ids) if word else 0

    def estimate(self, text):
        """The sum of the words' tokens, special tokens not included."""
        return sum(tokens for _, _, tokens in self.atoms(text))

    def atoms(self, text):
        """Start, end and tokens of each word with the white space after it."""
        at = 0
        while at < len(text):
            end = next_word(text, at)
            yield at, end, self.word(text[at:end].strip())
            at = end


def next_word(text, at):
    """Where the word at `at` ends, white space after it included; long words come in pieces."""
    match = re.compile(r"(\S*)(\s*)").match(text, at)
    word = start_of(match.group(1), 2 * PIECE_BYTES)
    if len(word.encode()) > PIECE_BYTES:
        return at + len(first_piece(word))
    return match.end(1) + len(start_of(match.group(2), SPACE_BYTES))


def start_of(text, limit):
    """At most `limit` bytes of `text`, cut at a character."""
    return text.encode()[:limit].decode(errors="ignore")


def first_piece(word):
    """The first word of a long one: near enough to Unicode's rules for Latin text."""
    inner = r"\w+(?:(?:(?<=[^\W\d])[.:'’](?=[^\W\d])|(?<=\d)[.,;'](?=\d))\w+)*"
    first = re.match(inner + r"|.", word, re.DOTALL).group()
    return start_of(first, PIECE_BYTES)


def sentences(text):
    """Ranges of the sentences of a paragraph, each with the white space after it."""
    found, start, at = [], 0, 0
    while at < len(text):
        mark, place = text[at], at
        at += 1
        full_width = mark in FULL_WIDTH
        if not full_width and mark not in ".!?…":
            continue
        while at < len(text) and text[at] in CLOSING:
            at += 1
        spaced = full_width
        while at < len(text) and text[at].isspace():
            spaced = True
            at += 1
        if at == len(text):
            break
        goes_on = text[at].islower() and not full_width
        shortened = mark == "." and is_abbreviation(text[start:place])
        if spaced and not goes_on and not shortened:
            found.append((start, at))
            start = at
    if start < len(text):
        found.append((start, len(text)))
    return found


def is_abbreviation(before):
    """Whether a full stop after `before` only shortens a word."""
    word = re.search(r"\S*$", before).group()
    bare = re.sub(r"^[\W_]+", "", word)
    if not bare:
        return False
    if len(bare) == 1 and bare.isalpha():
        return True
    if len(bare.encode()) > 12:
        return False
    if re.fullmatch(r"[0-9]+", bare):
        return before.lstrip() == word
    if "." in bare:
        return all(len(part) <= 2 for part in bare.split("."))
    return bare.lower() in ABBREVIATIONS


@dataclass
class Unit:
    """A piece that is kept whole when it fits."""

    start: int
    end: int
    tokens: int
    heading: bool
    opens_block: bool
    section: int
    page: int
    place: int
    # Start, end and tokens of its table's header.
    header: tuple | None

    def repeats(self):
        """The header of the table it goes on with, or None."""
        return self.header if self.header and self.header[1] <= self.start else None

    def opens_table(self):
        """Whether it has the header of its table."""
        return bool(self.header) and not self.repeats()

    def split_off(self, document, counter, tokens):
        """Cuts off a head of at most `tokens`; gives the rest, or None when all is the head."""
        text = document.text[self.start : self.end]
        total, cut, line_end = 0, 0, None
        for start, end, count in counter.atoms(text):
            far = document.size(self.start, self.start + end) > MOST_BYTES
            if cut > 0 and (total + count > tokens or far):
                break
            total += count
            cut = end
            if "\n" in text[start:end] and total * 4 >= tokens * 3:
                line_end = (cut, total)
        if cut == len(text):
            return None
        cut, total = line_end or (cut, total)
        middle = self.start + cut
        left = max(self.tokens - total, 0)
        page = document.page_at(middle)
        where = (self.section, page, self.place, self.header)
        rest = Unit(middle, self.end, left, self.heading, False, *where)
        self.end, self.tokens = middle, total
        return rest


def units_of(document, outline, counter):
    """The units of a document; none when it has no text."""
    units = starts(document, outline)
    cover(document, units)
    units = join_sentences(document, outline, units)
    for unit in units:
        unit.tokens = counter.estimate(document.text[unit.start : unit.end])
        if unit.header:
            start, end, _ = unit.header
            tokens = counter.estimate(document.text[start:end])
            unit.header = (start, end, tokens) if tokens <= counter.window // 3 else None
    settled = []
    for _, place in groupby(units, key=lambda unit: unit.place):
        place = list(place)
        for _, run in groupby(place, key=lambda unit: unit.heading):
            run = list(run)
            if sum(unit.tokens for unit in run) > counter.window // 4:
                for unit in run:
                    unit.heading = False
        settled += attach_last_headings(place)
    return settled


def starts(document, outline):
    """One unit per heading, sentence and line."""
    units = []
    for block in outline.blocks:
        text = document.text[block.start : block.end]
        if block.kind == HEADING:
            pieces = [(0, len(text))]
        else:
            pieces = sentences(text) if block.kind == PROSE else lines(text)
        header = None
        if block.kind == TABLES and header_length(text):
            header = (block.start, block.start + header_length(text), 0)
            # The first row stays with the header.
            pieces = [(0, pieces[:3][-1][1]), *pieces[3:]]
        page = document.page_at(block.start)
        where = (block.section, page, document.places[page], header)
        for start, end in pieces:
            at = (block.start + start, block.start + end)
            units.append(Unit(*at, 0, block.kind == HEADING, start == 0, *where))
    return units


def lines(text):
    """Ranges of the lines that have text, each with the blank lines after it."""
    found, at = [], 0
    for line in lines_of(text):
        if found and not line.strip():
            found[-1] = (found[-1][0], at + len(line))
        else:
            found.append((at, at + len(line)))
        at += len(line)
    return found


def cover(document, units):
    """Spreads what lies between units over them."""
    end = len(document.text)
    for unit in reversed(units):
        unit.end = end
        end = unit.start
    for before, unit in zip(units, units[1:]):
        if before.page != unit.page:
            border = document.pages[unit.page][1]
            unit.start = before.end = border
    if units:
        units[0].start = 0


def join_sentences(document, outline, units):
    """Makes one unit of a sentence that goes on after a page border."""
    prose = [block for block in outline.blocks if block.kind == PROSE]
    ends = [block.end for block in prose]

    def is_prose(unit):
        index = bisect_right(ends, unit.start)
        return index < len(prose) and prose[index].start < unit.end

    def goes_on(before, after):
        spaced = before[-1:].isspace() or after[:1].isspace()
        last, first = before.rstrip()[-1:], after.lstrip()[:1]
        return spaced and (last.isalnum() or (last and last in ",;-–—")) and first.islower()

    joined = []
    for unit in units:
        last = joined[-1] if joined else None
        if (
            last
            and last.page != unit.page
            and last.place == unit.place
            and last.section == unit.section
            and is_prose(last)
            and is_prose(unit)
            and goes_on(document.text[last.start : last.end], document.text[unit.start : unit.end])
        ):
            last.end = unit.end
        else:
            joined.append(unit)
    return joined


def attach_last_headings(units):
    """Headings that nothing follows become part of the last text before them."""
    texts = [index for index, unit in enumerate(units) if not unit.heading]
    if not texts:
        for unit in units:
            unit.heading = False
        return units
    last = texts[-1]
    for heading in units[last + 1 :]:
        units[last].end = heading.end
        units[last].tokens += heading.tokens
    return units[: last + 1]

"""From units to chunks: heading path, overlap, and chunks of near equal size."""

from collections import deque
from dataclasses import dataclass

from outline import Document, Outline
from units import MOST_BYTES, units_of

LEAST_TEXT = 64
LABEL = "Section: "


class NoText(Exception):
    """The document has no text."""


def chunk_pages(pages, counter):
    """The chunks of `pages` (number, Markdown, locator), as the contract's JSON has them."""
    document = Document(pages)
    outline = Outline(document)
    units = units_of(document, outline, counter)
    if not units:
        raise NoText
    packer = Packer(document, outline.sections, counter)
    return packer.assemble(packer.pack(units))


@dataclass
class Room:
    """The line put before a chunk's text, and what it leaves."""

    section: int
    prefix: str
    left: int
    overlap: int

    @property
    def text(self):
        """Tokens for text."""
        return max(self.left - self.overlap, 0)


class Packer:
    """Packs the units of one document."""

    def __init__(self, document, sections, counter):
        self.document = document
        self.sections = sections
        self.counter = counter
        self.overlap = counter.window // 8
        self.prefixes = {}

    def room(self, units):
        """The room of a chunk that begins with `units`."""
        headings, begins_section, section = 0, False, 0
        repeated = units[0].repeats()
        for unit in units:
            section = unit.section
            if not unit.heading:
                break
            headings += unit.tokens
            begins_section = True
        overlap = max(repeated[2], self.overlap) if repeated else self.overlap
        overlap = 0 if begins_section else overlap
        whole = self.counter.window - self.counter.special
        limit = max(whole - LEAST_TEXT - headings - overlap, 0)
        if (section, limit) not in self.prefixes:
            self.prefixes[section, limit] = self.shorten(self.sections[section], limit)
        prefix, tokens = self.prefixes[section, limit]
        return Room(section, prefix, whole - tokens, overlap)

    def shorten(self, path, limit):
        """The prefix within `limit` tokens: outer headings go first."""
        for start in range(len(path)):
            prefix = LABEL + " > ".join(path[start:])
            tokens = self.counter.estimate(prefix)
            if tokens <= limit:
                return prefix, tokens
        innermost = path[-1] if path else ""
        tokens, cut = self.counter.estimate(LABEL), 0
        for _, end, count in self.counter.atoms(innermost):
            if tokens + count > limit:
                break
            tokens += count
            cut = end
        kept = innermost[:cut].rstrip()
        return (LABEL + kept, tokens) if kept else ("", 0)

    def pack(self, units):
        """Drafts: lists of units that follow one another."""
        drafts, segment = [], deque()
        for unit in units:
            last = segment[-1] if segment else None
            ends = last and not last.heading and (unit.heading or unit.page != last.page)
            if ends or (last and unit.place != last.place):
                self.pack_segment(segment, drafts)
            segment.append(unit)
        self.pack_segment(segment, drafts)
        return self.join_small(self.join_small(drafts, True), False)

    def pack_segment(self, segment, drafts):
        """Moves all units of a segment into drafts."""
        begun = False
        while segment:
            room = self.room(segment)
            tokens = sum(unit.tokens for unit in segment)
            size = self.document.size(segment[0].start, segment[-1].end)
            # Text that fits as a whole is not cut to make room for an overlap.
            limit = room.text if begun else room.left
            begun = True
            if tokens <= limit and size <= MOST_BYTES:
                take = len(segment)
            else:
                take = self.cut(segment, tokens, room)
            drafts.append([segment.popleft() for _ in range(max(take, 1))])

    def cut(self, segment, tokens, room):
        """How many units the next chunk takes, when not all fit."""
        full = room.text
        later = max(room.left - self.overlap, 1)
        more = max(-(-max(tokens - full, 0) // later), 1)
        target = tokens // (more + 1)
        total, fitting, has_text, best = 0, 0, False, None
        for index, unit in enumerate(segment):
            size = self.document.size(segment[0].start, unit.end)
            if total + unit.tokens > full or size > MOST_BYTES:
                break
            total += unit.tokens
            fitting = index + 1
            has_text |= not unit.heading
            if fitting == len(segment):
                break
            if not has_text or total < full // 4:
                continue
            within = 0 if segment[fitting].opens_block else target // 4
            spills = room.left if tokens - total > more * later else 0
            cost = abs(total - target) + within + spills
            if best is None or cost < best[0]:
                best = (cost, fitting)
        if best:
            return best[1]
        if fitting >= len(segment):
            return fitting
        unit = segment[fitting]
        least = full if unit.opens_table() else total + full // 8
        wanted = min(max(target, least), full) - total
        over = unit.tokens > later or self.document.size(unit.start, unit.end) > MOST_BYTES
        if has_text and (unit.opens_table() or (not over and total >= full // 8)):
            return fitting
        rest = unit.split_off(self.document, self.counter, wanted)
        if rest:
            segment.insert(fitting + 1, rest)
        return fitting + 1

    def join_small(self, drafts, towards_next):
        """Puts small drafts together with a neighbour, when both fit."""
        joined = []
        for draft in drafts:
            if not joined:
                joined.append(draft)
                continue
            last = joined[-1]
            tokens = [sum(unit.tokens for unit in part) for part in (last, draft)]
            size = sum(self.document.size(part[0].start, part[-1].end) for part in (last, draft))
            small = tokens[0] if towards_next else tokens[1]
            room = self.room(last + draft)
            near = last[-1].place == draft[0].place
            if near and small < self.overlap and size <= MOST_BYTES and sum(tokens) <= room.text:
                last.extend(draft)
            else:
                joined.append(draft)
        return joined

    def assemble(self, drafts):
        """The chunks; one that does not fit after all is cut again."""
        queue, chunks, before = deque(drafts), [], []
        while queue:
            draft = queue.popleft()
            room = self.room(draft)
            chunk = self.fit(before, draft, room)
            over = chunk["tokens"] > self.counter.window
            header = self.header(draft)
            rest = self.split(draft) if over or header not in (None, chunk["overlap"]) else None
            if rest:
                queue.extendleft([rest, draft])
                continue
            if over:
                raise ValueError(f"a chunk of {chunk['tokens']} tokens cannot be cut")
            chunk["index"] = len(chunks)
            chunk["heading_path"] = list(self.sections[room.section])
            chunks.append(chunk)
            before = draft
        return chunks

    def fit(self, before, draft, room):
        """The chunk of `draft`, with as much overlap as fits."""
        start, end = draft[0].start, draft[-1].end
        text = self.document.text[start:end]
        limit = max(room.left - sum(unit.tokens for unit in draft), 0)
        chunk = {"prefix": room.prefix, "text": text, "spans": self.document.spans(start, end)}
        while True:
            repeated = draft[0].repeats()
            if repeated and repeated[2] <= limit:
                chunk["overlap"] = self.header(draft)
            else:
                chunk["overlap"] = self.overlap_of(before, draft, min(limit, self.overlap))
            parts = [chunk[name].strip() for name in ("prefix", "overlap", "text")]
            chunk["tokens"] = self.counter.exact("\n".join(part for part in parts if part))
            over = max(chunk["tokens"] - self.counter.window, 0)
            if over == 0 or not (chunk["overlap"] or chunk["prefix"]):
                return chunk
            if not chunk["overlap"]:
                chunk["prefix"] = ""
            limit = max(min(limit, self.counter.estimate(chunk["overlap"])) - over, 0)

    def header(self, draft):
        """The header of the table that `draft` goes on with, or None."""
        repeated = draft[0].repeats()
        return self.document.text[repeated[0] : repeated[1]].strip() if repeated else None

    def overlap_of(self, before, draft, limit):
        """The end of the chunk before: whole sentences if the last fits, else its last words."""
        if not before or draft[0].heading or limit == 0:
            return ""
        section, last = draft[0].section, before[-1]
        if last.heading or last.section != section:
            return ""
        total, start = 0, last.end
        for unit in reversed(before):
            if unit.heading or unit.section != section:
                break
            total += unit.tokens
            if total > limit:
                break
            start = unit.start
        if start == last.end:
            total = 0
            text = self.document.text[last.start : last.end]
            for first, end, tokens in reversed(list(self.counter.atoms(text))):
                total += tokens
                if total > limit:
                    break
                start -= end - first
        return self.document.text[start : last.end].strip()

    def split(self, draft):
        """Cuts `draft` in two and gives the second; None when it is a single word."""
        if sum(not unit.heading for unit in draft) > 1:
            return [draft.pop()]
        rest = draft[-1].split_off(self.document, self.counter, draft[-1].tokens // 2)
        return [rest] if rest else None

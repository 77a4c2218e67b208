"""Documents cut into sentences, by a rule that can be read, for many scripts and without a model;
and into chunks: by tokens with overlap, by whole sentences, by headings and paragraphs.

Every chunk is a stretch of its document, `document.text[chunk.start:chunk.end] == chunk.text`,
without white space at its ends; together the chunks of a document hold every other character of it,
in order. Sizes are counted on the document's own tokens. A document that fits is one chunk with the
document's id; several are called `<document id>#1`, `#2`, and so on.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from ..core.corpus import Chunk, Document
from ..core.errors import MiniragError
from .tokens import Span, Tokenizer, token_spans

# A full stop after these ends nothing; a name or an example follows.
NEVER = frozenset("mr mrs ms mx dr prof messrs v vs cf ca approx viz e.g i.e z.b d.h bzw".split())
# After these a number follows, as in "No. 5", "Fig. 2", "Jan. 3", "Vol. IV". Otherwise they are
# words of their own.
NUMBERED = frozenset(
    "no nos nr fig figs eq eqs sec ch chap art vol vols p pp pg b d c op jan feb mar apr jun jul"
    " aug sep sept oct nov dec".split()
)
# These may stand within a sentence or close it; the next word decides.
EITHER = frozenset(
    "st ste mt ft gen col maj capt cmdr lt sgt adm gov sen rep rev hon pres jr sr inc ltd co corp "
    "bros llc plc etc al ed eds trans dept univ assn esq ave blvd ph.d b.sc m.sc d.phil".split()
)
# Words that begin a new sentence after an abbreviation or an initial.
STARTERS = frozenset(
    "the a an this that these those it its he his she her they their we our you your there here in"
    " on at by for from with after before during until when while since as although though however"
    " but and so if then thus once both each many most some such another no not who what where why"
    " how despite because later today".split()
)
CLOSERS = r"(?:[\"'”’»›)\]}」』】）〉》]|\[\d+\])*"
STOP = re.compile(rf"(?P<wide>[。！？｡]+|[।॥۔؟።။։។]+){CLOSERS}|(?P<mark>[.!?…]+){CLOSERS}(?=\s|$)")
BREAK = re.compile(
    r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*+•‣]|\d{1,3}[.)])[^\S\n])|\n(?=#{1,6} )|^#{1,6} [^\n]*\n",
    re.MULTILINE,
)
WORD_BEFORE = re.compile(r"\w[\w.'’-]*\Z")
LIST_NUMBER = re.compile(r"(?:^|\n)[^\S\n]*\d{1,3}\Z")
NEXT_WORD = re.compile(r"[\s\"'“‘«‹(\[{「『]*([\w'’-]*)")
INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*\Z")


def sentences(text: str) -> list[Span]:
    """The sentences of `text` as [(start, end), ...] in characters, without the white space around
    them; every other character is in one.

    A sentence ends at . ! ? … or their sisters in Chinese, Japanese, Arabic, Urdu, Devanagari,
    Armenian, Ethiopic, Burmese and Khmer, together with the quotes, brackets and [1]-like notes
    that close after them. A full stop ends nothing within a number, before a lower-case word, after
    an initial or after a title. After an abbreviation that may also close a sentence ("Inc.",
    "U.S.", "Jr.") the next word decides: "The", "He", "In" and the like begin a new one. Blank
    lines, Markdown headings and list items end a sentence as well. Scripts that mark no ends (Thai)
    stay whole.
    """
    edges = {match.end() for match in BREAK.finditer(text)}
    edges |= {
        match.end() for match in STOP.finditer(text) if match["wide"] or _ends_sentence(text, match)
    }
    spans, start = [], 0
    for end in sorted(edges | {len(text)}):
        piece = text[start:end]
        if piece.strip():
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
        start = end
    return spans


def sentences_of(text: str) -> list[str]:
    """The sentences as strings."""
    return [text[start:end] for start, end in sentences(text)]


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    next_word = NEXT_WORD.match(text, stop.end())
    following = next_word[1] if next_word else ""
    if following[:1].islower():
        return False
    return stop["mark"] != "." or not _is_abbreviated(text, stop.start(), following)


def _is_abbreviated(text: str, position: int, following: str) -> bool:
    """True if the full stop at `position` belongs to the word before it and does not also end the
    sentence.
    """
    nearby = max(0, position - 40)
    before = WORD_BEFORE.search(text, nearby, position)
    if before is None or not following:
        return False
    if LIST_NUMBER.search(text, nearby, position):
        return True
    word, name = before[0], before[0].casefold()
    if name in NEVER:
        return True
    if name in NUMBERED and (following[0].isdigit() or re.fullmatch("[IVXLC]+", following)):
        return True
    initials = "." in word and INITIALS.match(word)
    within = name in EITHER or initials or (len(word) == 1 and word.isupper())
    return bool(within) and following.casefold() not in STARTERS


def chunk_tokens(
    document: Document, size: int = 600, overlap: int = 100, tokenizer: Tokenizer = "regex"
) -> list[Chunk]:
    """Windows of `size` tokens that start every `size - overlap` tokens; the first window that
    reaches the end is the last.

    Windows may begin and end within a sentence. The defaults are the 600 and 100 tokens of
    GraphRAG's paper; its current code takes 1200 and 100.
    Source: GraphRAG, Sec. 2.1
    """
    _check(size, overlap)
    starts = [start for start, _ in token_spans(document.text, tokenizer)]
    # A window ends where the next token begins, so that characters which no token covers are in a
    # chunk all the same.
    edges = [0, *starts[1:], len(document.text)]
    windows = _windows(len(edges) - 1, size, overlap)
    return _chunks(document, [(edges[first], edges[last]) for first, last in windows])


def chunk_sentences(
    document: Document, size: int = 100, overlap: int = 0, tokenizer: Tokenizer = "regex"
) -> list[Chunk]:
    """Whole sentences packed in order while they fit into `size` tokens (RAPTOR's chunks take 100).

    overlap: how many sentences the next chunk repeats; fewer where they would leave no room for a
    new one. A single sentence longer than `size` is cut into pieces of `size` tokens that stand
    alone.
    """
    _check(size)
    if overlap < 0:
        raise MiniragError(f"overlap is {overlap}; it is a number of sentences, 0 or more.")
    ruler = _Ruler(document.text, tokenizer)
    return _chunks(document, _pack(sentences(document.text), ruler, size, overlap))


def chunk_structure(
    document: Document, size: int = 600, tokenizer: Tokenizer = "regex"
) -> list[Chunk]:
    """The sections of a Markdown text, each packed from whole paragraphs while they fit into `size`
    tokens; plain text is one section.

    The headings above a chunk become part of its title: "Document > Chapter > Section". Lists,
    tables, quotations and code blocks stay whole like paragraphs; one longer than `size` is cut by
    sentences, and a sentence longer than that by tokens.
    """
    _check(size)
    ruler = _Ruler(document.text, tokenizer)
    spans: list[Span] = []
    titles: list[str] = []
    for path, blocks in _sections(document.text):
        pieces: list[Span] = []
        for start, end in blocks:
            if ruler.count(start, end) > size:
                parts = sentences(document.text[start:end])
                pieces += [(start + first, start + last) for first, last in parts]
            else:
                pieces.append((start, end))
        packed = _pack(pieces, ruler, size, 0)
        spans += packed
        title = " > ".join(dict.fromkeys(part for part in (document.title, *path) if part))
        titles += [title] * len(packed)
    return _chunks(document, spans, titles)


def _check(size: int, overlap: int = 0) -> None:
    if size < 1 or not 0 <= overlap < size:
        raise MiniragError(
            f"size is {size} and overlap {overlap} tokens; size must be at least 1, and overlap "
            "at least 0 and smaller than size."
        )


def _windows(count: int, size: int, overlap: int) -> list[Span]:
    """[(first, last), ...] over `count` tokens, last excluded."""
    windows = []
    for first in range(0, count, size - overlap):
        windows.append((first, min(first + size, count)))
        if first + size >= count:
            break
    return windows


class _Ruler:
    """Counts the document's tokens that touch a stretch of it."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        spans = token_spans(text, tokenizer)
        self.starts, self.ends = [start for start, _ in spans], [end for _, end in spans]

    def count(self, start: int, end: int) -> int:
        return bisect_left(self.starts, end) - bisect_right(self.ends, start)

    def cut(self, start: int, end: int, size: int) -> list[Span]:
        """[(start, end), ...]: the stretch in pieces of `size` tokens."""
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        edges = [start, *self.starts[first + size : last : size], end]
        return list(pairwise(edges))


def _pack(pieces: list[Span], ruler: _Ruler, size: int, overlap: int) -> list[Span]:
    """Join neighbouring (start, end) pieces while they hold at most `size` tokens together; the
    last `overlap` pieces begin the next chunk.
    """
    spans: list[Span] = []
    current: list[Span] = []
    fresh = False  # whether a piece of `current` is in no chunk yet
    for start, end in pieces:
        if current and ruler.count(current[0][0], end) > size:
            if fresh:
                spans.append((current[0][0], current[-1][1]))
            current, fresh = current[max(0, len(current) - overlap) :], False
            while current and ruler.count(current[0][0], end) > size:
                current = current[1:]
        if ruler.count(start, end) > size:
            spans += ruler.cut(start, end, size)
        else:
            current, fresh = [*current, (start, end)], True
    return spans + ([(current[0][0], current[-1][1])] if fresh else [])


def _sections(text: str) -> list[tuple[tuple[str, ...], list[Span]]]:
    """[(heading path, [(start, end) of each block]), ...] of a Markdown text; a heading with
    nothing below it joins the section after it.
    """
    lines = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text)), len(text)]
    sections: list[tuple[tuple[str, ...], list[Span]]] = []
    path: list[tuple[int, str]] = []
    blocks: list[Span] = []
    only_headings, opened = True, _blocks(text)
    ends = [*(line for line, _, _ in opened[1:]), len(lines) - 1]
    for (line, level, heading), end in zip(opened, ends):
        if level:
            if not only_headings:
                sections.append((tuple(name for _, name in path), blocks))
                blocks = []
            path = [(above, name) for above, name in path if above < level] + [(level, heading)]
        only_headings = bool(level) and (only_headings or not blocks)
        blocks.append((lines[line], lines[end]))
    return sections + ([(tuple(name for _, name in path), blocks)] if blocks else [])


def _blocks(text: str) -> list[tuple[int, int, str]]:
    """[(first line, heading level or 0, heading text)] of the top-level blocks of a Markdown text;
    the first begins at line 0.
    """
    from markdown_it import MarkdownIt

    # Between two lines of dashes the second would make a heading of the line above it.
    if front_matter := re.match(r"---[ \t]*\n(?:.+\n){0,60}?---[ \t]*\n", text):
        text = re.sub(r"[^\r\n]", " ", front_matter[0]) + text[front_matter.end() :]
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    blocks = []
    for place, token in enumerate(tokens):
        if token.level == 0 and token.map:
            heading = token.type == "heading_open"
            level, words = (int(token.tag[1:]), tokens[place + 1].content) if heading else (0, "")
            blocks.append((token.map[0], level, words))
    return blocks if blocks and blocks[0][0] == 0 else [(0, 0, ""), *blocks]


def _chunks(
    document: Document, spans: Sequence[Span], titles: Sequence[str] | None = None
) -> list[Chunk]:
    """Chunks from (start, end) pairs, the white space at their ends left out, and nothing for a
    stretch that is only white space.
    """
    kept = []
    for (start, end), title in zip(spans, titles or [document.title] * len(spans)):
        piece = document.text[start:end]
        if text := piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            kept.append((first, first + len(text), title))
    ids = [f"{document.id}#{number}" for number in range(1, len(kept) + 1)]
    if len(kept) == 1:
        ids = [document.id]
    return [
        Chunk(name, document.text[start:end], title, document.id, start, end)
        for name, (start, end, title) in zip(ids, kept)
    ]

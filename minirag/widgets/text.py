"""Explorers of plain retrieval: where a text is cut, and what BM25's two parameters do to a
ranking.
"""

from html import escape

from ..algorithms.bm25 import BM25, tokenize
from ..core.errors import MiniragError
from ..core.results import Passage
from ..operators import rank
from ..text.chunking import chunk_tokens
from ..text.tokens import token_spans
from ..viz import Figure
from ..viz.palette import GREEN, MUTED, OUTLINE, PALE, SKY, VERMILLION, WHITE, ink_on
from ..viz.scene import Box, Line, Scene, Text
from .explorer import Choice, Explorer, Slider
from .tables import passage_lines, passage_table

LANE, LEFT, WIDTH = 26, 64, 760
CELL = "style='text-align:left;vertical-align:top'"


class ChunkExplorer(Explorer):
    """Chunk size and overlap over one document, and what they do to one fact in it.

    document: a `Document`; fact: a stretch of its text that a reader needs in one piece; sizes:
    smallest and largest size of a chunk, in tokens.

    Source: GraphRAG, Sec. 2.1
    """

    def __init__(self, document, fact, size=70, overlap=0, sizes=(20, 160)):
        if fact not in document.text:
            raise MiniragError(
                f"The fact {fact[:60]!r} does not stand in the document {document.id!r}: it must be copied exactly."
            )
        self.document, self.fact, self.start = document, fact, document.text.index(fact)
        self.end = self.start + len(fact)
        self.tokens = [start for start, _ in token_spans(document.text)]
        low, high = sizes
        super().__init__(
            [
                Slider("size", "chunk size", low, high, 5, size),
                Slider("overlap", "overlap", 0, high // 2, 5, overlap),
            ]
        )

    def changed(self, name):
        """A chunk may not repeat all of the one before it."""
        self.state["overlap"] = min(self.state["overlap"], self.state["size"] - 5)

    @property
    def chunks(self):
        return chunk_tokens(self.document, self.state["size"], self.state["overlap"])

    @property
    def touched(self):
        """The chunks that hold some of the fact, each with the part that it holds."""
        found = [
            (c, self.document.text[max(c.start, self.start) : min(c.end, self.end)])
            for c in self.chunks
        ]
        return [
            (chunk, part)
            for chunk, part in found
            if part.strip() and chunk.start < self.end and chunk.end > self.start
        ]

    @property
    def whole(self):
        return any(self.fact in chunk.text for chunk in self.chunks)

    def _verdict(self):
        stored = sum(sum(c.start <= start < c.end for start in self.tokens) for c in self.chunks)
        cost = f"{len(self.chunks)} chunks, {stored} tokens stored for {len(self.tokens)} read"
        return f"size {self.state['size']}, overlap {self.state['overlap']}: {cost}; the fact is {'whole in one chunk' if self.whole else 'cut in two'}"

    def describe(self):
        return "\n".join(
            [self._verdict()]
            + [f"  {chunk.id} holds: {part.strip()}" for chunk, part in self.touched]
        )

    def figure(self):
        """The chunks as bars over the document, on two lanes so that overlaps show, and the fact as
        a band across them.
        """
        chunks, unit = self.chunks, (WIDTH - LEFT - 16) / max(1, len(self.document.text))
        scene = Scene(WIDTH, 2 * LANE + 40)
        left, right = LEFT + round(self.start * unit), LEFT + round(self.end * unit)
        for number, chunk in enumerate(chunks):
            held = chunk.start <= self.start and self.end <= chunk.end
            fill = GREEN if held else SKY if number % 2 else PALE
            x, y = LEFT + round(chunk.start * unit), 24 + LANE * (number % 2)
            width = max(2, round((chunk.end - chunk.start) * unit) - 1)
            scene.add(Box(x, y, width, LANE - 4, fill=fill, stroke=OUTLINE, title=chunk.id))
            if width > 22:
                scene.add(
                    Text(x + width // 2, y + 15, str(number + 1), 12, "middle", colour=ink_on(fill))
                )
        for x in (left, right):
            scene.add(Line(((x, 18), (x, 24 + 2 * LANE + 4)), VERMILLION, 2))
        scene.add(
            Text((left + right) // 2, 13, "the fact", 12, "middle", colour=VERMILLION, bold=True)
        )
        scene.add(
            Text(8, 40, "odd", 12, colour=MUTED), Text(8, 40 + LANE, "even", 12, colour=MUTED)
        )
        return Figure(
            scene,
            self.describe(),
            caption=self._verdict()
            + (". Green: the chunk that holds all of it." if self.whole else "."),
        )

    def html(self):
        rows = ""
        for chunk, part in self.touched:
            text = escape(chunk.text)
            text = text.replace(escape(part.strip()), f"<mark>{escape(part.strip())}</mark>", 1)
            rows += f"<tr style='background:transparent'><td {CELL}>{escape(chunk.id.rsplit('#', 1)[-1])}</td><td {CELL}>{text}</td></tr>"
        head = "<tr><th>chunk</th><th style='text-align:left'>its text, the fact marked</th></tr>"
        return f"{self.figure().svg}<table style='color:#1A1A1A'>{head}{rows}</table>"


class BM25Explorer(Explorer):
    """BM25 over a corpus with its two parameters as sliders: the ranking, and what each word of the
    question brings the first passages.

    questions: `Question`s; their gold passages are marked as such in the picture and used for
    nothing else.
    """

    def __init__(self, corpus, questions, shown=5):
        self.chunks, self.questions, self.shown = corpus.chunks, {q.id: q for q in questions}, shown
        if not self.questions:
            raise MiniragError("BM25Explorer needs at least one question.")
        self.documents = [tokenize(chunk.passage) for chunk in self.chunks]
        options = tuple((f"{q.id}: {q.text[:100]}", q.id) for q in self.questions.values())
        choice = Choice("question", "Question", options, options[0][1])
        super().__init__(
            [
                choice,
                Slider("k1", "k1: repetition", 0.0, 3.0, 0.1, 1.5),
                Slider("b", "b: length", 0.0, 1.0, 0.05, 0.75),
            ]
        )

    @property
    def question(self):
        return self.questions[self.state["question"]]

    def index(self):
        return BM25(self.documents, k1=self.state["k1"], b=self.state["b"])

    def passages(self):
        scores = self.index().scores(tokenize(self.question.text))
        return [
            Passage(self.chunks[i], float(scores[i]), place)
            for place, i in enumerate(rank(scores, self.shown), start=1)
        ]

    def words(self):
        """{word of the question: its share of the score of every passage shown}, words in the
        question's order, those worth nothing left out.
        """
        index, places = (
            self.index(),
            [[c.id for c in self.chunks].index(p.id) for p in self.passages()],
        )
        asked = dict.fromkeys(tokenize(self.question.text))
        shares = {word: [float(index.scores([word])[i]) for i in places] for word in asked}
        return {word: row for word, row in shares.items() if any(row)}

    def describe(self):
        head = f"k1 {self.state['k1']:.2f}, b {self.state['b']:.2f}: {self.question.text}"
        best = sorted(
            ((row[0], word) for word, row in self.words().items() if row[0]),
            key=lambda pair: (-round(pair[0], 6), pair[1]),
        )
        first = "  first passage: " + ", ".join(f"{word} {share:.2f}" for share, word in best[:5])
        return "\n".join([head, *passage_lines(self.passages(), self.question.gold), first])

    def html(self):
        words, passages = self.words(), self.passages()
        top = max((value for row in words.values() for value in row), default=0.0) or 1.0
        head = "".join(f"<th>{p.rank}</th>" for p in passages)
        rows = "".join(
            f"<tr style='background:transparent'><td {CELL}>{escape(w)}</td>{''.join(_shade(v, top) for v in row)}</tr>"
            for w, row in words.items()
        )
        table = f"<table style='color:#1A1A1A'><tr><th style='text-align:left'>word</th>{head}</tr>{rows}</table>"
        found = passage_table(passages, self.question.gold, list(words))
        return f"<p>{escape(self.question.text)}</p>{found}<p>What each word brings the passage at each rank:</p>{table}"


def _shade(value, top):
    colour = SKY if value > top / 2 else PALE if value else WHITE
    return (
        f"<td style='background:{colour};color:{ink_on(colour)};text-align:right'>{value:.2f}</td>"
    )

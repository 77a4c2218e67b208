"""Explorers of chunking and graph building: chunk size, overlap, gleanings, shared entities."""

from functools import lru_cache
from html import escape

from ..core.errors import MiniragError
from ..graphs import passage_graph, shared_entities
from ..graphs.chunk_size import entity_references
from ..text.chunking import chunk_tokens
from ..text.tokens import token_spans
from ..viz import Figure, draw_graph, draw_scores, layout
from ..viz.scene import Colour, Scene, ink_on
from .explorer import Explorer, Slider

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
            fill = Colour.GREEN if held else Colour.SKY if number % 2 else Colour.PALE
            x, y = LEFT + round(chunk.start * unit), 24 + LANE * (number % 2)
            width = max(2, round((chunk.end - chunk.start) * unit) - 1)
            scene.box(x, y, width, LANE - 4, fill, Colour.OUTLINE, title=chunk.id)
            if width > 22:
                place = f"{number + 1}"
                scene.text(x + width // 2, y + 15, place, 12, "middle", colour=ink_on(fill))
        for x in (left, right):
            scene.line(((x, 18), (x, 24 + 2 * LANE + 4)), Colour.VERMILLION, 2)
        middle = (left + right) // 2
        scene.text(middle, 13, "the fact", 12, "middle", colour=Colour.VERMILLION, bold=True)
        scene.text(8, 40, "odd", 12, colour=Colour.MUTED)
        scene.text(8, 40 + LANE, "even", 12, colour=Colour.MUTED)
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


class PassageGraphExplorer(Explorer):
    """How many entities two chunks must share before they are joined. The nodes stay where the
    loosest graph puts them.

    `extraction`: anything whose `entities` go from chunk id to names or to records with a name.
    `titles`: a title counts as an entity of its chunk.

    Source: Survey, Sec. 4 (graphs)
    """

    def __init__(self, chunks, extraction, threshold=0, highest=3, titles=True):
        self.chunks, self.extraction, self.titles = tuple(chunks), extraction, titles
        self.labels = {chunk.id: chunk.label for chunk in self.chunks}
        self._places = layout(passage_graph(self.chunks, extraction, titles=titles), height=420)
        super().__init__([Slider("threshold", "share more than", 0, highest, 1, threshold)])

    @property
    def graph(self):
        return passage_graph(self.chunks, self.extraction, self.state["threshold"], self.titles)

    def _shared(self):
        found = shared_entities(self.chunks, self.extraction, self.titles)
        return {
            pair: names for pair, names in found.items() if len(names) > self.state["threshold"]
        }

    def _alone(self):
        joined = {place for pair in self._shared() for place in pair}
        return [chunk.id for place, chunk in enumerate(self.chunks) if place not in joined]

    def figure(self):
        caption = f"{len(self._shared())} edges; {len(self._alone())} of {len(self.chunks)} passages stand alone."
        return draw_graph(
            self.graph,
            self._places,
            node_labels=self.labels,
            highlight={"joined to none": self._alone()},
            height=420,
            caption=caption,
        )

    def html(self):
        return self.figure().svg

    def describe(self):
        shared = self._shared()
        head = f"more than {self.state['threshold']} shared: {len(shared)} edges, {len(self._alone())} of {len(self.chunks)} passages alone"
        best = sorted(shared.items(), key=lambda row: (-len(row[1]), row[0]))[:8]
        rows = [
            f"  {self.labels[self.chunks[i].id]} -- {self.labels[self.chunks[j].id]}: {', '.join(names)}"
            for (i, j), names in best
        ]
        return "\n".join(
            [head, *rows] + ([f"  ... and {len(shared) - 8} more"] if len(shared) > 8 else [])
        )


class ChunkSizeExplorer(Explorer):
    """Entity references and distinct names at a chunk size and a number of gleanings, for several
    readers of the same documents.

    `readers`: name -> language model or rules.

    Source: GraphRAG, Fig. 2 (fig-2)
    """

    def __init__(self, documents, readers, size=600, gleanings=0):
        self.documents, self.readers = tuple(documents), dict(readers)
        self._at = lru_cache(maxsize=256)(
            lambda name, *setting: entity_references(self.documents, self.readers[name], *setting)
        )
        super().__init__(
            [
                Slider("size", "chunk size", 300, 2400, 300, size),
                Slider("overlap", "overlap", 0, 200, 50, 100),
                Slider("gleanings", "gleanings", 0, 3, 1, gleanings),
            ]
        )

    def measured(self):
        """Reader -> what `entity_references` counts at the present state."""
        return {name: self._at(name, *self.state.values()) for name in self.readers}

    def figure(self):
        rows = [
            (f"{name}: {what}", found[key])
            for name, found in self.measured().items()
            for key, what in _COUNTED
        ]
        bold = [label for label, _ in rows if label.endswith("different names")]
        first = next(iter(self.measured().values()))
        caption = f"{first['chunks']} chunks of {self.state['size']} tokens, {first['tokens']} tokens read."
        return draw_scores(
            rows,
            highlight={"different names": bold},
            score_name="found",
            decimals=0,
            caption=caption,
        )

    def html(self):
        return self.figure().svg + "".join(
            f"<p style='color:#555555'>{escape(name)} is {escape(llm.name)}.</p>"
            for name, llm in self.readers.items()
        )

    def describe(self):
        head = f"chunk size {self.state['size']}, overlap {self.state['overlap']}, gleanings up to {self.state['gleanings']}"
        rows = [
            f"  {name}: {r['references']} references to {r['distinct']} names in {r['chunks']} chunks"
            for name, r in self.measured().items()
        ]
        return "\n".join([head, *rows])


_COUNTED = (("references", "references"), ("distinct", "different names"))

"""Explorers of chunking and of what chunk size, overlap and gleanings find."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape

from ..core.corpus import Chunk, Document
from ..core.errors import MiniragError
from ..graphs.elements import entity_references
from ..llm.base import LLM
from ..text.chunking import chunk_tokens
from ..text.tokens import token_spans
from ..viz import Figure, draw_scores
from ..viz.scene import Colour, Scene, ink_on
from .explorer import CELL, Explorer, Slider

LANE, LEFT, WIDTH = 26, 64, 760


class ChunkExplorer(Explorer):
    """Chunk size and overlap over one document, and what they do to one fact in it.

    document: a `Document`; fact: a stretch of its text that a reader needs in one piece; sizes:
    smallest and largest size of a chunk, in tokens.

    Source: GraphRAG, Sec. 2.1
    """

    def __init__(
        self, document: Document, fact: str, size: int = 70, sizes: tuple[int, int] = (20, 160)
    ) -> None:
        if fact not in document.text:
            where = f"does not stand in the document {document.id!r}"
            raise MiniragError(f"The fact {fact[:60]!r} {where}: it must be copied exactly.")
        self.document, self.fact, self.start = document, fact, document.text.index(fact)
        self.end = self.start + len(fact)
        self.tokens = [start for start, _ in token_spans(document.text)]
        sliders = [Slider("size", "chunk size", *sizes, 5, size)]
        super().__init__(*sliders, Slider("overlap", "overlap", 0, sizes[1] // 2, 5, 0))

    def changed(self, name: str) -> None:
        """A chunk may not repeat all of the one before it."""
        self.state["overlap"] = min(self.state["overlap"], self.state["size"] - 5)

    @property
    def chunks(self) -> list[Chunk]:
        return chunk_tokens(self.document, self.state["size"], self.state["overlap"])

    @property
    def touched(self) -> list[tuple[Chunk, str]]:
        """The chunks that hold some of the fact, each with the part that it holds."""
        meeting = [c for c in self.chunks if c.start < self.end and c.end > self.start]
        text = self.document.text
        parts = [(c, text[max(c.start, self.start) : min(c.end, self.end)]) for c in meeting]
        return [(chunk, part) for chunk, part in parts if part.strip()]

    @property
    def whole(self) -> bool:
        return any(self.fact in chunk.text for chunk in self.chunks)

    def _verdict(self) -> str:
        stored = sum(sum(c.start <= start < c.end for start in self.tokens) for c in self.chunks)
        cost = f"{len(self.chunks)} chunks, {stored} tokens stored for {len(self.tokens)} read"
        fate = "whole in one chunk" if self.whole else "cut in two"
        setting = f"size {self.state['size']}, overlap {self.state['overlap']}"
        return f"{setting}: {cost}; the fact is {fate}"

    def describe(self) -> str:
        held = [f"  {chunk.id} holds: {part.strip()}" for chunk, part in self.touched]
        return "\n".join([self._verdict(), *held])

    def figure(self) -> Figure:
        """The chunks as bars over the document, on two lanes so that overlaps show, and the fact as
        a band across them.
        """
        scene, unit = Scene(WIDTH, 2 * LANE + 40), (WIDTH - LEFT - 16) / len(self.document.text)
        left, right = LEFT + round(self.start * unit), LEFT + round(self.end * unit)
        for number, chunk in enumerate(self.chunks):
            held = chunk.start <= self.start and self.end <= chunk.end
            fill = Colour.GREEN if held else Colour.SKY if number % 2 else Colour.PALE
            x, y = LEFT + round(chunk.start * unit), 24 + LANE * (number % 2)
            width = max(2, round((chunk.end - chunk.start) * unit) - 1)
            scene.box(x, y, width, LANE - 4, fill, Colour.OUTLINE, title=chunk.id)
            if width > 22:
                scene.text(x + width // 2, y + 15, f"{number + 1}", 12, "middle", ink_on(fill))
        for x in (left, right):
            scene.line(((x, 18), (x, 24 + 2 * LANE + 4)), Colour.VERMILLION, 2)
        scene.text((left + right) // 2, 13, "the fact", 12, "middle", Colour.VERMILLION, bold=True)
        scene.text(8, 40, "odd", 12, colour=Colour.MUTED)
        scene.text(8, 40 + LANE, "even", 12, colour=Colour.MUTED)
        green = " Green: the chunk that holds all of it." if self.whole else ""
        return Figure(scene, self.describe(), caption=f"{self._verdict()}.{green}")

    def html(self) -> str:
        rows = ["<tr><th>chunk</th><th style='text-align:left'>its text, the fact marked</th></tr>"]
        for chunk, part in self.touched:
            shown = escape(part.strip())
            text = escape(chunk.text).replace(shown, f"<mark>{shown}</mark>", 1)
            cells = (escape(chunk.id.rsplit("#", 1)[-1]), text)
            row = "".join(f"<td {CELL}>{cell}</td>" for cell in cells)
            rows.append(f"<tr style='background:transparent'>{row}</tr>")
        return f"{self.figure().svg}<table style='color:#1A1A1A'>{''.join(rows)}</table>"


class ChunkSizeExplorer(Explorer):
    """Entity references and distinct names at a chunk size and a number of gleanings, for several
    readers of the same documents.

    `readers`: name -> language model or rules.

    Source: GraphRAG, Fig. 2 (fig-2)
    """

    def __init__(self, documents: Iterable[Document], readers: Mapping[str, LLM]) -> None:
        self.documents, self.readers = tuple(documents), dict(readers)
        self._at = lru_cache(maxsize=256)(self._count)
        size = Slider("size", "chunk size", 300, 2400, 300, 600)
        overlap = Slider("overlap", "overlap", 0, 200, 50, 100)
        super().__init__(size, overlap, Slider("gleanings", "gleanings", 0, 3, 1, 0))

    def _count(self, reader: str, size: int, overlap: int, gleanings: int) -> dict[str, int]:
        llm = self.readers[reader]
        return entity_references(self.documents, llm, size, overlap, gleanings)

    def measured(self) -> dict[str, dict[str, int]]:
        """Reader -> what `entity_references` counts at the present state."""
        return {name: self._at(name, *self.state.values()) for name in self.readers}

    def figure(self) -> Figure:
        rows, bold, found = [], [], self.measured()
        for name, counted in found.items():
            rows.append((f"{name}: references", counted["references"]))
            rows.append((f"{name}: different names", counted["distinct"]))
            bold.append(rows[-1][0])
        first = next(iter(found.values()))
        caption = f"{first['chunks']} chunks of {self.state['size']} tokens, "
        caption += f"{first['tokens']} tokens read."
        green = {"different names": bold}
        return draw_scores(rows, green, caption=caption, score_name="found", decimals=0)

    def html(self) -> str:
        names = (f"{escape(name)} is {escape(llm.name)}." for name, llm in self.readers.items())
        return self.figure().svg + "".join(f"<p style='color:#555555'>{text}</p>" for text in names)

    def describe(self) -> str:
        state = self.state
        lines = [f"chunk size {state['size']}, overlap {state['overlap']}, "]
        lines[0] += f"gleanings up to {state['gleanings']}"
        for name, counted in self.measured().items():
            found = f"{counted['references']} references to {counted['distinct']} names"
            lines.append(f"  {name}: {found} in {counted['chunks']} chunks")
        return "\n".join(lines)

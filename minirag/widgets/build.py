"""Graph building under the hand: a passage graph and its threshold, an extraction and its chunk
size.
"""

from functools import lru_cache
from html import escape

from ..graphs import passage_graph, shared_entities
from ..graphs.chunk_size import entity_references
from ..viz import draw_graph, draw_scores, layout
from .explorer import Explorer, Slider


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

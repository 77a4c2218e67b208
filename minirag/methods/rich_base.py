"""What a method over a rich knowledge graph is, whatever it then does with it: built, opened over a
graph, varied, saved.
"""

from dataclasses import replace
from functools import cached_property

from ..core.options import choose, vary
from ..encoders.text_encoders import load_encoder
from ..index import node_index
from ..index.relationships import relationship_index
from ..llm import load_llm
from ..operators.relationship import label
from . import rich_parts as parts
from .base import Method


class RichMethod(Method):
    """LightRAG and PathRAG stand on this.

    Subclasses set `kind`, their choices and the settings that `follow` names (what each changes,
    the default first), and `pairs`, whether the two directions of a relation are one edge. `preset`
    holds choices that the method itself makes; `reused`, what copies with other choices share, and
    the choice that decides it, if there is one.

    Source: Survey, Sec. 4 (graphs)
    """

    graph_type = "rich knowledge"
    index_components = ("Entity", "Relationship")
    kind = ()
    pairs = "undirected"
    preset = {}
    answer_task = "full_answer"
    reused = {"entity_index": "entity_text", "relationship_index": "relation_text"}

    def __init__(self, graph, llm, encoder, chosen):
        super().__init__(graph.chunks, llm)
        self.graph, self.chosen = graph, chosen
        self.encoder = load_encoder(encoder).fit([c.passage for c in self.chunks])
        self.labels = [one.label for one in self.chunks]

    def __repr__(self):
        return f"{type(self).__name__} over {self.graph!r}; encoder {self.encoder.name}; answers by {self.llm.name}"

    @classmethod
    def choose(cls, follow, choices):
        return choose(*cls.kind, follow, {**cls.preset, **choices})

    @classmethod
    def build(
        cls,
        corpus,
        llm="offline",
        encoder="minilm",
        extraction=None,
        executor=None,
        follow=None,
        **choices,
    ):
        """Read a corpus into a rich knowledge graph.

        extraction: see `rich_graph_of`. follow: "paper" (the default) or "code"; for LightRAG
        "survey" (the default), "early" or "late". **choices: the fields of the method's choices.
        """
        chosen, llm = cls.choose(follow, choices), load_llm(llm)
        graph = parts.rich_graph_of(
            corpus, llm, extraction, cls.pairs, executor, chosen.gleanings,
            order=chosen.gleaning_order, entity_types=chosen.entity_types, examples=chosen.examples,
        )  # fmt: skip
        return cls(graph, llm, encoder, chosen)

    @classmethod
    def from_graph(cls, graph, llm="offline", encoder="minilm", follow=None, **choices):
        """The method over a graph that exists already, such as Microsoft's index, or a graph of
        triples; edges go from source to target.
        """
        return cls(graph, load_llm(llm), encoder, cls.choose(follow, choices))

    def with_options(self, **choices):
        """The same graph with other choices; what they leave as it is, such as the vectors, is
        shared.
        """
        other = type(self)(self.graph, self.llm, self.encoder, vary(self.chosen, choices))
        for name, decided_by in self.reused.items():
            before, after = (decided_by and getattr(m.chosen, decided_by) for m in (self, other))
            if name in self.__dict__ and before == after:
                other.__dict__[name] = self.__dict__[name]
        return other

    def save(self, folder):
        """Write graph and choices to a folder, in open formats. Vectors stay in the embedding
        cache.
        """
        parts.save(self.graph, self.chosen, folder)

    @classmethod
    def load(cls, folder, llm="offline", encoder="minilm"):
        """Read what `save` wrote."""
        graph, choices = parts.load(folder, cls.__name__)
        return cls.from_graph(graph, llm, encoder, **choices)

    @cached_property
    def degree(self):
        return parts.degrees(self.graph)

    def by_degree(self, step):
        """The relations of a step by the sum of their ends' degrees, then by weight; equals stay as
        they are."""

        def busy_and_heavy(row):
            edge = self.graph.edges[row[0]]
            return self.degree[edge.source] + self.degree[edge.target], edge.weight

        rows = sorted(step.data["relations"], key=busy_and_heavy, reverse=True)
        items = tuple((label(self.graph, place), score) for place, score in rows[:10])
        summary = step.summary + ", by degree and weight"
        return replace(step, summary=summary, items=items, data={**step.data, "relations": rows})

    @cached_property
    def entity_index(self):
        return node_index(self.graph, self.encoder, self.chosen.entity_text)

    @cached_property
    def relationship_index(self):
        return relationship_index(self.graph, self.encoder, self.chosen.relation_text)

    def context(self, retrieval, reader=None):
        """The sections of the method's context in their order; k is only for the passages shown."""
        sections, step = self.filled(retrieval, reader)
        return sections, retrieval.followed_by(step)

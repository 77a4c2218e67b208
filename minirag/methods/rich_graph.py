"""Methods over one graph. And what LightRAG and PathRAG share: a rich knowledge graph read from a
corpus, its two vector indices, the search by high-level keywords, and elements as text in a budget
of tokens. LightRAG alone merges a local and a global search.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np

from ..algorithms.report_elements import prefix
from ..core.corpus import Corpus, Extraction
from ..core.encoder import Encoder
from ..core.graph import Graph
from ..core.options import Count, Options, choose
from ..core.trace import ChunkStep, CommunityStep, ContextStep, EdgeStep, NodeStep, Scored, Vector
from ..encoders.text_encoders import load_encoder
from ..graphs import Elements, extract_elements, given_elements, rich_knowledge_graph
from ..index import node_index
from ..index.vectors import NodeText, RelationText, VectorIndex, relationship_index
from ..llm import LLM, load_llm
from ..operators import chunk, rank
from ..operators.question import Empty
from ..text.tokens import TokenCounter, count_tokens
from .base import Sections, StoredMethod

T = TypeVar("T")
Found = TypeVar("Found", NodeStep, EdgeStep, CommunityStep)
Search = Callable[[Sequence[str], VectorIndex, int], list[Found]]
Pairs = Literal["undirected", "directed"]
Merge = Literal["in turns", "global first"]
NO_LOW = NodeStep("node vdb", "no low-level keyword, nothing searched", nodes=())
NO_HIGH = EdgeStep("relationship vdb", "no high-level keyword, nothing searched", edges=())
Source = str | Extraction | Elements | Graph  # of a graph, or of what it is built from


@dataclass(frozen=True)
class RichOptions(Options):
    """What is asked of a rich graph, of its indices and of the search by keywords.

    entity_text, relation_text: what is encoded (`node_index`, `relationship_index`).
    cutoff: the least cosine of what a search finds, or None.
    empty: what stands in for a level without keywords (`operators.question.keywords`).
    global_order: relations that the high-level keywords find, by "similarity", or by "degree", the
        sum of their ends', then weight.
    count: tokenizer, or a function text -> number of tokens.
    gleanings: extra turns of the extraction.
    gleaning_order: "assess first" asks whether anything was missed before each of them.
    entity_types, examples: the domain's own types and few-shot pairs (`extract_elements`).
    """

    entity_text: NodeText = "description"
    relation_text: RelationText = "description and names"
    cutoff: float | None = None
    empty: Empty = "question"
    global_order: Literal["similarity", "degree"] = "similarity"
    count: TokenCounter = "regex"
    gleanings: Count = 1
    gleaning_order: Literal["assess first", "continue first"] = "assess first"
    entity_types: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()


class GraphMethod(StoredMethod):
    """A method over one graph, by an encoder that is fitted to its passages."""

    stored_type = Graph

    def __init__(self, graph: Graph, llm: LLM, encoder: str | Encoder, chosen: Options) -> None:
        super().__init__(graph.chunks, llm)
        self.graph, self.chosen = graph, chosen
        self.encoder: Encoder = load_encoder(encoder).fit([each.passage for each in self.chunks])

    @property
    def stored(self) -> Graph:
        return self.graph

    @classmethod
    def from_graph(
        cls, graph: Graph, llm: str | LLM = "offline", encoder: str | Encoder = "minilm",
        follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """The method over a graph that exists already: Microsoft's index, a graph of triples, whose
        edges go from source to target, or, for a method over trees, that of `graphs.tree`.
        """
        chosen = choose(cls.options_type, cls.settings, follow, options)
        return cls(graph, load_llm(llm), encoder, chosen)


class RichMethod(GraphMethod):
    """A method over a rich knowledge graph, whatever it then does with it.

    Subclasses set `pairs`: whether the two directions of a relation are one edge.

    Source: Survey, Sec. 4 (graphs)
    """

    graph_type = "rich knowledge"
    index_components = ("Entity", "Relationship")
    answer_task = "full_answer"
    options_type: ClassVar[type[RichOptions]]
    pairs: ClassVar[Pairs] = "undirected"
    decided_by: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "entity_index": ("entity_text",),
        "relationship_index": ("relation_text",),
    }
    chosen: RichOptions

    def __repr__(self) -> str:
        made = f"encoder {self.encoder.name}; answers by {self.llm.name}"
        return f"{type(self).__name__} over {self.graph!r}; {made}"

    @classmethod
    def build(
        cls, corpus: Corpus, llm: str | LLM = "offline", encoder: str | Encoder = "minilm",
        extraction: Source | None = None, executor: Executor | None = None,
        follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Read a corpus into a rich knowledge graph.

        extraction: see `rich_graph_of`. follow: "paper" (the default) or "code"; for LightRAG
        "survey" (the default), "early" or "late".
        """
        model, chosen = load_llm(llm), choose(cls.options_type, cls.settings, follow, options)
        graph = rich_graph_of(corpus, model, extraction, cls.pairs, chosen, executor)
        return cls(graph, model, encoder, chosen)

    @cached_property
    def entity_index(self) -> VectorIndex:
        return cast("VectorIndex", node_index(self.graph, self.encoder, self.chosen.entity_text))

    @cached_property
    def relationship_index(self) -> VectorIndex:
        return relationship_index(self.graph, self.encoder, self.chosen.relation_text)

    def search(
        self, texts: Sequence[str], vdb: Search[Found], index: VectorIndex, k: int, blank: Found
    ) -> list[Found]:
        """What the operator `vdb` finds for each text, but for what is below `cutoff`; `blank` for
        an empty text, and where k or the index is.
        """
        texts = [text if k and index.labels else "" for text in texts]
        found = iter(vdb([text for text in texts if text], index, k) if any(texts) else ())
        return [drop_below(next(found) if text else blank, self.chosen.cutoff) for text in texts]

    def in_global_order(self, relations: list[EdgeStep]) -> list[EdgeStep]:
        """What the high-level keywords found, in the order that `global_order` says: by
        "degree", the sum of their ends' degrees, then by weight; equals stay as they are.
        """
        if self.chosen.global_order == "similarity":
            return relations
        degree, edges = degrees(self.graph), self.graph.edges

        def busy_and_heavy(row: Scored) -> tuple[int, float]:
            edge = edges[row.index]
            return degree[edge.source] + degree[edge.target], edge.weight

        how, ordered = ", by degree and weight", []
        for step in relations:
            rows = sorted(step.edges, key=busy_and_heavy, reverse=True)
            ordered.append(with_rows(step, rows, step.summary + how))
        return ordered


def rich_graph_of(
    corpus: Corpus, llm: LLM, extraction: Source | None = None, pairs: Pairs = "undirected",
    options: RichOptions = RichOptions(), executor: Executor | None = None,
) -> Graph:  # fmt: skip
    """The rich knowledge graph of a corpus.

    extraction: None lets `llm` read the text; "annotations" takes the hand-written elements of a
    shipped corpus, or where it has none its shipped triples; `Elements`, an `Extraction`, or a
    whole `Graph` are used as they are.
    """
    if isinstance(extraction, Graph):
        return extraction
    if extraction is None:
        elements = extract_elements(
            corpus, llm, rich=True, gleanings=options.gleanings, order=options.gleaning_order,
            entity_types=options.entity_types, examples=options.examples, executor=executor,
        )  # fmt: skip
    else:
        elements = given_elements(corpus, extraction, llm, executor)
    return rich_knowledge_graph(corpus.chunks, elements, llm, pairs=pairs, executor=executor)


def rows_of(step: NodeStep | EdgeStep | CommunityStep) -> tuple[Scored, ...]:
    """What a step chose, best first."""
    rows: tuple[Scored, ...] = getattr(step, step.shows)
    return rows


def with_rows(step: Found, rows: Iterable[Scored], summary: str, operator: str = "") -> Found:
    """The step with these of its rows, and what it, or another operator, then did."""
    own: dict[str, Any] = {step.shows: tuple(rows)}  # a NodeStep's nodes, an EdgeStep's edges
    return type(step)(operator or step.operator, summary, **own)


def drop_below(step: Found, cutoff: float | None) -> Found:
    """The step of a vector search without rows of a cosine below `cutoff`; None keeps all."""
    if cutoff is None:
        return step
    rows = [row for row in rows_of(step) if row.score >= cutoff]
    kept = f"{step.summary}, of which {len(rows)} with a cosine of {cutoff:g} or more"
    return with_rows(step, rows, kept)


def degrees(graph: Graph) -> Counter[int]:
    """Position of a node -> its degree, in and out; several relations of a pair are one."""
    pairs = {(edge.source, edge.target) for edge in graph.edges if edge.kind == "relation"}
    return Counter(end for pair in pairs for end in pair)


def entity_row(graph: Graph, place: int) -> str:
    """A node as a line of the context: name (type): description."""
    node = graph.nodes[place]
    kind = f" ({node.type})" if node.type else ""
    return f"{node.name}{kind}{f': {node.description}' if node.description else ''}"


def relation_row(graph: Graph, place: int) -> str:
    """An edge as a line of the context: source — target [keywords]: name and description."""
    edge = graph.edges[place]
    ends = f"{graph.nodes[edge.source].name} — {graph.nodes[edge.target].name}"
    keywords = f" [{edge.keywords}]" if edge.keywords else ""
    text = " ".join(filter(None, (edge.name, edge.description)))
    return f"{ends}{keywords}{f': {text}' if text else ''}"


def ranked(scores: Vector) -> list[int]:
    """The passages with a score, best first."""
    return [place for place in rank(scores).tolist() if scores[place] > 0]


def in_order(places: Sequence[int], labels: Sequence[str], operator: str, how: str) -> ChunkStep:
    """A step that ranks these passages as given: the first scores highest."""
    scores = np.zeros(len(labels))
    scores[list(places)] = np.arange(len(places), 0, -1)
    return chunk.scored_step(operator, f"{len(places)} passages, {how}", labels, scores)


def merged(lists: Sequence[Sequence[T]], order: Merge) -> list[T]:
    """The items of a local and a global search, each once; "in turns", [a, b, c] and [b, d] give
    [a, b, d, c].
    """
    parts: Iterable[Iterable[T | None]] = reversed(lists)
    if order == "in turns":
        parts = zip_longest(*lists)
    return [item for item in dict.fromkeys(chain.from_iterable(parts)) if item is not None]


def cited_by_relations(graph: Graph, relations: Iterable[int]) -> list[int]:
    """Passages in the order of the relations that were read from them."""
    return list(dict.fromkeys(i for place in relations for i in graph.edges[place].chunks))


def fitting(
    items: Sequence[T], texts: Iterable[str], budget: int | None, count: TokenCounter
) -> list[T]:
    """The first items whose texts fit into a budget of tokens; all where it is None."""
    if budget is None:
        return list(items)
    return list(items[: prefix([count_tokens(text, count) for text in texts], budget)])


def within(budget: int | None) -> str:
    """The budget in words."""
    return "" if budget is None else f" in {budget} tokens"


def fill(
    sections: Mapping[str, tuple[Sequence[str], int | None]],
    count: TokenCounter,
    total: int | None = None,
) -> tuple[Sections, ContextStep]:
    """The sections, each cut at the first text that its budget does not hold, and the step.

    sections: name -> texts and their budget of tokens (None: no limit). total: a budget of all
    sections, of which the last gets what the others leave.

    Source: Survey, Sec. 6.3 (generation)
    """
    kept: Sections = {}
    told, tokens = [], 0
    for place, (name, (texts, budget)) in enumerate(sections.items(), start=1):
        limit = budget
        if total is not None and place == len(sections):
            limit = min(total - tokens, total if budget is None else budget)
        sizes = [count_tokens(text, count) for text in texts]
        fit = len(texts) if limit is None else prefix(sizes, limit)
        kept[name] = list(texts[:fit])
        tokens += sum(sizes[:fit])
        told.append(f"{fit} of {len(texts)} {name}{within(limit)}")
    rows, summary = {name: len(kept[name]) for name in kept}, f"{'; '.join(told)}; {tokens} tokens"
    return kept, ContextStep("context", summary, sections=rows, tokens=tokens)

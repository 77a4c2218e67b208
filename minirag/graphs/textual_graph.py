"""The textual knowledge graph (GraphRAG) and the rich one (LightRAG): identical element instances
become one node or edge.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal

from ..core.corpus import Chunk
from ..core.errors import MiniragError
from ..core.graph import Claim, Edge, Graph, Node
from ..core.options import Options, choose
from ..llm import LLM
from ..prompts.records import ClaimRecord, EntityRecord, RelationshipRecord
from ..prompts.summaries_and_reports import MAX_TOKENS
from ..text.tokens import TokenCounter, count_tokens
from .elements import Elements
from .knowledge_graph import normalise_phrase

Mentions = list[tuple[int, EntityRecord]]  # positions of chunks, and what each says
Relations = list[tuple[int, RelationshipRecord]]
Claims = list[tuple[int, ClaimRecord]]
Key = Callable[[str], str]  # a name -> what is equal for instances of one element
NAMES: dict[str, Key] = {"as written": str, "upper": str.upper, "normalised": normalise_phrase}


@dataclass(frozen=True)
class TextualOptions(Options):
    """Which instances are one element. The defaults are the paper's.

    names: instances are identical if their names are, "as written" (paper), in "upper" case (code)
        or "normalised" as HippoRAG does.
    weight: "normalised count" is the number of a pair's instances divided by the largest such
        number (paper; communities depend on ratios only); "count" is that number; "strength" the
        sum of what the extractor said (code).
    pairs: "undirected" adds up both directions (paper); "directed" keeps them apart (code's
        tables); "last" lets the later direction replace the earlier one (what the code then
        clusters).
    unknown: an endpoint that nobody described is made a node ("create") or its edge dropped (code).
    same_name: one name with two types is one node ("merge"), or keeps the descriptions of the first
        type only (code).
    claims: those with the same subject, object, type and status become one whose descriptions are
        summarised ("summarise": the paper summarises claims as it does nodes and edges, and leaves
        open which of them match), or every claim stays by itself ("keep", code).
    """

    names: Literal["as written", "upper", "normalised"] = "as written"
    weight: Literal["normalised count", "count", "strength"] = "normalised count"
    pairs: Literal["undirected", "directed", "last"] = "undirected"
    unknown: Literal["create", "drop"] = "create"
    same_name: Literal["merge", "first type"] = "merge"
    claims: Literal["summarise", "keep"] = "summarise"


CODE = {
    "names": "upper", "weight": "strength", "pairs": "directed", "unknown": "drop",
    "same_name": "first type", "claims": "keep",
}  # fmt: skip
LIGHTRAG = {"names": "upper", "weight": "strength", "claims": "keep"}


def textual_knowledge_graph(
    chunks: Sequence[Chunk], elements: Elements, llm: LLM | None = None, *, follow: str = "paper",
    executor: Executor | None = None, call_from: int = 0, **options: str,
) -> Graph:  # fmt: skip
    """Entities and relationships with a description each, as GraphRAG builds them; claims that
    `elements` holds are linked to their nodes. Self-loops are left out.

    llm: what merges descriptions from `call_from` tokens on (`summarise_elements`); None joins them
    with line breaks. follow, options: of `TextualOptions`.

    Source: GraphRAG, Sec. 2.3 (sec-2.3); GraphRAG, Sec. 2.4 (sec-2.4); Survey, Sec. 4 (graphs)
    """
    chosen = choose(TextualOptions, {"paper": {}, "code": CODE}, follow, options)
    return _Merger(chunks, elements, chosen).graph("textual knowledge", llm, executor, call_from)


def rich_knowledge_graph(
    chunks: Sequence[Chunk], elements: Elements, llm: LLM | None = None, *, call_from: int = 500,
    executor: Executor | None = None, **options: str,
) -> Graph:  # fmt: skip
    """The textual graph with keywords on its relationships, as LightRAG and PathRAG build it;
    `elements` come from `extract_elements(rich=True)`.

    Arguments as in `textual_knowledge_graph`, with LightRAG's defaults: upper-case names, summed
    strengths, one edge a pair, unknown endpoints created, summaries from 500 tokens on. PathRAG's
    directed flow needs `pairs="directed"`.

    Source: Survey, Sec. 4 (graphs)
    """
    chosen = choose(TextualOptions, {"code": LIGHTRAG}, None, options)
    return _Merger(chunks, elements, chosen).graph("rich knowledge", llm, executor, call_from)


def summarise_elements(
    llm: LLM | None, described: Sequence[tuple[str, Sequence[str]]], max_tokens: int = MAX_TOKENS,
    input_limit: int = 4000, call_from: int = 0, tokenizer: TokenCounter = "regex",
    executor: Executor | None = None,
) -> list[str]:  # fmt: skip
    """One description for each (name, descriptions) pair. None gives "", one stays as it is, and
    neither is a call; repeated ones count once.

    llm: None joins them with line breaks instead. call_from: descriptions that are shorter together
    are joined without a call (500 tokens in LightRAG's code). input_limit: what is longer is
    summarised in turns, each with the summary so far.

    Source: GraphRAG, Sec. 2.3 (sec-2.3)
    """
    names = [name for name, _ in described]
    queues = [
        [text for text in dict.fromkeys(" ".join(d.split()) for d in texts) if text]
        for _, texts in described
    ]
    for queue in queues:
        if llm is None or sum(count_tokens(text, tokenizer) for text in queue) < call_from:
            queue[:] = ["\n".join(queue)]
    while llm and (waiting := [i for i, queue in enumerate(queues) if len(queue) > 1]):
        batches = [_that_fit(queues[i], input_limit, tokenizer) for i in waiting]
        fields = [
            {"name": names[i], "descriptions": tuple(batch), "max_tokens": max_tokens}
            for i, batch in zip(waiting, batches)
        ]
        summaries = llm.map("summarise", fields, executor=executor, description="summaries")
        for i, batch, summary in zip(waiting, batches, summaries):
            # A model that said nothing must not cost what was known.
            queues[i] = [summary or "\n".join(batch), *queues[i][len(batch) :]]
    return ["".join(queue) for queue in queues]


def _that_fit(texts: Sequence[str], limit: int, tokenizer: TokenCounter) -> Sequence[str]:
    """The first texts that fit into `limit` tokens together, two at least, so that every turn
    shortens the queue.
    """
    used, count = 0, 0
    for text in texts:
        used += count_tokens(text, tokenizer)
        if used > limit and count >= 2:
            break
        count += 1
    return texts[:count]


class _Merger:
    """Instances by element: what was said, how often, in which chunks."""

    def __init__(
        self, chunks: Sequence[Chunk], elements: Elements, options: TextualOptions
    ) -> None:
        self.chunks, self.elements, self.options = tuple(chunks), elements, options
        self.key = NAMES[options.names]
        self.entities: dict[str, Mentions] = defaultdict(list)
        self.relationships: dict[tuple[str, str], Relations] = {}
        self.spelling: dict[str, str] = {}
        for place, chunk in enumerate(self.chunks):
            for record in elements.entities.get(chunk.id, ()):
                if name := self.key(record.name):
                    self.spelling.setdefault(name, record.name)
                    self.entities[name].append((place, record))
        if options.same_name == "first type":
            for name, mentions in self.entities.items():
                first = mentions[0][1].type
                self.entities[name] = [row for row in mentions if row[1].type == first]
        described = set(self.entities)
        for place, chunk in enumerate(self.chunks):
            for relation in elements.relationships.get(chunk.id, ()):
                self._relate(place, relation, described)
        if not self.entities and not self.relationships:
            raise MiniragError(
                f"The {elements!r} name no entity in {len(self.chunks)} chunks: is the text empty,"
                " or the model's output malformed?"
            )

    def _relate(self, place: int, record: RelationshipRecord, described: set[str]) -> None:
        ends = (self.key(record.source), self.key(record.target))
        if not all(ends) or ends[0] == ends[1]:
            return
        if self.options.unknown == "drop" and not described.issuperset(ends):
            return
        if self.options.pairs == "undirected" and ends[::-1] in self.relationships:
            ends = ends[::-1]
        elif self.options.pairs == "last":
            self.relationships.pop(ends[::-1], None)
        self.relationships.setdefault(ends, []).append((place, record))
        for name in (record.source, record.target):
            self.spelling.setdefault(self.key(name), name)

    def graph(
        self, kind: str, llm: LLM | None, executor: Executor | None, call_from: int = 0
    ) -> Graph:
        """The graph, each element with the summary of its descriptions."""
        ends = (name for pair in self.relationships for name in pair)
        names = list(dict.fromkeys([*self.entities, *ends]))
        mentions = [self.entities.get(name, []) for name in names]
        claims = self._claims(set(names))
        described = [
            *zip(map(self._shown, names), map(_descriptions, mentions)),
            *(
                (f"{self._shown(a)} and {self._shown(b)}", _descriptions(rows))
                for (a, b), rows in self.relationships.items()
            ),
            *((_about(rows[0][1]), _descriptions(rows)) for rows in claims),
        ]
        texts = iter(summarise_elements(llm, described, call_from=call_from, executor=executor))
        nodes = tuple(
            Node(self._shown(name), _usual_type(rows), next(texts), self._places(name))
            for name, rows in zip(names, mentions)
        )
        position = {name: i for i, name in enumerate(names)}
        edges = tuple(self._edges(position, texts, rich=kind == "rich knowledge"))
        covariates = tuple(self._claim(rows, position, next(texts)) for rows in claims)
        return Graph(kind, self.elements.source, nodes, edges, self.chunks, covariates)

    def _shown(self, name: str) -> str:
        """The name; under `normalised` the spelling that was met first."""
        return self.spelling[name] if self.options.names == "normalised" else name

    def _places(self, name: str) -> tuple[int, ...]:
        """Chunks that describe the entity; for one that only a relationship names, those of its
        relationships.
        """
        if name in self.entities:
            return tuple(sorted(place for place, _ in self.entities[name]))
        found = [rows for ends, rows in self.relationships.items() if name in ends]
        return tuple(sorted(place for rows in found for place, _ in rows))

    def _edges(
        self, position: Mapping[str, int], texts: Iterator[str], rich: bool
    ) -> Iterator[Edge]:
        largest = max(map(len, self.relationships.values()), default=1)
        for (source, target), rows in self.relationships.items():
            weights = {
                "strength": sum(record.strength for _, record in rows),
                "count": float(len(rows)),
                "normalised count": len(rows) / largest,
            }
            yield Edge(
                position[source],
                position[target],
                description=next(texts),
                keywords=", ".join(_distinct_keywords(rows)) if rich else "",
                weight=weights[self.options.weight],
                chunks=tuple(sorted(place for place, _ in rows)),
            )

    def _claims(self, names: set[str]) -> list[Claims]:
        """Instances `(place, record)` of each claim; one whose subject is no node is left out."""
        groups: dict[tuple[object, ...], Claims] = {}
        for place, chunk in enumerate(self.chunks):
            for number, record in enumerate(self.elements.claims.get(chunk.id, ())):
                about = (self.key(record.subject), self.key(record.object))
                kind = (record.type.casefold(), record.status.casefold())
                if about[0] in names:
                    merged = self.options.claims == "summarise"
                    same = (*about, *kind) if merged else (place, number)
                    groups.setdefault(same, []).append((place, record))
        return list(groups.values())

    def _claim(self, rows: Claims, position: Mapping[str, int], description: str) -> Claim:
        """One claim out of its instances, from the earliest start to the latest end."""
        records = [record for _, record in rows]
        first = records[0]
        return Claim(
            position[self.key(first.subject)], position.get(self.key(first.object)),
            first.type, first.status,
            start=min((record.start for record in records if record.start), default=""),
            end=max((record.end for record in records if record.end), default=""),
            description=description,
            text=" ".join(dict.fromkeys(record.text for record in records if record.text)),
            chunks=tuple(place for place, _ in rows),
        )  # fmt: skip


def _descriptions(rows: Iterable[tuple[int, Any]]) -> list[str]:  # Any: of a kind of records
    return [record.description for _, record in rows]


def _about(claim: ClaimRecord) -> str:
    """What a claim is about, for the prompt that merges its instances."""
    ends = " and ".join(name for name in (claim.subject, claim.object) if name)
    return f"Claim about {ends}{f' ({claim.type})' if claim.type else ''}"


def _usual_type(rows: Mentions) -> str:
    """The type most instances give, the first on a tie."""
    types = Counter(record.type for _, record in rows if record.type)
    return types.most_common(1)[0][0] if types else ""


def _distinct_keywords(rows: Relations) -> Iterable[str]:
    words = (word.strip() for _, record in rows for word in record.keywords.split(","))
    return dict.fromkeys(word for word in words if word)

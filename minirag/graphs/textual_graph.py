"""The textual knowledge graph (GraphRAG) and the rich one (LightRAG): identical element instances
become one node or edge.
"""

from collections import Counter, defaultdict

from ..core.errors import MiniragError
from ..core.graph import Claim, Edge, Graph, Node
from .elements import choose, one_of
from .knowledge_graph import normalise_phrase
from .summaries import summarise_elements

NAMES = {"as written": str, "upper": str.upper, "normalised": normalise_phrase}
WEIGHTS = ("normalised count", "count", "strength")
PAIRS = ("undirected", "directed", "last")
UNKNOWN = ("create", "drop")
SAME_NAME = ("merge", "first type")
CLAIMS = ("summarise", "keep")
PAPER = {
    "names": "as written", "weight": "normalised count", "pairs": "undirected", "unknown": "create",
    "same_name": "merge", "claims": "summarise",
}  # fmt: skip
CODE = {
    "names": "upper", "weight": "strength", "pairs": "directed", "unknown": "drop",
    "same_name": "first type", "claims": "keep",
}  # fmt: skip
LIGHTRAG = {
    "names": "upper", "weight": "strength", "pairs": "undirected", "unknown": "create",
    "same_name": "merge", "claims": "keep",
}  # fmt: skip


def textual_knowledge_graph(
    chunks, elements, llm=None, *, follow="paper", names=None, weight=None, pairs=None,
    unknown=None, same_name=None, claims=None, executor=None, **summaries
):  # fmt: skip
    """Entities and relationships with a description each, as GraphRAG builds them; claims that
    `elements` holds are linked to their nodes.

    llm: what merges descriptions (`summarise_elements`, which takes `summaries`); None joins them
    with line breaks.
    names: instances are identical if their names are, "as written" (paper), in "upper" case (code),
    or "normalised" as HippoRAG does.
    weight: "normalised count" is the number of a pair's instances divided by the largest such
    number (paper; communities depend on ratios only); "count" is that number; "strength" the sum of
    what the extractor said (code).
    pairs: "undirected" adds up both directions (paper); "directed" keeps them apart (code's
    tables); "last" lets the later direction replace the earlier one (what the code then clusters).
    unknown: an endpoint that nobody described is made a node ("create") or its edge dropped (code).
    same_name: one name with two types is one node ("merge"), or keeps the descriptions of the first
    type only (code). Self-loops are left out.
    claims: those with the same subject, object, type and status become one whose descriptions are
    summarised ("summarise": the paper summarises claims as it does nodes and edges, and leaves open
    which of them match), or every claim stays by itself ("keep", code).

    Source: GraphRAG, Sec. 2.3 (sec-2.3); GraphRAG, Sec. 2.4 (sec-2.4); Survey, Sec. 4 (graphs)
    """
    chosen = choose(
        follow, {"paper": PAPER, "code": CODE}, names=names, weight=weight, pairs=pairs,
        unknown=unknown, same_name=same_name, claims=claims,
    )  # fmt: skip
    return _Merger(chunks, elements, **chosen).graph("textual knowledge", llm, executor, summaries)


def rich_knowledge_graph(
    chunks, elements, llm=None, *, names=None, weight=None, pairs=None, unknown=None, same_name=None, executor=None, call_from=500, **summaries
):  # fmt: skip
    """The textual graph with keywords on its relationships, as LightRAG and PathRAG build it;
    `elements` come from `extract_elements(rich=True)`.

    Arguments as in `textual_knowledge_graph`, with LightRAG's defaults: upper-case names, summed
    strengths, one edge a pair, unknown endpoints created, summaries from 500 tokens on. PathRAG's
    directed flow needs `pairs="directed"`.

    Source: Survey, Sec. 4 (graphs)
    """
    chosen = choose(
        "code", {"code": LIGHTRAG}, names=names, weight=weight, pairs=pairs, unknown=unknown,
        same_name=same_name, claims=None,
    )  # fmt: skip
    return _Merger(chunks, elements, **chosen).graph(
        "rich knowledge", llm, executor, {"call_from": call_from, **summaries}
    )


class _Merger:
    """Instances by element: what was said, how often, in which chunks."""

    def __init__(self, chunks, elements, names, weight, pairs, unknown, same_name, claims):
        self.merge_claims = one_of("claims", claims, CLAIMS) == "summarise"
        self.weight, self.pairs = one_of("weight", weight, WEIGHTS), one_of("pairs", pairs, PAIRS)
        one_of("unknown", unknown, UNKNOWN), one_of("same_name", same_name, SAME_NAME)
        self.key = NAMES[one_of("names", names, NAMES)]
        self.chunks, self.elements = tuple(chunks), elements
        self.entities, self.relationships, self.spelling = defaultdict(list), {}, {}
        for place, chunk in enumerate(self.chunks):
            for record in elements.entities.get(chunk.id, ()):
                if self.key(record.name):
                    self.spelling.setdefault(self.key(record.name), record.name)
                    self.entities[self.key(record.name)].append((place, record))
        if same_name == "first type":
            self.entities = {
                name: [row for row in rows if row[1].type == rows[0][1].type]
                for name, rows in self.entities.items()
            }
        known = set(self.entities)
        for place, chunk in enumerate(self.chunks):
            for record in elements.relationships.get(chunk.id, ()):
                self._relate(place, record, known if unknown == "drop" else None)
        if not self.entities and not self.relationships:
            raise MiniragError(
                f"The {elements!r} name no entity in {len(self.chunks)} chunks: is the text empty, or the model's output malformed?"
            )

    def _relate(self, place, record, known):
        ends = (self.key(record.source), self.key(record.target))
        if not all(ends) or ends[0] == ends[1] or known is not None and not known.issuperset(ends):
            return
        if self.pairs == "undirected" and ends[::-1] in self.relationships:
            ends = ends[::-1]
        elif self.pairs == "last":
            self.relationships.pop(ends[::-1], None)
        self.relationships.setdefault(ends, []).append((place, record))
        for name in (record.source, record.target):
            self.spelling.setdefault(self.key(name), name)

    def graph(self, kind, llm, executor, summaries):
        extra = [name for ends in self.relationships for name in ends if name not in self.entities]
        names = list(dict.fromkeys([*self.entities, *extra]))
        shown = {name: self._display(name) for name in names}
        rows = [self.entities.get(name, []) for name in names]
        said = [
            (shown[name], [record.description for _, record in each])
            for name, each in zip(names, rows)
        ]
        said += [
            (f"{shown[a]} and {shown[b]}", [record.description for _, record in each])
            for (a, b), each in self.relationships.items()
        ]
        claims = self._claims(set(names))
        said += [(_about(rows[0][1]), [claim.description for _, claim in rows]) for rows in claims]
        texts = iter(summarise_elements(llm, said, executor=executor, **summaries))
        nodes = tuple(
            Node(shown[name], _usual_type(each), next(texts), self._places(name))
            for name, each in zip(names, rows)
        )
        position = {name: i for i, name in enumerate(names)}
        edges = self._edges(position, texts, rich=kind == "rich knowledge")
        covariates = tuple(self._claim(rows, position, next(texts)) for rows in claims)
        return Graph(kind, self.elements.source, nodes, edges, self.chunks, covariates)

    def _display(self, name):
        """Under `normalised` the spelling met first stands for all; otherwise the name is its own."""
        return self.spelling[name] if self.key is normalise_phrase else name

    def _places(self, name):
        """Chunks that describe the entity; for one that only a relationship names, those of its
        relationships.
        """
        rows = self.entities.get(name) or [
            row for ends, each in self.relationships.items() if name in ends for row in each
        ]
        return tuple(sorted(place for place, _ in rows))

    def _edges(self, position, texts, rich):
        largest = max(map(len, self.relationships.values()), default=1)
        edges = []
        for (a, b), rows in self.relationships.items():
            strength = sum(record.strength for _, record in rows)
            weight = {
                "strength": strength,
                "count": float(len(rows)),
                "normalised count": len(rows) / largest,
            }[self.weight]
            places = tuple(sorted(place for place, _ in rows))
            keywords = ", ".join(_distinct_keywords(rows)) if rich else ""
            edges.append(
                Edge(
                    position[a],
                    position[b],
                    description=next(texts),
                    keywords=keywords,
                    weight=weight,
                    chunks=places,
                )
            )
        return tuple(edges)

    def _claims(self, names):
        """Instances `(place, record)` of each claim; one whose subject is no node is left out."""
        groups = {}
        for place, chunk in enumerate(self.chunks):
            for number, record in enumerate(self.elements.claims.get(chunk.id, ())):
                about = (self.key(record.subject), self.key(record.object))
                kind = (record.type.casefold(), record.status.casefold())
                if about[0] in names:
                    same = (*about, *kind) if self.merge_claims else (place, number)
                    groups.setdefault(same, []).append((place, record))
        return list(groups.values())

    def _claim(self, rows, position, description):
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


def _about(claim):
    """What a claim is about, for the prompt that merges its instances."""
    ends = " and ".join(name for name in (claim.subject, claim.object) if name)
    return f"Claim about {ends}{f' ({claim.type})' if claim.type else ''}"


def _usual_type(rows):
    """The type most instances give, the first on a tie."""
    types = Counter(record.type for _, record in rows if record.type)
    return types.most_common(1)[0][0] if types else ""


def _distinct_keywords(rows):
    words = (word.strip() for _, record in rows for word in record.keywords.split(","))
    return dict.fromkeys(word for word in words if word)

"""What LightRAG's released codes add to the survey's composition: their options, the order in which
they take relations and passages, how they merge two searches, and where their budgets cut.

`follow` names one of three settings:

- "survey", the default: the survey's composition.
- "early": release 0.0.9 of November 2024, whose rules are those of nano-graphrag.
- "late": release 1.4.9.8 of November 2025.

Two rules changed between them. From release 1.0.5 on, the neighbours that cite a passage are
counted over all entities that cite it; from release 1.1.5 on, its rank is that of the last such
entity. Known differences, not reproduced:

- The early code prints a relation twice if its two searches name its ends in different orders.
- The early code leaves some orders to a Python set; here they are those of release 1.0.5.
- The late code may have a model rerank passages.
- Tokens are counted on the kit's rows, which have fewer columns than the tables of either code.

Source: Survey, Table 3 (tab-3)
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Literal, TypeVar

import numpy as np

from ..core.graph import Edge, Graph, Node
from ..core.options import Count, Positive
from ..core.trace import ChunkStep, EdgeStep, NodeStep, Step, Trace, Vector
from ..operators import chunk, rank
from ..operators.ranking import top_items
from ..prompts.task import Task
from ..text.tokens import count_tokens
from . import rich_graph as rich

RESERVED = 200  # tokens that the late code keeps free for its list of references
LATE_ORDERS = ("similarity", "polling")
Merge = Literal["in turns", "global first"]
P = TypeVar("P")
NO_LOW = NodeStep("node vdb", "no low-level keyword, nothing searched", nodes=())
NO_HIGH = EdgeStep("relationship vdb", "no high-level keyword, nothing searched", edges=())


@dataclass(frozen=True)
class CodeOptions(rich.RichOptions):
    """What the survey leaves open, and what the early and the late code do. The budgets of 4,000
    tokens are LightRAG's (the survey has 8,000 for the whole prompt, Sec. 7.1), the order "links"
    is GraphRAG's, and to merge "in turns" is the late code's.

    local_order: relations at the entities, by "links" or by "degree", the orders of
        `operators.relationship.onehop`.
    chunk_order: by the "operator", Occurrence and FromRel. "citation": local passages by the first
        entity that cites them, then by how many of its neighbours do; global ones as the relations
        cite them. "similarity": of the passages of the entities and relations that fit their
        budgets, those nearest to the question. "polling" (late, on request): the first entity and
        relation give `related_chunks` of them, the last ones 1.
    related_chunks: passages for each entity or relation; by "similarity", half as many.
    chunk_k: passages in the context at most.
    mix: passages nearest to the question join the others (the late code's mode "mix").
    merge: local and global "in turns", or "global first".
    entity_budget, relation_budget, text_budget: tokens of the context's parts; None: no limit.
    total_budget: tokens of prompt and context; passages get what the rest leaves.
    cut: budgets cut the "context"; or what each "search" found, counting descriptions alone and
        sparing local entities.
    """

    local_order: Literal["links", "degree"] = "links"
    chunk_order: Literal["operator", "citation", "similarity", "polling"] = "operator"
    related_chunks: Positive = 5
    chunk_k: Positive | None = None
    mix: bool = False
    merge: Merge = "in turns"
    entity_budget: Count | None = 4000
    relation_budget: Count | None = 4000
    text_budget: Count | None = 4000
    total_budget: Count | None = None
    cut: Literal["context", "search"] = "context"


CODES = {
    "cutoff": 0.2, "entity_text": "name and description", "local_order": "degree",
    "relation_text": "keywords, names, description", "gleaning_order": "continue first",
}  # fmt: skip
SETTINGS = {
    "survey": {},
    "early": {
        **CODES, "top_k": 60, "global_order": "degree", "chunk_order": "citation",
        "merge": "global first", "empty": "skip", "cut": "search",
    },
    "late": {
        **CODES, "top_k": 40, "chunk_order": "similarity", "chunk_k": 20, "empty": "short question",
        "entity_budget": 6000, "relation_budget": 8000, "text_budget": None, "total_budget": 30000,
    },
}  # fmt: skip


def merged(lists: Sequence[Sequence[P]], merge: Merge) -> list[P]:
    """The items of the local and the global search, each once."""
    if merge == "in turns":
        return in_turns(*lists)
    return list(dict.fromkeys(chain(*reversed(lists))))


def in_turns(*lists: Iterable[P]) -> list[P]:
    """The items of the lists in turns, each once: [a, b, c] and [b, d] give [a, b, d, c]."""
    turns = dict.fromkeys(chain.from_iterable(zip_longest(*lists)))
    return [item for item in turns if item is not None]


def ranked(scores: Vector) -> list[int]:
    """The passages with a score, best first."""
    return [place for place in rank(scores).tolist() if scores[place] > 0]


def labels_of(graph: Graph) -> list[str]:
    """What traces call the passages."""
    return [chunk.label for chunk in graph.chunks]


def in_order(places: Sequence[int], graph: Graph, operator: str, how: str) -> ChunkStep:
    """A step that ranks these passages as given: the first scores highest."""
    scores = np.zeros(len(graph.chunks))
    scores[list(places)] = np.arange(len(places), 0, -1)
    items = top_items(labels_of(graph), scores)
    return ChunkStep(operator, f"{len(places)} passages, {how}", items, scores=scores)


def traces(*columns: Sequence[Step]) -> list[Trace]:
    """A trace per question of lists that hold one step per question; an empty list is left out."""
    return [Trace(steps) for steps in zip(*filter(None, columns))]


def merge(local: Trace, overall: Trace, graph: Graph, options: CodeOptions) -> Trace:
    """The steps of the local and of the global search of one question, followed by the nodes, the
    relations and the passages of both, each once. The late code has no passages to merge yet.
    """
    trace, how = Trace((*local, *overall)), f"merged, {options.merge}"
    nodes = merged_rows(trace.all(NodeStep), "node merge", "nodes", options)
    edges = merged_rows(trace.all(EdgeStep), "relationship merge", "relations", options)
    lists = [ranked(step.scores) for step in trace.all(ChunkStep)]
    if not lists or options.mix:
        return Trace((*trace, nodes, edges))
    passages = in_order(merged(lists, options.merge), graph, "chunk merge", how)
    return Trace((*trace, nodes, edges, passages))


def merged_rows(
    found: Sequence[rich.Found], operator: str, noun: str, options: CodeOptions
) -> rich.Found:
    """What the local and the global search found, each once, with the local score."""
    local_rows, global_rows = ({row.index: row for row in rich.rows_of(step)} for step in found)
    places = merged([list(local_rows), list(global_rows)], options.merge)
    rows = [(global_rows | local_rows)[place] for place in places]
    how = f"{len(rows)} {noun}: local and global merged, {options.merge}"
    return rich.with_rows(found[0], rows, how, operator)


def cut(steps: list[rich.Found], graph: Graph, options: CodeOptions) -> list[rich.Found]:
    """What the early code keeps of a search: the first entities or relations whose descriptions fit
    their budget. All of them unless the option `cut` is "search".
    """
    if options.cut == "context":
        return steps
    kept = []
    for step in steps:
        nodes = isinstance(step, NodeStep)
        elements: Sequence[Node | Edge] = graph.nodes if nodes else graph.edges
        budget = options.entity_budget if nodes else options.relation_budget
        texts = (elements[row.index].description for row in rich.rows_of(step))
        rows = rich.fitting(rich.rows_of(step), texts, budget, options.count)
        summary = f"{step.summary}; the first {len(rows)}{rich.within(budget)}"
        kept.append(rich.with_rows(step, rows, summary))
    return kept


def passages_of(
    found: list[NodeStep] | list[EdgeStep], passages: list[ChunkStep], graph: Graph,
    options: CodeOptions,
) -> list[ChunkStep]:  # fmt: skip
    """What the codes make of the passages of a search. The early one takes those that the entities,
    or the relations, it found cite, in their order, and cuts them as in `cut`; the late one picks
    them last.
    """
    if options.chunk_order in LATE_ORDERS:
        return []
    if options.chunk_order == "citation":
        passages = cited(found, graph)
    if options.cut == "context":
        return passages
    kept, budget = [], options.text_budget
    for step in passages:
        places = ranked(step.scores)
        texts = (graph.chunks[place].passage for place in places)
        fit = rich.fitting(places, texts, budget, options.count)
        how = f"of {len(places)}" + ("" if budget is None else f", in {budget} tokens")
        kept.append(in_order(fit, graph, step.operator, how))
    return kept


def cited(found: Sequence[NodeStep | EdgeStep], graph: Graph) -> list[ChunkStep]:
    """Passages by the first entity that cites them, then by how many of its neighbours do; or as
    the relations cite them.
    """
    nodes = [step for step in found if isinstance(step, NodeStep)]
    steps = chunk.by_entity(nodes, graph, labels_of(graph), "neighbours")
    for step in found:
        if isinstance(step, EdgeStep):
            places = rich.cited_by_relations(graph, [edge.index for edge in step.edges])
            how = "in the relations' order"
            steps.append(in_order(places, graph, "chunk from relations", how))
    return steps


def with_passages(trace: Trace, near: ChunkStep, graph: Graph, options: CodeOptions) -> Trace:
    """The trace and the late code's passages: those picked of its entities and relations, in turns
    with those nearest to the question where `mix` asks for them. near: scores of all passages.
    """
    steps = []
    lists = [ranked(step.scores) for step in trace.all(ChunkStep)]
    if options.chunk_order in LATE_ORDERS:
        lists, how = pick_both(trace, near, graph, options), f"picked by {options.chunk_order}"
        for place, of in enumerate(("entities", "relations")):
            steps.append(in_order(lists[place], graph, f"chunk from {of}", how))
    joined, how = merged(lists, options.merge), f"merged, {options.merge}"
    if options.mix:
        joined = in_turns(nearest(near, options), *lists)
        how = "in turns with those nearest to the question"
    return Trace((*trace, *steps, in_order(joined, graph, "chunk merge", how)))


def nearest(near: ChunkStep, options: CodeOptions) -> list[int]:
    """The passages of a chunk search that `chunk_k` and `cutoff` allow, best first."""
    best = rank(near.scores, options.chunk_k).tolist()
    return [i for i in best if options.cutoff is None or near.scores[i] >= options.cutoff]


def pick_both(trace: Trace, near: ChunkStep, graph: Graph, options: CodeOptions) -> list[list[int]]:
    """Passages of the entities that fit their budget, and new ones of the relations that fit
    theirs.
    """
    similarity = near.scores if options.chunk_order == "similarity" else None
    nodes = [row.index for row in trace.last(NodeStep).nodes]
    texts = (rich.entity_row(graph, place) for place in nodes)
    nodes = rich.fitting(nodes, texts, options.entity_budget, options.count)
    cited = own_passages([graph.nodes[i].chunks for i in nodes if graph.nodes[i].chunks])
    first = pick(cited, options.related_chunks, similarity)
    edges = [row.index for row in trace.last(EdgeStep).edges]
    texts = (rich.relation_row(graph, place) for place in edges)
    edges = rich.fitting(edges, texts, options.relation_budget, options.count)
    cited = own_passages([graph.edges[i].chunks for i in edges], first)
    return [first, pick([own for own in cited if own], options.related_chunks, similarity)]


def own_passages(sources: Sequence[Sequence[int]], taken: Iterable[int] = ()) -> list[list[int]]:
    """For each entity or relation the passages that no earlier one has and that are not `taken`,
    most often cited first. sources: for each of them the passages that it was read from.
    """
    cited = Counter(place for source in sources for place in set(source))
    seen, lists = set(taken), []
    for source in sources:
        own = [place for place in dict.fromkeys(source) if place not in seen]
        seen.update(own)
        lists.append(sorted(own, key=lambda place: -cited[place]))
    return lists


def weighted_polling(lists: Sequence[Sequence[P]], most: int, least: int = 1) -> list[P]:
    """Passages from lists in order of importance: `most` of the first list, falling evenly to
    `least` of the last. What a short list leaves goes to the first list with passages left.
    """
    steps = max(len(lists) - 1, 1)
    shares = [round(most - place / steps * (most - least)) for place in range(len(lists))]
    picked = [place for own, share in zip(lists, shares) for place in own[:share]]
    spare = [place for own, share in zip(lists, shares) for place in own[share:]]
    return picked + spare[: sum(shares) - len(picked)]


def pick(lists: Sequence[Sequence[int]], most: int, similarity: Vector | None = None) -> list[int]:
    """The passages nearest to the question by `similarity` (passages,), half of `most` for each
    list; without it, or where that is no passage, by weighted polling.
    """
    count = 0 if similarity is None else most * len(lists) // 2
    if similarity is None or not count:
        return weighted_polling(lists, most)
    candidates = {place for own in lists for place in own}
    return sorted(candidates, key=lambda place: (-similarity[place], place))[:count]


def left_for_context(reader: Task, text: str, options: CodeOptions) -> int | None:
    """What `total_budget` leaves to the context, for `fill`; None where there is none."""
    if options.total_budget is None or options.cut == "search":
        return None
    turns = reader.messages({"question": text, "passages": []})
    prompt = sum(count_tokens(turn["content"], options.count) for turn in turns)
    return options.total_budget - RESERVED - prompt

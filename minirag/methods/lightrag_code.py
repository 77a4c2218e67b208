"""What LightRAG's released codes add to the survey's composition: their options, the order in which
they take relations and passages, which passages they add, and where their budgets cut.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, TypeVar, cast

from ..core.graph import Edge, Node
from ..core.options import Count, Positive
from ..core.trace import ChunkStep, EdgeStep, NodeStep, Step, Trace, Vector
from ..index import chunk_index
from ..index.vectors import VectorIndex
from ..operators import chunk, node, question, rank, relationship
from ..prompts.task import Task
from ..text.tokens import count_tokens
from . import rich_graph as rich

RESERVED = 200  # tokens that the late code keeps free for its list of references
LATE_ORDERS = ("similarity", "polling")
SEARCHES = ("local_order", "global_order", "chunk_order", "cut")  # options that change them
P = TypeVar("P")
Budgeted = Mapping[str, tuple[Sequence[str], int | None]]  # texts and their budget of tokens


@dataclass(frozen=True)
class LightOptions(rich.RichOptions):
    """The defaults compose the operators as the survey does. What it leaves open is taken from
    released codes: the three budgets of 4,000 tokens are the early code's (the survey has 8,000 for
    the whole prompt, Sec. 7.1), "links" is GraphRAG's order, and "in turns" the late code's merge.

    local_order: relations at the entities, by "links" or by "degree", the orders of
        `operators.relationship.onehop`.
    chunk_order: by the "operator", Occurrence and FromRel. "citation": local passages by the first
        entity that cites them, then by how many of its neighbours do; global ones as the relations
        cite them. "similarity": of the passages of the entities and relations that fit their
        budgets, those nearest to the question. "polling" (late, on request): the first entity and
        relation give `related_chunks` of them, the last ones 1.
    related_chunks: passages for each entity or relation; by "similarity", half as many.
    chunk_k: passages in the context at most (the survey's top-k is 4; None: all in the budget).
    mix: passages nearest to the question join the others (the late code's mode "mix").
    merge: local and global "in turns", or "global first".
    entity_budget, relation_budget, text_budget: tokens of the context's parts; None: no limit.
    total_budget: tokens of prompt and context; passages get what the rest leaves.
    cut: budgets cut the "context"; or what each "search" found, counting descriptions alone and
        sparing local entities.
    top_k: k, entities (local) and relations (global) that the vectors give; 4 in the survey's
        Sec. 7.1.
    """

    local_order: Literal["links", "degree"] = "links"
    chunk_order: Literal["operator", "citation", "similarity", "polling"] = "operator"
    related_chunks: Positive = 5
    chunk_k: Positive | None = None
    mix: bool = False
    merge: rich.Merge = "in turns"
    entity_budget: Count | None = 4000
    relation_budget: Count | None = 4000
    text_budget: Count | None = 4000
    total_budget: Count | None = None
    cut: Literal["context", "search"] = "context"
    top_k: Positive = 4


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


def traces(*columns: Sequence[Step]) -> list[Trace]:
    """A trace per question of lists that hold one step per question; an empty list is left out."""
    return [Trace(steps) for steps in zip(*filter(None, columns))]


SURVEY = {name: getattr(LightOptions, name) for name in SEARCHES}


class Released(rich.RichMethod):
    """The searches as released codes do them (with the survey's options they find what the survey's
    do), the late code's passages, and the budgets of either code.
    """

    options_type = LightOptions
    settings = SETTINGS
    chosen: LightOptions

    @cached_property
    def chunk_index(self) -> VectorIndex:
        """Every passage as a vector, which the late code alone searches."""
        return cast("VectorIndex", chunk_index(self.chunks, self.encoder))

    def with_passages(self, questions: Sequence[str], found: list[Trace]) -> list[Trace]:
        """The traces; where `chunk_order` or `mix` asks for them, with the late code's passages."""
        options, late = self.chosen, self.chosen.chunk_order in LATE_ORDERS
        if not (late or options.mix):
            return found
        vectors, longer = question.vector(questions, self.encoder), []
        for trace, near in zip(found, chunk.vdb(vectors, self.chunk_index)):
            own = [step for step in trace if step.operator != "chunk merge"]
            steps = (*own, *(self.picked(trace, near) if late else ()))
            lists = [rich.ranked(step.scores) for step in Trace(steps).all(ChunkStep)]
            joined, how = rich.merged(lists, options.merge), f"merged, {options.merge}"
            if options.mix:
                joined = rich.merged([nearest(near, options), *lists], "in turns")
                how = "in turns with those nearest to the question"
            longer.append(Trace((*steps, rich.in_order(joined, self.labels, "chunk merge", how))))
        return longer

    def local_search(self, low: Sequence[str]) -> list[Trace]:
        """Entities above `cutoff`, relations in `local_order`, passages in `chunk_order`."""
        graph, options = self.graph, self.chosen
        entities = self.search(low, node.vdb, self.entity_index, options.top_k, rich.NO_LOW)
        relations = relationship.onehop(entities, graph, order=options.local_order)
        relations = self.cut(relations, graph.edges)
        passages = chunk.occurrence(relations, graph, self.labels)
        if options.chunk_order == "citation":
            passages = chunk.by_entity(entities, graph, self.labels, "neighbours")
        return traces(entities, relations, self.cut_passages(passages))

    def global_search(self, high: Sequence[str]) -> list[Trace]:
        """Relations above `cutoff` in `global_order`, their ends, passages in `chunk_order`."""
        graph, index, k = self.graph, self.relationship_index, self.chosen.top_k
        relations = self.search(high, relationship.vdb, index, k, rich.NO_HIGH)
        relations = self.cut(self.in_global_order(relations), graph.edges)
        entities = self.cut(node.from_relationships(relations, graph), graph.nodes)
        passages = chunk.from_relationships(relations, graph, self.labels)
        if self.chosen.chunk_order == "citation":
            edges = ([row.index for row in step.edges] for step in relations)
            cited = (rich.cited_by_relations(graph, places) for places in edges)
            how = ("chunk from relations", "in the relations' order")
            passages = [rich.in_order(places, self.labels, *how) for places in cited]
        return traces(relations, entities, self.cut_passages(passages))

    def cut(self, steps: list[rich.Found], of: Sequence[Node | Edge]) -> list[rich.Found]:
        """What the early code keeps of a search: the first whose descriptions fit their budget.
        of: all entities, or all relations.
        """
        if self.chosen.cut == "context":
            return steps
        return [self.fitting(step, lambda place: of[place].description) for step in steps]

    def fitting(self, step: rich.Found, text: Callable[[int], str]) -> rich.Found:
        """The first entities or relations of a step whose texts fit their budget."""
        options, rows = self.chosen, rich.rows_of(step)
        budget = options.entity_budget if isinstance(step, NodeStep) else options.relation_budget
        fit = rich.fitting(rows, (text(row.index) for row in rows), budget, options.count)
        summary = f"{step.summary}; the first {len(fit)}{rich.within(budget)}"
        return rich.with_rows(step, fit, summary)

    def cut_passages(self, passages: list[ChunkStep]) -> list[ChunkStep]:
        """The same of passages; the late code keeps none of a search, for it picks them last."""
        options, budget, kept = self.chosen, self.chosen.text_budget, []
        if options.chunk_order in LATE_ORDERS:
            return []
        if options.cut == "context":
            return passages
        for step in passages:
            places = rich.ranked(step.scores)
            texts = (self.chunks[place].passage for place in places)
            how = f"of {len(places)}" + ("" if budget is None else f", in {budget} tokens")
            fit = rich.fitting(places, texts, budget, options.count)
            kept.append(rich.in_order(fit, self.labels, step.operator, how))
        return kept

    def picked(self, trace: Trace, near: ChunkStep) -> tuple[ChunkStep, ChunkStep]:
        """Passages of the entities that fit their budget, and new ones of the relations that do."""
        graph, options, how = self.graph, self.chosen, f"picked by {self.chosen.chunk_order}"
        similarity = near.scores if options.chunk_order == "similarity" else None
        nodes = self.fitting(trace.last(NodeStep), partial(rich.entity_row, graph)).nodes
        read = [graph.nodes[row.index].chunks for row in nodes]
        first = pick(own_passages(list(filter(None, read))), options.related_chunks, similarity)
        edges = self.fitting(trace.last(EdgeStep), partial(rich.relation_row, graph)).edges
        own = own_passages([graph.edges[row.index].chunks for row in edges], first)
        new = pick(list(filter(None, own)), options.related_chunks, similarity)
        entities = rich.in_order(first, self.labels, "chunk from entities", how)
        return entities, rich.in_order(new, self.labels, "chunk from relations", how)

    def budgets(
        self, sections: Budgeted, text: str, reader: Task | None
    ) -> tuple[Budgeted, int | None]:
        """The sections of the context with their budgets, and a budget of all of them: as given and
        None, but where searches have cut them (early), or where the passages get what the prompt
        and the other sections leave of `total_budget` (late).

        text: of the question. reader: the task whose prompt counts (None: `answer_task`).
        """
        options = self.chosen
        if options.cut == "search":
            return {name: (texts, None) for name, (texts, _) in sections.items()}, None
        if options.total_budget is None:
            return sections, None
        turns = (reader or self.reader()).messages({"question": text, "passages": []})
        prompt = sum(count_tokens(turn["content"], options.count) for turn in turns)
        return sections, options.total_budget - RESERVED - prompt


def nearest(near: ChunkStep, options: LightOptions) -> list[int]:
    """The passages of a chunk search that `chunk_k` and `cutoff` allow, best first."""
    best = rank(near.scores, options.chunk_k).tolist()
    return [i for i in best if options.cutoff is None or near.scores[i] >= options.cutoff]


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
    """Half of `most` passages for each list, those of the highest `similarity`, (passages,), to the
    question; without it, or where that is no passage, by weighted polling.
    """
    count = 0 if similarity is None else most * len(lists) // 2
    if similarity is None or not count:
        return weighted_polling(lists, most)
    candidates = {place for own in lists for place in own}
    return sorted(candidates, key=lambda place: (-similarity[place], place))[:count]

"""LightRAG: keywords on two levels search a rich knowledge graph by its entities (local), by its
relationships (global), or by both (hybrid).

Its paper is not among this kit's papers, so `follow` names one of three settings:

- "survey", the default: the survey's composition (VDB and Onehop; FromRel and VDB).
- "early": release 0.0.9 of November 2024, whose rules are those of nano-graphrag.
- "late": release 1.4.9.8 of November 2025.

Between these two, release 1.0.5 counts a passage's neighbours over all entities that cite it, and
release 1.1.5 ranks a passage by the last of them. Told, not rebuilt: the early code prints a
relation twice if its two searches name its ends in different orders, and leaves some orders to a
Python set (here they are those of release 1.0.5); the late code may have a model rerank passages.
Tokens are counted on the kit's rows, which have fewer columns than the tables of either code.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np

from ..core.options import Count, Options, Positive
from ..core.trace import Step
from ..index import chunk_index
from ..index.relationships import RelationText
from ..index.vectors import NodeText
from ..operators import chunk, node, question, rank, relationship
from ..operators.ranking import top_items
from ..text.tokens import TokenCounter
from . import lightrag_orders as orders
from . import rich_parts as parts
from .lightrag_orders import in_turns
from .rich_base import RichMethod

RESERVED = 200  # tokens that the late code keeps free for its list of references
PICKED = ("similarity", "polling")


@dataclass(frozen=True)
class LightChoices(Options):
    """What is retrieved and in which order. The defaults are the survey's; `SETTINGS` holds what
    the early and the late code do instead.

    top_k: entities (local) and relations (global) that the vectors give (survey: 4; early: 60;
    late: 40). cutoff: the least cosine, or None.
    entity_text, relation_text: what is encoded (`node_index`, `relationship_index`).
    local_order: relations at the entities, by "links" or by "degree" (early, late), the orders of
    `operators.relationship.onehop`. global_order: by "similarity", or by "degree" (early).
    chunk_order: by the "operator", Occurrence and FromRel (survey). "citation" (early): local
    passages by the first entity that cites them, then by how many of its neighbours do; global ones
    as the relations cite them. "similarity" (late): of the passages of the entities and relations
    that fit their budgets, those nearest to the question. "polling" (late, on request): the first
    entity and relation give `related_chunks` of them, the last ones 1.
    related_chunks: passages for each entity or relation; by "similarity", half as many.
    chunk_k: passages in the context at most.
    mix: passages nearest to the question join the others (the late code's mode "mix").
    merge: local and global "in turns", or "global first" (early).
    empty: what an empty level is searched by (`operators.question.keywords`).
    entity_budget, relation_budget, text_budget: tokens of the context's parts; None: no limit.
    total_budget: tokens of prompt and context; passages get what the rest leaves (late).
    cut: budgets cut the "context"; or what each "search" found, counting descriptions alone and
    sparing local entities (early).
    count: tokenizer, or text -> tokens. gleanings, gleaning_order, entity_types, examples: of the
    extraction, as in `PathChoices`.
    """

    top_k: Positive = 4
    cutoff: float | None = None
    entity_text: NodeText = "description"
    relation_text: RelationText = "description and names"
    local_order: Literal["links", "degree"] = "links"
    global_order: Literal["similarity", "degree"] = "similarity"
    chunk_order: Literal["operator", "citation", "similarity", "polling"] = "operator"
    related_chunks: Positive = 5
    chunk_k: Positive | None = None
    mix: bool = False
    merge: Literal["in turns", "global first"] = "in turns"
    empty: question.Empty = "question"
    entity_budget: Count | None = 4000
    relation_budget: Count | None = 4000
    text_budget: Count | None = 4000
    total_budget: Count | None = None
    cut: Literal["context", "search"] = "context"
    count: TokenCounter = "regex"
    gleanings: Count = 1
    gleaning_order: Literal["assess first", "continue first"] = "assess first"
    entity_types: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()


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


def last(steps, key):
    """`data[key]` of the last step that has it."""
    return next(step.data[key] for step in reversed(steps) if key in step.data)


def ranked(scores):
    """The passages with a score, best first."""
    return [place for place in rank(scores).tolist() if scores[place] > 0]


class _LightRAG(RichMethod):
    """Subclasses name their `searches`."""

    kind = (LightChoices, SETTINGS)
    granularity = ("Entity", "Relationship", "Chunk")
    reused = {**RichMethod.reused, "chunk_index": None}
    searches = ()

    @cached_property
    def chunk_index(self):
        return chunk_index(self.chunks, self.encoder)

    def score_many(self, questions):
        """Keywords, one search or two, and what is made of them: the trace of each question."""
        c, near = self.chosen, [None] * len(questions)
        keywords = question.keywords(questions, self.llm, c.empty)
        searched = [getattr(self, search)(keywords) for search in self.searches]
        if c.mix or c.chunk_order == "similarity":
            near = chunk.vdb(question.vector(questions, self.encoder), self.chunk_index)
        rows = zip(keywords, *searched, near)
        return [self.trace(asked, found, close) for asked, *found, close in rows]

    def search_entities(self, keywords):
        """(nodes, relations, passages) of each question, from its low-level keywords."""
        c, nothing = self.chosen, "no low-level keyword, nothing searched"
        blank = Step("node vdb", nothing, (), {"nodes": []})
        texts = [", ".join(step.data["low"]) for step in keywords]
        found = parts.search_nonempty(texts, node.vdb, self.entity_index, c.top_k, blank)
        found = [parts.drop_below(step, "nodes", c.cutoff) for step in found]
        related = relationship.onehop(found, self.graph, order=c.local_order)
        related = [self.cut(step, "relations") for step in related]
        return list(zip(found, related, self.passages(found, related, "nodes")))

    def search_relations(self, keywords):
        """(relations, nodes, passages) of each question, from its high-level keywords."""
        c, nothing = self.chosen, "no high-level keyword, nothing searched"
        blank = Step("relationship vdb", nothing, (), {"relations": []})
        texts = [", ".join(step.data["high"]) if self.graph.edges else "" for step in keywords]
        related = parts.search_nonempty(
            texts, relationship.vdb, self.relationship_index, c.top_k, blank
        )
        related = [parts.drop_below(step, "relations", c.cutoff) for step in related]
        if c.global_order == "degree":
            related = [self.by_degree(step) for step in related]
        related = [self.cut(step, "relations") for step in related]
        found = [self.cut(step, "nodes") for step in node.from_relationships(related, self.graph)]
        return list(zip(related, found, self.passages(found, related, "relations")))

    def passages(self, found, related, searched):
        """A chunk step for each question, or None where passages are picked later."""
        c, graph = self.chosen, self.graph
        if c.chunk_order in PICKED:
            return [None] * len(found)
        if c.chunk_order == "operator":
            operator = chunk.occurrence if searched == "nodes" else chunk.from_relationships
            steps = operator(related, graph, self.labels)
        elif searched == "nodes":
            steps = chunk.by_entity(found, graph, self.labels, "neighbours")
        else:
            places = [[edge for edge, _ in step.data["relations"]] for step in related]
            cited = [parts.cited_by_relations(graph, row) for row in places]
            how = "in the relations' order"
            steps = [self.ordered(row, "chunk from relations", how) for row in cited]
        return [self.cut(step, "scores") for step in steps]

    def trace(self, asked, found, near):
        """The steps of one question: its keywords, each search, and what joins their results."""
        c = self.chosen
        steps = [asked, *(step for step in chain.from_iterable(found) if step)]
        steps += self.joined(*found) if len(found) == 2 else []
        scored = [search[-1] for search in found]
        if c.chunk_order in PICKED:
            scored = self.picked(last(steps, "nodes"), last(steps, "relations"), near)
            steps += scored
        lists = [ranked(step.data["scores"]) for step in scored]
        if c.mix:
            how = "in turns with those nearest to the question"
            steps.append(self.ordered(in_turns(self.nearest(near), *lists), "chunk merge", how))
        elif len(lists) == 2:
            steps.append(self.ordered(self.merge(*lists), "chunk merge", f"merged, {c.merge}"))
        return tuple(steps)

    def merge(self, local, overall):
        if self.chosen.merge == "in turns":
            return in_turns(local, overall)
        return orders.global_first(local, overall)

    def joined(self, local, overall):
        """The nodes and the relations of both searches, as a step each; the local score counts."""
        steps = []
        for key, operator in (("nodes", "node merge"), ("relations", "relationship merge")):
            rows = [{row[-2]: row for row in last(search[:2], key)} for search in (local, overall)]
            merged = [{**rows[1], **rows[0]}[place] for place in self.merge(*rows)]
            how = f"{len(merged)} {key}: local and global merged, {self.chosen.merge}"
            steps.append(self.rows_step(operator, how, key, merged))
        return steps

    def nearest(self, near):
        """The passages of a chunk search that `chunk_k` and `cutoff` allow, best first."""
        c, scores = self.chosen, near.data["scores"]
        best = rank(scores, c.chunk_k).tolist()
        return [place for place in best if c.cutoff is None or scores[place] >= c.cutoff]

    def picked(self, nodes, relations, near):
        """Passages of the entities that fit their budget, then new ones of the relations that fit
        theirs: a step each."""
        c, graph = self.chosen, self.graph
        similarity = near.data["scores"] if c.chunk_order == "similarity" else None
        entities = parts.fitting([row[1] for row in nodes], self.entity, c.entity_budget, c.count)
        cited = [graph.nodes[place].chunks for place in entities if graph.nodes[place].chunks]
        first = orders.pick(orders.own_passages(cited), c.related_chunks, similarity)
        edges = [row[0] for row in relations]
        edges = parts.fitting(edges, self.relation, c.relation_budget, c.count)
        lists = orders.own_passages([graph.edges[place].chunks for place in edges], first)
        second = orders.pick([own for own in lists if own], c.related_chunks, similarity)
        how = f"picked by {c.chunk_order}"
        return [
            self.ordered(first, "chunk from entities", how),
            self.ordered(second, "chunk from relations", how),
        ]

    def rows_step(self, operator, summary, key, rows):
        """A step of nodes `(name, position, score)` or of relations `(position, score)`."""
        if key == "nodes":
            items = [(name, score) for name, _, score in rows[:10]]
        else:
            items = [(relationship.label(self.graph, edge), score) for edge, score in rows[:10]]
        return Step(operator, summary, tuple(items), {key: rows})

    def ordered(self, places, operator, how):
        """A chunk step that ranks these passages as given: the first scores highest."""
        scores = np.zeros(len(self.chunks))
        scores[places] = np.arange(len(places), 0, -1)
        summary = f"{len(places)} passages, {how}"
        return Step(operator, summary, top_items(self.labels, scores), {"scores": scores})

    def cut(self, step, key):
        """What a search found, cut where it passes its budget, if that is where budgets cut."""
        c, graph = self.chosen, self.graph
        if c.cut == "context":
            return step
        if key == "scores":
            places = ranked(step.data["scores"])
            kept = parts.fitting(places, self.passage, c.text_budget, c.count)
            how = f"of {len(places)}, in {c.text_budget} tokens"
            return self.ordered(kept, step.operator, how)
        elements, budget = graph.edges, c.relation_budget
        if key == "nodes":
            elements, budget = graph.nodes, c.entity_budget

        def description(row):
            return elements[row[-2]].description

        rows = parts.fitting(step.data[key], description, budget, c.count)
        summary = f"{step.summary}; the first {len(rows)} in {budget} tokens"
        return self.rows_step(step.operator, summary, key, rows)

    def entity(self, place):
        return parts.entity_row(self.graph, place)

    def relation(self, place):
        return parts.relation_row(self.graph, place)

    def passage(self, place):
        return self.chunks[place].passage

    def filled(self, retrieval, task=None):
        """`(sections, step)`: entities, relations and passages, each cut at the first text that its
        budget does not hold. task: the one whose prompt counts (None: `answer_task`).

        Source: Survey, Sec. 6.3 (generation)
        """
        c, steps = self.chosen, retrieval.trace
        entities = [self.entity(place) for _, place, _ in last(steps, "nodes")]
        relations = [self.relation(place) for place, _ in last(steps, "relations")]
        passages = [self.passage(place) for place in ranked(last(steps, "scores"))]
        sections = {
            "entities": (entities, c.entity_budget),
            "relations": (relations, c.relation_budget),
            "passages": (passages[: c.chunk_k], self.passage_budget(retrieval.question, task)),
        }
        if c.cut == "search":
            sections = {name: (texts, None) for name, (texts, _) in sections.items()}
        return parts.fill(sections, c.count)

    def passage_budget(self, text, task):
        """A budget for `fill`: `text_budget`, and of `total_budget` what the rest leaves."""
        c = self.chosen
        if c.total_budget is None:
            return c.text_budget
        turns = self.reader(task).messages({"question": text, "passages": []})
        prompt = sum(parts.count_with(c.count, turn["content"]) for turn in turns)
        left = c.total_budget - RESERVED - prompt
        return lambda spent: min(left - spent, left if c.text_budget is None else c.text_budget)


class LightRAGLocal(_LightRAG):
    """Low-level keywords find entities; their relations and passages come with them.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-local"
    paper = "Survey, Table 3 (LLightRAG)"
    primitive = "Low-level keywords in question"
    operators = {"node": ("VDB",), "relationship": ("Onehop",), "chunk": ("Occurrence",)}
    searches = ("search_entities",)


class LightRAGGlobal(_LightRAG):
    """High-level keywords find relations; their ends and passages come with them.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-global"
    paper = "Survey, Table 3 (GLightRAG)"
    primitive = "High-level keywords in question"
    operators = {"node": ("FromRel",), "relationship": ("VDB",), "chunk": ("FromRel",)}
    searches = ("search_relations",)


class LightRAGHybrid(_LightRAG):
    """Both searches, and their results merged.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-hybrid"
    paper = "Survey, Table 3 (HLightRAG)"
    primitive = "Both high- and low-level keywords"
    operators = {
        "node": ("VDB", "FromRel"),
        "relationship": ("Onehop", "VDB"),
        "chunk": ("Occurrence", "FromRel"),
    }
    searches = ("search_entities", "search_relations")

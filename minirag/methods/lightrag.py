"""LightRAG: keywords on two levels search a rich knowledge graph by its entities (local), its relationships (global), or both (hybrid).

Official code: HKUDS/LightRAG, its late version. Its paper is not among this kit's papers, so the defaults are the survey's composition (VDB and
Onehop; FromRel and VDB), and `follow="code"` is the late code. Its early version sorted global relations by degree too and merged the two halves of
a hybrid search one after the other: `global_order="degree", merge="early"`. Left out: "mix" mode, which adds plain passage search, and the
early version's printing of a Python list of rows in pieces that overlap.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ..choices import Count, Options, Positive
from ..index.relationships import EntityText, RelationText
from ..operators import chunk, node, rank, relationship
from ..operators.ranking import top_items
from ..results import Step
from ..tokens import TokenCounter
from . import rich_parts as parts
from .rich_base import RichMethod


@dataclass(frozen=True)
class LightChoices(Options):
    """What is retrieved and in which order. The defaults are the survey's; `CODE` holds what LightRAG's late code does instead.

    top_k: entities (local) and relations (global) that the vectors give (survey: 4; code: 60). cutoff: the least cosine, or None (code: 0.2).
    entity_text, relation_text: what is encoded (`entity_index`, `relationship_index`).
    local_order: relations at the entities, by the number of chosen "ends" (the kit's Onehop), or by "degree": the sum of their ends' degrees,
    then weight (code). global_order: relations by "similarity" (survey, late code), or by "degree" (early code).
    chunk_order: by the "operator", Occurrence and FromRel (survey), or "citation" (code): local passages by the first entity that cites them,
    then by how many of its neighbours do; global ones as the relations cite them.
    merge: "late", local and global taken in turns; "early", all global ones before the local ones.
    empty: what stands in for a level without keywords (`ask_keywords`). entity_budget, relation_budget, text_budget: tokens of the three parts
    of the context. count: tokenizer, or text -> tokens.
    gleanings, gleaning_order: of the extraction, as in `PathChoices`.
    """

    top_k: Positive = 4
    cutoff: float | None = None
    entity_text: EntityText = "description"
    relation_text: RelationText = "description and names"
    local_order: Literal["ends", "degree"] = "ends"
    global_order: Literal["similarity", "degree"] = "similarity"
    chunk_order: Literal["operator", "citation"] = "operator"
    merge: Literal["late", "early"] = "late"
    empty: parts.Empty = "question"
    entity_budget: Count = 4000
    relation_budget: Count = 4000
    text_budget: Count = 4000
    count: TokenCounter = "regex"
    gleanings: Count = 1
    gleaning_order: Literal["assess first", "continue first"] = "assess first"


CODE = {
    "top_k": 60, "cutoff": 0.2, "entity_text": "name and description", "relation_text": "keywords, names, description",
    "local_order": "degree", "chunk_order": "citation", "empty": "short question",
    "gleaning_order": "continue first",
}  # fmt: skip


def in_turns(local, other):
    """LightRAG's late merge: local and global taken in turns, each thing once. [a, b, c] and [b, d] give [a, b, d, c]."""
    longest = max(len(local), len(other))
    return list(dict.fromkeys(item for i in range(longest) for some in (local, other) for item in some[i : i + 1]))


def one_after_the_other(local, other):
    """LightRAG's early merge: the global ones, then the local ones that are new."""
    return list(dict.fromkeys([*other, *local]))


class _LightRAG(RichMethod):
    kind = (LightChoices, CODE)
    granularity = ("Entity", "Relationship", "Chunk")

    @cached_property
    def degree(self):
        return Counter(end for edge in self.graph.edges for end in {edge.source, edge.target})

    @cached_property
    def neighbours(self):
        beside = {}
        for edge in self.graph.edges:
            beside.setdefault(edge.source, set()).add(edge.target)
            beside.setdefault(edge.target, set()).add(edge.source)
        return beside

    def by_degree(self, step):
        """The relations of a step by the sum of their ends' degrees, then by weight."""
        edges = self.graph.edges
        key = lambda row: (-self.degree[edges[row[0]].source] - self.degree[edges[row[0]].target], -edges[row[0]].weight, row[0])
        found = sorted(step.data["relations"], key=key)
        items = tuple((relationship.label(self.graph, i), score) for i, score in found[:10])
        return replace(step, summary=step.summary + ", by degree and weight", items=items, data={**step.data, "relations": found})

    def local(self, keywords):
        """(nodes, relations, chunks) of each question, from its low-level keywords."""
        c = self.chosen
        blank = Step("node vdb", "no low-level keyword, nothing searched", (), {"nodes": [], "scores": np.zeros(len(self.graph.nodes))})
        texts = [", ".join(step.data["low"]) for step in keywords]
        found = [parts.above(step, "nodes", c.cutoff) for step in parts.where_any(texts, lambda some: node.vdb(some, self.entity_index, c.top_k), blank)]
        related = relationship.onehop(found, self.graph)
        if c.local_order == "degree":
            related = [self.by_degree(step) for step in related]
        if c.chunk_order == "citation":
            return found, related, [self.as_cited_by_entities(step) for step in found]
        return found, related, chunk.occurrence(related, self.graph, self.labels)

    def overall(self, keywords):
        """(nodes, relations, chunks) of each question, from its high-level keywords."""
        c = self.chosen
        blank = Step("relationship vdb", "no high-level keyword, nothing searched", (), {"relations": []})
        texts = [", ".join(step.data["high"]) if self.graph.edges else "" for step in keywords]
        search = lambda some: relationship.vdb(some, self.relationship_index, min(c.top_k, len(self.graph.edges)))
        related = [parts.above(step, "relations", c.cutoff) for step in parts.where_any(texts, search, blank)]
        if c.global_order == "degree":
            related = [self.by_degree(step) for step in related]
        found = node.from_relationships(related, self.graph)
        if c.chunk_order == "citation":
            places = [[place for edge, _ in step.data["relations"] for place in sorted(set(self.graph.edges[edge].chunks))] for step in related]
            return found, related, [self.ordered(some, "chunk from relations", "in the relations' order") for some in places]
        return found, related, chunk.from_relationships(related, self.graph, self.labels)

    def as_cited_by_entities(self, step):
        """Passages by the first chosen entity that cites them, then by how many of its neighbours cite them too."""
        order = {}
        for first, (_, place, _) in enumerate(step.data["nodes"]):
            for cited in set(self.graph.nodes[place].chunks):
                shared = sum(cited in self.graph.nodes[other].chunks for other in self.neighbours.get(place, ()))
                order.setdefault(cited, (first, -shared, cited))
        return self.ordered(sorted(order, key=order.get), "chunk by entity", "in the entities' order")

    def ordered(self, places, operator, said):
        """A chunk step that ranks these places as given: the first scores highest."""
        places = list(dict.fromkeys(places))
        scores = np.zeros(len(self.chunks))
        scores[places] = np.arange(len(places), 0, -1)
        return Step(operator, f"{len(places)} passages, {said}", top_items(self.labels, scores), {"scores": scores})

    def context(self, retrieval):
        """`(sections, step)`: entities, relations and passages, each cut at the first text that its budget does not hold.

        Source: Survey, Sec. 6.3 (generation)
        """
        c, last = self.chosen, lambda key: next(step.data[key] for step in reversed(retrieval.trace) if key in step.data)
        scores = last("scores")
        passages = [self.chunks[i].passage for i in rank(scores) if scores[i] > 0]
        sections = {
            "entities": ([parts.entity_row(self.graph, i) for _, i, _ in last("nodes")], c.entity_budget),
            "relations": ([parts.relation_row(self.graph, i) for i, _ in last("relations")], c.relation_budget),
            "passages": (passages, c.text_budget),
        }
        return parts.fill(sections, c.count)


class LightRAGLocal(_LightRAG):
    """Low-level keywords find entities; their relations and passages come with them.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-local"
    paper = "Survey, Table 3 (LLightRAG)"
    primitive = "Low-level keywords in question"
    operators = {"node": ("VDB",), "relationship": ("Onehop",), "chunk": ("Occurrence",)}

    def score_many(self, questions):
        keywords = parts.ask_keywords(self.llm, questions, self.chosen.empty)
        return list(zip(keywords, *self.local(keywords)))


class LightRAGGlobal(_LightRAG):
    """High-level keywords find relations; their ends and passages come with them.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-global"
    paper = "Survey, Table 3 (GLightRAG)"
    primitive = "High-level keywords in question"
    operators = {"node": ("FromRel",), "relationship": ("VDB",), "chunk": ("FromRel",)}

    def score_many(self, questions):
        keywords = parts.ask_keywords(self.llm, questions, self.chosen.empty)
        nodes, relations, chunks = self.overall(keywords)
        return list(zip(keywords, relations, nodes, chunks))


class LightRAGHybrid(_LightRAG):
    """Both searches, and their results merged.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-hybrid"
    paper = "Survey, Table 3 (HLightRAG)"
    primitive = "Both high- and low-level keywords"
    operators = {"node": ("VDB", "FromRel"), "relationship": ("Onehop", "VDB"), "chunk": ("Occurrence", "FromRel")}

    def score_many(self, questions):
        keywords = parts.ask_keywords(self.llm, questions, self.chosen.empty)
        traces = []
        for asked, local, other in zip(keywords, zip(*self.local(keywords)), zip(*self.overall(keywords))):
            traces.append((asked, *local, other[1], other[0], other[2], *self.merged(local, other)))
        return traces

    def merged(self, local, other):
        """One node step, one relation step and one chunk step out of two each; a merged thing keeps its score, the local one first."""
        merge = in_turns if self.chosen.merge == "late" else one_after_the_other
        scores = {place: (name, place, score) for step in (other[0], local[0]) for name, place, score in step.data["nodes"]}
        nodes = [scores[i] for i in merge(*([place for _, place, _ in step.data["nodes"]] for step in (local[0], other[0])))]
        known = dict([*other[1].data["relations"], *local[1].data["relations"]])
        relations = [(i, known[i]) for i in merge(*([i for i, _ in step.data["relations"]] for step in (local[1], other[1])))]
        ranked = [[i for i in rank(step.data["scores"]).tolist() if step.data["scores"][i] > 0] for step in (local[2], other[2])]
        said = f"local and global merged, {'in turns' if self.chosen.merge == 'late' else 'global first'}"
        first = tuple((name, score) for name, _, score in nodes[:10]), tuple((relationship.label(self.graph, i), score) for i, score in relations[:10])
        return (
            Step("node merge", f"{len(nodes)} nodes: {said}", first[0], {"nodes": nodes}),
            Step("relationship merge", f"{len(relations)} relations: {said}", first[1], {"relations": relations}),
            self.ordered(merge(*ranked), "chunk merge", said),
        )

"""HippoRAG: passages found by a walk over an open knowledge graph.

Paper: Wang, Graph RAG, Sec. IV-B. Official code: OSU-NLP-Group/HippoRAG, tag v1.0.0.
Where Wang gives no number (damping, threshold), the original HippoRAG paper's is the default. Two
things are open in both and have one reading as default: how a phrase is counted in a passage
(`passage_matrix`), and a question without entities (`no_entities`). Where the released code finds
or scores otherwise there is a field of `Choices`; `follow="code"` sets them all. Not rebuilt: in
the code's ColBERT variant, names that look for synonyms are encoded as questions, and find at most
99.
"""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from ..algorithms.pagerank import transition_matrix
from ..core.errors import MiniragError
from ..core.files import write_atomic
from ..core.graph import Graph
from ..core.options import Between, Count, Options, Positive, choose, vary
from ..encoders.token_encoders import load_any_encoder
from ..graphs import choose_extraction, knowledge_graph, with_synonymy
from ..index import (
    adjacency_matrix,
    chunk_index,
    fact_matrix,
    fact_passage_matrix,
    node_index,
    node_specificity,
    passage_matrix,
)
from ..index.vectors import NodeText
from ..llm import load_llm
from ..operators import chunk, node, question, relationship
from .base import Method


@dataclass(frozen=True)
class Choices(Options):
    """Everything about HippoRAG that can be chosen. The defaults are the paper's; `CODE` holds what
    the released code does instead.

    damping: the walk's parameter; what it means is the next choice.
    damping_means: "restart" (the paper: the probability of jumping back) or "follow" (the code's
    PageRank library: of following an edge).
    synonymy: "add" the cosine to the number of triples, "overwrite" it, or "none" (an ablation).
    synonymy_threshold, strict: cosine above which (or, not strict, from which on) two names are
    synonyms.
    min_letters, max_neighbours: the code joins no name of this many letters or fewer, and no more
    than this many synonyms to a name.
    passage_matrix: "text" counts a phrase in the passage's text, "facts" in its triples,
        "incidence" takes 0 or 1 (see `minirag.index.passage_matrix`).
    specificity: weigh query nodes by 1 / number of passages; False is the paper's ablation.
    reset: "node" gives each query node the same weight, "entity" each query entity, so that a node
        named twice weighs twice.
    propagation: "ppr", or the ablations "query-nodes" and "neighbours" (`neighbour_hops`: 1 in the
    paper's words, 2 in its code).
    neighbour_share: a neighbour gets its share once a "question", or once for each query "node"
        that reaches it, as in the code.
    no_entities: a question without entities falls back to "dense" retrieval, or to "uniform"
    scores.
    ensemble: average with dense retrieval when some link is no better than `ensemble_threshold`.
    node_text: entities are linked to, and synonyms found by, a node's "name", or its description in
    a graph that has them (see `minirag.index.node_index`).
    script: "unicode" keeps every letter in a node's name, "ascii" erases all but A-Z and digits.
    empty_names: "drop" a triple with a name of which nothing is left, or "keep" one node for all
        such names, as in the code.
    ties: order of passages with equal scores, "ascending" or "descending" by position.
    """

    damping: Annotated[float, Between(0, 1, above=True, below=True)] = 0.5
    damping_means: Literal["restart", "follow"] = "restart"
    synonymy: Literal["add", "overwrite", "none"] = "add"
    synonymy_threshold: Annotated[float, Between(-1, 1)] = 0.8
    strict: bool = True
    min_letters: Count = 0
    max_neighbours: Positive | None = None
    passage_matrix: Literal["text", "facts", "incidence"] = "text"
    specificity: bool = True
    reset: Literal["node", "entity"] = "node"
    propagation: Literal["ppr", "query-nodes", "neighbours"] = "ppr"
    neighbour_hops: Positive = 1
    neighbour_share: Literal["question", "node"] = "question"
    no_entities: Literal["dense", "uniform"] = "dense"
    ensemble: bool = False
    ensemble_threshold: float = 0.9
    node_text: NodeText = "name"
    script: Literal["unicode", "ascii"] = "unicode"
    empty_names: Literal["drop", "keep"] = "drop"
    ties: Literal["ascending", "descending"] = "ascending"

    @property
    def follow_probability(self):
        return self.damping if self.damping_means == "follow" else 1 - self.damping


CODE = {
    "damping_means": "follow",
    "synonymy": "overwrite",
    "strict": False,
    "min_letters": 2,
    "max_neighbours": 101,
    "passage_matrix": "facts",
    "neighbour_hops": 2,
    "neighbour_share": "node",
    "no_entities": "uniform",
    "script": "ascii",
    "empty_names": "keep",
    "ties": "descending",
}

SYNONYMY_CHOICES = ("node_text", "synonymy_threshold", "strict", "min_letters", "max_neighbours")
GRAPH_CHOICES = ("script", "empty_names")


class HippoRAG(Method):
    """Single-step retrieval by personalised PageRank from the question's entities.

    `method.graph` is the hippocampal index; `method.with_options(...)` is a cheap copy with other
    choices.

    Source: Wang, Sec. IV-B (hippo-ppr); Survey, Table 3 (tab-3)
    """

    name = "hipporag"
    paper = "Wang, Sec. IV-B"
    graph_type = "knowledge"
    index_components = ("Entity",)
    primitive = "Entities in question"
    granularity = ("Chunk",)
    operators = {"node": ("Link", "PPR"), "relationship": ("Aggregator",), "chunk": ("Aggregator",)}

    def __init__(self, relations, llm, encoder, choices, question_entities=None):
        super().__init__(relations.chunks, llm)
        self.relations = relations
        self.encoder = encoder
        self.choices = choices
        self.ties = choices.ties
        self.question_entities = dict(question_entities or {})

    def __repr__(self):
        return f"HippoRAG over a {self.relations!r}; encoder {self.encoder.name}; answers by {self.llm.name}"

    @classmethod
    def build(
        cls,
        corpus,
        llm="offline",
        encoder="minilm",
        extraction=None,
        executor=None,
        question_entities=None,
        follow="paper",
        **choices,
    ):
        """Read triples, build the graph, encode its nodes.

        encoder: one with a vector a text, or one with a vector a token, as HippoRAG (ColBERTv2) in
            Wang, Table IV has it: "colbertv2", "tokens:minilm" and whatever else
                `minirag.encoders.token_encoders.load_any_encoder` takes. Then links, synonyms
            and dense retrieval go by normalised MaxSim.
        extraction: None lets `llm` read the text; a name picks one that came with the corpus; an
        `Extraction` is used as it is.
        question_entities: entities already known for a question's text, so that nobody is asked for
        them.
        follow, **choices: see `Choices`.
        """
        chosen = choose(Choices, {"paper": {}, "code": CODE}, follow, choices)
        llm = load_llm(llm)
        encoder = load_any_encoder(encoder).fit([c.passage for c in corpus.chunks])
        extraction = choose_extraction(corpus, extraction, llm, executor)
        graph = knowledge_graph(corpus.chunks, extraction, chosen.script, chosen.empty_names)
        method = cls(graph, llm, encoder, chosen, question_entities)
        method.node_index
        return method

    @classmethod
    def from_graph(
        cls,
        graph,
        llm="offline",
        encoder="minilm",
        question_entities=None,
        follow="paper",
        **choices,
    ):
        """HippoRAG over a graph that exists already, such as a rich knowledge graph: the walk then
        follows the edges' weights.

        The other arguments are those of `build`. `node_text` decides whether entities are linked to
        names or to descriptions; `script`, only how a question's entities are written.

        Source: Survey, App. B.3 (sec-B.3)
        """
        encoder = load_any_encoder(encoder).fit([chunk.passage for chunk in graph.chunks])
        chosen = choose(Choices, {"paper": {}, "code": CODE}, follow, choices)
        return cls(graph, load_llm(llm), encoder, chosen, question_entities)

    def save(self, folder):
        """Write the graph, the choices and the known entities of questions to a folder, in open
        formats. Vectors stay in the embedding cache.
        """
        self.relations.save(Path(folder) / "graph")
        parts = {"choices": asdict(self.choices), "question_entities": self.question_entities}
        for name, part in parts.items():
            write_atomic(Path(folder) / f"{name}.json", json.dumps(part, indent=1) + "\n")

    @classmethod
    def load(cls, folder, llm="offline", encoder="minilm"):
        """Read what `save` wrote. Raises `MiniragError` where the folder holds no complete index."""
        folder = Path(folder)
        for name in ("choices.json", "question_entities.json"):
            if not (folder / name).is_file():
                raise MiniragError(
                    f"{folder} holds no complete HippoRAG index: {name} is missing. Build it again."
                )
        read = lambda name: json.loads((folder / name).read_text(encoding="utf-8"))
        choices = choose(Choices, {"paper": {}, "code": CODE}, None, read("choices.json"))
        relations = Graph.load(folder / "graph")
        encoder = load_any_encoder(encoder).fit([c.passage for c in relations.chunks])
        return cls(relations, load_llm(llm), encoder, choices, read("question_entities.json"))

    def with_options(self, **choices):
        """The same graph and vectors with other choices; what depends on a changed choice is
        computed again, the rest is shared.
        """
        chosen = vary(self.choices, choices)
        for name in GRAPH_CHOICES:
            if getattr(chosen, name) != getattr(self.choices, name):
                how = f"HippoRAG.build(..., {name}=...)"
                raise MiniragError(f"{name} is chosen when the graph is built: call {how}.")
        copy = HippoRAG(self.relations, self.llm, self.encoder, chosen, self.question_entities)
        shared = {"chunk_index", "_facts"}
        shared |= {"node_index"} if copy.choices.node_text == self.choices.node_text else set()
        if all(
            getattr(copy.choices, name) == getattr(self.choices, name) for name in SYNONYMY_CHOICES
        ):
            shared |= {"graph"}
            shared |= (
                {"_adjacency", "_transition"}
                if copy.choices.synonymy == self.choices.synonymy
                else set()
            )
        shared |= (
            {"_passages"} if copy.choices.passage_matrix == self.choices.passage_matrix else set()
        )
        copy.__dict__.update(
            {name: value for name, value in self.__dict__.items() if name in shared}
        )
        return copy

    @cached_property
    def node_index(self):
        return node_index(self.relations, self.encoder, self.choices.node_text)

    @cached_property
    def chunk_index(self):
        return chunk_index(self.chunks, self.encoder)

    @cached_property
    def graph(self):
        """The relations plus synonymy edges at the chosen threshold."""
        c = self.choices
        return with_synonymy(
            self.relations,
            self.node_index.vectors,
            c.synonymy_threshold,
            c.strict,
            c.min_letters,
            c.max_neighbours,
        )

    @cached_property
    def _adjacency(self):
        return adjacency_matrix(self.graph, self.choices.synonymy)

    @cached_property
    def _transition(self):
        return transition_matrix(self._adjacency)

    @cached_property
    def _facts(self):
        return fact_matrix(self.relations), fact_passage_matrix(self.relations)

    @cached_property
    def _passages(self):
        return passage_matrix(self.relations, self.choices.passage_matrix, self.choices.script)

    def score_many(self, questions):
        """Entities, link, walk, aggregate: the trace of each question."""
        named = self._name_entities(questions)
        linked = node.link([step.data["entities"] for step in named], self.node_index)
        walked = self._walk(linked)
        if self.choices.passage_matrix == "facts":
            facts, stated_in = self._facts
            related = relationship.aggregator(walked, facts, self._relation_labels)
            scored = chunk.aggregator(related, stated_in, self._passage_labels)
            traces = list(zip(named, linked, walked, related, scored))
        else:
            summary = "each passage gets the scores of the nodes read from it"
            summary += ", as often as it names them" * (self.choices.passage_matrix == "text")
            scored = chunk.aggregator(walked, self._passages, self._passage_labels, summary)
            traces = list(zip(named, linked, walked, scored))
        return self._mix_with_dense(questions, traces)

    def _name_entities(self, questions):
        return question.entities(questions, self.llm, self.question_entities, self.choices.script)

    def _walk(self, linked):
        c = self.choices
        specificity = node_specificity(self.relations) if c.specificity else None
        labels = self.node_index.labels
        resets = np.array(
            [
                node.reset_vector(step.data["nodes"], len(labels), specificity, c.reset)
                for step in linked
            ]
        ).T
        if c.propagation == "ppr":
            return node.ppr(self._transition, resets, labels, c.follow_probability)
        hops = {"query-nodes": 0, "neighbours": c.neighbour_hops}
        return node.spread_to_neighbours(
            self._adjacency, resets, labels, hops[c.propagation], per=c.neighbour_share
        )

    def _mix_with_dense(self, questions, traces):
        """Add the dense step where a question has no entities, or where the ensemble is on and a
        link is uncertain.
        """
        c = self.choices
        nothing = [not trace[1].data["nodes"] for trace in traces]
        unsure = [
            c.ensemble
            and min((cosine for *_, cosine in trace[1].data["nodes"]), default=0)
            <= c.ensemble_threshold
            for trace in traces
        ]
        falls_back = [n and (c.ensemble or c.no_entities == "dense") for n in nothing]
        places = [i for i in range(len(traces)) if unsure[i] or falls_back[i]]
        dense = chunk.vdb([questions[i] for i in places], self.chunk_index) if places else []
        for i, step in zip(places, dense):
            mixed = (
                () if falls_back[i] else (chunk.average(traces[i][-1], step, self._passage_labels),)
            )
            traces[i] = (*traces[i], step, *mixed)
        return traces

    @cached_property
    def _passage_labels(self):
        return [c.label for c in self.chunks]

    @cached_property
    def _relation_labels(self):
        name = [n.name for n in self.relations.nodes]
        return [f"{name[e.source]} — {e.name} — {name[e.target]}" for e in self.relations.edges]

"""ToG-2: a walk over a knowledge graph and over the passages behind its nodes, in turn.

Paper: Wang, Graph RAG, Sec. IV-A, which this file follows; quoted comments are the paper's words.
Wang gives only the symbols W, D, K, L and α; their values are those of the released code, and L is
5 passages, as many as the kit's readers see. A node's page is the passages with its name as title,
or else those that mention it; they are chunks already. Wang writes one clue query for each topic
entity; here one stands for all. Before the walk, as the original ToG-2 paper has it, the model may
drop some of more than two topic entities.

Official code: IDEA-FinAI/ToG-2, commit 1906be6. Where it retrieves otherwise there is an option;
told, not rebuilt: it merges candidates by name; without candidates it crashes; names are in lower
case before its stop list is asked, so that "IMDb ID" stays; it keeps no entity where the model
answers "{}" for the topics; single-line paragraphs of a page are lost; before the walk it asks
whether passages of the topics' own pages are enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from ..algorithms.entity_scores import decayed_scores
from ..core.options import Count, NotNegative, Positive, Probability
from ..core.results import Retrieval
from ..core.trace import ChunkStep, Step, Vector
from ..index.vectors import text_index
from ..operators import agent, rank
from ..operators.agent import Reached
from ..operators.chunk import scored_step
from ..prompts import Task, find_task
from ..text.chunking import sentences_of
from . import tog
from .base import Sections
from .graph_agent import ChoiceStep, StopStep
from .tog import Walked, Walker, WalkOptions
from .zeroshot import SelfConsistencyOptions, VoteStep, vote_of_samples

AGREEMENT = 0.8  # the share of votes with which chains of thought answer
AGREED = "chains of thought agree on an answer; nothing was retrieved"


@dataclass(frozen=True)
class ToG2Options(WalkOptions):
    """ToG-2's own.

    floor: the lowest score of a relation that is followed; 0.2 in the original ToG-2 paper, and in
        the code where it asks for one entity at a time.
    clue: ask for a clue query after each depth; the code never updates its own.
    search_with: the question, the clue and the "triple" that leads to a candidate, or the
        "question" alone.
    first_stage: passages that the second stage ranks again, by the best two sentences in each;
        None: the first stage alone, as in the code.
    top_k: ranked chunks that score an entity, K. alpha: the decay of their weights, α.
    references: chunks that the model reads, L; at most K.
    yes: a reply says yes in its "braces", or "anywhere" in its first 100 words.
    samples: chains of thought that are drawn before the walk (needs a model); where 80% of them
        agree, theirs is the answer, and nothing is retrieved.
    """

    floor: Probability = 0.0
    clue: bool = True
    search_with: Literal["triple", "question"] = "triple"
    first_stage: Positive | None = 30
    top_k: Positive = 10
    alpha: NotNegative = 0.8
    references: Positive = 5
    yes: Literal["braces", "anywhere"] = "braces"
    samples: Count = 0


class Found(NamedTuple):
    """A chunk on the page of a candidate: which of the candidates, which chunk, its score."""

    candidate: int
    chunk: int
    score: float


def windows(sentences: Sequence[str], size: int = 2, step: int = 1) -> list[str]:
    """Windows of `size` sentences; single sentences where there are fewer than size + step."""
    if len(sentences) < size + step:
        return list(sentences)
    starts = range(0, len(sentences) - size + 1, step)
    return [" ".join(sentences[start : start + size]) for start in starts]


class ToG2(Walker):
    """Relation prune, entity prune, examine and reasoning; at every depth.

    Source: Wang, Sec. IV-A (tog2-init, tog2-rp, tog2-ep, tog2-er)
    """

    name = "tog2"
    paper = "Wang, Sec. IV-A"
    index_components = ("Entity", "Relationship", "Chunk")
    primitive = "Entities in question"
    granularity = ("Subgraph", "Chunk")
    operators: ClassVar = {
        "node": ("Link", "Onehop"), "relationship": ("Onehop", "Agent"), "chunk": ("VDB",),
    }  # fmt: skip
    options_type = ToG2Options
    settings: ClassVar = {
        "paper": {},
        "code": {
            **tog.CODE, "back": "allowed", "clue": False, "search_with": "question",
            "first_stage": None, "yes": "anywhere", "samples": 10,
        },
    }  # fmt: skip
    chosen: ToG2Options

    def walk(self, asked: str) -> Sequence[Step]:
        """A walk, unless the model is sure without one."""
        if not (self.chosen.samples and tog.can_remember(self.llm)):
            return super().walk(asked)
        options = SelfConsistencyOptions(samples=self.chosen.samples)
        voted = vote_of_samples(self.llm, find_task("chain_of_thought"), asked, options)
        if voted.vote.score < AGREEMENT:
            return [voted, *super().walk(asked)]
        stop = StopStep("stop", AGREED, reason=AGREED, sufficient=True)
        return [voted, stop, scored_step("stop", AGREED, self.labels, np.zeros(len(self.chunks)))]

    def prune_topics(self, asked: str, topics: list[Reached]) -> list[Reached]:
        """The topics that the model keeps of more than two, or all where it keeps none."""
        if len(topics) <= 2:
            return topics
        names = [self.agent.name(each) for each in topics]
        kept = self.llm("prune_topics", question=asked, topics=names)
        return [each for each, name in zip(topics, names) if name in kept] or topics

    def walk_from(self, asked: str, here: list[Reached], steps: list[Step]) -> Walked:
        """The iterations: topic entities E_topic and their triple paths P go from one to the
        next.
        """
        # "begins by extracting entities from the given question as initial topic entities".
        here = self.prune_topics(asked, here)
        options, clue, found = self.chosen, "", list[Reached]()
        best = np.zeros(len(self.chunks))  # of each chunk over all depths
        for depth in range(1, options.depth + 1):
            # RP: "provide ... all topic entities within a single prompt".
            if not (offers := self.offers(here)):
                return Walked(steps, found, tog.NO_RELATION)
            scored = agent.score_relations_of_all(self.agent, asked, clue, offers, options.width)
            step, chosen = agent.choose_relations(
                self.agent, offers, scored, depth, options.most_relations, options.floor
            )
            steps.append(step)
            if not chosen:
                return Walked(steps, found, tog.NONE_CHOSEN)

            # EP: "top-W candidate entities are selected as the new topic entities".
            candidates = [each for relation in chosen for each in agent.reach(relation, self.graph)]
            chunks = self.search(asked, clue, candidates)
            step, here = self.prune_entities(candidates, chunks, depth)
            for each in chunks:
                best[each.chunk] = max(best[each.chunk], each.score)
            said = f"depth {depth}: the {len(chunks)} best chunks of {len(candidates)} candidates"
            steps += [step, scored_step("search of pages", said, self.labels, best.copy())]
            if not here:
                return Walked(steps, found, tog.NONE_REACHED)
            found = [*found, *here]

            # ER: "q, Q_c^i, P^{i+1} and the top L chunks"; answer, or "a new clue query".
            texts = [self.chunks[place].passage for place in self.read(best)]
            triples = self.agent.triples(*found)
            verdict = self.llm(
                "examine", question=asked, clue=clue, triples=triples, passages=texts
            )
            if verdict.sufficient or (verdict.mentions_yes and options.yes == "anywhere"):
                return Walked(steps, found, tog.ENOUGH)
            clue = verdict.text if options.clue else ""
            steps.append(
                Step("examine", f"depth {depth}: not enough; clue query: {clue or 'none'}")
            )
        return Walked(steps, found, tog.EXHAUSTED)

    def search(self, asked: str, clue: str, candidates: Sequence[Reached]) -> list[Found]:
        """s = F_retr([q, q_j, p_jkl], t_jklm): the top K chunks on the candidates' pages, best
        first; a chunk on the page of a node counts once for it, by the triple that suits it best.

        Source: Wang, Sec. IV-A (tog2-ep)
        """
        options, queries = self.chosen, [asked] * len(candidates)
        if options.search_with == "triple":
            told = [agent.triple_text(self.graph, each.edges[-1]) for each in candidates]
            queries = [" ".join(filter(None, (asked, clue, triple))) for triple in told]
        cosines = self.chunk_index.similarities(queries)
        pairs = [
            Found(i, place, max(0.0, float(cosines[i, place])))
            for i, each in enumerate(candidates)
            for place in self.pages[each.nodes[-1]]
        ]
        pooled = best_of_each(pairs, candidates)
        if options.first_stage and pooled:  # the second stage ranks windows of sentences
            pooled = self.by_sentences(pooled[: options.first_stage], queries)
            pooled = best_of_each(pooled, candidates)
        return pooled[: options.top_k]

    def by_sentences(self, found: Sequence[Found], queries: Sequence[str]) -> list[Found]:
        """The same chunks by the best window of two sentences in each, under the chunk's title."""
        texts, owners = list[str](), list[int]()
        for place in dict.fromkeys(each.chunk for each in found):
            chunk = self.chunks[place]
            cut = [f"{chunk.title}\n{text}" for text in windows(sentences_of(chunk.text)) or [""]]
            texts, owners = [*texts, *cut], [*owners, *(place for _ in cut)]
        asked = [queries[each.candidate] for each in found]
        cosines = text_index(texts, texts, self.encoder).similarities(asked)
        owner = np.array(owners)
        return [
            each._replace(score=max(0.0, float(row[owner == each.chunk].max())))
            for each, row in zip(found, cosines)
        ]

    def prune_entities(
        self, candidates: Sequence[Reached], chunks: Sequence[Found], depth: int
    ) -> tuple[ChoiceStep, list[Reached]]:
        """The top-W candidates by the "exponentially decayed weighted sum of scores of its chunks
        that rank in top-K"; of a node that several triples lead to, the way of its best chunk.

        Source: Wang, Sec. IV-A (tog2-ep)
        """
        ends, options = [each.nodes[-1] for each in candidates], self.chosen
        pooled = [(ends[each.candidate], each.score) for each in chunks]
        scores = dict(decayed_scores(pooled, options.top_k, options.alpha))
        way = {ends[each.candidate]: each.candidate for each in reversed(chunks)}
        rated = [
            each._replace(score=scores[end] if way.get(end) == i else 0.0)
            for i, (each, end) in enumerate(zip(candidates, ends))
        ]

        def why(each: Reached) -> str:
            if (end := each.nodes[-1]) not in scores:
                return f"no passage of it is among the best {options.top_k}"
            return "" if each == rated[way[end]] else "another triple leads to it better"

        return agent.choose_entities(self.agent, rated, depth, options.width, why)

    def read(self, scores: Vector) -> list[int]:
        """The top L chunks that the search found."""
        most = min(self.chosen.references, self.chosen.top_k)
        return [place for place in rank(scores, most).tolist() if scores[place] > 0]

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """The triples of the paths, and the top L chunks."""
        sections, retrieval = super().context(retrieval, reader)
        if sections["triples"]:
            places = self.read(retrieval.trace.last(ChunkStep).scores)
            sections["passages"] = [self.chunks[place].passage for place in places]
        return sections, retrieval

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """The answer, which a vote may have given already."""
        if retrieval.trace.last(StopStep).reason == AGREED:
            return retrieval.trace.last(VoteStep).vote.answer, retrieval
        return super().generate(retrieval, reader)


def best_of_each(found: Sequence[Found], candidates: Sequence[Reached]) -> list[Found]:
    """Best first; of the same chunk on the page of the same node only the best."""
    first: dict[tuple[int, int], Found] = {}
    for each in sorted(found, key=lambda row: -row.score):
        first.setdefault((candidates[each.candidate].nodes[-1], each.chunk), each)
    return list(first.values())

"""What GRAG and G-Retriever share: a textual graph made of a corpus, passages for a retrieved
subgraph, and answers by a trained model.

Neither paper retrieves passages. So that both can stand beside the other methods, the kit lets
every retrieved edge speak for the passages it was read from, with the cosine of its own three texts
and the question; a retrieved node without a retrieved edge does the same by itself. These are
additions.
"""

import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from ..algorithms.textual import TextualGraph
from ..algorithms.vectors import SAME, normalize
from ..core.errors import MiniragError
from ..core.files import cache_folder, write_atomic
from ..core.graph import Graph
from ..core.options import choose, vary
from ..core.results import Answer
from ..core.trace import Step
from ..encoders.text_encoders import load_encoder
from ..graphs import choose_extraction, knowledge_graph
from ..index import EgoIndex
from ..llm import load_llm
from ..neural import ModelOptions as Settings
from ..neural import trained as bundles
from ..operators import chunk
from ..operators.ranking import top_items
from ..operators.relationship import label
from .base import Method

CHOICES = "choices.json"
HardPrompt = Literal["description", "flat", "none"]


class NeedsTraining(MiniragError):
    """An answer was asked for, and no model has been trained for it yet."""


@dataclass(frozen=True)
class ModelChoices(Settings):
    """What both methods can choose about the graph and the text, besides the `Settings` of the
    model.

    parallel_edges: "keep", or "drop" all edges between two nodes that more than one edge joins in
    the same direction.
    text: the hard prompt, a "description" of every subgraph, "flat" tables of nodes and edges, or
    "none".
    """

    parallel_edges: Literal["keep", "drop"] = "keep"
    text: HardPrompt = "description"

    def settings(self):
        """The model's `Settings`."""
        return Settings(**{field.name: getattr(self, field.name) for field in fields(Settings)})


def textual_graph(graph, parallel_edges="keep"):
    """`(TextualGraph, positions)`: names and relations of a graph as texts; positions say where in
    `graph.edges` each edge comes from.
    """
    kept = range(len(graph.edges))
    if parallel_edges == "drop":
        joined = Counter((edge.source, edge.target) for edge in graph.edges)
        kept = [i for i in kept if joined[graph.edges[i].source, graph.edges[i].target] == 1]
    edges = tuple((graph.edges[i].source, graph.edges[i].name, graph.edges[i].target) for i in kept)
    return TextualGraph(tuple(node.name for node in graph.nodes), edges), tuple(kept)


class GraphPrompted(Method):
    """Subclasses set `kind`, their choices and what the released code does instead, and write
    `subgraphs`, `pieces` and `text_of`.

    `answer` needs a trained model: `minirag train NAME CORPUS` makes one, and it is found again by
    all that it depends on.

    Source: GRAG, Sec. 4 (eq-2)
    """

    graph_type = "knowledge"
    needs_training = True
    answer_task = None
    kind = ()

    def __init__(self, relations, llm, encoder, chosen, extraction="", trained=None):
        super().__init__(relations.chunks, llm)
        self.relations, self.chosen, self.extraction = relations, chosen, extraction
        self.encoder = load_encoder(encoder).fit([one.passage for one in self.chunks])
        self.graph, self.read_from = textual_graph(relations, chosen.parallel_edges)
        self.trained = Path(trained) if trained is not None else None
        if self.trained is not None:
            self.check(bundles.read(self.trained))

    def __repr__(self):
        return f"{type(self).__name__} over a {self.relations!r}; encoder {self.encoder.name}; answers only after training"

    @classmethod
    def choose(cls, follow="paper", **choices):
        """The choices of the paper or of the code, with single ones changed. An unknown name is an
        error that lists the known ones.
        """
        kind, code = cls.kind
        return choose(kind, {"paper": {}, "code": code}, follow, choices)

    @classmethod
    def build(
        cls,
        corpus,
        llm="offline",
        encoder="minilm",
        extraction=None,
        executor=None,
        follow="paper",
        trained=None,
        **choices,
    ):
        """Read triples, make them a graph of texts, encode it.

        extraction: None lets `llm` read the text; a name picks one that came with the corpus; an
        `Extraction` is used as it is.
        trained: the folder of a model that `minirag train` wrote, if it is not where it is looked
        for. follow, **choices: see the choices' class.
        """
        chosen, llm = cls.choose(follow, **choices), load_llm(llm)
        named = "rules" if extraction is None else extraction if isinstance(extraction, str) else ""
        relations = knowledge_graph(
            corpus.chunks, choose_extraction(corpus, extraction, llm, executor)
        )
        method = cls(relations, llm, encoder, chosen, named, trained)
        method.index  # encoded now, not when the first question comes
        return method

    @classmethod
    def from_graph(
        cls, graph, llm="offline", encoder="minilm", follow="paper", trained=None, **choices
    ):
        """The method over a `Graph` that exists already."""
        return cls(graph, load_llm(llm), encoder, cls.choose(follow, **choices), "", trained)

    def with_options(self, **choices):
        """The same graph with other choices."""
        chosen = vary(self.chosen, choices)
        return type(self)(self.relations, self.llm, self.encoder, chosen, self.extraction)

    def save(self, folder):
        """Write graph and choices to a folder, in open formats. Vectors stay in the embedding
        cache, a trained model in its own folder.
        """
        self.relations.save(Path(folder) / "graph")
        kept = {
            "choices": asdict(self.chosen),
            "extraction": self.extraction,
            "trained": str(self.trained) if self.trained else None,
        }
        write_atomic(Path(folder) / CHOICES, json.dumps(kept, indent=1) + "\n")

    @classmethod
    def load(cls, folder, llm="offline", encoder="minilm"):
        """Read what `save` wrote. Raises `MiniragError` where the folder holds no complete index."""
        folder = Path(folder)
        if not (folder / CHOICES).is_file():
            raise MiniragError(
                f"{folder} holds no saved {cls.__name__} index: {CHOICES} is missing. Build it again."
            )
        kept = json.loads((folder / CHOICES).read_text(encoding="utf-8"))
        return cls(
            Graph.load(folder / "graph"),
            load_llm(llm),
            encoder,
            cls.choose(**kept["choices"]),
            kept["extraction"],
            kept["trained"],
        )

    @cached_property
    def index(self):
        """The `EgoIndex` that the operators search."""
        return EgoIndex.build(self.graph, self.encoder, self.hops, self.direction)

    @property
    def hops(self):
        """Of the ego-graphs; a method without ego-graphs takes none and uses only the vectors of
        nodes and edges.
        """
        return getattr(self.chosen, "hops", 0)

    @property
    def direction(self):
        """Of the ego-graphs: see `minirag.algorithms.ego_graphs.members`."""
        return getattr(self.chosen, "direction", "both")

    def score_many(self, questions):
        """Subgraph, its edges by their own similarity, passages: the trace of each question."""
        asked = (
            np.asarray(self.encoder.encode(questions, kind="query"), dtype=np.float64)
            if questions
            else ()
        )
        traces = []
        for vector, steps in zip(asked, self.subgraphs(questions)):
            related = self._similar(vector, steps[-1])
            [scored] = chunk.from_relationships([related], self.relations, self._titles)
            traces.append((*steps, related, self._with_lone_nodes(vector, steps[-1], scored)))
        return traces

    def _similar(self, vector, step):
        """The retrieved edges with the cosine of their three texts' mean vector and the question;
        what points away counts 0.
        """
        edges = list(step.data["edges"])
        cosines = (
            np.round(self._edge_texts[edges] @ vector, SAME).clip(min=0) if edges else np.zeros(0)
        )
        best = sorted(zip(edges, cosines.tolist()), key=lambda pair: (-pair[1], pair[0]))
        relations = [(self.read_from[edge], cosine) for edge, cosine in best]
        items = tuple((label(self.relations, edge), cosine) for edge, cosine in relations[:10])
        return Step(
            "relationship similarity",
            f"{len(edges)} retrieved edges by the cosine of their texts and the question",
            items,
            {"relations": relations},
        )

    def _with_lone_nodes(self, vector, step, scored):
        joined = {end for edge in step.data["edges"] for end in self.graph.edges[edge][::2]}
        lone = [node for node in step.data["nodes"] if node not in joined]
        if not lone:
            return scored
        scores = scored.data["scores"].copy()
        cosines = np.round(
            normalize(self.index.node_vectors[lone].astype(np.float64)) @ vector, SAME
        ).clip(min=0)
        for node, cosine in zip(lone, cosines.tolist()):
            scores[sorted(set(self.relations.nodes[node].chunks))] += cosine
        said = f"{scored.summary}, and {len(lone)} nodes without a retrieved edge"
        return Step(scored.operator, said, top_items(self._titles, scores), {"scores": scores})

    @cached_property
    def _edge_texts(self):
        """(edges, d): the unit mean vector of head, relation and tail."""
        nodes, edges = (
            self.index.node_vectors.astype(np.float64),
            self.index.edge_vectors.astype(np.float64),
        )
        heads, tails = ([edge[place] for edge in self.graph.edges] for place in (0, 2))
        return (
            normalize(nodes[heads] + edges + nodes[tails])
            if len(heads)
            else np.zeros((0, nodes.shape[1]))
        )

    @cached_property
    def _titles(self):
        return [one.label for one in self.chunks]

    def examples(self, questions, answers=None):
        """What the model sees of each question, as `minirag.neural.batches.Example`; answers are
        for training only and never decide what is retrieved.

        Source: GRAG, Eq. 7-8 (eq-7, eq-8)
        """
        from ..neural.batches import Example

        made = []
        for question, answer, steps in zip(
            questions, answers or [""] * len(questions), self.subgraphs(questions)
        ):
            pieces = self.pieces(steps[-1])
            graphs = tuple(self.graph.subgraph(nodes, edges) for nodes, edges in pieces)
            made.append(Example(question, answer, graphs, self.text_of(question, pieces, graphs)))
        return made

    @cached_property
    def fingerprint(self):
        """A hash of all that a trained model depends on: passages, graph, encoder and choices."""
        parts = [
            self.name,
            self.encoder.name,
            asdict(self.chosen),
            self.graph.nodes,
            self.graph.edges,
            [[one.id, one.passage] for one in self.chunks],
        ]
        return hashlib.sha256(
            json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
        ).hexdigest()[:20]

    @property
    def trained_folder(self):
        """Where the trained model of this method over this graph is looked for, and where `minirag
        train` puts it.
        """
        return self.trained or cache_folder() / "trained" / f"{self.name}-{self.fingerprint}"

    def training_command(self, corpus="CORPUS"):
        """What to type to train it."""
        options = f" --encoder {self.encoder.name}" * (
            self.encoder.name != "minilm"
        ) + f" --extraction {self.extraction}" * bool(self.extraction)
        return f"minirag train {self.name} {corpus}{options}"

    def check(self, told):
        """Raise where a trained model is not one for this method, encoder, corpus, graph and
        choices.
        """
        about = told["trained_on"]
        if told["method"] != self.name:
            raise MiniragError(
                f"{self.trained_folder} was trained for {told['method']!r}, not for {self.name!r}."
            )
        if told["encoder"] != self.encoder.name:
            raise MiniragError(
                f"{self.trained_folder} was trained with the encoder {told['encoder']!r}; this index uses {self.encoder.name!r}."
            )
        if about.get("fingerprint") != self.fingerprint:
            raise MiniragError(
                f"{self.trained_folder} was trained on {about['name']} ({about.get('source', 'unknown source')}), which is not the corpus, graph and choices "
                f"of this index. Train for this one: {self.training_command()}"
            )

    @cached_property
    def generator(self):
        """The trained model, loaded when an answer is first asked for. Raises `NeedsTraining` where
        there is none.
        """
        if not (self.trained_folder / bundles.TOLD).is_file():
            raise NeedsTraining(
                f"{self.name} retrieves without training, but answers only after it: {self.training_command()}"
            )
        self.check(bundles.read(self.trained_folder))
        return bundles.load(self.trained_folder)

    def answer(self, question, k=5, task=None):
        """Retrieve, and let the trained model answer; k is only for the passages shown. Raises
        `NeedsTraining` before a model is trained.

        task: refused, since the model was trained on one prompt.

        Source: GRAG, Eq. 11 (eq-11)
        """
        if task:
            self.reader(task)
        generator = self.generator
        [example], retrieval = self.examples([question]), self.retrieve(question, k)
        [text] = generator.write([example], self.encoder)
        language = generator.model.language
        return Answer(
            text,
            generator.name,
            retrieval,
            2 + len(language.prompt_ids(example)),
            len(language.ids(text)),
        )

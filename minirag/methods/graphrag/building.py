"""What GraphRAG's global and local methods share: from a corpus to a textual graph, to communities,
to reports.
"""

import json
from copy import copy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from ...core.corpus import Extraction
from ...core.errors import MiniragError
from ...core.files import read_jsonl, write_atomic
from ...core.graph import Graph
from ...core.options import Between, Count, Options, Positive, refuse_unknown
from ...corpora.shipped_and_own import shipped
from ...graphs import Elements, choose_extraction, extract_elements, textual_knowledge_graph
from ...graphs.annotated import annotated_elements
from ...index.communities import find_communities
from ...index.frozen import frozen_index
from ...index.reports import CommunityIndex, load_index, save_index, write_reports
from ...prompts.records import EntityRecord, RelationshipRecord
from ..base import Method

REPORTS_OF = "communities"
KEPT = "reports.jsonl"


@dataclass(frozen=True)
class GraphChoices(Options):
    """gleanings: extra turns of the extraction (the paper: 1 for podcasts, 0 for news). covariates:
    extract claims too. entity_types, examples: the domain's own types, and few-shot pairs of a text
    and its records, for the extraction prompt (`extract_elements`).

    method, max_size, community_seed, resolution, best_of: of the division into communities
    (`find_communities`).
    largest_component_only: leave every smaller component without a community (G7, the code).
    reversed_edges: "add", or "last" (G6, the code).
    """

    gleanings: Count = 1
    covariates: bool = False
    entity_types: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    method: Literal["leiden", "leidenalg", "louvain"] = "leiden"
    max_size: Positive = 10
    community_seed: int = 0
    resolution: Annotated[float, Between(0, above=True)] = 1.0
    best_of: Positive = 1
    largest_component_only: bool = False
    reversed_edges: Literal["add", "last"] = "add"


GRAPH_CODE = {"largest_component_only": True, "reversed_edges": "last"}


def graph_of(corpus, llm, extraction=None, follow="paper", choices=GraphChoices(), executor=None):
    """The textual knowledge graph of a corpus.

    extraction: None lets `llm` read the text; `Elements`, triples (an `Extraction`, or the name of
    one that came with the corpus) or a whole `Graph` are used as they are; "annotations" are
    hand-written elements where a corpus has them. Triples have no descriptions: the statement
    itself describes a relation.
    """
    if isinstance(extraction, Graph):
        return extraction
    if extraction is None:
        extraction = extract_elements(
            corpus, llm, gleanings=choices.gleanings, claims=choices.covariates, follow=follow,
            entity_types=choices.entity_types, examples=choices.examples, executor=executor,
        )  # fmt: skip
    elif not isinstance(extraction, Elements):
        written = annotated_elements(corpus) if extraction == "annotations" else None
        extraction = written or choose_extraction(corpus, extraction, llm, executor)
    if isinstance(extraction, Extraction):
        extraction = elements_of(extraction)
    return textual_knowledge_graph(corpus.chunks, extraction, llm, follow=follow, executor=executor)


def elements_of(extraction):
    """Triples as element instances: names without type or description, and each statement as the
    description of its relation.
    """
    entities, relationships = {}, {}
    for chunk, triples in extraction.triples.items():
        names = dict.fromkeys(
            name for t in triples for name in (t.subject, t.object) if name.strip()
        )
        entities[chunk] = tuple(EntityRecord(name) for name in names)
        relationships[chunk] = tuple(
            RelationshipRecord(t.subject, t.object, f"{t.subject} {t.relation} {t.object}.")
            for t in triples
        )
    return Elements(extraction.source, entities, relationships)


def index_of(
    corpus, graph, llm, choices, report_choices, count="regex", executor=None, reports=None
):
    """Communities and reports of a graph.

    reports: frozenset of member names -> Report, for communities that need no new one;
    "annotations" takes the division and the reports that were written by hand for the corpus; a
    `CommunityIndex` is used as it is.
    """
    if isinstance(reports, CommunityIndex):
        return reports
    if reports == "annotations":
        return kept_index(corpus, graph)
    c = choices
    divided = find_communities(
        graph,
        c.method,
        c.max_size,
        c.community_seed,
        c.resolution,
        c.largest_component_only,
        c.reversed_edges,
        c.best_of,
    )
    return write_reports(
        divided, llm, count=count, executor=executor, given=reports, **asdict(report_choices)
    )


def kept_index(corpus, graph):
    """The communities and reports that were written by hand for a shipped corpus,
    `data/corpora/NAME/reports.jsonl`; an error where it has none.
    """
    path = shipped("corpora") / corpus.name / KEPT
    if not path.is_file():
        raise MiniragError(
            f"Corpus {corpus.name!r} has no {KEPT}. Leave reports out to let the language model, or the offline rule, write them."
        )
    return frozen_index(graph, read_jsonl(path))


def save(index, choices, folder):
    """Write index and choices to a folder, in open formats; the choices last, so that a killed run
    leaves nothing that loads.
    """
    save_index(index, Path(folder) / REPORTS_OF)
    plain = {
        name: value
        for part in choices
        for name, value in asdict(part).items()
        if not callable(value)
    }
    write_atomic(Path(folder) / "choices.json", json.dumps(plain, indent=1) + "\n")


def load(folder):
    """`(CommunityIndex, choices as a dict)` of what `save` wrote. Raises `MiniragError` where the
    folder holds no complete index.
    """
    folder = Path(folder)
    if not (folder / "choices.json").is_file():
        raise MiniragError(
            f"{folder} holds no saved GraphRAG index: choices.json is missing. Build it again."
        )
    choices = json.loads((folder / "choices.json").read_text(encoding="utf-8"))
    choices = {name: as_tuples(value) for name, value in choices.items()}
    return load_index(folder / REPORTS_OF), choices


def as_tuples(value):
    """A value out of JSON, which has no tuples."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


class CommunityMethod(Method):
    """A method over a `CommunityIndex` (`self.index`) and named choices (`self.chosen`).

    A subclass writes `from_index` and says which of its choices the index leaves open (`varied`).
    """

    varied = ()

    def with_options(self, **choices):
        """The same index and vectors, asked in another way: fields of the choices in `varied`."""
        open_ones = {name: self.chosen[name] for name in self.varied}
        refuse_unknown(choices, [name for old in open_ones.values() for name in vars(old)])
        other = copy(self)
        other.chosen = dict(self.chosen)
        for name, old in open_ones.items():
            own = {choice: value for choice, value in choices.items() if choice in vars(old)}
            other.chosen[name] = replace(old, **own)
        return other

    def save(self, folder):
        """Write graph, communities, reports and choices to a folder, in open formats. Vectors stay
        in the embedding cache.
        """
        save(self.index, self.chosen.values(), folder)

    @classmethod
    def load(cls, folder, llm="offline", encoder="minilm"):
        """Read what `save` wrote."""
        index, choices = load(folder)
        return cls.from_index(index, llm, encoder, **choices)

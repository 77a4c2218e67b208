"""Element instances of a corpus: what each chunk names, gleaned as often as asked, and what it
claims; or what the kit's authors wrote for a shipped corpus, item by item. And how many references
to entities a chunk size and a number of gleanings yield, as GraphRAG's Figure 2 asks.

Differs from the paper in: where it forces a yes or no by a logit bias, the check here asks for one
word. Differs from the released code in: `follow="code"` keeps its order of turns and its reading of
replies; its claims are gleaned but only the first reply is parsed, so here claims are asked for
once.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Literal

from ..core.corpus import Chunk, Corpus, Document, Extraction
from ..core.errors import MiniragError
from ..core.files import read_jsonl
from ..core.options import Options, choose
from ..corpora.shipped_and_folders import ANNOTATIONS, shipped
from ..llm import LLM
from ..llm.base import Completion
from ..prompts import Task
from ..prompts.elements_and_gleaning import EXAMPLES as PLAIN_EXAMPLES
from ..prompts.elements_and_gleaning import RICH_EXAMPLES
from ..prompts.records import (  # fmt: skip
    ClaimRecord,
    EntityRecord,
    Instances,
    RelationshipRecord,
    read_instances,
    read_instances_as_released,
    write_records,
)
from ..text.chunking import chunk_tokens
from ..text.tokens import count_tokens
from .knowledge_graph import choose_extraction

Fields = dict[str, Any]  # Any: of a prompt
Examples = tuple[tuple[str, str], ...]  # few-shot pairs: a text, and its records
KEPT = "elements.jsonl"
# Claims may use the column names of GraphRAG's own tables.
COLUMNS = {"start_date": "start", "end_date": "end", "source_text": "text"}


@dataclass(frozen=True)
class Elements:
    """Element instances by chunk id, and who extracted them. `gleanings` counts the extra turns a
    chunk took.
    """

    source: str
    entities: Mapping[str, tuple[EntityRecord, ...]]
    relationships: Mapping[str, tuple[RelationshipRecord, ...]]
    claims: Mapping[str, tuple[ClaimRecord, ...]] = field(default_factory=dict)
    gleanings: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_triples(cls, extraction: Extraction) -> "Elements":
        """Names without type or description, and each statement as the description of its
        relation.
        """
        entities, relationships = {}, {}
        for chunk, triples in extraction.triples.items():
            names = [name for t in triples for name in (t.subject, t.object) if name.strip()]
            entities[chunk] = tuple(map(EntityRecord, dict.fromkeys(names)))
            relationships[chunk] = tuple(
                RelationshipRecord(t.subject, t.object, f"{t.subject} {t.relation} {t.object}.")
                for t in triples
            )
        return cls(extraction.source, entities, relationships)

    def __repr__(self) -> str:
        kinds = (self.entities, self.relationships, self.claims)
        entities, relationships, claims = (sum(map(len, kind.values())) for kind in kinds)
        counted = f"{entities} entity and {relationships} relationship instances"
        counted += f", {claims} claims" if self.claims else ""
        return f"Elements by {self.source}: {counted} from {len(self.entities)} chunks"


@dataclass(frozen=True)
class GleaningOptions(Options):
    """order: "assess first" asks whether entities were missed before each gleaning (paper);
        "continue first" gleans, then asks, and does not ask after the last (code), so that with one
        gleaning the check is never put.
    turns: "separated" reads the replies of a chunk one by one; "concatenated" glues them together
        and reads them as the code does, which loses the first gleaned record and the strength
        before it.
    """

    order: Literal["assess first", "continue first"] = "assess first"
    turns: Literal["separated", "concatenated"] = "separated"


FOLLOW = {"paper": {}, "code": {"order": "continue first", "turns": "concatenated"}}


def extract_elements(
    corpus: Corpus | Sequence[Chunk], llm: LLM, *, entity_types: Sequence[str] = (),
    examples: Sequence[Sequence[str]] = (), gleanings: int = 1, claims: bool = False,
    rich: bool = False, executor: Executor | None = None, follow: str = "paper", **options: str,
) -> Elements:  # fmt: skip
    """Ask `llm` for the entities and relationships of every chunk, then glean up to `gleanings`
    times.

    entity_types, examples: the domain's own types, and few-shot pairs (text, reply in records, as
    `write_records` of `minirag.prompts.records` writes it), which stand in the prompt in place of
    the kit's own. rich: ask for relationship keywords too. claims: one more call a chunk for
    covariates. executor: any `concurrent.futures.Executor`. follow, options: of `GleaningOptions`.

    Source: GraphRAG, Sec. 2.2 (sec-2.2)
    """
    chosen = choose(GleaningOptions, FOLLOW, follow, options)
    chunks = corpus.chunks if isinstance(corpus, Corpus) else corpus
    asked = {"entity_types": tuple(entity_types), "examples": checked_examples(examples, rich)}
    fields = [{"title": chunk.title, "text": chunk.text, **asked} for chunk in chunks]
    task = "rich_elements" if rich else "elements"
    replies = [[first] for first in llm.map(task, fields, executor=executor, description=task)]
    unfinished: Sequence[int] = range(len(chunks))
    for number in range(gleanings):
        if chosen.order == "assess first" or number > 0:
            turns = [_so_far(fields[i], replies[i]) for i in unfinished]
            checks = llm.map("glean_check", turns, executor=executor, description="glean check")
            unfinished = [i for i, missed in zip(unfinished, checks) if missed]
        turns = [_so_far(fields[i], replies[i], rich) for i in unfinished]
        gleaned = llm.map("gleaning", turns, executor=executor, description="gleaning")
        for i, reply in zip(unfinished, gleaned):
            replies[i].append(reply)
    read = _glued if chosen.turns == "concatenated" else _joined
    found = {chunk.id: read(turns, rich) for chunk, turns in zip(chunks, replies)}
    entities = {id: instances.entities for id, instances in found.items()}
    relationships = {id: instances.relationships for id, instances in found.items()}
    extra = {chunk.id: len(turns) - 1 for chunk, turns in zip(chunks, replies)}
    names = [tuple(dict.fromkeys(e.name for e in entities[chunk.id])) for chunk in chunks]
    named = [i for i in range(len(chunks)) if claims and names[i]]  # others can have no claim
    rows = [{**fields[i], "entities": names[i]} for i in named]
    told = llm.map("claims", rows, executor=executor, description="claims") if claims else ()
    covariates = {chunks[i].id: records for i, records in zip(named, told)}
    return Elements(llm.name, entities, relationships, covariates, extra)


def checked_examples(examples: Sequence[Sequence[str]], rich: bool = False) -> Examples:
    """Few-shot examples as pairs `(text, reply)`; an error for a reply that cannot be read."""
    if isinstance(examples, str):
        raise MiniragError("examples must be pairs of a text and its records, got one string.")
    pairs = [tuple(pair) for pair in examples]
    for number, pair in enumerate(pairs, start=1):
        if len(pair) != 2 or not all(isinstance(part, str) and part.strip() for part in pair):
            raise MiniragError(f"example {number} {pair!r} is no pair of a text and its records.")
        if wrong := _unreadable(pair[1], rich):
            (_, form), *_ = RICH_EXAMPLES if rich else PLAIN_EXAMPLES
            raise MiniragError(
                f"example {number}: its reply {wrong}. A reply that can be read:\n{form}"
            )
    return tuple((text, reply) for text, reply in pairs)


def _unreadable(reply: str, rich: bool) -> str:
    """What is wrong with the reply of an example; "" where nothing is."""
    found, broken = read_instances(reply, rich)
    if not found.entities:
        return "holds no entity"
    if broken:
        return f"has {broken} record{'s' if broken > 1 else ''} that cannot be read"
    if rich and not all(record.keywords for record in found.relationships):
        return "has a relationship without keywords"
    return ""


def _so_far(fields: Fields, replies: Sequence[Instances], rich: bool = False) -> Fields:
    return {**fields, "records": "\n".join(reply.text for reply in replies), "rich": rich}


def _joined(replies: Sequence[Instances], rich: bool) -> Instances:
    entities = tuple(record for reply in replies for record in reply.entities)
    return Instances(entities, tuple(r for reply in replies for r in reply.relationships))


def _glued(replies: Sequence[Instances], rich: bool) -> Instances:
    if rich:
        raise MiniragError(
            "turns='concatenated' is how GraphRAG's code reads plain records; leave it out for rich"
            " elements."
        )
    return read_instances_as_released("".join(reply.text for reply in replies))[0]


def given_elements(
    corpus: Corpus, extraction: Elements | Extraction | str, llm: LLM,
    executor: Executor | None = None,
) -> Elements:  # fmt: skip
    """Element instances that exist already.

    `Elements` are used as they are; "annotations" are hand-written elements where a corpus has
    them; of triples (an `Extraction`, or the name of one that came with the corpus) each statement
    describes a relation.
    """
    if isinstance(extraction, Elements):
        return extraction
    written = annotated_elements(corpus) if extraction == "annotations" else None
    return written or Elements.of_triples(choose_extraction(corpus, extraction, llm, executor))


def annotated_elements(corpus: Corpus) -> Elements | None:
    """The hand-written `Elements` of a shipped corpus, or None: for a corpus that has no such file,
    or whose passages were cut up otherwise.

    Rows of `data/corpora/NAME/elements.jsonl`: {"id", "entities": [{"name", "type",
    "description"}], "relationships": [{"source", "target", "description", "strength", "keywords"}],
    "claims": [...]}; strength is a number from 1 to 10, keywords have commas between them. Raises
    `MiniragError` for a row that lacks what it must have.
    """
    path = shipped("corpora") / corpus.name / KEPT
    if not path.is_file():
        return None
    rows = {row.get("id"): row for row in read_jsonl(path)}
    if not set(rows) <= {chunk.id for chunk in corpus.chunks}:
        return None

    def read(key: str, kind: Any) -> dict[str, tuple[Any, ...]]:  # Any: of a kind of records
        where = f"{corpus.name}/{KEPT}, "
        return {
            id: tuple(_record(kind, each, where + id) for each in row.get(key, ()))
            for id, row in rows.items()
        }

    entities = read("entities", EntityRecord)
    relationships = read("relationships", RelationshipRecord)
    claims = read("claims", ClaimRecord)
    return Elements(ANNOTATIONS, entities, relationships, claims if any(claims.values()) else {})


def _record(kind: Any, row: Mapping[str, Any], where: str) -> Any:
    """A row as a record of this kind."""
    if kind is ClaimRecord:
        row = {COLUMNS.get(name, name): value for name, value in row.items()}
    if unknown := sorted(set(row) - set(kind._fields)):
        raise MiniragError(
            f"{where}: {row} has a field {unknown[0]!r}; expected are {', '.join(kind._fields)}."
        )
    try:
        record = kind(**row)
    except TypeError as error:
        raise MiniragError(f"{where}: {row} is no {kind.__name__}: {error}.") from error
    if kind is RelationshipRecord:
        return record._replace(strength=float(record.strength))
    return record


class TiringReader(LLM):
    """An invented reader, no language model: the offline rules, of whose records it writes at most
    `limit` entities a reply.

    It stands for the one trait that Figure 2 is about, a reply that does not grow with the text,
    and for nothing else. Its check is honest, so gleaning brings out the rest.
    """

    is_model = False
    travels = True

    def __init__(self, rules: LLM, limit: int = 12) -> None:
        self.rules, self.limit = rules, limit
        self.name = f"a reader that tires after {limit} entities (invented, not a language model)"
        super().__init__()

    def complete(self, task: Task, messages: Any, fields: Any) -> Completion:  # Any: of a prompt
        reply = self.rules.complete(task, messages, fields)
        if task.name not in ("elements", "rich_elements", "gleaning"):
            return reply
        found = read_instances(reply.text)[0]
        text = write_records(found.entities[: self.limit])
        return Completion(text, reply.prompt_tokens, count_tokens(text))


def entity_references(
    documents: Sequence[Document], llm: LLM, size: int = 600, overlap: int = 100, gleanings: int = 0
) -> dict[str, int]:
    """{chunks, tokens, references, distinct}: what one setting reads and finds, as plain numbers.

    references: entity instances, an entity once for each chunk and reply that names it, which is
    what the figure counts. distinct: different names. tokens: of all chunks together, more than the
    text has by its overlaps.

    Source: GraphRAG, Fig. 2 (fig-2)
    """
    chunks = [chunk for document in documents for chunk in chunk_tokens(document, size, overlap)]
    found = extract_elements(chunks, llm, gleanings=gleanings)
    named = [entity.name for chunk in chunks for entity in found.entities[chunk.id]]
    tokens = sum(count_tokens(chunk.text) for chunk in chunks)
    counts = (len(chunks), tokens, len(named), len(set(named)))
    return dict(zip(("chunks", "tokens", "references", "distinct"), counts))


def one_document(corpus: Corpus, name: str | None = None) -> Document:
    """All passages of a corpus, in order, as one long untitled document: short passages have no
    chunk size to speak of.
    """
    return Document(name or corpus.name, "\n\n".join(chunk.passage for chunk in corpus.chunks))

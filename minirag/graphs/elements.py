"""Element instances of a corpus: what each chunk names, gleaned as often as asked, and what it
claims.

Differs from the paper in: where it forces a yes or no by a logit bias, the check here asks for one
word. Differs from the released code in: `follow="code"` keeps its order of turns and its reading of
replies; its claims are gleaned but only the first reply is parsed, so here claims are asked for
once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.errors import MiniragError
from ..prompts.elements_and_gleaning import EXAMPLES as PLAIN_EXAMPLES
from ..prompts.elements_and_gleaning import RICH_EXAMPLES
from ..prompts.records import (  # fmt: skip
    ClaimRecord,
    EntityRecord,
    Instances,
    RelationshipRecord,
    read_instances,
    read_instances_as_released,
    read_relationship,
    read_rich_relationship,
)

ORDERS = ("assess first", "continue first")
TURNS = ("separated", "concatenated")
FOLLOW = {
    "paper": {"order": "assess first", "turns": "separated"},
    "code": {"order": "continue first", "turns": "concatenated"},
}


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

    def __repr__(self):
        count = {
            name: sum(map(len, getattr(self, name).values()))
            for name in ("entities", "relationships", "claims")
        }
        said = f"{count['entities']} entity and {count['relationships']} relationship instances"
        return (
            f"Elements by {self.source}: {said}"
            + (f", {count['claims']} claims" if self.claims else "")
            + f" from {len(self.entities)} chunks"
        )


def choose(follow, defaults, **named):
    """The named arguments, those left at None as `follow` says: "paper" or "code"."""
    if follow not in defaults:
        raise MiniragError(f"follow is {follow!r}; it is one of: {', '.join(map(repr, defaults))}.")
    return {
        name: defaults[follow][name] if value is None else value for name, value in named.items()
    }


def one_of(name, value, known):
    if value not in known:
        raise MiniragError(f"{name} is {value!r}; it is one of: {', '.join(map(repr, known))}.")
    return value


def extract_elements(
    corpus, llm, *, entity_types=None, examples=None, gleanings=1, follow="paper", order=None, turns=None, claims=False, rich=False, executor=None
):  # fmt: skip
    """Ask `llm` for the entities and relationships of every chunk, then glean up to `gleanings`
    times; returns `Elements`.

    entity_types, examples: the domain's own types, and few-shot pairs (text, reply in records, as
    `write_records` of `minirag.prompts.records` writes it), which stand in the prompt in place of
    the kit's own. rich: ask for relationship keywords too.
    order: "assess first" asks whether entities were missed before each gleaning (paper); "continue
    first" gleans, then asks, and does not ask after the last (code), so that with one gleaning the
    check is never put. turns: "separated" reads the replies of a chunk one by one; "concatenated"
    glues them together and reads them as the code does, which loses the first gleaned record and
    the strength before it.
    claims: one more call a chunk for covariates. executor: any `concurrent.futures.Executor`.

    Source: GraphRAG, Sec. 2.2 (sec-2.2)
    """
    chosen = choose(follow, FOLLOW, order=order, turns=turns)
    assess_first = one_of("order", chosen["order"], ORDERS) == ORDERS[0]
    one_of("turns", chosen["turns"], TURNS)
    chunks = getattr(corpus, "chunks", corpus)
    examples = checked_examples(examples or (), rich)
    asked = {"entity_types": tuple(entity_types or ()), "examples": examples}
    fields = [{"title": chunk.title, "text": chunk.text, **asked} for chunk in chunks]
    task = "rich_elements" if rich else "elements"
    replies = [[first] for first in llm.map(task, fields, executor=executor, description=task)]
    open_chunks = range(len(chunks))
    for round_number in range(gleanings):
        if assess_first or round_number > 0:
            open_chunks = _still_missing(llm, fields, replies, open_chunks, executor)
        gleaned = llm.map(
            "gleaning",
            [_so_far(fields[i], replies[i], rich) for i in open_chunks],
            executor=executor,
            description="gleaning",
        )
        for i, reply in zip(open_chunks, gleaned):
            replies[i].append(reply)
    read = [
        _glued(said, rich) if chosen["turns"] == TURNS[1] else _joined(said) for said in replies
    ]
    ids = [chunk.id for chunk in chunks]
    entities = {i: found.entities for i, found in zip(ids, read)}
    found_claims = _claims(llm, fields, entities, ids, executor) if claims else {}
    extra = {i: len(said) - 1 for i, said in zip(ids, replies)}
    return Elements(
        llm.name,
        entities,
        {i: found.relationships for i, found in zip(ids, read)},
        found_claims,
        extra,
    )


def checked_examples(examples, rich=False):
    """Few-shot examples as pairs `(text, reply)`; an error for a reply that cannot be read."""
    if isinstance(examples, str):
        raise MiniragError("examples must be pairs of a text and its records, got one string.")
    relationship = read_rich_relationship if rich else read_relationship
    pairs = [tuple(pair) for pair in examples]
    for number, pair in enumerate(pairs, start=1):
        if len(pair) != 2 or not all(isinstance(part, str) and part.strip() for part in pair):
            raise MiniragError(f"example {number} {pair!r} is no pair of a text and its records.")
        found, broken = read_instances(pair[1], relationship)
        wrong = "holds no entity" if not found.entities else ""
        if found.entities and broken:
            wrong = f"has {broken} record{'s' * (broken > 1)} that cannot be read"
        elif rich and not all(record.keywords for record in found.relationships):
            wrong = "has a relationship without keywords"
        if wrong:
            (_, form), *_ = RICH_EXAMPLES if rich else PLAIN_EXAMPLES
            said = f"example {number}: its reply {wrong}. A reply that can be read"
            raise MiniragError(f"{said}:\n{form}")
    return tuple(pairs)


def _so_far(fields, said, rich=False):
    return {**fields, "records": "\n".join(reply.text for reply in said), "rich": rich}


def _still_missing(llm, fields, replies, places, executor):
    """Those of the chunks of which the model says that entities were missed."""
    missed = llm.map(
        "glean_check",
        [_so_far(fields[i], replies[i]) for i in places],
        executor=executor,
        description="glean check",
    )
    return [i for i, yes in zip(places, missed) if yes]


def _joined(said):
    return Instances(sum((r.entities for r in said), ()), sum((r.relationships for r in said), ()))


def _glued(said, rich):
    if rich:
        raise MiniragError(
            "turns='concatenated' is how GraphRAG's code reads plain records; leave it out for rich elements."
        )
    return read_instances_as_released("".join(reply.text for reply in said))[0]


def _claims(llm, fields, entities, ids, executor):
    """Covariates of each chunk, asked for with the names found in it; a chunk without a name has
    none.
    """
    places = [place for place, i in enumerate(ids) if entities[i]]
    asked = [
        {**fields[p], "entities": tuple(dict.fromkeys(e.name for e in entities[ids[p]]))}
        for p in places
    ]
    return {
        ids[p]: found
        for p, found in zip(
            places, llm.map("claims", asked, executor=executor, description="claims")
        )
    }

"""Element instances that the kit's authors wrote, item by item, for a shipped corpus: descriptions,
keywords and directions that no rule finds.
"""

from ..core.errors import MiniragError
from ..core.files import read_jsonl
from ..corpora.shipped_and_own import ANNOTATIONS, shipped
from ..prompts.records import ClaimRecord, EntityRecord, RelationshipRecord
from .elements import Elements

FILE = "elements.jsonl"
# Claims may use the column names of GraphRAG's own tables.
COLUMNS = {"start_date": "start", "end_date": "end", "source_text": "text"}


def annotated_elements(corpus):
    """The hand-written `Elements` of a shipped corpus, or None: for a corpus that has no such file,
    or whose passages were cut up otherwise.

    Rows of `data/corpora/NAME/elements.jsonl`: {"id", "entities": [{"name", "type",
    "description"}], "relationships": [{"source", "target", "description", "strength", "keywords"}],
    "claims": [...]}; strength is a number from 1 to 10, keywords have commas between them. Raises
    `MiniragError` for a row that lacks what it must have.
    """
    path = shipped("corpora") / corpus.name / FILE
    if not path.is_file():
        return None
    rows = list(read_jsonl(path))
    known = {chunk.id for chunk in corpus.chunks}
    if not all(row.get("id") in known for row in rows):
        return None
    read = lambda key, record: {
        row["id"]: tuple(
            _record(record, said, f"{corpus.name}/{FILE}, {row['id']}") for said in row.get(key, ())
        )
        for row in rows
    }
    claims = read("claims", ClaimRecord)
    return Elements(
        ANNOTATIONS,
        read("entities", EntityRecord),
        read("relationships", RelationshipRecord),
        claims if any(claims.values()) else {},
    )


def _record(kind, said, where):
    said = (
        {COLUMNS.get(name, name): value for name, value in said.items()}
        if kind is ClaimRecord
        else said
    )
    if unknown := sorted(set(said) - set(kind._fields)):
        raise MiniragError(
            f"{where}: {said} has a field {unknown[0]!r}; expected are {', '.join(kind._fields)}."
        )
    try:
        record = kind(**said)
    except TypeError as error:
        raise MiniragError(f"{where}: {said} is no {kind.__name__}: {error}.") from error
    return (
        record._replace(strength=float(record.strength)) if kind is RelationshipRecord else record
    )

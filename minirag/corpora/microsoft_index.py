"""Microsoft GraphRAG's index files: read as our graph, communities and reports, and written from
them.

Two layouts: "2024" (`create_final_*.parquet`, as Operation Dulce is published) and "current"
(`entities.parquet` and so on). Needs pandas and
pyarrow: `pip install minirag-kit[parquet]`.
"""

import json
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from ..core.communities import Communities, Community
from ..core.corpus import Chunk
from ..core.errors import MiniragError
from ..core.files import write_atomic
from ..core.graph import Claim, Edge, Graph, Node
from ..core.reports import CommunityIndex, Finding, Report
from .microsoft_tables import tables_2024, tables_current

SOURCE = "Microsoft GraphRAG's own index files"
TABLES = (
    "entities",
    "relationships",
    "communities",
    "community_reports",
    "text_units",
    "covariates",
    "documents",
)
OPTIONAL = ("covariates", "documents", "communities", "community_reports")
PREFIX = {"2024": "create_final_", "current": ""}
LEVEL_ROW = "nodes"  # the 2024 layout keeps membership and levels in a table of its own


@dataclass(frozen=True)
class MicrosoftIndex:
    """What the files hold. `unlinked` are claims about a name that is no entity, as rows; `layout`
    is "2024" or "current".
    """

    graph: Graph
    index: CommunityIndex
    layout: str
    unlinked: tuple[dict, ...] = ()

    @property
    def claims(self):
        """How many claims the files hold, linked to an entity or not."""
        return len(self.graph.claims) + len(self.unlinked)

    def __repr__(self):
        held = f"{len(self.graph.nodes)} entities, {len(self.graph.edges)} relationships, {self.claims} claims ({len(self.unlinked)} about no entity)"
        return f"MicrosoftIndex ({self.layout} layout): {held}, {len(self.index.reports)} reports, {len(self.graph.chunks)} text units"


def read_microsoft(path):
    """Read a folder, or a zip, of either layout as a `MicrosoftIndex`. Raises `MiniragError` naming
    what is missing.
    """
    tables, layout = _open(Path(path))
    units = tables["text_units"].to_dict("records")
    chunks = tuple(
        Chunk(
            str(row["id"]),
            row["text"],
            document_id=_first(row.get("document_ids")),
            end=len(row["text"]),
        )
        for row in units
    )
    place = {chunk.id: i for i, chunk in enumerate(chunks)}
    entities, relations = (
        tables["entities"].to_dict("records"),
        tables["relationships"].to_dict("records"),
    )
    nodes = tuple(
        Node(_name(row), _text(row, "type"), _text(row, "description"), _places(row, place))
        for row in entities
    )
    position = {node.name: i for i, node in enumerate(nodes)}
    edges = tuple(_edge(row, position, place) for row in relations)
    rows = tables["covariates"].to_dict("records") if "covariates" in tables else []
    linked = [row for row in rows if row["subject_id"] in position]
    claims = tuple(_claim(i, row, position, place) for i, row in enumerate(linked))
    graph = Graph("textual knowledge", SOURCE, nodes, edges, chunks, claims)
    communities = _communities(tables, graph, layout)
    numbers = {item.id: i for i, item in enumerate(communities.items)}
    reports = {}
    for row in (
        tables["community_reports"].to_dict("records") if "community_reports" in tables else []
    ):
        if str(row["community"]) in numbers:
            reports[numbers[str(row["community"])]] = _report(row)
    unlinked = tuple(row for row in rows if row["subject_id"] not in position)
    return MicrosoftIndex(graph, CommunityIndex(communities, reports, {}, SOURCE), layout, unlinked)


def load_dulce(folder=None):
    """Microsoft's published GPT-4 index of Operation Dulce, fetched first if it is not there.

    Source: GraphRAG, Table 3 (tab-3)
    """
    from .fetching import fetch, find_dataset

    dataset = find_dataset("dulce")
    return read_microsoft(fetch(dataset, folder) / dataset.file("index").name)


def write_microsoft(index, folder, layout="current", unlinked=()):
    """Write a `CommunityIndex` (or a graph's communities with no reports) in one of the two
    layouts; every file whole or not at all.
    """
    if layout not in PREFIX:
        raise MiniragError(f"layout={layout!r}: expected one of {', '.join(map(repr, PREFIX))}.")
    tables = (tables_current if layout == "current" else tables_2024)(index, unlinked)
    for name, table in tables.items():
        buffer = BytesIO()
        table.to_parquet(buffer, index=False)
        write_atomic(Path(folder) / f"{PREFIX[layout]}{name}.parquet", buffer.getvalue())
    return Path(folder)


def _open(path):
    """The tables that `path` holds, by plain name, and their layout."""
    try:
        import pandas as pd
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MiniragError(
            "Reading parquet files needs pandas and pyarrow: pip install 'minirag-kit[parquet]'."
        ) from error
    if path.is_dir():
        files = {file.name: file.read_bytes for file in path.glob("*.parquet")}
    elif zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        files = {
            Path(name).name: (lambda name=name: archive.read(name))
            for name in archive.namelist()
            if name.endswith(".parquet")
        }
    else:
        raise MiniragError(
            f"{path} is neither a folder nor a zip file with parquet files of a GraphRAG index."
        )
    layout = "2024" if "create_final_entities.parquet" in files else "current"
    wanted = [*TABLES, LEVEL_ROW] if layout == "2024" else TABLES
    found = {
        name: files[f"{PREFIX[layout]}{name}.parquet"]
        for name in wanted
        if f"{PREFIX[layout]}{name}.parquet" in files
    }
    missing = [name for name in wanted if name not in found and name not in OPTIONAL]
    if missing:
        needed = ", ".join(
            f"{PREFIX[layout]}{name}.parquet" for name in wanted if name not in OPTIONAL
        )
        raise MiniragError(
            f"{path} has no {PREFIX[layout]}{missing[0]}.parquet; an index of the {layout} layout has {needed}."
        )
    return {name: pd.read_parquet(BytesIO(read())) for name, read in found.items()}, layout


def _communities(tables, graph, layout):
    """Communities with Microsoft's own ids; a community that is split no further stands on the
    deeper levels too.
    """
    members, level = (_members_2024 if layout == "2024" else _members_current)(tables, graph)
    order = sorted(members, key=lambda c: (level[c], _number(c)))
    number, parent = {c: i for i, c in enumerate(order)}, {}
    for c in order:
        above = [p for p in order if level[p] == level[c] - 1 and members[c] <= members[p]]
        parent[c] = number[above[0]] if above else None
    items = [Community(c, level[c], tuple(sorted(members[c])), parent=parent[c]) for c in order]
    split = set(parent.values())
    depth = max(level.values(), default=-1) + 1
    levels = [
        tuple(
            i
            for i, item in enumerate(items)
            if item.level == k or (item.level < k and i not in split)
        )
        for k in range(depth)
    ]
    return Communities.of(graph, items, levels, SOURCE)


def _members_2024(tables, graph):
    members, level = {}, {}
    for row in tables[LEVEL_ROW].to_dict("records"):
        if isinstance(row["community"], str) and row["community"]:
            members.setdefault(row["community"], set()).add(graph.position[row["title"]])
            level[row["community"]] = int(row["level"])
    return members, level


def _members_current(tables, graph):
    ids = {
        str(row["id"]): graph.position[_name(row)] for row in tables["entities"].to_dict("records")
    }
    rows = tables["communities"].to_dict("records") if "communities" in tables else []
    members = {str(row["community"]): {ids[str(i)] for i in row["entity_ids"]} for row in rows}
    return members, {str(row["community"]): int(row["level"]) for row in rows}


def _number(community):
    return (0, int(community)) if str(community).isdigit() else (1, str(community))


def _name(row):
    return row["title"] if "title" in row else row["name"]


def _first(values):
    return (
        str(values[0])
        if values is not None and not isinstance(values, float) and len(values)
        else ""
    )


def _text(row, key):
    """A cell as text; missing values and the word NONE are empty."""
    value = row.get(key)
    return value if isinstance(value, str) and value.upper() != "NONE" else ""


def _places(row, place):
    listed = row.get("text_unit_ids")
    return tuple(
        sorted(place[str(i)] for i in (listed if listed is not None else ()) if str(i) in place)
    )


def _edge(row, position, place):
    missing = [row[end] for end in ("source", "target") if row[end] not in position]
    if missing:
        raise MiniragError(
            f"A relationship ends at {missing[0]!r}, which is no entity of the index: the files do not belong together."
        )
    return Edge(
        position[row["source"]],
        position[row["target"]],
        "",
        _text(row, "description"),
        "",
        float(row["weight"]),
        _places(row, place),
    )


def _claim(i, row, position, place):
    dates = [_text(row, key) for key in ("start_date", "end_date")]
    said = [_text(row, key) for key in ("description", "source_text")]
    chunks, number = (place.get(str(row["text_unit_id"]), 0),), int(row["human_readable_id"])
    number = None if number == i else number
    about = position[row["subject_id"]], position.get(row["object_id"])
    return Claim(*about, _text(row, "type"), _text(row, "status"), *dates, *said, chunks, number)


def _report(row):
    listed = row["findings"]
    listed = (
        json.loads(listed) if isinstance(listed, str) else ([] if listed is None else list(listed))
    )
    why = _text(row, "rank_explanation") or _text(row, "rating_explanation")
    return Report(row["title"], row["summary"], float(row["rank"]), why, Finding.several(listed), SOURCE)

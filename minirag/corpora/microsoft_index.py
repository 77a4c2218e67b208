"""Microsoft GraphRAG's index files: read as our graph, communities and reports, and written from
them.

Two layouts: "2024" (`create_final_*.parquet`, as Operation Dulce is published) and "current"
(`entities.parquet` and so on). Needs pandas and pyarrow: `pip install minirag-kit[parquet]`.
"""

import json
import math
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from ..core.communities import Communities, Community
from ..core.corpus import Chunk
from ..core.errors import MiniragError
from ..core.files import write_atomic
from ..core.graph import Claim, Edge, Graph, Node
from ..core.reports import CommunityIndex, Finding, Report
from .microsoft_tables import tables_current

SOURCE = "Microsoft GraphRAG's own index files"
NEEDED = ("entities", "relationships", "text_units")
OPTIONAL = ("communities", "community_reports", "covariates", "documents")
PREFIX = {"2024": "create_final_", "current": ""}
LEVEL_ROW = "nodes"  # the 2024 layout keeps membership and levels in a table of its own

Row = Mapping[str, Any]  # Any: what a cell holds
Positions = Mapping[str, int]  # id or name -> position


@dataclass(frozen=True)
class MicrosoftIndex:
    """What the files hold. `unlinked` are claims about a name that is no entity, as rows; `layout`
    is "2024" or "current".
    """

    graph: Graph
    index: CommunityIndex
    layout: str
    unlinked: tuple[Row, ...] = ()

    @property
    def claims(self) -> int:
        """How many claims the files hold, linked to an entity or not."""
        return len(self.graph.claims) + len(self.unlinked)

    def __repr__(self) -> str:
        graph = self.graph
        held = f"{len(graph.nodes)} entities, {len(graph.edges)} relationships"
        held += f", {self.claims} claims ({len(self.unlinked)} about no entity)"
        held += f", {len(self.index.reports)} reports, {len(graph.chunks)} text units"
        return f"MicrosoftIndex ({self.layout} layout): {held}"


def read_microsoft(path: str | Path) -> MicrosoftIndex:
    """Read a folder, or a zip, of either layout. Raises `MiniragError` naming what is missing."""
    tables, layout = _open(Path(path))
    chunks = tuple(
        Chunk(str(r["id"]), r["text"], document_id=_first(r, "document_ids"), end=len(r["text"]))
        for r in tables["text_units"]
    )
    unit = {chunk.id: i for i, chunk in enumerate(chunks)}
    nodes = tuple(
        Node(_name(row), _text(row, "type"), _text(row, "description"), _units(row, unit))
        for row in tables["entities"]
    )
    position = {node.name: i for i, node in enumerate(nodes)}
    edges = tuple(_edge(row, position, unit) for row in tables["relationships"])
    linked = [row for row in tables["covariates"] if row["subject_id"] in position]
    unlinked = tuple(row for row in tables["covariates"] if row["subject_id"] not in position)
    claims = tuple(_claim(i, row, position, unit) for i, row in enumerate(linked))
    graph = Graph("textual knowledge", SOURCE, nodes, edges, chunks, claims)
    communities = _communities(tables, graph, layout)
    place = {item.id: i for i, item in enumerate(communities.items)}
    rows = {str(row["community"]): row for row in tables["community_reports"]}
    reports = {place[id]: _report(row) for id, row in rows.items() if id in place}
    return MicrosoftIndex(graph, CommunityIndex(communities, reports, {}, SOURCE), layout, unlinked)


def load_dulce(folder: str | Path | None = None) -> MicrosoftIndex:
    """Microsoft's published GPT-4 index of Operation Dulce, fetched first if it is not there.

    Source: GraphRAG, Table 3 (tab-3)
    """
    from .datasets import find_dataset
    from .fetching import fetch

    dataset = find_dataset("dulce")
    return read_microsoft(fetch(dataset, folder) / dataset["index"].name)


def write_microsoft(
    index: CommunityIndex, folder: str | Path, unlinked: Sequence[Row] = ()
) -> Path:
    """Write a `CommunityIndex` in the current layout; every file whole or not at all."""
    for name, table in tables_current(index, unlinked).items():
        buffer = BytesIO()
        table.to_parquet(buffer, index=False)
        write_atomic(Path(folder) / f"{name}.parquet", buffer.getvalue())
    return Path(folder)


def _open(path: Path) -> tuple[dict[str, list[Row]], str]:
    """Rows of the tables that `path` holds, by plain name, and their layout."""
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
        parts = [zipfile.Path(archive, name) for name in archive.namelist()]
        files = {part.name: part.read_bytes for part in parts}
    else:
        raise MiniragError(
            f"{path} is neither a folder nor a zip file with parquet files of a GraphRAG index."
        )
    layout = "2024" if "create_final_entities.parquet" in files else "current"
    needed = [*NEEDED, LEVEL_ROW] if layout == "2024" else NEEDED
    name_of = {table: f"{PREFIX[layout]}{table}.parquet" for table in (*needed, *OPTIONAL)}
    if missing := [name_of[table] for table in needed if name_of[table] not in files]:
        wanted = ", ".join(name_of[table] for table in needed)
        raise MiniragError(
            f"{path} has no {missing[0]}; an index of the {layout} layout has {wanted}."
        )
    read = {
        table: pd.read_parquet(BytesIO(files[name]())).to_dict("records") if name in files else []
        for table, name in name_of.items()
    }
    return read, layout


def _communities(tables: Mapping[str, list[Row]], graph: Graph, layout: str) -> Communities:
    """Communities with Microsoft's own ids; a community that is split no further stands on the
    deeper levels too.
    """
    members, level = (_members_2024 if layout == "2024" else _members_current)(tables, graph)
    order = sorted(members, key=lambda id: (level[id], int(id) if id.isdigit() else math.inf, id))
    number = {id: i for i, id in enumerate(order)}
    items = []
    for id in order:
        above = [p for p in order if level[p] == level[id] - 1 and members[id] <= members[p]]
        parent = number[above[0]] if above else None
        items.append(Community(id, level[id], tuple(sorted(members[id])), parent=parent))
    split = {item.parent for item in items}
    levels = [
        [
            i
            for i, item in enumerate(items)
            if item.level == k or (item.level < k and i not in split)
        ]
        for k in range(max(level.values(), default=-1) + 1)
    ]
    return Communities.of(graph, items, levels, SOURCE)


Members = tuple[dict[str, set[int]], dict[str, int]]  # of each community, and its level


def _members_2024(tables: Mapping[str, list[Row]], graph: Graph) -> Members:
    members: dict[str, set[int]] = {}
    level = {}
    for row in tables[LEVEL_ROW]:
        if isinstance(row["community"], str) and row["community"]:
            members.setdefault(row["community"], set()).add(graph.position[row["title"]])
            level[row["community"]] = int(row["level"])
    return members, level


def _members_current(tables: Mapping[str, list[Row]], graph: Graph) -> Members:
    place = {str(row["id"]): graph.position[_name(row)] for row in tables["entities"]}
    rows = {str(row["community"]): row for row in tables["communities"]}
    members = {id: {place[str(entity)] for entity in row["entity_ids"]} for id, row in rows.items()}
    return members, {id: int(row["level"]) for id, row in rows.items()}


def _name(row: Row) -> str:
    return row["title"] if "title" in row else row["name"]


def _listed(row: Row, key: str) -> Iterable[Any]:
    """A cell that holds a list; missing values are empty."""
    value = row.get(key)
    return () if value is None or isinstance(value, float) else value


def _first(row: Row, key: str) -> str:
    return next(map(str, _listed(row, key)), "")


def _text(row: Row, key: str) -> str:
    """A cell as text; missing values and the word NONE are empty."""
    value = row.get(key)
    return value if isinstance(value, str) and value.upper() != "NONE" else ""


def _units(row: Row, unit: Positions) -> tuple[int, ...]:
    return tuple(sorted(unit[str(i)] for i in _listed(row, "text_unit_ids") if str(i) in unit))


def _edge(row: Row, position: Positions, unit: Positions) -> Edge:
    ends = row["source"], row["target"]
    if missing := [end for end in ends if end not in position]:
        raise MiniragError(
            f"A relationship ends at {missing[0]!r}, which is no entity of the index: the files do"
            " not belong together."
        )
    source, target = (position[end] for end in ends)
    weight, units = float(row["weight"]), _units(row, unit)
    return Edge(source, target, description=_text(row, "description"), weight=weight, chunks=units)


def _claim(place: int, row: Row, position: Positions, unit: Positions) -> Claim:
    number = int(row["human_readable_id"])
    return Claim(
        position[row["subject_id"]],
        position.get(row["object_id"]),
        _text(row, "type"),
        _text(row, "status"),
        _text(row, "start_date"),
        _text(row, "end_date"),
        _text(row, "description"),
        _text(row, "source_text"),
        (unit.get(str(row["text_unit_id"]), 0),),
        None if number == place else number,
    )


def _report(row: Row) -> Report:
    found = row["findings"]
    findings = json.loads(found) if isinstance(found, str) else _listed(row, "findings")
    why = _text(row, "rank_explanation") or _text(row, "rating_explanation")
    rating = float(row["rank"])
    return Report(row["title"], row["summary"], rating, why, Finding.several(findings), SOURCE)

"""Our graph, communities and reports as the tables of Microsoft GraphRAG's index, in the columns
that current releases write.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.graph import Edge, Node
from ..core.reports import CommunityIndex
from ..text.tokens import count_tokens

if TYPE_CHECKING:
    import pandas as pd

    from ..core.corpus import Chunk

Row = dict[str, Any]  # Any: what a cell holds
CLAIM = "id type description subject_id object_id status start_date end_date source_text".split()


def tables_current(
    index: CommunityIndex, unlinked: Sequence[Mapping[str, Any]] = ()
) -> "dict[str, pd.DataFrame]":
    """`{table: DataFrame}` with the columns that current releases write."""
    import pandas as pd

    built = Rows(index)
    tables = [built.entities, built.relationships, built.communities, built.community_reports]
    rows = {table.__name__: table() for table in [*tables, built.text_units, built.documents]}
    if index.communities.graph.claims or unlinked:
        rows["covariates"] = built.covariates(unlinked)
    return {name: pd.DataFrame(each) for name, each in rows.items()}


def _key(*parts: object) -> str:
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Rows:
    """Rows of each table. Ids are hashes of names, so that the same graph gives the same files."""

    def __init__(self, index: CommunityIndex) -> None:
        self.index, self.graph = index, index.communities.graph
        self.items, graph = index.communities.items, self.graph
        names = [node.name for node in graph.nodes]
        self.entity = [_key("entity", name) for name in names]
        self.relation = [
            _key("relationship", i, names[edge.source], names[edge.target])
            for i, edge in enumerate(graph.edges)
        ]
        self.claim = [_key("claim", i, claim.description) for i, claim in enumerate(graph.claims)]
        self.unit = [chunk.id for chunk in graph.chunks]
        self.degree = Counter(end for edge in graph.edges for end in (edge.source, edge.target))
        # Microsoft numbers communities through all levels; ours are numbered as they stand, and
        # keep their own number where it is one.
        numbered = all(item.id.isdigit() for item in self.items)
        self.number = [int(item.id) if numbered else i for i, item in enumerate(self.items)]

    def units(self, places: Iterable[int]) -> list[str]:
        """Ids of text units."""
        return [self.unit[i] for i in sorted(set(places))]

    def entities(self) -> Iterator[Row]:
        for i, node in enumerate(self.graph.nodes):
            yield {
                "id": self.entity[i],
                "human_readable_id": i,
                "title": node.name,
                "type": node.type,
                "description": node.description,
                "text_unit_ids": self.units(node.chunks),
                "frequency": len(set(node.chunks)),
                "degree": self.degree[i],
                "x": 0.0,
                "y": 0.0,
            }

    def relationships(self) -> Iterator[Row]:
        for i, edge in enumerate(self.graph.edges):
            yield {
                "id": self.relation[i],
                "human_readable_id": i,
                "source": self.graph.nodes[edge.source].name,
                "target": self.graph.nodes[edge.target].name,
                "description": edge.description or edge.name,
                "weight": edge.weight,
                "combined_degree": self.degree[edge.source] + self.degree[edge.target],
                "text_unit_ids": self.units(edge.chunks),
            }

    def communities(self) -> Iterator[Row]:
        for place, item in enumerate(self.items):
            read = [chunk for i in item.members for chunk in self.graph.nodes[i].chunks]
            yield {
                **self._place(place),
                "id": _key("community", item.id),
                "title": f"Community {self.number[place]}",
                "entity_ids": [self.entity[i] for i in item.members],
                "relationship_ids": [self.relation[i] for i in item.edges],
                "text_unit_ids": self.units(read),
                "period": "",
                "size": len(item.members),
            }

    def community_reports(self) -> Iterator[Row]:
        for place, report in sorted(self.index.reports.items()):
            yield {
                **self._place(place),
                "id": _key("report", self.items[place].id),
                "title": report.title,
                "summary": report.summary,
                "full_content": report.text,
                "rank": report.rating,
                "rank_explanation": report.rating_explanation,
                "rating_explanation": report.rating_explanation,
                "findings": [vars(finding) for finding in report.findings],
                "full_content_json": report.to_json(),
                "period": "",
                "size": len(self.items[place].members),
            }

    def _place(self, place: int) -> Row:
        item, number = self.items[place], self.number[place]
        return {
            "human_readable_id": number,
            "community": number,
            "level": item.level,
            "parent": -1 if item.parent is None else self.number[item.parent],
            "children": [self.number[child] for child in item.children],
        }

    def _read_from(self, elements: Sequence[Node | Edge], ids: Sequence[str]) -> list[list[str]]:
        """For each text unit the ids of the elements that were read from it."""
        held: list[list[str]] = [[] for _ in self.unit]
        for element, id in zip(elements, ids):
            for unit in sorted(set(element.chunks)):
                held[unit].append(id)
        return held

    def text_units(self) -> Iterator[Row]:
        graph = self.graph
        entities = self._read_from(graph.nodes, self.entity)
        relations = self._read_from(graph.edges, self.relation)
        for i, chunk in enumerate(graph.chunks):
            told = [id for id, claim in zip(self.claim, graph.claims) if i in claim.chunks]
            yield {
                "id": chunk.id,
                "human_readable_id": i,
                "text": chunk.text,
                "n_tokens": count_tokens(chunk.text),
                "document_ids": [chunk.document_id or chunk.id],
                "entity_ids": entities[i],
                "relationship_ids": relations[i],
                "covariate_ids": told,
            }

    def documents(self) -> Iterator[Row]:
        held: dict[str, list[Chunk]] = {}
        for chunk in self.graph.chunks:
            held.setdefault(chunk.document_id or chunk.id, []).append(chunk)
        for i, (name, chunks) in enumerate(held.items()):
            yield {
                "id": name,
                "human_readable_id": i,
                "title": chunks[0].title or name,
                "text": "\n".join(chunk.text for chunk in chunks),
                "text_unit_ids": [chunk.id for chunk in chunks],
            }

    def covariates(self, unlinked: Sequence[Mapping[str, Any]] = ()) -> Iterator[Row]:
        nodes = self.graph.nodes
        for i, claim in enumerate(self.graph.claims):
            yield {
                "id": self.claim[i],
                "human_readable_id": i if claim.number is None else claim.number,
                "covariate_type": "claim",
                "type": claim.type,
                "description": claim.description,
                "subject_id": nodes[claim.subject].name,
                "object_id": "NONE" if claim.object is None else nodes[claim.object].name,
                "status": claim.status,
                "start_date": claim.start or "NONE",
                "end_date": claim.end or "NONE",
                "source_text": claim.text,
                # The files know one text unit a claim: of one summarised from several, the first.
                "text_unit_id": self.unit[claim.chunks[0]] if self.unit else "",
            }
        for i, row in enumerate(unlinked, start=len(self.graph.claims)):
            kept = {name: row.get(name) for name in [*CLAIM, "text_unit_id"]}
            yield {"human_readable_id": i, "covariate_type": "claim", **kept}

"""Our graph, communities and reports as the tables of Microsoft GraphRAG's index, in its 2024 and
its current columns.
"""

import hashlib

from ..text.tokens import count_tokens


def tables_current(index, unlinked=()):
    """`{table: DataFrame}` with the columns that current releases write."""
    import pandas as pd

    built = _Rows(index)
    tables = {
        "entities": built.entities(), "relationships": built.relationships(), "communities": built.communities(),
        "community_reports": built.reports(), "text_units": built.text_units(), "documents": built.documents(),
    }  # fmt: skip
    if index.communities.graph.claims or unlinked:
        tables["covariates"] = built.covariates(unlinked)
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def tables_2024(index, unlinked=()):
    """The same in the columns of the 2024 files; membership lies in a table `nodes`, one row an
    entity and level.
    """
    import pandas as pd

    built, tables = _Rows(index), tables_current(index, unlinked)
    old = {name: table.copy() for name, table in tables.items()}
    old["entities"] = old["entities"].rename(columns={"title": "name"})[
        ["id", "name", "type", "description", "human_readable_id", "text_unit_ids"]
    ]
    old["relationships"] = old["relationships"].rename(columns={"combined_degree": "rank"})
    old["communities"] = old["communities"].rename(columns={"community": "raw_community"})
    old["communities"]["id"] = old["communities"]["raw_community"].astype(str)
    old["communities"] = old["communities"][
        ["id", "title", "level", "raw_community", "relationship_ids", "text_unit_ids"]
    ]
    if len(old["community_reports"]):
        old["community_reports"]["community"] = old["community_reports"]["community"].astype(str)
    old["documents"] = old["documents"].rename(columns={"text": "raw_content"})
    return {**old, "nodes": pd.DataFrame(built.nodes())}


def _key(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[
        :32
    ]


class _Rows:
    """Rows of each table. Ids are hashes of names, so that the same graph gives the same files."""

    def __init__(self, index):
        self.index, self.graph = index, index.communities.graph
        self.items, g = index.communities.items, self.graph
        self.entity = [_key("entity", node.name) for node in g.nodes]
        self.relation = [
            _key("relationship", i, g.nodes[e.source].name, g.nodes[e.target].name)
            for i, e in enumerate(g.edges)
        ]
        self.claim = [_key("claim", i, c.description) for i, c in enumerate(g.claims)]
        self.unit = [chunk.id for chunk in g.chunks]
        self.degree = [0] * len(g.nodes)
        for edge in g.edges:
            self.degree[edge.source] += 1
            self.degree[edge.target] += 1
        # Microsoft numbers communities through all levels; ours are numbered as they stand, and
        # keep their own number where it is one.
        own = all(item.id.isdigit() for item in self.items)
        self.number = [int(item.id) if own else i for i, item in enumerate(self.items)]

    def units(self, places):
        return [self.unit[i] for i in sorted(set(places))]

    def entities(self):
        for i, node in enumerate(self.graph.nodes):
            common = {
                "id": self.entity[i],
                "human_readable_id": i,
                "title": node.name,
                "type": node.type,
                "description": node.description,
            }
            yield {
                **common,
                "text_unit_ids": self.units(node.chunks),
                "frequency": len(set(node.chunks)),
                "degree": self.degree[i],
                "x": 0.0,
                "y": 0.0,
            }

    def nodes(self):
        for level in range(len(self.index.communities.levels)):
            home = {
                i: self.number[p]
                for p, item in enumerate(self.items)
                if item.level == level
                for i in item.members
            }
            for i, node in enumerate(self.graph.nodes):
                row = {
                    "level": level,
                    "title": node.name,
                    "type": node.type,
                    "description": node.description,
                    "community": str(home[i]) if i in home else None,
                }
                yield {
                    **row,
                    "degree": self.degree[i],
                    "human_readable_id": i,
                    "id": self.entity[i],
                }

    def relationships(self):
        for i, e in enumerate(self.graph.edges):
            row = {
                "id": self.relation[i],
                "human_readable_id": i,
                "source": self.graph.nodes[e.source].name,
                "target": self.graph.nodes[e.target].name,
            }
            row |= {
                "description": e.description or e.name,
                "weight": e.weight,
                "combined_degree": self.degree[e.source] + self.degree[e.target],
            }
            yield {**row, "text_unit_ids": self.units(e.chunks)}

    def communities(self):
        for place, item in enumerate(self.items):
            units = [u for i in item.members for u in self.graph.nodes[i].chunks]
            row = {
                **self._place(place),
                "id": _key("community", item.id),
                "title": f"Community {self.number[place]}",
            }
            row |= {
                "entity_ids": [self.entity[i] for i in item.members],
                "relationship_ids": [self.relation[i] for i in item.edges],
            }
            yield {
                **row,
                "text_unit_ids": self.units(units),
                "period": "",
                "size": len(item.members),
            }

    def reports(self):
        for place, report in sorted(self.index.reports.items()):
            row = {
                **self._place(place),
                "id": _key("report", self.items[place].id),
                "title": report.title,
                "summary": report.summary,
            }
            row |= {
                "full_content": report.text,
                "rank": report.rating,
                "rank_explanation": report.rating_explanation,
            }
            findings = [
                {"summary": f.summary, "explanation": f.explanation} for f in report.findings
            ]
            row |= {"rating_explanation": report.rating_explanation, "findings": findings}
            yield {
                **row,
                "full_content_json": report.to_json(),
                "period": "",
                "size": len(self.items[place].members),
            }

    def _place(self, place):
        item = self.items[place]
        number = self.number[place]
        parent = -1 if item.parent is None else self.number[item.parent]
        return {
            "human_readable_id": number,
            "community": number,
            "level": item.level,
            "parent": parent,
            "children": [self.number[c] for c in item.children],
        }

    def text_units(self):
        graph = self.graph
        entities, relations, claims = [], [], []
        for found, elements in ((entities, graph.nodes), (relations, graph.edges)):
            held = [[] for _ in self.unit]
            for i, element in enumerate(elements):
                for u in sorted(set(element.chunks)):
                    held[u].append((self.entity if elements is graph.nodes else self.relation)[i])
            found += held
        made = lambda unit: [i for i, claim in enumerate(graph.claims) if unit in claim.chunks]
        claims += [[self.claim[i] for i in made(unit)] for unit in range(len(self.unit))]
        for i, chunk in enumerate(graph.chunks):
            row = {
                "id": chunk.id,
                "human_readable_id": i,
                "text": chunk.text,
                "n_tokens": count_tokens(chunk.text),
                "document_ids": [self._document(chunk)],
            }
            yield {
                **row,
                "entity_ids": entities[i],
                "relationship_ids": relations[i],
                "covariate_ids": claims[i],
            }

    def _document(self, chunk):
        return chunk.document_id or chunk.id

    def documents(self):
        held = {}
        for chunk in self.graph.chunks:
            held.setdefault(self._document(chunk), []).append(chunk)
        for i, (name, chunks) in enumerate(held.items()):
            units = [chunk.id for chunk in chunks]
            text = "\n".join(chunk.text for chunk in chunks)
            yield {
                "id": name,
                "human_readable_id": i,
                "title": chunks[0].title or name,
                "text": text,
                "text_unit_ids": units,
            }

    def covariates(self, unlinked=()):
        name = lambda i: "NONE" if i is None else self.graph.nodes[i].name
        for i, c in enumerate(self.graph.claims):
            number = i if c.number is None else c.number
            row = {
                "id": self.claim[i],
                "human_readable_id": number,
                "covariate_type": "claim",
                "type": c.type,
                "description": c.description,
            }
            row |= {
                "subject_id": name(c.subject),
                "object_id": name(c.object),
                "status": c.status,
                "start_date": c.start or "NONE",
            }
            # The files know one text unit a claim: of claims summarised from several, the first.
            unit = self.unit[c.chunks[0]] if self.unit else ""
            yield {**row, "end_date": c.end or "NONE", "source_text": c.text, "text_unit_id": unit}
        kept = (
            "id",
            "type",
            "description",
            "subject_id",
            "object_id",
            "status",
            "start_date",
            "end_date",
            "source_text",
            "text_unit_id",
        )
        for i, claim in enumerate(unlinked, start=len(self.graph.claims)):
            yield {
                "human_readable_id": i,
                "covariate_type": "claim",
                **{key: claim.get(key) for key in kept},
            }

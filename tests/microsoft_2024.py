"""An index in the columns of the files that Microsoft published in 2024, which the kit reads."""

import pandas as pd

from minirag.corpora.microsoft_index import PREFIX
from minirag.corpora.microsoft_tables import Rows, tables_current


def write_2024(index, folder, unlinked=()):
    for name, table in tables_2024(index, unlinked).items():
        table.to_parquet(folder / f"{PREFIX['2024']}{name}.parquet", index=False)
    return folder


def tables_2024(index, unlinked=()):
    """The same in the columns of the 2024 files; membership lies in a table `nodes`, one row an
    entity and level.
    """
    old = tables_current(index, unlinked)
    entities = old["entities"].rename(columns={"title": "name"})
    kept = ["id", "name", "type", "description", "human_readable_id", "text_unit_ids"]
    old["entities"] = entities[kept]
    old["relationships"] = old["relationships"].rename(columns={"combined_degree": "rank"})
    communities = old["communities"].rename(columns={"community": "raw_community"})
    communities["id"] = communities["raw_community"].astype(str)
    kept = ["id", "title", "level", "raw_community", "relationship_ids", "text_unit_ids"]
    old["communities"] = communities[kept]
    reports = old["community_reports"]
    if len(reports):
        reports["community"] = reports["community"].astype(str)
    old["documents"] = old["documents"].rename(columns={"text": "raw_content"})
    return {**old, "nodes": pd.DataFrame(node_rows(Rows(index)))}


def node_rows(self):
    for level in range(len(self.index.communities.levels)):
        here = [p for p, item in enumerate(self.items) if item.level == level]
        home = {i: str(self.number[p]) for p in here for i in self.items[p].members}
        for i, node in enumerate(self.graph.nodes):
            yield {
                "level": level,
                "title": node.name,
                "type": node.type,
                "description": node.description,
                "community": home.get(i),
                "degree": self.degree[i],
                "human_readable_id": i,
                "id": self.entity[i],
            }

"""The target `detours`: GRAG's ablations (Table 3) in their directions, on the kit's synthetic two-step task, beside what needs no graph network.

The paper's numbers are about WebQSP and Llama-2; they stand in `data/expected/detours.yaml`, never in a column with measured ones.
"""

from dataclasses import replace

from ..detours import detours
from .ego_retrieval import RANKINGS, around_named, ego_retrieval_table
from .expected import compare, load_expected
from .graph_baselines import BASELINES, shallow_baselines

GIVEN = {"whole graph": "", "ego-graph": " in the ego-graph"}  # what a baseline reads; the ego-graph is that of the named entity
BASELINE_NAMES = tuple(f"{name}{given}" for given in GIVEN.values() for name in BASELINES if not (given and name == "most frequent answer"))
RANKING_NAMES = tuple(f"ranking: {ranking.name}" for ranking in RANKINGS)
DETOURS_ROWS = (*BASELINE_NAMES, *RANKING_NAMES)


def reproduce_detours(rows=None, encoder="minilm", task=None):
    """Measure the target: `{"target", "rows", "notes", "comparison"}`, all in percent of the test questions.

    Rows of baselines have "accuracy %"; those called "ranking: ..." have the columns of `ego_retrieval_table`. rows: some by name.
    task: another `detours(...)` than the stored numbers are about.

    Source: GRAG, Table 3 (tab-3); GRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
    """
    task = task or detours()
    wanted = [name for name in DETOURS_ROWS if not rows or name in rows]
    measured = measure_baselines(task, [name for name in wanted if name in BASELINE_NAMES], encoder)
    rankings = [ranking for ranking in RANKINGS if f"ranking: {ranking.name}" in wanted]
    for row in ego_retrieval_table(task.test, encoder, rankings):
        measured.append({"method": f"ranking: {row['ranking']}", **{key: value for key, value in row.items() if key.endswith("%")}})
    expected = load_expected("detours")
    if rows:
        expected = {**expected, "rows": {name: stored for name, stored in expected["rows"].items() if name in rows}}
    return {"target": "detours", "rows": measured, "notes": [f"{task.name}: {task.source}."], "comparison": compare(measured, expected)}


def measure_baselines(task, names, encoder="minilm"):
    """Rows of these baselines, of those over the whole graph first."""
    measured = []
    for given in GIVEN.values():
        chosen = [name for name in BASELINES if f"{name}{given}" in names]
        if chosen:
            seen = near(task) if given else task
            measured += [{**row, "method": f"{row['method']}{given}"} for row in shallow_baselines(seen, encoder, chosen)]
    return measured


def near(task, hops=2, direction="out"):
    """The task over the ego-graphs of the named entities: what an oracle of retrieval would give, since the question names its entity."""
    parts = {part: tuple(around_named(question, hops, direction) for question in getattr(task, part)) for part in ("train", "validation", "test")}
    return replace(task, source=f"{task.source}, {hops}-hop ego-graphs of the named entities", **parts)

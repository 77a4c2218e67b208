"""The target `detours`: GRAG's ablations (Table 3) in their directions, on the kit's synthetic
two-step task, beside what needs no graph network.

The paper's numbers are about WebQSP and Llama-2; they stand in `data/expected/detours.yaml`, never
in a column with measured ones.
"""

from dataclasses import replace
from tempfile import TemporaryDirectory

from ..corpora.detours import VALUES, detours
from ..evaluate.expected import compare, load_expected
from .ego_retrieval import RANKINGS, around_named, ego_retrieval_table
from .graph_baselines import BASELINES, shallow_baselines

GIVEN = {
    "whole graph": "",
    "ego-graph": " in the ego-graph",
}  # what a baseline reads; the ego-graph is that of the named entity
BASELINE_NAMES = tuple(
    f"{name}{given}"
    for given in GIVEN.values()
    for name in BASELINES
    if not (given and name == "most frequent answer")
)
RANKING_NAMES = tuple(f"ranking: {ranking.name}" for ranking in RANKINGS)
GUESS = "most frequent value of the right type"
FLOOR = 100 / min(map(len, VALUES.values()))
NO_ROUTE = (
    "Pruning is the only way in which the question reaches the graph encoder, and the tiny language model was taught with random answers, so it does not hold "
    "a word against the question either: the row w/o soft pruning has lost the question, and its drop does not measure pruning. Nor does the row with the "
    "question added to the nodes: the pruned model also gets distances as ready-made numbers, and factors that start as a fall set by hand."
)
DROPPED = (
    "w/o soft pruning",
    "w/o graph descriptions",
    "w/o graph encoder",
    "w/o retrieval",
)  # the rows of Table 3
# in front of the names of conditions, whose module is read when needed, since torch is heavy
TRAINED = "trained: "


def detours_rows(all_rows=True):
    """The rows of the target. all_rows=False: those that run when none is named, which of the
    trained ones are the paper's ablations.
    """
    from .detours_conditions import ABLATIONS, CONDITIONS

    return [
        *BASELINE_NAMES,
        *RANKING_NAMES,
        *(TRAINED + condition.name for condition in (CONDITIONS if all_rows else ABLATIONS)),
    ]


def reproduce_detours(rows=None, encoder="minilm", seeds=None, jobs=None):
    """Measure the target: `{"target", "rows", "runs", "notes", "comparison"}`, all in percent of
    the test questions.

    Rows of baselines have "accuracy %"; those called "ranking: ..." have the columns of
    `ego_retrieval_table`; those called "trained: ..." have mean and population deviation over the
    seeds, and "runs" holds every single run with its seconds and memory. rows: some by name, by
    default `detours_rows(False)`.

    Source: GRAG, Table 3 (tab-3); GRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
    """
    task = detours()
    wanted = [name for name in detours_rows() if name in (rows or detours_rows(False))]
    measured = measure_baselines(task, [name for name in wanted if name in BASELINE_NAMES], encoder)
    rankings = [ranking for ranking in RANKINGS if f"ranking: {ranking.name}" in wanted]
    for row in ego_retrieval_table(task.test, encoder, rankings) if rankings else ():
        measured.append(
            {
                "method": f"ranking: {row['ranking']}",
                **{key: value for key, value in row.items() if key.endswith("%")},
            }
        )
    runs = []
    if chosen := [name.removeprefix(TRAINED) for name in wanted if name.startswith(TRAINED)]:
        from .detours_conditions import measure_conditions

        with TemporaryDirectory() as folder:
            runs = measure_conditions(folder, chosen, encoder, seeds, jobs)
        measured += trained_rows(runs)
    expected = load_expected("detours")
    expected = {
        **expected,
        "rows": {name: stored for name, stored in expected["rows"].items() if name in wanted},
    }
    notes = [f"{task.name}: {task.source}.", *verdicts(measured)]
    return {
        "target": "detours",
        "rows": measured,
        "runs": runs,
        "notes": notes,
        "comparison": compare(measured, expected),
    }


def trained_rows(runs):
    """One row for each condition: mean accuracy, its deviation over the seeds, and the means of
    what was retrieved and of answers that name a node.
    """
    from .graph_prompts import mean_and_spread

    spread = {metric: mean_and_spread(runs, metric) for metric in ("accuracy", "recall", "valid")}
    rows = []
    for name, (mean, deviation, _) in spread["accuracy"].items():
        row = {
            "method": f"trained: {name}",
            "accuracy %": round(mean, 1),
            "sd": round(deviation, 1),
        }
        rows.append(
            {
                **row,
                "evidence %": round(spread["recall"][name][0], 1),
                "valid %": round(spread["valid"][name][0], 1),
            }
        )
    return rows


def verdicts(measured):
    """Sentences on the directions of Table 3, as far as the rows were run: does leaving a part out
    cost more than the seeds differ?

    Source: GRAG, Table 3 (tab-3)
    """
    found = {row["method"]: row for row in measured}
    full, said = found.get("trained: GRAG"), []
    for name in DROPPED:
        row = found.get(f"trained: {name}")
        if full and row:
            drop, spread = full["accuracy %"] - row["accuracy %"], full["sd"] + row["sd"]
            told = (
                "the paper's drop appears here"
                if drop > spread
                else "the paper's drop does not appear here"
            )
            if row["accuracy %"] <= FLOOR:
                told = f"but it is no better than naming any value of the right type ({FLOOR:.1f}), so it learnt too little for the drop to say anything"
            said.append(
                f"{name}: {full['accuracy %']:.1f} -> {row['accuracy %']:.1f}, a drop of {drop:.1f} against deviations of {spread:.1f}; {told}."
            )
    unpruned, guess = (
        found.get("trained: w/o soft pruning"),
        found.get(f"{GUESS}{GIVEN['ego-graph']}"),
    )
    if unpruned:
        said.append(NO_ROUTE)
    if unpruned and guess and unpruned["accuracy %"] < guess["accuracy %"]:
        said.append(
            f"Without pruning {unpruned['accuracy %']:.1f} is less than the {guess['accuracy %']:.1f} of guessing the {GUESS} in the ego-graph."
        )
    return said


def measure_baselines(task, names, encoder="minilm"):
    """Rows of these baselines, of those over the whole graph first."""
    measured = []
    for given in GIVEN.values():
        chosen = [name for name in BASELINES if f"{name}{given}" in names]
        if chosen:
            seen = near(task) if given else task
            measured += [
                {**row, "method": f"{row['method']}{given}"}
                for row in shallow_baselines(seen, encoder, chosen)
            ]
    return measured


def near(task, hops=2, direction="out"):
    """The task over the ego-graphs of the named entities: what an oracle of retrieval would give,
    since the question names its entity.
    """
    parts = {
        part: tuple(around_named(question, hops, direction) for question in getattr(task, part))
        for part in ("train", "validation", "test")
    }
    return replace(
        task, source=f"{task.source}, {hops}-hop ego-graphs of the named entities", **parts
    )

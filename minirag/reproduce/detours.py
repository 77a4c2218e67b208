"""The target `detours`: GRAG's ablations (Table 3) in their directions, on the kit's synthetic
two-step task, beside what needs no graph network: does Eq. 2-4 find the ego-graph of the entity
that a question names, and what do baselines reach?

The paper's numbers are about WebQSP and Llama-2; they stand in `data/expected/detours.yaml`, never
in a column with measured ones. Gold evidence is counted with here and reaches no ranking.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..algorithms.ego_graphs import Direction, members, pool, rank_ego_graphs
from ..algorithms.vectors import normalize
from ..core.graph import GraphQuestion, GraphTask
from ..corpora.detours import VALUES, around_named, detours, named_entity
from ..encoders.text_encoders import load_encoder
from ..evaluate.metrics import compare, load_expected
from .graph_baselines import BASELINES, Row, Vectors, by_condition, shallow_baselines, text_vectors

Members = tuple[Any, Any]  # of each ego-graph: sparse (roots, nodes) and (roots, edges)
TOPS = (1, 3, 5)


@dataclass(frozen=True)
class Ranking:
    """A way to order the ego-graphs of a graph; the defaults are the paper's, and every other value
    is an addition of this kit.

    pooling: "all" is the mean of Eq. 2, "nodes" leaves the edges out, "greatest" takes the best
    cosine of a node instead of the cosine of the mean.
    root: how much of the vector is the root's own text, from 0 to 1. centred: the mean over all
    texts of the graph is taken off every vector first.
    asked: "question" is the whole of it; "words" drops what at least half of all questions say;
    "name" drops also the words that are on edges.
    linked: the node that the question names comes first, whatever its cosine.
    """

    name: str
    hops: int = 2
    direction: Direction = "out"
    pooling: Literal["all", "nodes", "greatest"] = "all"
    root: float = 0.0
    centred: bool = False
    asked: Literal["question", "words", "name"] = "question"
    linked: bool = False


RANKINGS = (
    Ranking("Eq. 2-4"),
    Ranking("Eq. 2-4, one hop", hops=1),
    Ranking("Eq. 2-4, who reaches the root", direction="in"),
    Ranking("Eq. 2-4, either way", direction="both"),
    Ranking("without edges", pooling="nodes"),
    Ranking("the greatest node", pooling="greatest"),
    Ranking("centred", centred=True),
    Ranking("a tenth is the root", root=0.1),
    Ranking("a quarter is the root", root=0.25),
    Ranking("half is the root", root=0.5),
    Ranking("the root alone", root=1.0),
    Ranking("asked without boilerplate", asked="words"),
    Ranking("asked by what is on no edge", asked="name"),
    Ranking("asked by what is on no edge, a quarter is the root", asked="name", root=0.25),
    Ranking("linked by name", linked=True),
)


def ego_retrieval_table(
    questions: Sequence[GraphQuestion],
    encoder: str = "minilm",
    rankings: Iterable[Ranking] = RANKINGS,
    tops: Sequence[int] = TOPS,
) -> list[Row]:
    """`[{"ranking", "hops", "direction", "own in top 1 %", ..., "way in top 1 %", ..., "nodes in
    top 1 %", ...}]`, a row for each ranking.

    questions: `GraphQuestion`s with evidence, whose first evidence node is the named entity. own:
    its ego-graph is among the top. way: all evidence edges are in one of them. evidence: share of
    the evidence nodes in any of them. graph: share of the graph's nodes that they hold together,
    the price.

    Source: GRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
    """
    loaded, rows = load_encoder(encoder), []
    vectors = text_vectors(questions, loaded)
    shapes: dict[tuple[int, Direction], list[Members]] = {}
    for ranking in rankings:
        shape = ranking.hops, ranking.direction
        if shape not in shapes:
            shapes[shape] = [members(question.graph, *shape) for question in questions]
        asked = loaded.encode(asked_texts(questions, ranking.asked), kind="query")
        counts = []
        for question, vector, belongs in zip(questions, asked, shapes[shape]):
            roots = rank(question, vector, vectors, belongs, ranking)[: max(tops)]
            counts.append(_counts(question, belongs, roots, tops))
        row: Row = {"ranking": ranking.name, "hops": ranking.hops, "direction": ranking.direction}
        for column in counts[0]:
            row[column] = round(100 * float(np.mean([count[column] for count in counts])), 1)
        rows.append(row)
    return rows


def rank(
    question: GraphQuestion, asked: Any, vectors: Vectors, belongs: Members, ranking: Ranking
) -> NDArray[np.int64]:
    """All roots, best first. asked: the question's vector; vectors: of the graph's texts."""
    graph, (inside, between) = question.graph, belongs
    if ranking.linked:
        plain = rank(question, asked, vectors, belongs, replace(ranking, linked=False))
        first = named_entity(question.question, graph)
        return np.array([first, *plain[plain != first]])
    nodes = np.array([vectors[text] for text in graph.nodes])
    edges = np.array([vectors[text] for _, text, _ in graph.edges]).reshape(-1, nodes.shape[1])
    if ranking.centred:
        middle = np.concatenate([nodes, edges]).mean(axis=0)
        nodes, edges, asked = nodes - middle, edges - middle, asked - middle
    if ranking.pooling == "greatest":
        cosines = np.where(inside.toarray() > 0, normalize(nodes) @ asked, -np.inf)
        return np.argsort(-np.round(cosines.max(axis=1), 9), kind="stable")
    between = 0 * between if ranking.pooling == "nodes" else between
    pooled = normalize(pool(nodes, edges, inside, between))
    pooled = ranking.root * normalize(nodes) + (1 - ranking.root) * pooled
    return rank_ego_graphs(asked, pooled, len(graph.nodes))[0]


def asked_texts(questions: Sequence[GraphQuestion], asked: str = "question") -> list[str]:
    """What of each question is encoded, as `Ranking` describes it. Where nothing would be left, the
    whole question.
    """
    if asked == "question":
        return [question.asked for question in questions]
    split = [re.findall(r"\w+", question.asked) for question in questions]
    spread = Counter(word for words in split for word in set(words))
    common = {word for word, count in spread.items() if 2 * count >= len(questions) > 1}
    texts = []
    for question, words in zip(questions, split):
        edges = {text.lower() for _, text, _ in question.graph.edges} if asked == "name" else set()
        kept = [word for word in words if word not in common and word.lower() not in edges]
        texts.append(" ".join(kept) or question.asked)
    return texts


def _counts(
    question: GraphQuestion, belongs: Members, roots: NDArray[np.int64], tops: Sequence[int]
) -> dict[str, float]:
    inside, between = (found[roots].toarray() > 0 for found in belongs)
    nodes, edges = list(question.evidence_nodes), list(question.evidence_edges)
    measures = {
        "own": lambda top: nodes[0] in roots[:top],
        "way": lambda top: between[:top, edges].all(axis=1).any(),
        "evidence": lambda top: inside[:top, nodes].any(axis=0).mean(),
        "graph": lambda top: inside[:top].any(axis=0).mean(),
    }
    return {f"{name} in top {top} %": of(top) for name, of in measures.items() for top in tops}


# What a baseline reads; the ego-graph is that of the named entity.
GIVEN = {"whole graph": "", "ego-graph": " in the ego-graph"}
BASELINE_NAMES = tuple(
    f"{name}{given}"
    for given in GIVEN.values()
    for name in BASELINES
    if not (given and name == "most frequent answer")
)
RANKED, TRAINED = "ranking: ", "trained: "  # in front of the names of rankings and of conditions
GUESS = "most frequent value of the right type"
FLOOR = 100 / min(map(len, VALUES.values()))
NO_ROUTE = (
    "Pruning is the only way in which the question reaches the graph encoder, and the tiny language"
    " model was taught with random answers, so it does not hold a word against the question either:"
    " the row w/o soft pruning has lost the question, and its drop does not measure pruning. Nor"
    " does the row with the question added to the nodes: the pruned model also gets distances as"
    " ready-made numbers, and factors that start as a fall set by hand."
)
# The rows of Table 3.
DROPPED = ("w/o soft pruning", "w/o graph descriptions", "w/o graph encoder", "w/o retrieval")


def detours_rows(all_rows: bool = True) -> list[str]:
    """The rows of the target. all_rows=False: those that run when none is named, which of the
    trained ones are the paper's ablations.
    """
    from .graph_conditions import ABLATIONS, DETOURS  # read when needed, since torch is heavy

    rankings = [RANKED + ranking.name for ranking in RANKINGS]
    conditions = DETOURS if all_rows else ABLATIONS
    return [*BASELINE_NAMES, *rankings, *(TRAINED + condition.name for condition in conditions)]


def reproduce_detours(
    rows: Collection[str] | None = None,
    encoder: str = "minilm",
    seeds: Sequence[int] | None = None,
    jobs: int | None = None,
) -> dict[str, Any]:
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
    rankings = [ranking for ranking in RANKINGS if RANKED + ranking.name in wanted]
    for row in ego_retrieval_table(task.test, encoder, rankings) if rankings else ():
        numbers = {column: value for column, value in row.items() if column.endswith("%")}
        measured.append({"method": RANKED + row["ranking"], **numbers})
    runs: list[Row] = []
    if chosen := [name.removeprefix(TRAINED) for name in wanted if name.startswith(TRAINED)]:
        from .graph_conditions import run_conditions

        with TemporaryDirectory() as folder:
            runs, _ = run_conditions("detours", folder, chosen, encoder, seeds, jobs)
        measured += trained_rows(runs)
    return {
        "target": "detours",
        "rows": measured,
        "runs": runs,
        "notes": [f"{task.name}: {task.source}.", *verdicts(measured)],
        "comparison": compare(measured, load_expected("detours", wanted)),
    }


def trained_rows(runs: Sequence[Row]) -> list[Row]:
    """One row for each condition: mean accuracy, its deviation over the seeds, and the means of
    what was retrieved and of answers that name a node.
    """
    recall, valid = by_condition(runs, "recall"), by_condition(runs, "valid")
    return [
        {
            "method": TRAINED + name,
            "accuracy %": round(float(np.mean(values)), 1),
            "sd": round(float(np.std(values)), 1),
            "evidence %": round(float(np.mean(recall[name])), 1),
            "valid %": round(float(np.mean(valid[name])), 1),
        }
        for name, values in by_condition(runs).items()
    ]


def verdicts(measured: Iterable[Row]) -> list[str]:
    """Sentences on the directions of Table 3, as far as the rows were run: does leaving a part out
    cost more than the seeds differ?

    Source: GRAG, Table 3 (tab-3)
    """
    found = {row["method"]: row for row in measured}
    left_out = {name: found[TRAINED + name] for name in DROPPED if TRAINED + name in found}
    sentences: list[str] = []
    if full := found.get(f"{TRAINED}GRAG"):
        sentences = [verdict_on_drop(name, full, row) for name, row in left_out.items()]
    if unpruned := left_out.get("w/o soft pruning"):
        sentences.append(NO_ROUTE)
        accuracy, guess = unpruned["accuracy %"], found.get(f"{GUESS}{GIVEN['ego-graph']}")
        if guess and accuracy < guess["accuracy %"]:
            less = f"Without pruning {accuracy:.1f} is less than the {guess['accuracy %']:.1f}"
            sentences.append(f"{less} of guessing the {GUESS} in the ego-graph.")
    return sentences


def verdict_on_drop(name: str, full: Row, row: Row) -> str:
    """Whether leaving one part out costs more than the seeds differ."""
    before, after, spread = full["accuracy %"], row["accuracy %"], full["sd"] + row["sd"]
    appears = "appears" if before - after > spread else "does not appear"
    verdict = f"the paper's drop {appears} here"
    if after <= FLOOR:
        verdict = f"but it is no better than naming any value of the right type ({FLOOR:.1f}),"
        verdict += " so it learnt too little for the drop to say anything"
    drop = f"a drop of {before - after:.1f} against deviations of {spread:.1f}"
    return f"{name}: {before:.1f} -> {after:.1f}, {drop}; {verdict}."


def measure_baselines(task: GraphTask, names: Collection[str], encoder: str) -> list[Row]:
    """Rows of these baselines, of those over the whole graph first."""
    measured = []
    for given in GIVEN.values():
        if chosen := [name for name in BASELINES if f"{name}{given}" in names]:
            rows = shallow_baselines(near(task) if given else task, encoder, chosen)
            measured += [{**row, "method": f"{row['method']}{given}"} for row in rows]
    return measured


def near(task: GraphTask, hops: int = 2, direction: Direction = "out") -> GraphTask:
    """The task over the ego-graphs of the named entities: what an oracle of retrieval would give,
    since the question names its entity.
    """
    source = f"{task.source}, {hops}-hop ego-graphs of the named entities"
    parts = (tuple(around_named(q, hops, direction) for q in part) for part in task.parts)
    return GraphTask(task.name, source, *parts)

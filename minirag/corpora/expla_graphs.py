"""ExplaGraphs: does an argument support a belief or counter it? 2,766 pairs, each with the
explanation graph that people drew for it.
"""

import csv
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..algorithms.ego_graphs import TextualGraph
from ..core.errors import MiniragError
from ..core.graph import GraphQuestion, GraphTask
from .datasets import find_dataset
from .fetching import available, fetch

NAME, SOURCE = "expla_graphs", "ExplaGraphs, written by people; split as released with GRAG"
COLUMNS = ("arg1", "arg2", "label", "graph")
ANSWERS = ("support", "counter")
TRIPLE = re.compile(r"\((.*?)\)")
ASKS = ("pair", "prompt", "same")
SHAPES = ("connected", "without a directed cycle", "chains", "chains one way")
# The released split: 40% held out, half of them test, nothing stratified.
SPLIT_SEED, HELD_OUT, TEST_SHARE = 42, 0.4, 0.5


def load_expla_graphs(
    folder: str | Path | None = None,
    follow: str = "paper",
    asks: str | None = None,
    seed: int = SPLIT_SEED,
) -> GraphTask:
    """ExplaGraphs as a `GraphTask` of 1,659 questions to train, 553 to validate and 554 to test;
    fetched first if it is not there.

    asks: what an encoder sees of a question. "pair" (follow="paper"): belief and argument.
    "prompt": the whole question, most of which is the same for all. "same" (follow="code"): one
    text for all, since the released preprocessing puts the whole table into every question; soft
    pruning can then learn what matters in general, not what matters to this question.
    seed: of the split; 42 is the released one. Raises `MiniragError` when the data is neither there
    nor to be had.

    Source: GRAG, Table 1 (tab-1); GRAG, Eq. 3 (eq-3)
    """
    if follow not in ("paper", "code"):
        raise MiniragError(f"follow is 'paper' or 'code'; got {follow!r}.")
    dataset = find_dataset(NAME)
    try:
        path = fetch(dataset, folder) / dataset["items"].name
    except MiniragError as error:
        if available(NAME, folder):
            raise
        raise MiniragError(
            f"ExplaGraphs is not here. Get it with `minirag fetch {NAME}`. {error}"
        ) from error
    questions, _ = read_expla_graphs(path, asks or ("pair" if follow == "paper" else "same"))
    return split(questions, seed)


def read_expla_graphs(
    path: str | Path, asks: str = "pair"
) -> tuple[tuple[GraphQuestion, ...], dict[str, int]]:
    """`(questions, counts)` of a file in ExplaGraphs' form: tab-separated arg1, arg2, label and
    graph, "(head; relation; tail)(...)".

    Ids are positions in the file, counted from 0 over all lines, the broken ones too. A line is
    left out when its label is neither of the two, a text is missing, or its graph has no triple or
    one of other than three parts; counts say how many and why, and one warning names the first of
    them. Nodes are texts in lower case, each once a graph. Raises `MiniragError` for a file that
    cannot be opened, that has other columns, or no line that can be read.
    """
    if asks not in ASKS:
        raise MiniragError(f"asks is one of {', '.join(map(repr, ASKS))}; got {asks!r}.")
    path = Path(path)
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, delimiter="\t")
            names, rows = reader.fieldnames, list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise MiniragError(f"{path} cannot be read as a table in UTF-8 ({error}).") from error
    if tuple(names or ()) != COLUMNS:
        raise MiniragError(
            f"{path.name} is not a file of ExplaGraphs: expected the tab-separated columns"
            f" {', '.join(COLUMNS)}, found {names}."
        )
    questions, first = [], ""
    problems: Counter[str] = Counter()
    for place, row in enumerate(rows):
        if problem := _problem(row):
            problems[problem] += 1
            first = first or f"item {place}: {problem}"
            continue
        question = question_text(row["arg1"], row["arg2"])
        asked = {
            "pair": f"{row['arg1']} {row['arg2']}",
            "prompt": question,
            "same": question_text("all beliefs", "all arguments"),
        }[asks]
        graph, id = parse_graph(row["graph"]), f"{NAME}/{place:04d}"
        questions.append(GraphQuestion(id, question, row["label"], graph, asked))
    if not questions:
        raise MiniragError(
            f"{path.name} holds no item that can be read ({first or 'it has no lines'}). Expected:"
            " belief, argument, label, graph."
        )
    if problems:
        warnings.warn(
            f"{path.name}: {problems.total()} of {len(rows)} items were left out ({first}).",
            stacklevel=2,
        )
    return tuple(questions), {"items": len(questions), **problems}


def _problem(row: dict[str, str]) -> str:
    """Why an item cannot be read, or an empty string."""
    if None in row or None in row.values() or not (row["arg1"].strip() and row["arg2"].strip()):
        return "a text is missing or one too many"
    if row["label"] not in ANSWERS:
        return "the label is neither support nor counter"
    triples = [triple.split(";") for triple in TRIPLE.findall(row["graph"])]
    whole = [len(parts) == 3 and all(part.strip() for part in parts) for parts in triples]
    return "" if triples and all(whole) else "the graph is not a row of (head; relation; tail)"


def parse_graph(text: str) -> TextualGraph:
    """A text such as "(a; r; b)(b; s; c)" as a `TextualGraph`: lower case, a node for each
    different text, in order of appearance.

    Raises `MiniragError` for a triple of other than three parts.
    """
    places: dict[str, int] = {}
    edges = []
    for triple in TRIPLE.findall(text):
        parts = [part.strip().lower() for part in triple.split(";")]
        if len(parts) != 3:
            raise MiniragError(
                f"({triple}) has {len(parts)} parts; (head; relation; tail) is expected."
            )
        head, relation, tail = parts
        source = places.setdefault(head, len(places))
        edges.append((source, relation, places.setdefault(tail, len(places))))
    return TextualGraph(tuple(places), tuple(edges))


def question_text(belief: str, argument: str) -> str:
    """The question as a prompt states it."""
    asked = "Does the argument support the belief or counter it?"
    how = "Answer with one word, support or counter."
    return f"Belief: {belief}\nArgument: {argument}\n{asked} {how}"


def belief_and_argument(question: GraphQuestion) -> tuple[str, str]:
    """The two texts of a question, taken back from its prompt."""
    belief, argument = question.question.split("\n")[:2]
    return belief.removeprefix("Belief: "), argument.removeprefix("Argument: ")


def split(questions: Sequence[GraphQuestion], seed: int = SPLIT_SEED) -> GraphTask:
    """The questions as a `GraphTask`: 60% to train, 20% to validate, 20% to test, drawn by chance
    with this seed. Raises `MiniragError` for fewer than 4.
    """
    from sklearn.model_selection import train_test_split

    if len(questions) < 4:
        raise MiniragError(
            f"{len(questions)} questions cannot be split into three parts: 4 or more are expected."
        )
    train, held_out = train_test_split(range(len(questions)), test_size=HELD_OUT, random_state=seed)
    validation, test = train_test_split(held_out, test_size=TEST_SHARE, random_state=seed)
    source = f"ExplaGraphs, written by people; split by seed {seed}"
    parts = (tuple(questions[place] for place in part) for part in (train, validation, test))
    return GraphTask(NAME, SOURCE if seed == SPLIT_SEED else source, *parts)


def describe(task: GraphTask) -> dict[str, float]:
    """What the task holds, as numbers: the row of Table 1 and what else a reader of Table 2 should
    know.

    nodes, edges: means of a graph. connected, without a directed cycle, chains, chains one way: how
    many graphs. A chain is a single line of nodes, whichever way its edges point; the appendix says
    that every graph is one. majority %: of the more frequent answer in the test part. beliefs seen
    %: of the test questions, those whose belief some training question has too, but for capitals.

    Source: GRAG, Table 1 (tab-1)
    """
    graphs = [question.graph for question in task.questions]
    nodes, edges = [len(graph.nodes) for graph in graphs], [len(graph.edges) for graph in graphs]
    shapes = [shape(graph) for graph in graphs]
    answers = Counter(question.answer for question in task.test)
    seen, asked = (
        [belief_and_argument(question)[0].lower() for question in part]
        for part in (task.train, task.test)
    )
    known = set(seen)
    return {
        "graphs": len(graphs),
        "nodes": sum(nodes) / len(graphs),
        "edges": sum(edges) / len(graphs),
        "most nodes": max(nodes),
        "most edges": max(edges),
        **{what: sum(each[what] for each in shapes) for what in SHAPES},
        "train": len(task.train),
        "validation": len(task.validation),
        "test": len(task.test),
        "majority %": 100 * max(answers.values()) / len(task.test),
        "beliefs seen %": 100 * sum(belief in known for belief in asked) / len(task.test),
    }


def shape(graph: TextualGraph) -> dict[str, bool]:
    """Whether a graph is connected (edges read both ways), without a directed cycle, a chain, and a
    chain whose edges all point the same way.
    """
    import networkx as nx

    directed = nx.DiGraph((head, tail) for head, _, tail in graph.edges)
    directed.add_nodes_from(range(len(graph.nodes)))
    both_ways, connected = directed.to_undirected(), nx.is_weakly_connected(directed)
    tree = connected and both_ways.number_of_edges() == len(both_ways) - 1
    chain = tree and max(degree for _, degree in both_ways.degree) <= 2
    degrees = [degree for way in (directed.out_degree, directed.in_degree) for _, degree in way]
    acyclic = nx.is_directed_acyclic_graph(directed)
    return dict(zip(SHAPES, (connected, acyclic, chain, chain and max(degrees) <= 1)))

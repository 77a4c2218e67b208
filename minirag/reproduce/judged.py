"""The target `judged`: who wins when a large language model compares two answers, from the
recordings in `data/recordings`.

`harbor_news` has GraphRAG's conditions C0, C1, TS and SS (its Figure 4), each pair in both orders,
and the six methods that the survey compares on abstract questions (its Figures 6 to 10 and 13),
the order alternating.
`textbook` has PathRAG against its baselines and ablations (its Tables 1 to 3), the order
alternating from question to question. One reply names the winner by every criterion and overall;
GraphRAG asks by one criterion at a time, five times. A win counts 100, a tie 50. Intervals are 95 %
of bootstrap samples over questions; one that holds 50 is called inconclusive.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..core.display import progress
from ..corpora.shipped_and_folders import load_corpus
from ..evaluate import judging
from ..evaluate.metrics import answer_all, compare, load_expected
from ..index.vectors import AnyEncoder
from ..llm import LLM
from ..llm.recorded import recording
from ..methods import METHODS, Method
from ..methods.base import READERS
from ..methods.rich_graph import rich_graph_of
from .answers import SMALL_TREE, interval, verdict

Answers = dict[str, dict[str, str]]  # condition -> question's id -> answer
Conditions = dict[str, Callable[[], Method]]
GLOBAL_QUESTIONS, LOCAL_QUESTIONS, PATH_QUESTIONS = 10, 10, 12
SURVEYED: Mapping[str, Mapping[str, Any]] = {
    "vanilla": {}, "raptor": SMALL_TREE, "graphrag-global": {"gleanings": 1, "level": 1},
    "lightrag-hybrid": {"gleanings": 0}, "fastgraphrag": {}, "cheaprag": {},
}  # fmt: skip
PAIRS = (("C0", "TS"), ("C1", "TS"), ("C0", "SS"), ("TS", "SS"))
BASELINES = ("vanilla", "hyde", "graphrag-local", "lightrag-hybrid", "pathrag-lt")
ABLATIONS: Mapping[str, Mapping[str, str]] = {
    "random": {"ranking": "random"}, "hop-first": {"ranking": "hop-first"},
    "flat": {"prompt": "flat"},
}  # fmt: skip


class Match(NamedTuple):
    """Two conditions that were compared on a corpus: the questions' texts by id, and the criteria;
    both_orders: whether each comparison was asked in both orders, or the order alternates.
    """

    corpus: str
    first: str
    second: str
    questions: dict[str, str]
    criteria: tuple[str, ...]
    both_orders: bool


def reproduce_judged(
    rows: Sequence[str] | None = None, encoder: AnyEncoder | str = "minilm"
) -> dict[str, Any]:
    """Win rates by every criterion: `{"target", "rows", "notes", "comparison"}`.

    rows: pairs by name, as `row_names` lists them. Raises `MiniragError` where a call is in no
    recording.

    Source: GraphRAG, Fig. 4 (fig-4); PathRAG, Table 1 (tab-1)
    """
    measured: list[dict[str, Any]] = []
    for corpus in CONDITIONS:
        chosen = [match for match in matches(corpus) if not rows or row_name(match) in rows]
        verdicts = judge_matches(corpus, recording(corpus), encoder, chosen) if chosen else []
        measured += [row for each in zip(chosen, verdicts) for row in rates(*each)]
    notes = [f"{row['method']}: {row['won']} won, {row['tied']} tied, {row['lost']} lost, "
             f"{row['rate']:.0f} % [{row['low']:.0f}, {row['high']:.0f}]: {row['verdict']}"
             for row in measured]  # fmt: skip
    numbers = [{name: cell for name, cell in row.items() if name != "verdict"} for row in measured]
    expected = load_expected("judged")
    kept = {n: r for n, r in expected["rows"].items() if not rows or n.rpartition(":")[0] in rows}
    cells = compare(numbers, {**expected, "rows": kept})
    return {"target": "judged", "rows": numbers, "notes": notes, "comparison": cells}


def row_name(match: Match) -> str:
    """A pair's name."""
    return f"{match.corpus} {match.first} over {match.second}"


def row_names() -> list[str]:
    """Every pair as `reproduce(rows=...)` names it."""
    return [row_name(match) for corpus in CONDITIONS for match in matches(corpus)]


def harbor_conditions(llm: LLM, encoder: AnyEncoder | str) -> Conditions:
    """The reports of one level (C0, C1), all articles (TS), the articles nearest to the question
    (SS); each as a function that builds it.

    Source: GraphRAG, Sec. 3.3 (sec-3.3)
    """
    corpus = load_corpus("harbor_news")

    def build(name: str, **options: Any) -> Method:
        return METHODS[name].build(corpus, llm=llm, encoder=encoder, **options)

    @cache
    def search() -> Any:
        return build("graphrag-global", gleanings=1)

    surveyed = {name: partial(build, name, **options) for name, options in SURVEYED.items()}
    return surveyed | {
        "C0": lambda: search().with_options(level=0),
        "C1": lambda: search().with_options(level=1),
        "TS": lambda: build("graphrag-ts"),
        "SS": lambda: build("graphrag-ss"),
    }


def textbook_conditions(llm: LLM, encoder: AnyEncoder | str) -> Conditions:
    """PathRAG, its baselines and its ablations; those that walk a graph, over the hand-written rich
    one.

    Source: PathRAG, Table 1 (tab-1); PathRAG, Table 2 and App. D.1 (tab-2)
    """
    corpus = load_corpus("textbook")
    graph = rich_graph_of(corpus, llm, "annotations", pairs="directed")

    @cache
    def build(name: str) -> Any:
        walked = {"extraction": graph} if METHODS[name].graph_type != "none" else {}
        return METHODS[name].build(corpus, llm=llm, encoder=encoder, **walked)

    found: Conditions = {name: partial(build, name) for name in ("pathrag", *BASELINES)}
    vary = build("pathrag").with_options
    return found | {name: partial(vary, **changed) for name, changed in ABLATIONS.items()}


CONDITIONS = {"harbor_news": harbor_conditions, "textbook": textbook_conditions}


def asked(corpus: str) -> dict[str, str]:
    """The questions that were answered and judged: {id: text}."""
    questions, count = list(load_corpus(corpus).questions), PATH_QUESTIONS
    if corpus == "harbor_news":
        questions, count = [q for q in questions if q.kind == "global"], GLOBAL_QUESTIONS
    return {q.id: q.text for q in questions[:count]}


def answer_questions(corpus: str, llm: LLM, encoder: AnyEncoder | str) -> Answers:
    """Every condition's full answer to every question."""
    conditions, texts = CONDITIONS[corpus](llm, encoder), asked(corpus)

    def answers(name: str) -> dict[str, str]:
        method = conditions[name]()
        task = "full_answer" if method.answer_task in READERS else None
        found = answer_all(method, texts.values(), task=task)
        return {id: answer.text for id, answer in zip(texts, found)}

    names = progress(conditions, description="answers", unit="condition")
    return dict(zip(conditions, llm.each(answers, names)))


def judge_matches(
    corpus: str, llm: LLM, encoder: AnyEncoder | str, chosen: Iterable[Match] | None = None
) -> list[list[judging.Verdict]]:
    """The verdicts of each pair (None: of all). A model that answers in batches is asked all pairs
    at once.
    """
    answers = answer_questions(corpus, llm, encoder)
    return llm.each(
        lambda match: judge(llm, match, answers), matches(corpus) if chosen is None else chosen
    )


def matches(corpus: str) -> Iterator[Match]:
    """The pairs of a corpus."""
    texts = asked(corpus)
    if corpus == "harbor_news":
        for first, second in PAIRS:
            yield Match(corpus, first, second, texts, judging.GRAPHRAG_CRITERIA, both_orders=True)
        for first, second in combinations(SURVEYED, 2):
            yield Match(corpus, first, second, texts, judging.SURVEY_CRITERIA, both_orders=False)
    else:
        for other in (*BASELINES, *ABLATIONS):
            yield Match(corpus, "pathrag", other, texts, judging.PATHRAG_CRITERIA, False)


def judge(llm: LLM, match: Match, answers: Answers) -> list[judging.Verdict]:
    """The verdicts of one pair: one reply for each question and order."""
    pair = (match.first, match.second)
    orders = [(match.questions, pair)]
    if not match.both_orders:
        items = list(match.questions.items())
        orders = [(dict(items[::2]), pair), (dict(items[1::2]), pair[::-1])]

    def ask(order: tuple[dict[str, str], tuple[str, str]]) -> list[judging.Verdict]:
        questions, shown = order
        return judging.judge_answers(
            llm, questions, {name: answers[name] for name in shown}, match.criteria, repeats=1,
            swap=match.both_orders, overall=True,
        )  # fmt: skip

    return [verdict for verdicts in llm.each(ask, orders) for verdict in verdicts]


def rates(match: Match, verdicts: Iterable[judging.Verdict]) -> list[dict[str, Any]]:
    """For each criterion what the first condition won, tied and lost, and its win rate; a question
    asked in both orders counts once, each order half.
    """
    by_criterion: dict[str, list[judging.Verdict]] = {}
    for one in verdicts:
        by_criterion.setdefault(one.criterion, []).append(one)
    rows = []
    for criterion, same in by_criterion.items():
        worth = {match.first: 100.0, "": 50.0, match.second: 0.0}
        read = [[worth[name] for name in one.winners] for one in same if one.winners]
        values = np.array([np.mean(orders) for orders in read])
        low, high = interval(values)
        named = f"{row_name(match)}: {criterion}"
        won, lost = int((values > 50).sum()), int((values < 50).sum())
        rows.append({
            "method": named, "n": len(values), "won": won, "tied": len(values) - won - lost,
            "lost": lost, "rate": round(float(values.mean()), 1), "low": low, "high": high,
            "verdict": verdict(low, high, even=50),
        })  # fmt: skip
    return rows

"""Baselines without a graph: voting, reasoning, made-up passages, propositions, late interaction;
replies here are written by the test.
"""

import numpy as np
import pytest

import minirag as mr
from minirag.algorithms.voting import majority_vote
from minirag.core.errors import MiniragError
from minirag.core.trace import ContextStep
from minirag.llm import LLM, Completion, load_llm
from minirag.llm.replay import prompt_key
from minirag.methods.baselines import best_per_passage
from minirag.methods.zeroshot import VoteStep
from minirag.operators import rank
from minirag.prompts import TASKS, find_task

from .scripted import Scripted as Recording
from .small import TableEncoder, corpus_of

QUESTION = "Where did Ada meet Ben?"
CORPUS = corpus_of(
    ("Ada", "Ada met Ben in Oslo. She paints."),
    ("Ben", "Ben is a baker."),
    ("Oslo", "Oslo is a city. It has a harbour. Ben was there."),
)


class Scripted(LLM):
    """Not a model: gives the replies it was told, per task, in order; the last one again and
    again.
    """

    name = "scripted replies"

    def __init__(self, **replies):
        super().__init__()
        self.replies, self.asked = replies, []

    def complete(self, task, messages, fields):
        self.asked.append(task)
        said = self.replies[task.name]
        reply = (
            said
            if isinstance(said, str)
            else said[min(sum(t.name == task.name for t in self.asked), len(said)) - 1]
        )
        return Completion(reply, 7, 3)


# Voting


def test_votes_are_shares_of_all_samples_or_of_the_readable_ones():
    answers = ["a"] * 6 + ["b"] * 2 + [None, ""]
    vote = majority_vote(answers)
    assert (vote.answer, vote.votes, vote.samples, vote.unparsable, vote.score) == (
        "a",
        6,
        10,
        2,
        0.6,
    )
    assert majority_vote(answers, denominator="parsable").score == 0.75
    with pytest.raises(ValueError, match="samples"):
        majority_vote(answers, denominator="all")


def test_spellings_of_one_answer_vote_together_and_ties_go_to_the_first():
    assert majority_vote(["The Senn", "Loom", "senn.", "Loom"]).answer == "The Senn"
    assert majority_vote(["Loom", "Senn", "Senn", "Loom"]).answer == "Loom"
    assert majority_vote(["...", None]).answer == "" and majority_vote([]).score == 0.0


# No retrieval


@pytest.mark.parametrize(
    "reply, answer",
    [
        ("Ada lived in Bergen. The answer is Oslo.", "Oslo"),
        ("The answer is hard to find. But the answer is: **Oslo**", "Oslo"),
        ("the answer is Oslo\nQuestion: What else?\nReasoning: No. The answer is Rome.", "Oslo"),
        ("Oslo, I think.", ""),
        ("The answer is", ""),
        ("<think>The answer is Rome.</think> The answer is Oslo.", "Oslo"),
    ],
)
def test_only_what_follows_the_marker_is_read(reply, answer):
    assert TASKS["chain_of_thought"].parse(reply) == (answer, int(not answer))


def test_the_worked_examples_in_the_prompt_can_be_read():
    shown = find_task("chain_of_thought").prompt({"question": QUESTION})
    demos = shown.split("Question: ")[1:-1]
    assert [TASKS["chain_of_thought"].parse(demo)[0] for demo in demos] == [
        "7",
        "no",
        "the Black Sea",
    ] and shown.endswith(f"{QUESTION}\nReasoning:")


@pytest.mark.parametrize(
    "name, task, reply, answer",
    [
        ("zeroshot", "direct", "Answer: Oslo", "Oslo"),
        ("direct", "direct", "Answer: Oslo", "Oslo"),
        ("cot", "chain_of_thought", "They met abroad. The answer is Oslo.", "Oslo"),
    ],
)
def test_the_question_alone_is_sent(name, task, reply, answer):
    llm = Scripted(**{task: reply})
    given = mr.METHODS[name].build(CORPUS, llm=llm).answer(QUESTION)
    assert (given.text, given.llm, given.retrieval.ids) == (answer, "scripted replies", [])
    assert (given.prompt_tokens, given.completion_tokens) == (7, 3) and [
        t.name for t in llm.asked
    ] == [task]
    assert "is a baker" not in find_task(task).messages({"question": QUESTION})[-1]["content"]


def test_self_consistency_draws_samples_and_shows_the_vote():
    replies = [
        "The answer is Rome.",
        "The answer is Oslo.",
        "No idea.",
        "So the answer is oslo",
        "The answer is Bergen.",
    ]
    llm = Scripted(chain_of_thought=replies)
    method = mr.METHODS["cot-sc"].build(CORPUS, llm=llm, samples=5, temperature=0.7)
    given = method.answer(QUESTION)
    assert given.text == "Oslo" and given.completion_tokens == 15
    assert [(task.sample, task.temperature) for task in llm.asked] == [
        (number, 0.7) for number in range(5)
    ]
    vote = given.retrieval.trace.last(VoteStep)
    assert (
        "2 of 5 samples agree, 1 gave no answer; score 0.40 over samples" in str(vote)
        and vote.answers[2] == ""
    )
    other = (
        mr.METHODS["cot-sc"]
        .build(CORPUS, llm=Scripted(chain_of_thought=replies), samples=5, denominator="parsable")
        .answer(QUESTION)
    )
    assert other.retrieval.trace.last(VoteStep).vote.score == 0.5
    for wrong in ({"samples": 0}, {"temperature": 0}):
        with pytest.raises(
            MiniragError,
            match="samples=0: expected a whole number from 1|temperature=0: expected a number "
            "above 0",
        ):
            mr.METHODS["cot-sc"].build(CORPUS, llm=llm, **wrong)


def test_samples_of_one_prompt_are_recorded_apart_and_replayed_in_order(tmp_path):
    replies = ["The answer is Rome.", "The answer is Oslo.", "The answer is Oslo."]
    live, path = Scripted(chain_of_thought=replies), tmp_path / "r.jsonl"
    build = mr.METHODS["cot-sc"].build
    recorded = build(CORPUS, llm=load_llm(live, record=path), samples=3).answer(QUESTION)
    again = build(CORPUS, llm=f"replay:{path}", samples=3).answer(QUESTION)
    votes = [given.retrieval.trace.last(VoteStep) for given in (recorded, again)]
    assert len(live.asked) == 3 and votes[0] == votes[1]
    assert votes[0].answers == votes[1].answers and votes[0].vote == votes[1].vote
    with pytest.raises(MiniragError, match="no answer to this prompt"):
        build(CORPUS, llm=f"replay:{path}", samples=4).answer(QUESTION)
    task = find_task("direct")
    assert (
        prompt_key(task, [])
        != prompt_key(task.sampled(0, 0.7), [])
        != prompt_key(task.sampled(0, 0.2), [])
    )


@pytest.mark.parametrize("name", ["zeroshot", "cot", "cot-sc", "hyde"])
def test_without_a_model_they_say_so(name):
    method = mr.METHODS[name].build(CORPUS, encoder=TableEncoder())
    assert method.needs_model
    with pytest.raises(MiniragError, match="needs a model"):
        method.answer(QUESTION)


# HyDE


def hyde(replies, **options):
    table = {QUESTION: [1, 0, 0], "They met in Oslo.": [0, 1, 0], "They met at sea.": [0, 0, 1]}
    table |= {c.passage: v for c, v in zip(CORPUS.chunks, ([0, 1, 0], [1, 0, 0], [0, 0, 1]))}
    return mr.METHODS["hyde"].build(
        CORPUS, llm=Scripted(hypothetical_document=replies), encoder=TableEncoder(table), **options
    )


@pytest.mark.paper("PathRAG", "sec-B")
def test_hyde_searches_with_the_made_up_passage_alone_unless_told_otherwise():
    found = hyde("They met in Oslo.").retrieve(QUESTION, k=3)
    assert (
        [p.score for p in found.passages] == pytest.approx([1, 0, 0])
        and found.ids[0] == "Ada"
        and "They met in Oslo." in found.explain()
    )
    mixed = hyde("They met in Oslo.", with_question=True).retrieve(QUESTION, k=3)
    assert [p.score for p in mixed.passages] == pytest.approx([0.5**0.5, 0.5**0.5, 0])
    assert hyde("  ").retrieve(QUESTION).ids[0] == "Ben", (
        "an empty reply leaves the question's own vector"
    )


def test_hyde_averages_several_samples():
    method = hyde(
        ["They met in Oslo.", "They met at sea."], documents=2, temperature=0.5, follow="code"
    )
    found = method.retrieve(QUESTION, k=3)
    assert [p.score for p in found.passages] == pytest.approx([3**-0.5] * 3)
    code = hyde("They met in Oslo.", follow="code")
    code.retrieve(QUESTION)
    assert [(t.sample, t.temperature) for t in code.llm.asked] == [
        (number, 0.7) for number in range(8)
    ]
    with pytest.raises(MiniragError, match="documents, temperature, with_question"):
        hyde("They met in Oslo.", document=2)
    assert [(t.sample, t.temperature) for t in method.llm.asked] == [(0, 0.5), (1, 0.5)]


# Propositions


def test_a_passage_counts_as_its_best_proposition_and_is_returned_once():
    scores = best_per_passage(np.array([0.9, 0.8, 0.7, 0.6]), [0, 0, 1, 2], 4)
    assert scores.tolist() == [0.9, 0.7, 0.6, -1.0] and rank(scores, 2).tolist() == [0, 1]


def test_propositions_by_a_model_and_by_the_rule():
    task = TASKS["propositions"]
    assert task.parse('["Ada met Ben.", "Ada met Ben.", "Ada paints."]') == (
        ("Ada met Ben.", "Ada paints."),
        0,
    )
    assert task.parse("no list")[1] == 1
    rule = task.parse(task.rule({"title": "Ada", "text": "Ada met Ben in Oslo. She paints."}))
    assert rule == (("Ada met Ben in Oslo.", "Ada: She paints."), 0)
    assert task.parse(task.rule({"title": "Ada", "text": " "})) == (("Ada",), 0)


def test_propositions_find_the_passage_by_one_statement():
    replies = [
        '{"propositions": ["Ada met Ben in Oslo.", "Ada paints."]}',
        "sorry",
        '{"propositions": ["Oslo is a city."]}',
    ]
    encoder = TableEncoder(
        {
            QUESTION: [1, 0],
            "Ada paints.": [0.8, 0.6],
            "Ada met Ben in Oslo.": [0.6, 0.8],
            "Oslo is a city.": [0.7, 0.714],
        }
    )
    method = mr.METHODS["proposition"].build(
        CORPUS, llm=Scripted(propositions=replies), encoder=encoder
    )
    found = method.retrieve(QUESTION, k=2)
    assert found.ids == ["Ada", "Oslo"] and found.passages[0].score == pytest.approx(0.8)
    assert method.index.labels == (
        "Ada met Ben in Oslo.",
        "Ada paints.",
        CORPUS.chunks[1].passage,
        "Oslo is a city.",
    )
    assert method.llm.ledger["index"].malformed == 1


# Dense and late interaction


@pytest.mark.paper("Survey", "op-new")
def test_vanilla_retrieves_what_dense_does():
    one, two = (
        mr.METHODS[name].build(mr.load_corpus("professors"), encoder="lsa")
        for name in ("vanilla", "dense")
    )
    for question in mr.load_corpus("professors").questions[:5]:
        assert one.retrieve(question.text).ids == two.retrieve(question.text).ids
    assert one.retrieve("Who?").method == "vanilla" and one.paper != two.paper


def test_colbert_scores_by_tokens_and_shows_which_matched():
    method = mr.METHODS["colbert"].build(
        CORPUS, encoder=TableEncoder({"baker": [1, 0], "bread": [0.8, 0.6]})
    )
    found = method.retrieve("bread", k=1)
    assert found.ids == ["Ben"] and found.passages[0].score == pytest.approx(0.8)
    assert method.matches("bread", "Ben") == [("bread", "baker", pytest.approx(0.8))]


# Semantic search into one window


@pytest.mark.paper("GraphRAG", "sec-3.3")
def test_semantic_search_fills_the_window_with_the_nearest_chunks():
    corpus = mr.load_corpus("professors")
    llm = Scripted(full_answer="All of it.")
    method = mr.METHODS["graphrag-ss"].build(corpus, llm, "lsa", window=700)
    question = corpus.questions[0].text
    given = method.answer(question, k=1)
    ranked = (
        mr.METHODS["dense"]
        .build(corpus, encoder="lsa")
        .retrieve(question, k=len(corpus.chunks))
        .ids
    )
    held = given.retrieval.ids
    task = find_task("full_answer")

    def tokens(ids):
        return mr.count_tokens(
            "\n".join(
                message["content"]
                for message in task.messages(
                    {
                        "question": question,
                        "passages": [
                            f"[{id}]\n{next(c.passage for c in corpus.chunks if c.id == id)}"
                            for id in ids
                        ],
                    }
                )
            )
        )

    assert (
        given.text == "All of it." and 1 < len(held) < len(ranked) and held == ranked[: len(held)]
    )
    assert tokens(held) <= 700 < tokens(ranked[: len(held) + 1])
    assert given.retrieval.trace.last(ContextStep).tokens == tokens(held)
    wider = method.with_options(window=1400).answer(question)
    assert len(wider.retrieval.ids) > len(held) and method.chosen.window == 700
    assert len(method.with_options(whole_prompt=False).answer(question).retrieval.ids) >= len(held)


@pytest.mark.parametrize("task", [None, "answer", "answer_open"])
def test_the_window_holds_the_prompt_of_the_task_that_is_asked(task):
    corpus = mr.load_corpus("professors")
    llm = Recording(lambda task, fields: "All.")
    method = mr.METHODS["graphrag-ss"].build(corpus, llm, "lsa", window=600)
    step = method.answer(corpus.questions[0].text, task=task).retrieval.trace.last(ContextStep)
    name, sent, _ = llm.asked[-1]
    assert name == (task or "full_answer") and step.tokens == mr.count_tokens(sent) <= 600


def test_semantic_search_cuts_a_chunk_that_no_window_holds():
    long = corpus_of(("Ada", "Ada met Ben in Oslo. " * 400), ("Ben", "Ben is a baker."))
    method = mr.METHODS["graphrag-ss"].build(
        long, encoder=TableEncoder({QUESTION: [1, 0], long.chunks[0].passage: [1, 0]}), window=300
    )
    given = method.answer(QUESTION)
    assert (
        given.retrieval.ids == ["Ada"]
        and 250 < given.retrieval.trace.last(ContextStep).tokens <= 300
    )
    assert given.text.splitlines()[1].startswith("- Ada met Ben in Oslo. [Ada]")

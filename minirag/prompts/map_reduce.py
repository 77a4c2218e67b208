"""GraphRAG's global answers: partial answers from windows of reports, then one answer out of them.

`map_answer` gives a window one answer and one score, `map_points` the points of the released code,
each with its own score; `reduce_answer` merges those that scored best.

Differs from the released code in: there one score that is no whole number loses all points of the
window; here it loses its own point.
"""

import json

from .community_report import read_number
from .json_replies import Pairs, read_items, read_text, read_values
from .rules.quotes import chosen, overlap
from .task import Task

MAP_ANSWER_SYSTEM = (
    "You read one part of a collection and answer the question from that part alone. Say everything in it that helps, and after each statement name "
    "what it rests on, as the part names it, in square brackets. Then score from 0 to 100 how helpful your answer is for the question; an answer that "
    'does not help scores 0. Reply with one JSON object and nothing beside it: {"answer": your answer, "score": a whole number}'
)
MAP_TEMPLATE = """Part of the collection:

$context

Question: $question"""


def unit_block(unit):
    """One unit, `(id, text)`, as it stands in a window."""
    return f"[{unit[0]}]\n{unit[1]}"


def show_window(fields):
    return {**fields, "context": "\n\n".join(map(unit_block, fields["units"]))}


def read_map_answer(text):
    """(((answer, score),), dropped): one pair, or none where the reply has no answer or no score."""
    for pairs in read_values(text)[1]:
        answers = [read_text(value) for value in pairs.lookup("answer")]
        scores = [read_number(value, 0, 100) for value in pairs.lookup("score")]
        if answers and answers[0] and scores and scores[0] is not None:
            return ((answers[0], scores[0]),), 0
    return (), 1


def map_answer_by_rule(fields):
    """Quotes: the sentences that share most words with the question, rare words first, each with
    the unit it stands in and what that cites.

    The score is the percentage of the question's content words that the quoted sentences contain.
    """
    picked, covered = chosen(fields)
    answer = " ".join(said for _, said in picked) or "Nothing here shares a word with the question."
    return json.dumps({"answer": answer, "score": overlap(fields["question"], covered)})


MAP_ANSWER = Task(
    name="map_answer",
    stage="answer",
    system=MAP_ANSWER_SYSTEM,
    template=MAP_TEMPLATE,
    parse=read_map_answer,
    rule=map_answer_by_rule,
    max_tokens=1000,
    show=show_window,
)


MAP_POINTS_SYSTEM = (
    "You read one part of a collection and list the key points in it that help to answer the question, from that part alone. In each point name what it "
    "rests on, as the part names it, in square brackets, and score from 0 to 100 how important the point is for the answer. Reply with one JSON object and "
    'nothing beside it: {"points": [{"description": the point, "score": a whole number}, ...]}'
)


def read_point(item):
    if not isinstance(item, Pairs):
        return None
    said = next(
        (read_text(value) for value in item.lookup("description") if read_text(value)), None
    )
    score = next((read_number(value, 0, 100) for value in item.lookup("score")), None)
    return (said, score) if said and score is not None else None


def read_map_points(text):
    """((description, score) pairs, dropped)."""
    return read_items(text, "points", read_point)


def map_points_by_rule(fields):
    """The sentences that the rule for `map_answer` quotes, each a point; its score is its own
    overlap with the question's words.
    """
    picked, _ = chosen(fields)
    return json.dumps(
        {
            "points": [
                {"description": said, "score": overlap(fields["question"], shared)}
                for shared, said in picked
            ]
        }
    )


MAP_POINTS = Task(
    name="map_points",
    stage="answer",
    system=MAP_POINTS_SYSTEM,
    template=MAP_TEMPLATE,
    parse=read_map_points,
    rule=map_points_by_rule,
    max_tokens=1000,
    show=show_window,
)


INSTRUCTIONS = (
    "Merge what they say into a full answer that treats every side of the question they bear on. "
    "Keep every reference in square brackets as it is, leave out what does not help, and use "
    "nothing else. Reply with the answer alone."
)
REDUCE_ANSWER_SYSTEM = (
    "You write one answer to a question out of the partial answers of several analysts, each of "
    f"whom read another part of a collection and scored its own answer. {INSTRUCTIONS}"
)
REDUCE_ANSWER_TEMPLATE = """Partial answers, the best first:

$context

Question: $question"""
REDUCE_ANSWER_NOTICE = "Quoted by rule, no language model, from the partial answers that overlap most with the question's words:"
MOST_LINES = 8


def answer_block(number, answer):
    """One partial answer, `(text, score)`, as it stands in the window."""
    return f"Analyst {number} (score {answer[1]:g}):\n{answer[0]}"


def show_reduce_answer(fields):
    return {
        **fields,
        "context": "\n\n".join(
            answer_block(i, answer) for i, answer in enumerate(fields["answers"], start=1)
        ),
    }


def read_reduce_answer(text):
    """The reply; an empty one is ("", 1)."""
    return text.strip(), int(not text.strip())


def reduce_answer_by_rule(fields):
    """The partial answers below each other, the best first, each once and at most eight: nothing is
    merged.
    """
    lines = [
        f"- {text}"
        for text in dict.fromkeys(" ".join(text.split()) for text, _ in fields["answers"])
    ]
    return "\n".join([REDUCE_ANSWER_NOTICE, *lines[:MOST_LINES]])


REDUCE_ANSWER = Task(
    name="reduce_answer",
    stage="answer",
    system=REDUCE_ANSWER_SYSTEM,
    template=REDUCE_ANSWER_TEMPLATE,
    parse=read_reduce_answer,
    rule=reduce_answer_by_rule,
    max_tokens=2000,
    show=show_reduce_answer,
)

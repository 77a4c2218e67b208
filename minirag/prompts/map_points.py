"""Task: key points from one window of reports, each with its own score: the map step as GraphRAG's
released code asks it.

Differs from the released code in: there one score that is no whole number loses all points of the
window; here it loses its own point.
"""

import json

from .community_report import read_number
from .map_answer import TEMPLATE, chosen, overlap, show
from .reading import Pairs, read_items, read_text
from .task import Task

SYSTEM = (
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


def parse(text):
    """((description, score) pairs, dropped)."""
    return read_items(text, "points", read_point)


def rule(fields):
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


TASK = Task(
    name="map_points",
    stage="answer",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=1000,
    show=show,
)

"""Task: the named entities of a question, where the walk over the graph starts."""

import json

from .passage_entities import parse
from .rules.spans import names_asked
from .task import Task

SYSTEM = (
    "You list the named entities that a question mentions, so that they can be looked up. Copy each one as it is written and add "
    "nothing the question does not say. Reply with one JSON object and nothing else."
)
TEMPLATE = """List the named entities of this question as {"named_entities": [...]}.

Question: $question"""


def rule(fields):
    """The names, years and quoted phrases of the question (see `spans`); none if only the words
    that open the request are capitalised.
    """
    question = fields["question"]
    names = [question[start:end] for start, end in names_asked(question)]
    return json.dumps({"named_entities": list(dict.fromkeys(names))}, ensure_ascii=False)


TASK = Task(
    name="question_entities",
    stage="retrieve",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=300,
    example=(
        {
            "question": "Did Ilse Brandt, who founded Harrowgate Observatory, ever teach at the University of Selm?"
        },
        '{"named_entities": ["Ilse Brandt", "Harrowgate Observatory", "University of Selm"]}',
    ),
)

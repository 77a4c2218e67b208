"""Task: the keywords of a question on two levels, as LightRAG asks for them; PathRAG uses them
too.
"""

import json
from typing import NamedTuple

from .json_replies import read_items, read_text
from .rules import RUN, STOP_WORDS, asked_parts, names_asked
from .task import Fields, Task


class Keywords(NamedTuple):
    """What a question is about, in general (`high`) and in particular (`low`), if anything."""

    high: tuple[str, ...] = ()
    low: tuple[str, ...] = ()


def parse(text: str) -> tuple[Keywords, int]:
    """(`Keywords`, dropped). Never raises; a list that is missing is empty and counts as one
    dropped item. A bare list counts as both levels.
    """
    high, lost = read_items(text, "high_level_keywords", read_text)
    low, more = read_items(text, "low_level_keywords", read_text)
    return Keywords(high, low), lost + more


def rule(fields: Fields) -> str:
    """The names of a question are its low-level keywords, its other content words after the opening
    ones the high-level keywords, each as it is written.
    """
    question = fields["question"]
    names = names_asked(question)
    words = []
    for begin, stop, _ in asked_parts(question):
        for match in RUN.finditer(question, begin, stop):
            word = match.group().rstrip(".'’-")
            in_name = any(start < match.end() and match.start() < end for start, end in names)
            if not in_name and len(word) > 2 and word.lower() not in STOP_WORDS:
                words.append(word)
    high = list(dict.fromkeys(words))
    low = list(dict.fromkeys(question[start:end] for start, end in names))
    return json.dumps({"high_level_keywords": high, "low_level_keywords": low}, ensure_ascii=False)


KEYWORDS = Task(
    name="keywords",
    stage="retrieve",
    system=(
        "You list keywords of a question, so that a graph of entities and relationships can be"
        " searched with them. High-level keywords name the theme that is asked about; low-level"
        " keywords name the particular things: people, places, objects, terms. Add nothing that the"
        " question does not speak of. Reply with one JSON object and nothing else."
    ),
    template="""List the keywords of this question as {"high_level_keywords": [...], \
"low_level_keywords": [...]}.

Question: $question""",
    parse=parse,
    rule=rule,
    max_tokens=300,
    example=(
        {
            "question": (
                "How did Ilse Brandt's quarrel with the University of Selm change astronomy in"
                " Veldania?"
            )
        },
        (
            '{"high_level_keywords": ["academic quarrel", "history of astronomy"],'
            ' "low_level_keywords": ["Ilse Brandt", "University of Selm", "Veldania"]}'
        ),
    ),
)

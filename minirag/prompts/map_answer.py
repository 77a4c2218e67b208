"""Task: a partial answer from one window of reports or texts, and how helpful it is, from 0 to 100."""

import json
import re
from collections import Counter

from .answer import content_words
from .community_report import read_number
from .reading import read_text, read_values
from .rules.spans import sentences_of
from .task import Task

SYSTEM = (
    "You read one part of a collection and answer the question from that part alone. Say everything in it that helps, and after each statement name "
    "what it rests on, as the part names it, in square brackets. Then score from 0 to 100 how helpful your answer is for the question; an answer that "
    'does not help scores 0. Reply with one JSON object and nothing beside it: {"answer": your answer, "score": a whole number}'
)
TEMPLATE = """Part of the collection:

$context

Question: $question"""
ENDING = re.compile(r"(?<=\w{3})(?:ies|ied|y|ing|ed|es|s|e)$")
CITED = re.compile(r"\[[^\[\]]{1,400}\]")
MOST_SENTENCES = 4


def block(unit):
    """One unit, `(id, text)`, as it stands in a window."""
    return f"[{unit[0]}]\n{unit[1]}"


def show(fields):
    return {**fields, "context": "\n\n".join(map(block, fields["units"]))}


def parse(text):
    """(((answer, score),), dropped): one pair, or none where the reply has no answer or no score."""
    for pairs in read_values(text)[1]:
        answers = [read_text(value) for value in pairs.lookup("answer")]
        scores = [read_number(value, 0, 100) for value in pairs.lookup("score")]
        if answers and answers[0] and scores and scores[0] is not None:
            return ((answers[0], scores[0]),), 0
    return (), 1


def stems(text):
    """Content words with the commonest English endings taken off, so that "worries" meets "worry"."""
    return {
        ENDING.sub(lambda end: "i" if end[0] in ("ies", "ied", "y") else "", word)
        for word in content_words(text)
    }


def best_sentences(question, units):
    """`[(words shared with the question, sentence with its citations, unit id)]` of the sentences
    that share any, best first.

    A shared word counts the more, the fewer sentences of the window have it.
    """
    wanted, found = stems(question), []
    for number, (unit, text) in enumerate(units):
        for paragraph in text.split("\n"):
            cited = CITED.findall(paragraph)
            for sentence in (
                () if paragraph.startswith("#") else sentences_of(CITED.sub(" ", paragraph))
            ):
                shared = wanted & stems(sentence)
                if shared:
                    said = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(sentence.split()))
                    found.append(
                        (
                            shared,
                            f"{said} [{unit}]{''.join(f' {c}' for c in cited[:2])}",
                            unit,
                            number,
                        )
                    )
    common = Counter(word for shared, *_ in found for word in shared)
    found.sort(key=lambda row: (-sum(1 / common[word] for word in sorted(row[0])), row[3]))
    return [row[:3] for row in found]


def overlap(question, shared):
    """The percentage of the question's content words that the quoted sentences contain: an overlap,
    not a judgement of help.
    """
    return round(100 * len(shared) / max(1, len(stems(question))))


def chosen(fields):
    """At most four sentences, each of which adds a word of the question or comes from another unit."""
    picked, covered, units = [], set(), set()
    for shared, said, unit in best_sentences(fields["question"], fields["units"]):
        if len(picked) < MOST_SENTENCES and (shared - covered or unit not in units):
            picked.append((shared, said))
            covered |= shared
            units.add(unit)
    return picked, covered


def rule(fields):
    """Quotes: the sentences that share most words with the question, rare words first, each with
    the unit it stands in and what that cites.

    The score is the percentage of the question's content words that the quoted sentences contain.
    """
    picked, covered = chosen(fields)
    answer = " ".join(said for _, said in picked) or "Nothing here shares a word with the question."
    return json.dumps({"answer": answer, "score": overlap(fields["question"], covered)})


TASK = Task(
    name="map_answer",
    stage="answer",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=1000,
    show=show,
)

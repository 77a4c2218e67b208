"""Answers from passages, or from what the model knows, each as its own task.

`answer` reads the passages and nothing else: the kit's own reader, so that an answer says something
about the retrieval. `answer_open` is the reader that HippoRAG released: the model may add what it
knows. `full_answer` is for methods that are judged and not matched with a gold answer. `direct` has
no passages.
"""

import re
from dataclasses import replace

from ..text.chunking import sentences_of
from .json_replies import LONGEST, THOUGHT
from .map_reduce import INSTRUCTIONS, Unit, best_quotes, content_words, read_reduce_answer
from .rules import IN_QUESTIONS, names_in
from .task import Fields, Task

ANSWER_TEMPLATE = """Passages:

$passages

Question: $question"""
ANSWER_EXAMPLE = (
    {
        "passages": [
            (
                "Harrowgate Observatory\nHarrowgate Observatory stands on Mount Orrin. It was"
                " founded in 1911 by Ilse Brandt."
            ),
            "Selm\nSelm is the oldest port of Veldania.",
            (
                "Ilse Brandt\nIlse Brandt (1870-1942) was an astronomer. She was born in Selm and"
                " died in Carrow."
            ),
        ],
        "question": "In which town was the founder of Harrowgate Observatory born?",
    },
    (
        "Thought: Harrowgate Observatory was founded by Ilse Brandt. Ilse Brandt was born in"
        " Selm.\nAnswer: Selm"
    ),
)
MARK = re.compile(r"\banswer[ \t*]{0,9}[:：]\**", re.IGNORECASE)
NEXT = re.compile(r"\n[ \t*]*(?:thought|answer|question)[ \t*]{0,9}[:：]", re.IGNORECASE)
WHEN = re.compile(r"\bwhen\b|\b(?:what|which) year\b|什么时候|哪一年")
HOW_MANY = re.compile(r"\bhow (?:many|much|old|long|far|high|tall)\b|多少")
MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
YEAR_OR_DATE = re.compile(
    rf"(?:\d{{1,2}} )?{MONTH}(?: \d{{1,2}},)?"
    r" \d{4}|\b[12]\d{3}\b|\d{1,4}年(?:\d{1,2}月)?(?:\d{1,2}日)?"
)
NUMBER = re.compile(
    r"\d[\d,.]*\d|\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million)\b"
)


def read_answer(text: str) -> tuple[str, int]:
    """What follows the first "Answer:", up to the next such mark, or the whole reply; an empty
    reply is ("", 1).
    """
    text = THOUGHT.sub(" ", text[:LONGEST])
    mark = MARK.search(text)
    answer = text[mark.end() :] if mark else text
    answer = NEXT.split(answer, maxsplit=1)[0].strip().strip("`").strip()
    return answer, int(not answer)


def answer_by_rule(fields: Fields) -> str:
    """The sentence that shares most words with the question, early passages a little ahead, then
    the span that fits the question word.
    """
    question = fields["question"]
    wanted = content_words(question)
    best, best_score = None, 0.0
    for rank, passage in enumerate(fields["passages"]):
        title, _, text = passage.partition("\n")
        for sentence in sentences_of(text or title):
            score = len(wanted & content_words(f"{title} {sentence}")) / (1 + 0.05 * rank)
            if score > best_score:
                best, best_score = sentence.strip(), score
    if best is None:
        return "Thought: No passage shares a word with the question.\nAnswer: unknown"
    thought = f"The sentence closest to the question is: {best}"
    return f"Thought: {thought}\nAnswer: {fitting_span(question, best)}"


def fitting_span(question: str, sentence: str) -> str:
    """A date for "when", a number for "how many", else the first name that the question does not
    mention, dates last; else the sentence.
    """
    asked = question.lower()
    if WHEN.search(asked):
        spans = YEAR_OR_DATE.findall(sentence)
    elif HOW_MANY.search(asked):
        spans = NUMBER.findall(sentence)
    else:
        names = names_in(sentence, sentence, evidence=bool, runs=IN_QUESTIONS)
        known = content_words(question)
        spans = [sentence[start:end] for start, end in names]
        spans = [s for s in spans if s.lower() not in asked and not content_words(s) <= known]
        spans.sort(key=lambda span: any(letter.isdigit() for letter in span))
    return spans[0] if spans else sentence


def show_passages(fields: Fields) -> Fields:
    """The passages as one text."""
    return {**fields, "passages": "\n\n".join(fields["passages"])}


ANSWER = Task(
    name="answer",
    stage="answer",
    system=(
        "You answer questions from the passages you are given, and from nothing else. First write"
        ' one line that starts with "Thought:" and says how the passages lead to the answer, step'
        ' by step. Then write a line that starts with "Answer:" and holds the answer alone, as'
        " short as it can be: a name, a date, a number, yes or no."
    ),
    template=ANSWER_TEMPLATE,
    parse=read_answer,
    rule=answer_by_rule,
    show=show_passages,
    example=ANSWER_EXAMPLE,
)


ANSWER_OPEN_SYSTEM = (
    "You read passages carefully and answer a question. First write one line that starts with "
    '"Thought:" and reasons step by step. Then write a line that starts with "Answer:" and holds '
    "one definite answer and nothing else, as short as it can be."
)

# The rule is the one of `answer`: a rule knows nothing that it could add to the passages.
ANSWER_OPEN = replace(ANSWER, name="answer_open", system=ANSWER_OPEN_SYSTEM)


FULL_ANSWER_SYSTEM = (
    f"You write one answer to a question out of passages from a collection. {INSTRUCTIONS}"
)
FULL_ANSWER_NOTICE = (
    "Extract by rule, no language model: sentences that share most words with the question."
)


def unit_of(number: int, passage: str) -> Unit:
    """The name and text of a passage: its first line, or its number where it has only one line."""
    title, _, text = passage.partition("\n")
    return (title.strip("[]"), text) if text else (str(number), title)


def full_answer_by_rule(fields: Fields) -> str:
    """At most four sentences, each with its passage's first line or number; nothing is merged."""
    units = [unit_of(i, passage) for i, passage in enumerate(fields["passages"], start=1)]
    quotes = [f"- {quote.text}" for quote in best_quotes(fields["question"], units)]
    return "\n".join(
        [FULL_ANSWER_NOTICE, *(quotes or ["- No sentence shares a word with the question."])]
    )


FULL_ANSWER = Task(
    name="full_answer",
    stage="answer",
    system=FULL_ANSWER_SYSTEM,
    template=ANSWER_TEMPLATE,
    parse=read_reduce_answer,
    rule=full_answer_by_rule,
    max_tokens=2000,
    show=show_passages,
)


DIRECT = Task(
    name="direct",
    stage="answer",
    system=(
        "You answer questions from what you know. Write nothing but one line that starts with"
        ' "Answer:" and holds the answer alone, as short as it can be: a name, a date, a number,'
        " yes or no."
    ),
    template="Question: $question",
    parse=read_answer,
    needs_model=True,
    max_tokens=100,
    example=(
        {"question": "Which planet of the solar system has the most mass?"},
        "Answer: Jupiter",
    ),
)

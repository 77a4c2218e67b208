"""Task: a full answer from passages, for methods that are judged and not matched with a gold one.

The instructions are those of `reduce_answer`, except for what the context is called: GraphRAG's
conditions share one answer prompt, and PathRAG, LightRAG and local search are judged beside them.
"""

from .answer import TASK as ANSWER
from .answer import TEMPLATE
from .map_answer import chosen
from .reduce_answer import INSTRUCTIONS, parse
from .task import Task

SYSTEM = f"You write one answer to a question out of passages from a collection. {INSTRUCTIONS}"
NOTICE = "Extract by rule, no language model: sentences that share most words with the question."


def unit_of(number, passage):
    """`(name, text)` of a passage: its first line, or its number where it has only one line."""
    title, _, text = passage.partition("\n")
    return (title.strip("[]"), text) if text else (str(number), title)


def rule(fields):
    """At most four sentences, each with its passage's first line or number; nothing is merged."""
    units = [unit_of(i, passage) for i, passage in enumerate(fields["passages"], start=1)]
    picked, _ = chosen({"question": fields["question"], "units": units})
    said = [sentence for _, sentence in picked] or ["No sentence shares a word with the question."]
    return "\n".join([NOTICE, *(f"- {sentence}" for sentence in said)])


TASK = Task(
    name="full_answer",
    stage="answer",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=2000,
    show=ANSWER.show,
)

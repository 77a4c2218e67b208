"""Task: answer a question with the help of passages; the model may add what it knows.

HippoRAG's released reader asks like this: one worked example, a thought, a concise answer, and no
word that limits the model to the passages. `answer` limits it, so a model answers "unknown" where
the passages fall short. Use `answer` to measure a retrieval, this one to compare with EM and F1 of
Wang, Table V.
"""

from dataclasses import replace

from .answer import TASK as ANSWER

SYSTEM = (
    "You read passages carefully and answer a question. First write one line that starts with "
    '"Thought:" and reasons step by step. Then write a line that starts with "Answer:" and holds '
    "one definite answer and nothing else, as short as it can be."
)

# The rule is the one of `answer`: a rule knows nothing that it could add to the passages.
TASK = replace(ANSWER, name="answer_open", system=SYSTEM)

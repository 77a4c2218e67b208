"""What readers of a corpus get and answer, for the tests of more than one chapter."""

import numpy as np

from minirag.evaluate.metrics import answer_all
from minirag.evaluate.survey_metrics import contains


def is_right(method, corpus, k=5):
    """Whether each question's reply contains an accepted answer."""
    replies = answer_all(method, [q.text for q in corpus.questions], k, method.short_task)
    pairs = zip(replies, corpus.questions)
    return np.array([contains(reply.text, q.answers) for reply, q in pairs])


def context(method, q):
    """All text that the reader gets for the question."""
    parts, _ = method.context(method.retrieve(q.text, k=5))
    return " ".join(text for texts in parts.values() for text in texts)

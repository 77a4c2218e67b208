"""One file per task: the prompt, the parser of its answer, and the offline rule that answers it
without a model.
"""

from ..core.errors import MiniragError
from . import (  # fmt: skip
    answer,
    answer_open,
    chain_of_thought,
    claims,
    cluster_summary,
    community_report,
    direct,
    elements,
    full_answer,
    glean_check,
    gleaning,
    global_questions,
    hypothetical_document,
    judge,
    judge_overall,
    keywords,
    map_answer,
    map_points,
    passage_entities,
    propositions,
    question_entities,
    reduce_answer,
    rich_elements,
    summarise,
    thought,
    triples,
    user_tasks,
)
from .task import STAGES, Task

MODULES = (passage_entities, triples, question_entities, keywords, thought)
MODULES += (answer, answer_open, full_answer)
MODULES += (propositions, hypothetical_document, direct, chain_of_thought)
MODULES += (elements, rich_elements, glean_check, gleaning, claims, summarise, cluster_summary)
MODULES += (community_report, map_answer, map_points, reduce_answer)
MODULES += (user_tasks, global_questions, judge, judge_overall)
TASKS = {module.TASK.name: module.TASK for module in MODULES}


def find_task(task):
    """The task of this name; a Task is returned as it is."""
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise MiniragError(f"there is no task {task!r}; the tasks are: {', '.join(TASKS)}.")
    return TASKS[task]


__all__ = ["STAGES", "TASKS", "Task", "find_task"]

"""One file per task: the prompt, the parser of its answer, and the offline rule that answers it without a model."""

from ..utils import MiniragError
from . import answer, passage_entities, question_entities, thought, triples
from .task import STAGES, Task

TASKS = {module.TASK.name: module.TASK for module in (passage_entities, triples, question_entities, thought, answer)}


def find_task(task):
    """The task of this name; a Task is returned as it is."""
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise MiniragError(f"there is no task {task!r}; the tasks are: {', '.join(TASKS)}.")
    return TASKS[task]


__all__ = ["STAGES", "TASKS", "Task", "find_task"]

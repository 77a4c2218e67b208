"""Every task that a language model is asked: its prompt, the parser of its answer, and the offline
rule that answers it without a model.
"""

from ..core.errors import MiniragError
from .agent_evidence import EVIDENCE_TASKS
from .agent_rationales import RATIONALE_TASKS
from .agent_walk import WALK_TASKS
from .answer import ANSWER, ANSWER_OPEN, DIRECT, FULL_ANSWER
from .baselines import CHAIN_OF_THOUGHT, HYPOTHETICAL_DOCUMENT, NEXT_THOUGHT, PROPOSITIONS
from .claims import CLAIMS
from .elements_and_gleaning import ELEMENTS, GLEAN_CHECK, GLEANING, RICH_ELEMENTS
from .entities_and_triples import PASSAGE_ENTITIES, QUESTION_ENTITIES, TRIPLES
from .keywords import KEYWORDS
from .map_reduce import MAP_ANSWER, MAP_POINTS, REDUCE_ANSWER
from .questions_and_judging import GLOBAL_QUESTIONS, JUDGE, JUDGE_OVERALL, USER_TASKS
from .summaries_and_reports import CLUSTER_SUMMARY, COMMUNITY_REPORT, SUMMARISE
from .task import STAGES, Task

_ALL: tuple[Task, ...] = (PASSAGE_ENTITIES, TRIPLES, QUESTION_ENTITIES, KEYWORDS, NEXT_THOUGHT)
_ALL += (ANSWER, ANSWER_OPEN, FULL_ANSWER)
_ALL += (PROPOSITIONS, HYPOTHETICAL_DOCUMENT, DIRECT, CHAIN_OF_THOUGHT)
_ALL += (ELEMENTS, RICH_ELEMENTS, GLEAN_CHECK, GLEANING, CLAIMS, SUMMARISE, CLUSTER_SUMMARY)
_ALL += (COMMUNITY_REPORT, MAP_ANSWER, MAP_POINTS, REDUCE_ANSWER)
_ALL += (USER_TASKS, GLOBAL_QUESTIONS, JUDGE, JUDGE_OVERALL)
_ALL += (*WALK_TASKS, *EVIDENCE_TASKS, *RATIONALE_TASKS)
TASKS = {task.name: task for task in _ALL}


def find_task(task: str | Task) -> Task:
    """The task of this name; a Task is returned as it is."""
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise MiniragError(f"there is no task {task!r}; the tasks are: {', '.join(TASKS)}.")
    return TASKS[task]

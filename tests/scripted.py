"""A language model of scripted replies: for the mechanics of tasks that no rule answers. Nothing it
says is a judgement.
"""

from minirag.llm.base import LLM, Completion


class Scripted(LLM):
    """Replies with `reply(task name, fields)`; keeps every prompt it was sent. `name` says what it
    is wherever it is printed.
    """

    name = "scripted replies of a test"

    def __init__(self, reply):
        super().__init__()
        self.reply, self.asked = reply, []

    def complete(self, task, messages, fields):
        self.asked.append(
            (task.name, "\n".join(message["content"] for message in messages), task.sample)
        )
        return Completion(self.reply(task.name, fields))

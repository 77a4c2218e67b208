"""How many entity references an extraction yields at a chunk size and a number of gleanings, as
GraphRAG's Figure 2 asks.
"""

from collections.abc import Sequence
from typing import Any

from ..core.corpus import Corpus, Document
from ..llm import LLM
from ..llm.base import Completion
from ..prompts import Task
from ..prompts.records import read_instances, write_records
from ..text.chunking import chunk_tokens
from ..text.tokens import count_tokens
from .elements import extract_elements


class TiringReader(LLM):
    """An invented reader, no language model: the offline rules, of whose records it writes at most
    `limit` entities a reply.

    It stands for the one trait that Figure 2 is about, a reply that does not grow with the text,
    and for nothing else. Its check is honest, so gleaning brings out the rest.
    """

    is_model = False
    travels = True

    def __init__(self, rules: LLM, limit: int = 12) -> None:
        self.rules, self.limit = rules, limit
        self.name = f"a reader that tires after {limit} entities (invented, not a language model)"
        super().__init__()

    def complete(self, task: Task, messages: Any, fields: Any) -> Completion:  # Any: of a prompt
        reply = self.rules.complete(task, messages, fields)
        if task.name not in ("elements", "rich_elements", "gleaning"):
            return reply
        found = read_instances(reply.text)[0]
        text = write_records(found.entities[: self.limit])
        return Completion(text, reply.prompt_tokens, count_tokens(text))


def entity_references(
    documents: Sequence[Document], llm: LLM, size: int = 600, overlap: int = 100, gleanings: int = 0
) -> dict[str, int]:
    """{chunks, tokens, references, distinct}: what one setting reads and finds, as plain numbers.

    references: entity instances, an entity once for each chunk and reply that names it, which is
    what the figure counts. distinct: different names. tokens: of all chunks together, more than the
    text has by its overlaps.

    Source: GraphRAG, Fig. 2 (fig-2)
    """
    chunks = [chunk for document in documents for chunk in chunk_tokens(document, size, overlap)]
    found = extract_elements(chunks, llm, gleanings=gleanings)
    named = [entity.name for chunk in chunks for entity in found.entities[chunk.id]]
    tokens = sum(count_tokens(chunk.text) for chunk in chunks)
    return {
        "chunks": len(chunks),
        "tokens": tokens,
        "references": len(named),
        "distinct": len(set(named)),
    }


def one_document(corpus: Corpus, name: str | None = None) -> Document:
    """All passages of a corpus, in order, as one long untitled document: short passages have no
    chunk size to speak of.
    """
    return Document(name or corpus.name, "\n\n".join(chunk.passage for chunk in corpus.chunks))

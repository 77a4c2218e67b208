"""Tiny worlds for tests: an encoder that knows a table of vectors, corpora of a few lines."""

import numpy as np

from minirag.core.corpus import Chunk, Corpus, Document, Extraction, Triple


class TableEncoder:
    """Encodes by looking texts up; an unknown text gets its own axis, so it is similar to nothing
    else.
    """

    name = "table"

    def __init__(self, table=(), dimensions=64):
        self.table = {
            text: np.asarray(vector, dtype=np.float32) for text, vector in dict(table).items()
        }
        self.dimensions = dimensions
        self.unknown = {}

    def fit(self, texts):
        return self

    def encode(self, texts, kind="passage"):
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts):
            if text in self.table:
                row[: len(self.table[text])] = self.table[text]
            else:
                row[
                    self.dimensions
                    - 1
                    - self.unknown.setdefault(text, len(self.unknown)) % (self.dimensions // 2)
                ] = 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def corpus_of(*passages, name="small"):
    """A corpus of `(id, text)` passages."""
    documents = tuple(Document(id, text, id) for id, text in passages)
    return Corpus(
        name,
        documents,
        tuple(Chunk(d.id, d.text, d.title, d.id, 0, len(d.text)) for d in documents),
    )


def extraction_of(triples):
    """An extraction from `{chunk id: [(s, r, o), ...]}`."""
    return Extraction(
        "a test", {}, {id: tuple(Triple(*t) for t in some) for id, some in triples.items()}
    )

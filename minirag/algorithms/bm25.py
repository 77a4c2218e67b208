"""BM25: how well the words of a question fit a document, weighing rare words more and long
documents less.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def tokenize(text: str) -> list[str]:
    """Lower-cased runs of letters, digits and underscores, in every script."""
    return re.findall(r"\w+", text.lower())


class BM25:
    """BM25 (Okapi, as the library rank-bm25 computes it), with everything that does not depend on
    the question computed once.

    documents: list of token lists. k1: how soon repetition stops counting. b: how much length
    counts, 0 to 1. epsilon: a word in more than half of the documents has a negative inverse
    document frequency; it gets `epsilon` times the vocabulary's mean instead. `weights` is sparse
    (words, documents); a question's scores are the sum of its words' rows. Raises ValueError where
    there is no document, TypeError for strings in place of token lists; an empty document scores 0.
    """

    def __init__(
        self,
        documents: Iterable[Sequence[str]],
        k1: float = 1.5,
        b: float = 0.75,
        epsilon: float = 0.25,
    ) -> None:
        documents = list(documents)
        if not documents:
            raise ValueError("BM25 needs at least one document; the corpus is empty.")
        if any(isinstance(document, str) for document in documents):
            raise TypeError(
                "BM25 takes documents as lists of tokens, not as strings; "
                "use bm25.tokenize(text) on each."
            )
        self.vocabulary: dict[str, int] = {}
        words = [
            self.vocabulary.setdefault(word, len(self.vocabulary))
            for document in documents
            for word in document
        ]
        lengths = np.array([len(document) for document in documents])
        counts = sp.csr_array(
            (np.ones(len(words)), words, np.append(0, lengths.cumsum())),
            shape=(len(documents), len(self.vocabulary)),
        ).tocsc()
        counts.sum_duplicates()
        self.weights = self._weights(counts.T, lengths, k1, b, epsilon)

    @staticmethod
    def _weights(
        counts: sp.csr_array, lengths: NDArray[np.int64], k1: float, b: float, epsilon: float
    ) -> sp.csr_array:
        """BM25 weights of the shape of `counts`, the occurrences (words, documents)."""
        containing = np.diff(counts.indptr)
        idf = np.log((len(lengths) - containing + 0.5) / (containing + 0.5))
        idf = np.where(idf < 0, epsilon * (idf.mean() if len(idf) else 0), idf)
        mean_length = max(lengths.mean(), 1e-12)
        damping = k1 * (1 - b + b * lengths / mean_length)
        data = (
            np.repeat(idf, containing)
            * counts.data
            * (k1 + 1)
            / (counts.data + damping[counts.indices])
        )
        return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Scores (documents,) of a token list; a word said twice counts twice, an unknown word not
        at all.
        """
        if isinstance(query, str):
            raise TypeError(
                "BM25 takes a question as a list of tokens, not as a string; "
                "use bm25.tokenize(text)."
            )
        scores = np.zeros(self.weights.shape[1])
        start, documents, weights = self.weights.indptr, self.weights.indices, self.weights.data
        for word in query:
            row = self.vocabulary.get(word)
            if row is not None:
                scores[documents[start[row] : start[row + 1]]] += weights[
                    start[row] : start[row + 1]
                ]
        return scores

"""A folder of the reader's own texts as a corpus."""

from minirag.shipped import corpus_card, list_corpora, load_corpus, read_corpus, shipped

__all__ = ["corpus_card", "list_corpora", "load_corpus", "read_corpus", "shipped"]

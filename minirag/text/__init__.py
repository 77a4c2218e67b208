"""Text before it is a graph: sentences, tokens, chunks."""

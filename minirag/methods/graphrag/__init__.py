"""GraphRAG: global search, local search, and its two conditions without a graph."""

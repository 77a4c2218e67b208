"""minirag: graph-based RAG, one readable method at a time.

`import minirag` loads numpy, scipy and networkx at most; everything heavier is imported when it is first used.
"""

__version__ = "0.1.0"

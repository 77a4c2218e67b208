"""Language models behind one call: offline rules, recordings, OpenAI-compatible servers, local
Hugging Face models.
"""

from .base import LLM, Completion
from .ledger import Counts, Ledger
from .load import load_llm

__all__ = ["LLM", "Completion", "Counts", "Ledger", "load_llm"]

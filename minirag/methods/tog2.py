"""ToG-2: a walk over a knowledge graph and over the passages behind its nodes, in turn.

Paper: Wang, Graph RAG, Sec. IV-A, which this file follows; quoted comments are the paper's words.
Wang gives only the symbols W, D, K, L and α; their values are those of the released code, and L is
5 passages, of which the kit's readers see as many. A node's page is the passages with its name as
title, or else those that mention it; they are chunks already. Before the walk, as the original
ToG-2 paper has it, the model drops some of more than two topic entities.

Official code: IDEA-FinAI/ToG-2, commit 1906be6. Where it retrieves otherwise there is an option;
told, not rebuilt: it merges candidates by name; without candidates it crashes; names are in lower
case before its stop list is asked, so that "IMDb ID" stays; it keeps no entity where the model
answers "{}" for the topics; single-line paragraphs of a page are lost; before the walk it asks
whether passages of the topics' own pages are enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from ..algorithms.entity_scores import decayed_scores
from ..core.options import Between, NotNegative, Options, Positive, Probability
from ..core.results import Retrieval
from ..core.trace import ChunkStep, NodeStep, PathStep, ScoredNode, Step, Vector
from ..index.vectors import text_index
from ..operators import agent, rank
from ..operators.agent import Back, Offer, Reached
from ..operators.chunk import scored_step
from ..prompts import Task
from ..text.chunking import sentences_of
from .base import Sections
from .graph_agent import StopStep
from .tog import (
    CODE,
    ENOUGH,
    EXHAUSTED,
    NOTHING_CHOSEN,
    NOTHING_REACHED,
    NOTHING_TO_FOLLOW,
    Walked,
    Walker,
    WalkOptions,
    can_remember,
)
from .zeroshot import VoteStep, vote_of_samples

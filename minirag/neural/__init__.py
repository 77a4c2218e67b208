"""GRAG and G-Retriever as models: a graph becomes one token in front of a language model that stays
as it is.

The order to read: `ModelOptions` here (numbers and names, without torch, so that a method can check
its options when it is built), `batches` (graphs to arrays), `soft_pruning` (GRAG's Eq. 5 and 6),
`encoder` (its graph attention in plain PyTorch, Eq. 9), `model` (all of it together, Eq. 10 and
11), `language_model` and `pretraining` (a tiny model for laptops), `training`, `trained` (what is
kept). They are imported when needed: torch is heavy.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args

from ..core.options import Between, Options, Positive, choose

Distance = Literal["scalar", "elementwise"]
DISTANCES = get_args(Distance)
HardPrompt = Literal["description", "flat", "none"]


@dataclass(frozen=True)
class ModelOptions(Options):
    """What stands before the language model. The defaults are the paper's where it names a value;
    `CODE` holds what the official code does instead.

    graph_token: what the "encoder" makes of the graphs, or "constant" (one learnt vector, a
    control), or "none".
    pruning: by the distance, "scalar" (paper) or "elementwise" (code), or "none".
    squash: a sigmoid over the factors (code; the paper names no activation).
    prune_at: in all "layers" (paper) or at the "input" (code).
    edges_in_messages: False in the code, whose layers ignore edge attributes.
    messages: "both" ways of an edge (a choice of this kit; the paper does not say), or "along" it
    only (code).
    merge: mean over "graphs" (paper) or over their "nodes" (code).
    sees_question: True adds the question to every node, a control of this kit (`GraphEncoder`).
    hidden, layers, heads, dropout: size of the encoder, for a laptop (paper: 1024, 4, 4).
    """

    graph_token: Literal["encoder", "constant", "none"] = "encoder"
    pruning: Distance | Literal["none"] = "scalar"
    squash: bool = True
    prune_at: Literal["layers", "input"] = "layers"
    edges_in_messages: bool = True
    messages: Literal["both", "along"] = "both"
    merge: Literal["graphs", "nodes"] = "graphs"
    sees_question: bool = False
    hidden: Positive = 64
    layers: Positive = 2
    heads: Positive = 4
    dropout: Annotated[float, Between(0, 1, below=True)] = 0.0

    @classmethod
    def of(cls, follow: str = "paper", **options: Any) -> Self:
        """The options of the paper or of the official code, with these changed. Raises
        MiniragError for names and values that are not known.
        """
        return choose(cls, {"paper": {}, "code": CODE}, follow, options)


CODE = {
    "pruning": "elementwise", "prune_at": "input", "edges_in_messages": False,
    "messages": "along", "merge": "nodes",
}  # fmt: skip

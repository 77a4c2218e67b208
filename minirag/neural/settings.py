"""What stands before the language model, as numbers and names; without torch, so that a method can check its choices when it is built."""

from dataclasses import dataclass

from ..choices import check_known, choose
from ..utils import MiniragError

DISTANCES = ("scalar", "elementwise")
KNOWN = {
    "graph_token": ("encoder", "constant", "none"), "pruning": (*DISTANCES, "none"), "prune_at": ("layers", "input"), "merge": ("graphs", "nodes"),
    "messages": ("both", "along"),
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What stands before the language model. The defaults are the paper's; `CODE` holds what the official code does instead.

    graph_token: of the "encoder", or "constant" (one learnt vector, a control), or "none".
    pruning: the distance, "scalar" (paper) or "elementwise" (code), or "none". squash: a sigmoid over the factors.
    prune_at: in all "layers" (paper) or at the "input" (code). edges_in_messages: False in the code, whose layers ignore edge attributes.
    messages: "both" ways of an edge (a choice of this kit; the paper does not say), or "along" it only (code).
    merge: mean over "graphs" (paper) or over their "nodes" (code).
    sees_question: True adds the question to every node, a control of this kit (`GraphEncoder`).
    hidden, layers, heads, dropout: of the encoder, sized for a laptop (paper: 1024, 4, 4).
    """

    graph_token: str = "encoder"
    pruning: str = "scalar"
    squash: bool = True
    prune_at: str = "layers"
    edges_in_messages: bool = True
    messages: str = "both"
    merge: str = "graphs"
    sees_question: bool = False
    hidden: int = 64
    layers: int = 2
    heads: int = 4
    dropout: float = 0.0

    def __post_init__(self):
        check_known(self, KNOWN)
        if min(self.hidden, self.layers, self.heads) < 1 or not 0 <= self.dropout < 1:
            raise MiniragError(f"hidden, layers and heads from 1 and a dropout from 0 to below 1 are expected; got {self!r}.")

    @classmethod
    def of(cls, follow="paper", **choices):
        """The settings of the paper or of the official code, with these choices changed. Raises MiniragError for names and values that are not known."""
        return choose(cls, CODE, follow, **choices)


CODE = {"pruning": "elementwise", "prune_at": "input", "edges_in_messages": False, "messages": "along", "merge": "nodes"}

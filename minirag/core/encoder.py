"""What every encoder of texts offers, whoever made it."""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Kind = Literal["passage", "query"]


class Encoder(Protocol):
    """Texts to vectors of length 1: `encode` returns float32 (texts, dimensions)."""

    @property
    def name(self) -> str: ...

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]: ...


class TokenEncoder(Protocol):
    """Texts to one vector for each token: `encode` returns a (tokens, dimensions) array a text."""

    @property
    def name(self) -> str: ...

    def tokens(self, text: str, kind: Kind = "passage") -> list[str]: ...

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> list[NDArray[np.float32]]: ...

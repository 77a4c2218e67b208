"""Noun phrases as node names."""

import re
import unicodedata
from typing import Literal

Script = Literal["unicode", "ascii"]


def normalise_phrase(phrase: str, script: Script = "unicode") -> str:
    """Lower-case a phrase and turn everything but letters, marks, digits and spaces into a space.

    `script="unicode"` keeps the letters of every script. `script="ascii"` keeps A-Z, a-z and 0-9
    only, as HippoRAG's
    released code does: there "São Paulo" becomes "s o paulo" and "北京" becomes the empty string.

    Source: Wang, Sec. IV-B (hippo-ner-openie)
    """
    if script == "ascii":
        return re.sub("[^A-Za-z0-9 ]", " ", phrase.lower()).strip()
    letters = unicodedata.normalize("NFC", phrase).lower()
    return "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in letters).strip()

"""How long a text is, in tokens, and where each token stands in it."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..core.errors import MiniragError
from ..core.files import MINILM, packaged_minilm

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

LONGEST = 10
SCRIPTS_WITHOUT_SPACES = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KNOWN = "'regex', 'minilm', 'tiktoken:NAME', 'hf:PATH', or a function text -> "

Span = tuple[int, int]  # of characters: start, end
Tokenizer = str | Callable[[str], Iterable[Span]]


class Known:
    """The bound of an option that counts tokens: a tokenizer of a known form, or a function."""

    def holds(self, value: object) -> bool:
        known = re.fullmatch(r"regex|minilm|(tiktoken|hf):.+", str(value))
        return callable(value) or known is not None

    def __str__(self) -> str:
        return KNOWN + "number of tokens"


TokenCounter = Annotated[str | Callable[[str], int], Known()]


def count_tokens(text: str, counter: Tokenizer | TokenCounter = "regex") -> int:
    """The number of tokens in `text`, by a tokenizer of `token_spans` or by a function text ->
    number of tokens.
    """
    if counter == "regex":  # no token holds a line end, and prompts repeat the same lines
        return sum(map(_tokens_of_line, filter(None, text.split("\n"))))
    if not callable(counter):
        return len(token_spans(text, counter))
    counted = counter(text)
    return counted if isinstance(counted, int) else len(_checked(text, list(counted)))


def token_spans(text: str, tokenizer: Tokenizer = "regex", most: int | None = None) -> list[Span]:
    """The tokens of `text` as [(start, end), ...] in characters, in order, white space between them
    left out or not as the tokenizer does.

    - 'regex': no model, no download. A word (letters, digits, accents and vowel signs) counts as
      one token for every
      10 characters begun, a Chinese or Japanese character as one, every other visible character as
      one. On English this is close to a language model's own count without being it: 0.96 of
      MiniLM's word pieces on 1,890 MuSiQue passages, and 0.97 to 1.03 of the GPT-4 tokens of each
      of the 50 units of Microsoft's Operation Dulce index. Other scripts cost models more than it
      says.
    - 'minilm': the word pieces of all-MiniLM-L6-v2. 'tiktoken:cl100k_base' and the like: OpenAI's.
    - 'hf:PATH': a `tokenizer.json`, a folder that holds one, or a name on the Hugging Face hub.
    - any function text -> [(start, end), ...].
    most: of 'regex', look no further than this many tokens.
    """
    if callable(tokenizer):
        return _checked(text, list(tokenizer(text)))
    if tokenizer == "regex":
        return [match.span() for match in islice(_pattern().finditer(text), most)]
    if tokenizer == "minilm":
        return _hugging_face_spans(text, _minilm_file(os.environ.get("MINIRAG_MODEL_DIR")))
    kind, _, name = str(tokenizer).partition(":")
    if kind == "hf" and name:
        return _hugging_face_spans(text, name)
    if kind == "tiktoken" and name:
        return _tiktoken_spans(text, name)
    raise MiniragError(
        f"There is no tokenizer {tokenizer!r}; there are: {KNOWN}[(start, end), ...]."
    )


@lru_cache(maxsize=2**17)
def _tokens_of_line(line: str) -> int:
    return len(_pattern().findall(line))


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    # Python's \w leaves out the marks that many scripts write vowels with, and a word must not
    # break at each of them.
    known = map(chr, range(0x300, 0x10000))
    marks = "".join(re.escape(c) for c in known if unicodedata.category(c)[0] == "M")
    marks += "\u200c\u200d"
    return re.compile(
        rf"[{SCRIPTS_WITHOUT_SPACES}]|(?:(?![{SCRIPTS_WITHOUT_SPACES}])\w[{marks}]*){{1,{LONGEST}}}|\S"
    )


def _checked(text: str, spans: list[Span]) -> list[Span]:
    ends = 0
    for span in spans:
        if len(span) != 2 or not ends <= span[0] <= span[1] <= len(text):
            raise MiniragError(
                f"The tokenizer function gave the span {span!r}; it must return (start, end) pairs"
                " in order, without overlap, inside the text."
            )
        ends = span[1]
    return spans


@lru_cache(maxsize=4)
def _minilm_file(model_dir: str | None) -> str:
    """Its `tokenizer.json` where it lies on this machine, else its name on the hub."""
    for folder in (model_dir, packaged_minilm()):
        if folder and (Path(folder) / "tokenizer.json").is_file():
            return str(Path(folder) / "tokenizer.json")
    return MINILM


def _hugging_face_spans(text: str, name: str) -> list[Span]:
    return _hugging_face(name).encode(text, add_special_tokens=False).offsets


@lru_cache(maxsize=8)
def _hugging_face(name: str) -> "tokenizers.Tokenizer":
    from tokenizers import Tokenizer

    path = Path(name) / "tokenizer.json" if Path(name).is_dir() else Path(name)
    try:
        tokenizer = (
            Tokenizer.from_file(str(path)) if path.is_file() else Tokenizer.from_pretrained(name)
        )
    # tokenizers raises bare Exception for everything, from a missing file to a broken one
    except Exception as error:
        raise MiniragError(
            f"No tokenizer could be read from {name!r}: it is no tokenizer.json, no folder with"
            " one, and not reachable on the hub."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _tiktoken_spans(text: str, name: str) -> list[Span]:
    encoding = _tiktoken(name)
    tokens = encoding.encode(text, disallowed_special=())
    _, starts = encoding.decode_with_offsets(tokens)
    spans: list[Span] = []
    end = len(text)
    for start in reversed(starts):
        # Several tokens may spell one character between them; each then stands on that whole
        # character.
        end = spans[-1][0] if spans and spans[-1][0] > start else spans[-1][1] if spans else end
        spans.append((start, end))
    return spans[::-1]


@lru_cache(maxsize=8)
def _tiktoken(name: str) -> "tiktoken.Encoding":
    try:
        import tiktoken
    except ImportError as error:
        raise MiniragError(
            "The tokenizer 'tiktoken:...' needs the package tiktoken: pip install tiktoken. 'regex'"
            " needs nothing."
        ) from error
    known = tiktoken.list_encoding_names()
    if name not in known:
        raise MiniragError(f"tiktoken has no encoding {name!r}; it has: {', '.join(known)}.")
    try:
        return tiktoken.get_encoding(name)
    except OSError as error:  # requests' errors are OSErrors
        raise MiniragError(
            f"tiktoken could not download its encoding {name!r}; it needs a network once. 'regex'"
            " needs none."
        ) from error

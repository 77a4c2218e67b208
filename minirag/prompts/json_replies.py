"""Reading JSON from a language model: whatever is well formed is kept, whatever is not is counted.

The usual repair libraries complete a reply that was cut off, so half a name becomes an entity. Here
an item that was not finished is dropped. One pass over the text, no recursion: a reply of a hundred
thousand brackets is only a long reply.
"""

import json
import re
from collections.abc import Callable
from typing import Any, TypeGuard, TypeVar

LONGEST = 1_000_000  # characters of a reply that are looked at
# What reasoning models say before they reply.
THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
FENCE = re.compile(r"```[\w-]*")
TOKEN = re.compile(
    r'"(?P<double>(?:[^"\\]|\\.)*+)(?P<end>"?)'
    r"|(?<=[\[{,:\s])'(?P<single>(?:[^'\\]|\\.|'(?!\s*[,:\]}]))*+)(?P<stop>'?)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<colon>:)|(?P<comma>,)|(?P<word>[^\s\[\]{}:,\"]+)",
    re.DOTALL,
)
BRACKET = re.compile(r"(?P<open>[\[{])|(?P<close>[\]}])")
T = TypeVar("T")
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")


class Items(list[Any]):
    """A JSON array as far as it was readable; `cut` if its closing bracket never came, `broken`
    counts what could not be read in it.
    """

    cut = False
    broken = 0


class Pairs(Items):
    """A JSON object as (key, value) pairs, repeated keys included."""

    key: str | None = None

    def lookup(self, wanted: str) -> list[Any]:
        """The values under a key, however it is spaced and capitalised."""
        return [
            value
            for key, value in self
            if isinstance(key, str) and re.sub(r"[\s_-]+", "_", key.strip().lower()) == wanted
        ]

    def first_text(self, *keys: str) -> str:
        """The first text under one of the keys; "" where there is none."""
        texts = (read_text(value) for key in keys for value in self.lookup(key))
        return next((text for text in texts if text), "")


def read_values(text: str) -> tuple[Items, list[Pairs]]:
    """All JSON values at the top level of a reply, and all objects at any depth; numbers as
    strings. Never raises.
    """
    text, objects = text[:LONGEST], []

    def collect(pairs: list[tuple[str, Any]]) -> Pairs:
        objects.append(Pairs(pairs))
        return objects[-1]

    try:
        value = json.loads(
            text,
            object_pairs_hook=collect,
            parse_int=str,
            parse_float=str,
            parse_constant=lambda word: None,
            strict=False,
        )
        return Items([value]), objects
    except (ValueError, RecursionError):
        return _read_tolerantly(FENCE.sub(" ", THOUGHT.sub(" ", text)))


def _read_tolerantly(text: str) -> tuple[Items, list[Pairs]]:
    top = Items()
    objects: list[Pairs] = []
    stack: list[Items] = [top]
    position = 0
    # Outside of all brackets is prose, whose quotation marks mean nothing.
    while match := (TOKEN if len(stack) > 1 else BRACKET).search(text, position):
        position = match.end()
        kind, here = match.lastgroup, stack[-1]
        if kind == "open":
            opened = Pairs() if match["open"] == "{" else Items()
            stack.append(opened)
            objects += [opened] if isinstance(opened, Pairs) else []
        elif kind == "close":
            top.broken += len(stack) == 1
            _close(stack, Pairs if match["close"] == "}" else Items)
        elif kind in ("end", "stop"):
            if match[kind]:
                _put(here, _unescape(match["double"] if kind == "end" else match["single"]))
            else:
                here.broken += 1
        elif kind == "colon":
            if isinstance(here, Pairs) and here and here[-1][0] is None:
                here.key = here.pop()[1]
        elif kind == "word":
            _put_word(here, match["word"])
    _cut_down_to(stack, 1)
    return top, objects


def _close(stack: list[Items], wanted: type[Items]) -> None:
    """Close the innermost open container of this kind; what was left open inside it was cut off."""
    depth = len(stack) - 1
    # A stray bracket further out is ignored.
    while depth > 0 and len(stack) - depth < 4 and type(stack[depth]) is not wanted:
        depth -= 1
    if depth > 0 and type(stack[depth]) is wanted:
        _cut_down_to(stack, depth + 1)
        inner = stack.pop()
        _put(stack[-1], inner)


def _cut_down_to(stack: list[Items], size: int) -> None:
    while len(stack) > size:
        inner = stack.pop()
        inner.cut = True
        _put(stack[-1], inner)


def _put(container: Items, value: Any) -> None:
    if isinstance(container, Pairs):
        container.append((container.key, value))
        container.key = None
    else:
        container.append(value)


def _put_word(container: Items, word: str) -> None:
    if NUMBER.fullmatch(word):
        _put(container, word)
    elif word in ("true", "false", "null", "True", "False", "None"):
        _put(container, None)
    else:
        container.broken += 1


def _unescape(body: str) -> str:
    try:
        return json.loads(f'"{body}"', strict=False)
    except ValueError:
        return re.sub(r"\\(.)", r"\1", body, flags=re.DOTALL)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether it is a JSON array, as opposed to an object."""
    return isinstance(value, list) and not isinstance(value, Pairs)


def _strays(values: Items, objects: list[Pairs]) -> int:
    """How much stands outside of the arrays it belongs to, as after a bracket too many."""
    arrays = [value for value in values if is_array(value)]
    beside = sum(not any(isinstance(item, Pairs) for item in array) for array in arrays)
    return values.broken + beside + sum(key is None for pairs in objects for key, _ in pairs)


def read_items(
    text: str, key: str, read_one: Callable[[Any], T | None]
) -> tuple[tuple[T, ...], int]:
    """The items under `key` of a reply, or of a bare array where no object has the key: (tuple of
    values, dropped).

    read_one(item) gives the value of an item or None if it has the wrong shape. An item that a
    doubled reply says again is read once; a reply without anything to read counts as one dropped
    item.
    """
    values, objects = read_values(text)
    found = [value for pairs in objects for value in pairs.lookup(key)]
    arrays = [value for value in found or values if is_array(value)]
    dropped = len(found) - len(arrays) + _strays(values, objects) if found else int(not arrays)
    kept: list[T] = []
    for array in arrays:
        results = [read_one(item) for item in array]
        # An array that was cut off has lost at least one item, even if the cut fell between two.
        dropped += max(
            results.count(None) + getattr(array, "broken", 0), int(getattr(array, "cut", False))
        )
        earlier = set(kept)
        kept += [result for result in results if result is not None and result not in earlier]
    return tuple(kept), dropped


def read_text(item: object) -> str | None:
    """A string without surrounding blanks, or None for anything else; numbers arrive as strings."""
    return item.strip() or None if isinstance(item, str) else None


def read_distinct(text: str, key: str) -> tuple[tuple[str, ...], int]:
    """(the texts under `key` of a reply, in order and each once, dropped)."""
    found, dropped = read_items(text, key, read_text)
    return tuple(dict.fromkeys(found)), dropped


def read_line(text: str) -> tuple[str, int]:
    """The whole reply as one line; an empty reply is ("", 1)."""
    line = " ".join(text.split())
    return line, int(not line)

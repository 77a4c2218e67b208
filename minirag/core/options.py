"""Options of methods: frozen dataclasses whose fields say which values they take, checked when they
are made. The defaults are the paper's; settings beside each say what released code does instead.
"""

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from numbers import Integral, Real
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Protocol,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)  # fmt: skip

from .display import not_math
from .errors import MiniragError

Settings = Mapping[str, Mapping[str, object]]  # name -> the options that it changes


@dataclass(frozen=True)
class Between:
    """The bounds of a number in `Annotated[float, Between(0, 1)]`; `above` and `below` leave the
    bound itself out.
    """

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False

    def holds(self, value: float) -> bool:
        return (self.low < value if self.above else self.low <= value) and (
            value < self.high if self.below else value <= self.high
        )

    def __str__(self) -> str:
        low = f"above {self.low:g}" if self.above else f"from {self.low:g}"
        high = f"to below {self.high:g}" if self.below else f"to {self.high:g}"
        return " ".join(
            text for text, bound in ((low, self.low), (high, self.high)) if math.isfinite(bound)
        )


Probability = Annotated[float, Between(0, 1)]
Positive = Annotated[int, Between(1)]
Count = Annotated[int, Between(0)]
NotNegative = Annotated[float, Between(0)]
Temperature = Annotated[float, Between(0, above=True)]


@dataclass(frozen=True)
class Options:
    """Base of the dataclasses. Raises `MiniragError` for a value that its field's annotation does
    not hold.

    A docstring says of each field `name: meaning`; `OptionTable` and `help` read it from there.
    """

    def __post_init__(self) -> None:
        for name, kind in self.annotations().items():
            check_value(name, getattr(self, name), kind)

    @classmethod
    @functools.cache  # once for each class: a method's options are made again whenever they vary
    def annotations(cls) -> Mapping[str, object]:
        """Field -> its annotation, with the bounds."""
        return get_type_hints(cls, include_extras=True)


Kind = TypeVar("Kind", bound=Options)
Step = TypeVar("Step", bound=Callable[..., object])


class Chooser(Protocol):
    """Whatever has chosen options."""

    chosen: Options


def check_value(name: str, value: object, kind: object) -> None:
    """Raise `MiniragError` for a value that the annotation `kind` does not hold, saying what it
    holds.
    """
    if wanted := expected(kind, value):
        raise MiniragError(f"{name}={value!r}: expected {wanted}.")


def expected(kind: Any, value: Any) -> str:  # any annotation, any value
    """What an annotation wants instead of `value`, as words; "" where the value is fine."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        listed = ", ".join(map(repr, parts))
        return "" if value in parts else listed if len(parts) == 1 else f"one of {listed}"
    if origin is Annotated:
        wanted = expected(parts[0], value)
        bound = parts[1]
        if not wanted and bound.holds(value):
            return ""
        return f"{wanted or expected(parts[0], None)} {bound}".strip()
    if origin in (Union, UnionType):
        each = [expected(part, value) for part in parts]
        return "" if "" in each else " or ".join(each)
    plain = {
        NoneType: ("None", value is None),
        bool: ("True or False", isinstance(value, bool)),
        int: ("a whole number", isinstance(value, Integral) and not isinstance(value, bool)),
        float: ("a number", isinstance(value, Real) and not isinstance(value, bool)),
        str: ("a string", isinstance(value, str)),
    }
    words, fits = plain.get(kind, ("", True))
    return "" if fits else words


def choose(
    kind: type[Kind], settings: Settings, follow: str | None = None,
    options: Mapping[str, object] = MappingProxyType({}),
) -> Kind:  # fmt: skip
    """An instance of the dataclass `kind` as one of the `settings` has it, with single options
    changed.

    The first setting is the default (`follow=None`). Raises `MiniragError` for another name, an
    unknown option, or a value that it does not take.
    """
    follow = follow or next(iter(settings))
    if follow not in settings:
        raise MiniragError(f"follow={follow!r}: expected one of {', '.join(map(repr, settings))}.")
    return vary(replace(kind(), **settings[follow]), options)


# Any: the values are checked when the copy is made.
def vary(options: Kind, changes: Mapping[str, Any], among: Sequence[str] = ()) -> Kind:
    """A copy with single options changed; `among`: only these may change.

    Raises `MiniragError` for another name or an unknown value.
    """
    refuse_unknown(changes, among or names_of(type(options)))
    return replace(options, **changes)


def refuse_unknown(options: Iterable[str], known: Sequence[str]) -> None:
    """Raise `MiniragError` for the first name that is not known, naming those that are."""
    if unknown := sorted(set(options) - set(known)):
        raise MiniragError(f"There is no option {unknown[0]!r}; there are: {', '.join(known)}.")


def names_of(kind: type[Options]) -> list[str]:
    """The names of the options, in their order."""
    return [field.name for field in fields(kind)]


def plain(options: Options) -> dict[str, object]:
    """The options as JSON holds them; functions, which it cannot, are left out."""
    return {name: value for name, value in asdict(options).items() if not callable(value)}


def as_tuples(value: object) -> object:
    """A value out of JSON, which has no tuples."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


def meanings(kind: type[Options]) -> dict[str, str]:
    """Field -> its meaning, from the docstrings of the class and of those that it inherits from:
    what follows `name: `, or `name, other: `, up to the next name or an empty line.
    """
    name = f"(?:{'|'.join(names_of(kind))})"
    entry = re.compile(rf"(?:^|(?<=\s))({name}(?:, {name})*):\s+")
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(vars(base).get("__doc__") or "")):
            _, *parts = entry.split(paragraph)
            for named, meaning in zip(parts[::2], parts[1::2]):
                found.update(dict.fromkeys(named.split(", "), " ".join(meaning.split())))
    return found


@dataclass(frozen=True)
class OptionRow:
    """An option: the values that it takes, its value in each setting, its meaning."""

    name: str
    values: str
    settings: Mapping[str, object]
    meaning: str

    @property
    def default(self) -> object:
        """The value in the first setting."""
        return next(iter(self.settings.values()))


class OptionTable(tuple[OptionRow, ...]):
    """The options of a method, one row an option."""

    @classmethod
    def of(cls, kind: type[Options], settings: Settings) -> "OptionTable":
        hints, said = kind.annotations(), meanings(kind)
        chosen = {name: choose(kind, settings, name) for name in settings}
        return cls(
            OptionRow(
                field.name,
                expected(hints[field.name], _NoValue()).removeprefix("one of "),
                {name: getattr(options, field.name) for name, options in chosen.items()},
                said.get(field.name, ""),
            )
            for field in fields(kind)
        )

    def __repr__(self) -> str:
        return "\n".join(
            f"{row.name} = {' | '.join(f'{v!r} ({name})' for name, v in row.settings.items())}"
            f"\n    {row.values}. {row.meaning}"
            for row in self
        )

    def _repr_html_(self) -> str:
        names = [*self[0].settings] if self else []
        head = "".join(
            f"<th>{escape(name)}</th>" for name in ("option", *names, "takes", "meaning")
        )
        rows = [
            (row.name, *map(repr, row.settings.values()), row.values, row.meaning) for row in self
        ]
        left = "<td style='text-align:left'>"
        body = "".join(
            f"<tr>{''.join(f'{left}{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
        )
        return not_math(f"<table><tr>{head}</tr>{body}</table>")


class _NoValue:
    """What no annotation holds."""


def where(*, otherwise: Callable[..., object], **chosen: object) -> Callable[[Step], Step]:
    """A decorator for a step of a paper, a method of a class with `chosen` options: the step runs
    where these have the given values, and `otherwise`, which takes the same arguments, where one
    of them has another.
    """

    def decorate(step: Step) -> Step:
        @functools.wraps(step)
        def run(method: Chooser, *given: object, **named: object) -> object:
            as_written = all(getattr(method.chosen, name) == chosen[name] for name in chosen)
            return (step if as_written else otherwise)(method, *given, **named)

        return cast("Step", run)

    return decorate

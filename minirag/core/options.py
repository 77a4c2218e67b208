"""Options of methods: frozen dataclasses whose fields say which values they take, checked when they
are made. The defaults are the paper's; a dictionary beside each holds what released code does
instead.
"""

import math
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

from .errors import MiniragError


@dataclass(frozen=True)
class Between:
    """The bounds of a number in `Annotated[float, Between(0, 1)]`; `above` and `below` leave the
    bound itself out.
    """

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False

    def holds(self, value):
        return (self.low < value if self.above else self.low <= value) and (
            value < self.high if self.below else value <= self.high
        )

    def __str__(self):
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


class Options:
    """Base of the dataclasses. Raises `MiniragError` for a value that its field's annotation does
    not hold.
    """

    def __post_init__(self):
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            check_value(name, getattr(self, name), kind)


def check_value(name, value, kind):
    """Raise `MiniragError` for a value that the annotation `kind` does not hold, saying what it
    holds.
    """
    if wanted := expected(kind, value):
        raise MiniragError(f"{name}={value!r}: expected {wanted}.")


def expected(kind, value):
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
        wanted = [expected(part, value) for part in parts]
        return "" if "" in wanted else " or ".join(wanted)
    plain = {
        NoneType: ("None", value is None),
        bool: ("True or False", isinstance(value, bool)),
        int: ("a whole number", isinstance(value, Integral) and not isinstance(value, bool)),
        float: ("a number", isinstance(value, Real) and not isinstance(value, bool)),
        str: ("a string", isinstance(value, str)),
    }
    words, fits = plain.get(kind, ("", True))
    return "" if fits else words


def choose(kind, code, follow="paper", /, **choices):
    """An instance of the dataclass `kind` as the paper or the code (`follow`) has it, with single
    choices changed. Errors as `route`.
    """
    return route(follow, choices, own=(kind, code))["own"]


def choose_among(kind, settings, follow=None, /, **choices):
    """As `choose`, for settings with names of their own: name -> what it changes. The first is the
    default (`follow=None`)."""
    follow = follow or next(iter(settings))
    if follow not in settings:
        raise MiniragError(f"follow={follow!r}: expected one of {', '.join(map(repr, settings))}.")
    refuse_unknown(choices, kind)
    return kind(**{**settings[follow], **choices})


def route(follow, choices, **kinds):
    """Distribute named choices over dataclasses: `{name: instance}`. kinds: name -> (dataclass,
    what the released code does instead).

    Raises `MiniragError` for a `follow` other than "paper" or "code", and for a choice that none of
    them has, naming those that there are.
    """
    if follow not in ("paper", "code"):
        raise MiniragError(f"follow={follow!r}: expected 'paper' or 'code'.")
    refuse_unknown(choices, *(kind for kind, _ in kinds.values()))
    made = {}
    for name, (kind, code) in kinds.items():
        own = {field.name for field in fields(kind)}
        given = {choice: value for choice, value in choices.items() if choice in own}
        made[name] = kind(**{**(code if follow == "code" else {}), **given})
    return made


def vary(options, **choices):
    """A copy of the options with single ones changed. Raises `MiniragError` for an unknown name or
    value.
    """
    refuse_unknown(choices, options)
    return replace(options, **choices)


def refuse_unknown(choices, *kinds):
    """Raise `MiniragError` for the first name that is a field of none of the dataclasses, naming
    those that are.
    """
    known = [field.name for kind in kinds for field in fields(kind)]
    if unknown := sorted(set(choices) - set(known)):
        raise MiniragError(f"There is no choice {unknown[0]!r}; there are: {', '.join(known)}.")

"""What can be chosen about a method, as frozen dataclasses: their defaults are the paper's, a dictionary beside each holds what released code does instead."""

from dataclasses import fields

from .utils import MiniragError


def choose(kind, code, follow="paper", /, **choices):
    """An instance of the dataclass `kind` as the paper or the code (`follow`) has it, with single choices changed. Errors as `route`."""
    return route(follow, choices, own=(kind, code))["own"]


def route(follow, choices, **kinds):
    """Distribute named choices over dataclasses: `{name: instance}`. kinds: name -> (dataclass, what the released code does instead).

    Raises `MiniragError` for a `follow` other than "paper" or "code", and for a choice that none of them has, naming those that there are.
    """
    if follow not in ("paper", "code"):
        raise MiniragError(f"follow={follow!r}: expected 'paper' or 'code'.")
    known = {name: [field.name for field in fields(kind)] for name, (kind, _) in kinds.items()}
    every = [choice for names in known.values() for choice in names]
    if unknown := sorted(set(choices) - set(every)):
        raise MiniragError(f"There is no choice {unknown[0]!r}; there are: {', '.join(every)}.")
    code = {name: code if follow == "code" else {} for name, (_, code) in kinds.items()}
    return {name: kind(**{**code[name], **{c: v for c, v in choices.items() if c in known[name]}}) for name, (kind, _) in kinds.items()}


def check_known(choices, known):
    """Raise `MiniragError` for the first field of `choices` whose value is none of `known[field]`."""
    for name, allowed in known.items():
        if getattr(choices, name) not in allowed:
            raise MiniragError(f"{name}={getattr(choices, name)!r}: expected one of {', '.join(map(repr, allowed))}.")

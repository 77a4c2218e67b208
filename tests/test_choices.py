"""Every option of every method refuses a misspelt name and a misspelt value, and says what
exists.
"""

import inspect
from dataclasses import dataclass, fields
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import pytest

from minirag import METHODS, MiniragError, load_corpus
from minirag.core.options import Between, Options, expected, vary

SHARED = {"cls", "corpus", "llm", "encoder", "follow", "choices", "options", "return"}
ANYTHING = {"entity_types", "examples"}  # any names, any texts
CORPUS = load_corpus("professors")


def option_kinds(method):
    """The dataclasses whose fields a method's `build` takes as options."""
    own = [*getattr(method, "kind", ())[:1]] or [method.options_type]
    if method.name == "ircot-hipporag":  # its retriever's
        own = [METHODS["hipporag"].options_type]
    return [kind for kind in own if fields(kind)]


def options_of(method):
    """(name, annotation) of every option of a method."""
    hints = get_type_hints(method.build, include_extras=True)
    found = {name: kind for name, kind in hints.items() if name not in SHARED}
    for kind in option_kinds(method):
        hints = get_type_hints(kind, include_extras=True)
        found |= {field.name: hints[field.name] for field in fields(kind)}
    return found


CASES = [
    (name, option, kind)
    for name, method in METHODS.items()
    for option, kind in options_of(method).items()
    if expected(kind, object())  # entity types are any names
]


@pytest.mark.parametrize("name", METHODS)
def test_a_misspelt_option_is_refused_with_those_that_exist(name):
    kinds = option_kinds(METHODS[name])
    known = [field.name for kind in kinds for field in fields(kind)]
    known = known or ["encoder", *options_of(METHODS[name])]
    known = ["encoder"] if name == "ircot" else known  # its options are its retriever's, ColBERT's
    with pytest.raises(MiniragError, match="there are|it has") as refused:
        METHODS[name].build(CORPUS, encoder="lsa", optoin=1)
    assert all(option in str(refused.value) for option in known)


@pytest.mark.parametrize("name, option, kind", CASES, ids=lambda value: str(value)[:40])
def test_a_misspelt_value_is_refused_with_those_that_exist(name, option, kind):
    with pytest.raises(MiniragError, match=f"^{option}=.*: expected ") as refused:
        METHODS[name].build(CORPUS, encoder="lsa", **{option: object()})
    literals = [kind] if get_origin(kind) is Literal else []
    literals += [part for part in get_args(kind) if get_origin(part) is Literal]
    assert all(repr(value) in str(refused.value) for one in literals for value in get_args(one))


def test_every_method_that_takes_options_is_among_the_cases():
    for name, method in METHODS.items():
        parameters = inspect.signature(method.build).parameters.values()
        if any(one.kind is one.VAR_KEYWORD for one in parameters):
            assert option_kinds(method) or name == "ircot", (
                f"{name} takes options that no dataclass declares"
            )
        named = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}
        assert named - SHARED - {"extraction", "reports", "executor", "trained"} - ANYTHING <= {
            option for _, option, _ in CASES
        } | {"question_entities"}


@dataclass(frozen=True)
class Small(Options):
    kind: Literal["one", "two"] = "one"
    share: Annotated[float, Between(0, 1, above=True)] = 0.5
    most: Annotated[int, Between(1)] | None = None


@pytest.mark.parametrize(
    "given, said",
    [
        ({"kind": "One"}, "kind='One': expected one of 'one', 'two'."),
        ({"share": 0}, "share=0: expected a number above 0 to 1."),
        ({"share": "half"}, "share='half': expected a number above 0 to 1."),
        ({"share": float("nan")}, "share=nan: expected a number above 0 to 1."),
        ({"most": 0}, "most=0: expected a whole number from 1 or None."),
        ({"most": True}, "most=True: expected a whole number from 1 or None."),
        ({"mots": 1}, "There is no option 'mots'; there are: kind, share, most."),
    ],
)
def test_what_is_refused_and_how(given, said):
    with pytest.raises(MiniragError) as refused:
        vary(Small(), given)
    assert str(refused.value) == said


def test_what_fits_is_taken():
    assert vary(Small(), {"kind": "two", "share": 1, "most": 3}) == Small("two", 1, 3)


def test_a_corpus_is_asked_for():
    with pytest.raises(MiniragError, match=r"takes a Corpus, got 'small'.*load_corpus"):
        METHODS["hipporag"].build("small")
